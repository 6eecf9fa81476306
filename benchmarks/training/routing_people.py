"""What people tell their memory and ask of it, as rows for the router.

Most were written as chats of weeks and months by writers who never saw the code. Those of the
``*_held`` folders are only measured with (``benchmarks.routing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.results import Route
from benchmarks.quality.answers.conversations.chats import CHATS, read_chat
from benchmarks.quality.answers.conversations.chats import HELD as CHATS_HELD
from benchmarks.quality.answers.conversations.introductions_data import (
    INTRODUCTIONS,
    INTRODUCTIONS_HELD,
    MONTHS,
    MONTHS_HELD,
    read_introductions,
)
from benchmarks.quality.answers.conversations.people_data import HELD as PEOPLE_HELD
from benchmarks.quality.answers.conversations.people_data import PEOPLE, read_people


def of_people() -> Iterator[tuple[str, Route]]:
    """The texts and routes that the router learns from."""
    yield from _rows((INTRODUCTIONS, MONTHS), PEOPLE, CHATS)


def of_people_held() -> Iterator[tuple[str, Route]]:
    """The same of voices held out."""
    yield from _rows((INTRODUCTIONS_HELD, MONTHS_HELD), PEOPLE_HELD, CHATS_HELD)


def _rows(homes: Sequence[Path], people: Path, chats: Path) -> Iterator[tuple[str, Route]]:
    for folder in homes:
        for home in read_introductions(folder):
            yield from ((text, Route.UPDATE) for _, text in home.messages)
            yield from ((question.text, Route.RETRIEVE) for question in home.questions)
    for person in read_people(people):
        if person.language == "en":  # the encoder knows no other
            yield from ((text, Route.UPDATE) for _, text in person.messages.values())
            yield from ((asked.case.question, Route.RETRIEVE) for asked in person.asked)
    for path in sorted(chats.glob("*.jsonl")):
        for step in read_chat(path):
            told = Route.UPDATE if step.tells else Route.NEITHER
            yield step.text, Route.RETRIEVE if step.asks else told
