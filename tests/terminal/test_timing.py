"""``--timing``: where the time of a command went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.conftest import Result


def rows(result: Result) -> set[str]:
    """The first words of the table."""
    assert result.code == 0, result.err
    return {line.split()[0] for line in result.err.splitlines()}


def test_say_and_ingest_tell_their_stages_beside_the_answer(
    memlane: Callable[..., Result], tmp_path: Path
):
    note = tmp_path / "a.md"
    note.write_text("My aunt Berta lives in Lund.\n")
    said = memlane("say", "--timing", "--json", "My bicycle is red.")
    assert {"store", "detect", "remember", "log", "total", "encoder", "database"} <= rows(said)
    assert said.json["timing_ms"]["total"] > 0
    taken = memlane("ingest", "--timing", str(note))
    assert {"read", "store", "remember", "total", "encoder", "database"} <= rows(taken)
    assert memlane("say", "My car is blue.").err == ""
