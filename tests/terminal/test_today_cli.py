"""``memlane today`` and pins as a person meets them: each command that is printed decides."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.support.a_day import prepare_day

Memlane = Callable[..., Result]
NOW = ("--now", "2024-05-08T09:00+00:00")


@pytest.fixture
def day(own_home: Path, memlane: Memlane) -> Memlane:
    prepare_day(own_home)
    return memlane


def test_the_digest_of_a_day_in_words(day: Memlane):
    result = day(*NOW, "today")
    assert (result.code, result.err) == (0, "")
    lines = [line.strip() for line in result.out.splitlines()]
    assert "Tue 2024-05-14 10:00  The dentist appointment  [m1]" in lines
    assert "m2 and m3 contradict each other" in lines
    assert "m5 may end m4 (0.62)" in lines
    assert "both are true  memlane memories unlink m4 m5" in lines
    assert "from a document or mail, 2021-05-09, half-life 365 days: 12% left" in lines
    assert "forget, undo works for 30 days: memlane forget --soft m6" in lines
    assert any(line.startswith("m7 is over") for line in lines)
    assert any(line.startswith("m8 is erased on 2024-05-31") for line in lines)
    assert "I ski." not in result.out  # it was forgotten, and is not told again each day


def test_its_json(day: Memlane):
    found = day(*NOW, "today", "--json").json
    assert set(found) == {
        "now", "since", "days", "coming", "changed", "earlier", "ended", "doubts", "unlikely",
        "faded", "erased_soon",
    }  # fmt: skip
    assert (found["since"], found["days"]) == ("2024-05-07T00:00:00+00:00", 7)
    assert [one["memory"] for one in found["coming"]] == ["m1"]
    assert [(one["id"], one["why"]) for one in found["changed"]] == [("e5", None)]
    assert [one["id"] for one in found["ended"]] == ["m7"]
    assert [one["probability"] for one in found["doubts"]] == [None, 0.62]
    (faded,) = found["faded"]
    assert (faded["id"], faded["half_life_days"], faded["pinned"]) == ("m6", 365, False)
    assert found["erased_soon"][0]["keep"] == "memlane undo e9"
    assert len(day(*NOW, "today", "--since", "2024-04-01", "--json").json["changed"]) == 8


@pytest.mark.parametrize("way", range(3))
def test_each_command_that_it_shows_decides(day: Memlane, way: int):
    for doubt in day(*NOW, "today", "--json").json["doubts"]:
        words = shlex.split(doubt["commands"][way]["command"])
        assert day(*NOW, *words[1:]).code == 0
    keep = day(*NOW, "today", "--json").json["erased_soon"][-1]["keep"]
    assert day(*NOW, *shlex.split(keep)[1:], "--yes").code == 0
    left = day(*NOW, "today", "--json").json
    assert left["doubts"] == []


def test_a_pin_is_shown_kept_out_of_proposals_and_undone(day: Memlane):
    pinned = day(*NOW, "memories", "pin", "m6", "M6", "--json").json
    assert [edit["memory"] for edit in pinned["edits"]] == ["m6"]
    assert day(*NOW, "memories", "show", "m6", "--json").json["pinned"] is True
    assert "pinned" in day(*NOW, "memories", "show", "m6").out
    assert "pinned" in day(*NOW, "list").out
    assert day(*NOW, "today", "--json").json["faded"] == []
    assert "m6: pinned already" in day(*NOW, "memories", "pin", "m6").out
    assert "pinned: no -> yes" in day(*NOW, "memories", "history", "m6").out
    assert day(*NOW, "undo", "--yes").code == 0
    assert [one["id"] for one in day(*NOW, "today", "--json").json["faded"]] == ["m6"]
    day(*NOW, "memories", "pin", "m6")
    assert day(*NOW, "memories", "unpin", "m6", "--json").json["edits"][0]["kind"] == "amend"
    assert day(*NOW, "memories", "pin", "m8").code == 1  # forgotten


def test_a_pinned_memory_stays_when_its_note_no_longer_says_it(memlane: Memlane, tmp_path: Path):
    note = tmp_path / "home.md"
    note.write_text("My bicycle is green.\nMy gym is Fit24.\n")
    memlane("ingest", str(note))
    memlane("memories", "pin", "m1")
    note.write_text("My piano teacher is Olga.\n")
    memlane("ingest", str(note))
    listed = memlane("list", "--json").json["memories"]
    assert [m["text"] for m in listed] == ["My bicycle is green.", "My piano teacher is Olga."]


def test_long_lists_are_cut_and_say_where_the_rest_is(memlane: Memlane):
    for number in range(12):
        memlane(*NOW, "memories", "add", f"Shelf {number} is full.", "--subclass", "event.life")
    out = memlane(*NOW, "today").out
    assert "Shelf 0 is" not in out and "Shelf 11 is" in out
    assert "and 2 earlier: --all shows them" in out
    assert "Shelf 0 is" in memlane(*NOW, "today", "--all").out


def test_a_new_home_has_nothing_to_decide(memlane: Memlane):
    assert memlane("today").out == "Nothing comes, nothing changed, and nothing is to be decided.\n"


def test_without_a_desktop_it_says_that_it_cannot_notify(
    day: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = day(*NOW, "today", "--notify")
    assert result.code == 1
    assert "In doubt" in result.out and "cannot show a notification" in result.err
