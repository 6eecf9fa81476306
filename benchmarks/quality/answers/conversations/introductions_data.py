"""Homes of a few messages: people who introduce themselves, and months of what somebody told.

A line of an introduction tells several facts at once. Months (``samples/months``) tell of changes
as people do, and of what is added to what holds. ``samples/introductions`` and ``months`` are
learned from (``benchmarks.adapter_examples``), ``introductions_held`` and ``months_held`` are only
measured with. Each home has messages and questions; each question says in which words of which
messages its answer is, and which older words were changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.shared.common import SAMPLES

INTRODUCTIONS = SAMPLES / "introductions"
INTRODUCTIONS_HELD = SAMPLES / "introductions_held"
MONTHS = SAMPLES / "months"
MONTHS_HELD = SAMPLES / "months_held"


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a message of the home."""

    message: int
    start: int
    words: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and where its answer is; nowhere if it was never told."""

    asked: datetime
    text: str
    needed: tuple[Span, ...]
    changed: tuple[Span, ...]
    answer: str
    kind: str = "introduction"
    """Of months what became of the fact: "replaced", "added", "moved", "untold" and others."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """What one person has told, and what they ask."""

    id: str
    voice: str
    messages: tuple[tuple[datetime, str], ...]
    questions: tuple[Question, ...]


def read_introductions(folder: Path) -> Iterator[Introduced]:
    """The homes of a folder, voice by voice.

    :raises ValueError: if marked words are not in their message.
    """
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            texts = [text for _, text in row["messages"]]
            yield Introduced(
                row["id"],
                row["voice"],
                tuple((_moment(said), text) for said, text in row["messages"]),
                tuple(_question(asked, texts) for asked in row["questions"]),
            )


def _question(row: dict[str, Any], texts: list[str]) -> Question:
    needed, changed = (
        tuple(Span(number, texts[number].index(words), words) for number, words in row[key])
        for key in ("needed", "changed")
    )
    answer, kind = row.get("answer", ""), row.get("kind", "introduction")
    return Question(_moment(row["ask"]), row["q"], needed, changed, answer, kind)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
