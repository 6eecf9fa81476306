"""Cases of changes as people tell them: a few dated messages, a question, what a right answer has.

The format is that of ``../shared/data/changes`` (its README).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.shared.common import ROOT
from benchmarks.training.reader.reader_data import Episode, read_episodes

Verdict = Literal["current", "stale", "lost"]
SETS = ("two_messages", "writer_1", "writer_2", "chinese", "languages")
SAMPLES = ROOT / "benchmarks" / "samples"
HELD_VOICES = SAMPLES / "voices_held"
"""Episodes by voices that the shipped statement reader did not learn from."""


@dataclass(frozen=True, slots=True)
class Case:
    """Messages in order of time, and a question that is asked after them."""

    id: str
    set: str
    kind: str
    language: str
    messages: tuple[tuple[datetime, str], ...]
    asked: datetime
    question: str
    new: tuple[str, ...]
    """A right answer contains one of these, where there are any."""
    every: tuple[str, ...]
    """A right answer contains all of these."""
    old: tuple[str, ...]
    """An out-of-date or confused answer contains one of these."""

    def judge(self, answer: str) -> Verdict:
        """By the strings of the case, in lower case."""
        said = plain(answer)
        if any(plain(text) in said for text in self.old):
            return "stale"
        return "current" if self.holds(said) else "lost"

    def holds(self, text: str) -> bool:
        """Whether a text contains what a right answer contains."""
        said = plain(text)
        one = not self.new or any(plain(value) in said for value in self.new)
        return one and all(plain(value) in said for value in self.every)


def plain(text: str) -> str:
    """Lower case, with straight apostrophes and single spaces."""
    return " ".join(text.lower().replace("’", "'").split())


def cases_of(name: str, data: Path) -> Iterator[Case]:
    """The cases of a set, by its name.

    ``languages`` (German and Spanish) and ``voices_held``, which only ``--sets`` names, are ours.
    """
    if name == "voices_held":
        yield from map(case_of_episode, read_episodes(HELD_VOICES))
    else:
        own = SAMPLES / f"changes_{name}.jsonl"
        yield from read_cases(own if own.exists() else data / "changes" / f"{name}.jsonl", name)


def case_of_episode(episode: Episode) -> Case:
    return Case(
        id=episode.id,
        set="voices_held",
        kind=episode.kind,
        language="en",
        messages=tuple((moment.replace(tzinfo=UTC), text) for moment, text in episode.messages),
        asked=episode.asked.replace(tzinfo=UTC),
        question=episode.question,
        new=episode.answer,
        every=(),
        old=episode.stale,
    )


def read_cases(path: Path, name: str) -> Iterator[Case]:
    """The cases of one JSON-lines file, as those of the set ``name``."""
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield case_of(json.loads(line), name)


def case_of(row: dict[str, Any], name: str) -> Case:
    """The case of one line of a set."""
    return Case(
        id=row["id"],
        set=name,
        kind=row["kind"],
        language=row.get("lang", "en"),
        messages=tuple((_time(at), text) for at, text in row["messages"]),
        asked=_time(row["ask"]),
        question=row["q"],
        new=tuple(row.get("new", ())),
        every=tuple(row.get("all", ())),
        old=tuple(row.get("old", ())),
    )


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
