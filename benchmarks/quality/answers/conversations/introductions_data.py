"""Homes of a few messages: people who introduce themselves, and months of what somebody told.

A line of an introduction tells several facts at once. Months (``samples/months``) tell of changes
as people do, and of what is added to what holds. ``samples/introductions`` and ``months`` are
learned from (``benchmarks.adapter_examples``), ``introductions_held`` and ``months_held`` are only
measured with. Each home has messages and questions; each question says in which words of which
messages its answer is, and which older words were changed.

``follow_ups`` and ``follow_ups_held`` have two questions in a row about such homes, of which the
second may lean on the first: 'psi up front?', 'n the rear'.
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
FOLLOW_UPS = SAMPLES / "follow_ups"
FOLLOW_UPS_HELD = SAMPLES / "follow_ups_held"


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


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Two questions in a row."""

    home: Introduced
    first: str
    text: str
    """The second one."""
    leans: bool
    """Whether it needs the first one to be understood."""
    alone: str
    """It with everything spelled out."""
    needed: tuple[Span, ...]
    """Where the answer to the second one is."""
    answer: str


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


def read_follow_ups(folder: Path) -> Iterator[FollowUp]:
    """Those of a folder, about homes beside it.

    :raises ValueError: if marked words are not in their message.
    """
    held = folder == FOLLOW_UPS_HELD
    folders = (INTRODUCTIONS_HELD, MONTHS_HELD) if held else (INTRODUCTIONS, MONTHS)
    homes = {home.id: home for one in folders for home in read_introductions(one)}
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            home = homes[row["home"]]
            needed = _spans(row["needed"], [text for _, text in home.messages])
            yield FollowUp(
                home, row["first"], row["then"], row["leans"], row["alone"], needed,
                row.get("answer", ""),
            )  # fmt: skip


def _question(row: dict[str, Any], texts: list[str]) -> Question:
    needed, changed = _spans(row["needed"], texts), _spans(row["changed"], texts)
    answer, kind = row.get("answer", ""), row.get("kind", "introduction")
    return Question(_moment(row["ask"]), row["q"], needed, changed, answer, kind)


def _spans(rows: list[tuple[int, str]], texts: list[str]) -> tuple[Span, ...]:
    return tuple(Span(number, texts[number].index(words), words) for number, words in rows)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
