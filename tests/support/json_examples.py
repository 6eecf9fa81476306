"""Runs the examples of docs/cli.md: ``python -m tests.support.json_examples`` writes them anew.

An example whose line and shape are the same as before stays as it is, so that a change of the page
shows what has changed; without ``docs/cli-examples.json`` all are new.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder
from cli.app import run
from tests.conftest import NOW
from tests.support import json_home, reference
from tests.support.documented import understood
from tests.support.json_layout import MAPS, Example, fullest, shape
from tests.support.json_lines import STEPS
from tests.support.reference import FEW, LONGEST, MOST


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command line printed, and its exit code."""

    line: str
    code: int
    out: str
    err: str

    @property
    def documents(self) -> tuple[Any, ...]:
        """The JSON documents on standard output. :raises ValueError: if there is anything else."""
        found, rest, decoder = [], self.out, json.JSONDecoder()
        while rest := rest.lstrip():
            document, end = decoder.raw_decode(rest)
            found.append(document)
            rest = rest[end:]
        return tuple(found)


def lines() -> list[str]:
    """The command lines that are shown."""
    return [step for step in STEPS if isinstance(step, str) and "--json" in step]


def play(folder: Path, embedder: Embedder) -> Iterator[Ran]:
    """Run all steps in a new home below ``folder``, and give those that are shown.

    :raises AssertionError: if a step that only prepares others fails.
    """
    with json_home.person(folder, embedder):
        for step in STEPS:
            if not isinstance(step, str):
                step()
                continue
            ran = _run(step)
            if "--json" in step:
                yield ran
            else:
                assert ran.code == 0, f"{step}: {ran.err}"


def _run(line: str) -> Ran:
    words = shlex.split(line, comments=True)[1:]
    given = b""
    if "<" in words:
        at = words.index("<")
        given = Path(words[at + 1]).read_bytes()
        del words[at : at + 2]
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(["--now", NOW.isoformat(), *words])
    finally:
        sys.stdin = before
    return Ran(line, code, out.getvalue(), err.getvalue())


# ---- recording ------------------------------------------------------------------------------


def recorded(ran: Ran, folder: Path) -> Example:
    """What the page shows of it."""
    words = shlex.split(ran.line.partition(" < ")[0], comments=True)[1:]
    documents = json.loads(_anywhere(json.dumps(ran.documents), folder))
    return Example(understood(words).path, ran.line, ran.code, tuple(cut(one) for one in documents))


def _anywhere(text: str, folder: Path) -> str:
    """The same without the places of this machine."""
    return text.replace(str(folder), "/home/ann").replace(sys.prefix, "/home/ann/memlane/.venv")


def cut(value: Any, name: str = "") -> Any:
    """A document as the head of the page says: short texts, few elements."""
    if isinstance(value, dict):
        items = list(value.items())[: MOST if name in MAPS else None]
        return {key: cut(inside, key) for key, inside in items}
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return [cut(fullest(value))]
    if isinstance(value, list):
        return [cut(one) for one in value[:FEW]]
    if isinstance(value, str) and len(value) > LONGEST:
        return value[: LONGEST - 1] + "…"
    return value


def record() -> None:
    """Run all lines and write the examples and the page."""
    before = reference.examples() if reference.EXAMPLES.exists() else []
    with tempfile.TemporaryDirectory(prefix="memlane-examples-") as name:
        folder = Path(name).resolve()
        made = [recorded(ran, folder) for ran in play(folder, LocalEmbedder(load_config()))]
    kept = [_kept(one, before) for one in made]
    document = [
        {
            "command": list(one.command),
            "line": one.line,
            "code": one.code,
            "documents": list(one.documents),
        }
        for one in kept
    ]
    text = json.dumps(document, ensure_ascii=False, indent=1)
    reference.EXAMPLES.write_text(f"{text}\n", encoding="utf-8")
    reference.TARGET.write_text(reference.reference(), encoding="utf-8")
    print(f"{len(kept)} examples in {reference.EXAMPLES} and {reference.TARGET}")


def _kept(new: Example, before: list[Example]) -> Example:
    """The example as it stood before, where its shape is the same."""

    def known(one: Example) -> tuple[object, ...]:
        return one.command, one.line, one.code, tuple(map(str, map(shape, one.documents)))

    return next((old for old in before if known(old) == known(new)), new)


if __name__ == "__main__":
    record()
