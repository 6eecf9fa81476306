"""Fields filled by meaning: what the form reader finds in memories for the fields of a form.

It serves the fields that no fact and no sentence answers word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agent.applications.forms.candidates.from_facts import Candidate
from agent.applications.forms.candidates.written import MOST_ALTERNATIVES, empty, written
from agent.applications.forms.facts.read import DATES, Fact, without_article
from agent.applications.forms.fields import Asked, FormField, worded
from agent.applications.forms.values.fit import dates_in, day_of, fit, fit_date
from agent.models.readers.form_reader import FormReader, KindMatch, form_reader
from agent.ports import Embedder
from agent.results import Alternative, FilledField, Value
from store.types import Memory, Trust

CLOSE = 12
"""Memories, nearest first, in which the value of a field is looked for."""
SURE = 0.8
"""Chance from which a value is filled in, by ``benchmarks.forms_train`` on wordings held out."""
MAYBE = 0.3
"""Chance from which a memory may say it, too little to be filled in."""

Nearest = Callable[[Sequence[str], int], Sequence[Sequence[Memory]]]
"""Of each text the nearest memories, best first, at most so many."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A value, the memory that holds it, and the chance that it belongs into the field."""

    value: str
    memory: Memory
    chance: float


KindOf = Callable[[str, int, int], KindMatch]
"""Whether words of a text, from and to, are of the kind that one field asks for."""


def kinds_asked(asked: Sequence[str], reader: FormReader | None) -> list[KindOf | None]:
    """Of each field what tells its kind from others; None without a reader."""
    if reader is None or not asked:
        return [None] * len(asked)
    return [partial(reader.match, asked=row) for row in reader.kinds_of(asked)]


def hear(asked: Sequence[str], nearest: Nearest, reader: FormReader) -> list[list[Heard]]:
    """For each field what each memory near any of them has for it, best first."""
    if not asked:
        return []
    near = {memory.id: memory for found in nearest(asked, CLOSE) for memory in found}
    memories = list(near.values())
    read = reader.read([memory.text for memory in memories], reader.kinds_of(asked))
    said = list(zip(memories, read, strict=True))

    return [
        sorted(
            (
                Heard(
                    without_label(memory.text[found.start : found.end], label), memory, found.chance
                )
                for memory, fields in said
                if (found := fields[row]) is not None
            ),
            key=_worth,
            reverse=True,
        )
        for row, label in enumerate(asked)
    ]


def without_label(value: str, label: str) -> str:
    """The value without its field's label before it, as in 'full name Ann Lee, dob ...'."""
    lead = label.strip(" :?*").casefold()
    rest = value[len(lead) :]
    if not lead or not value.casefold().startswith(lead) or rest[:1].isalnum():
        return value
    return rest.lstrip(" :=-–") or value


def _worth(heard: Heard) -> tuple[float, ...]:
    """Sure before unsure, told before read elsewhere, then the chance and the newer."""
    trust = (heard.memory.trust or Trust.TOLD).rank
    return (heard.chance >= SURE, trust, round(heard.chance, 1), heard.memory.created.timestamp())


def among(memories: Sequence[Memory], embedder: Embedder) -> Nearest:
    """The nearest memories to several texts, where no index of them exists."""

    def close(texts: Sequence[str], count: int) -> list[list[Memory]]:
        if not memories:
            return [[] for _ in texts]
        likeness = embedder.encode(texts) @ embedder.encode([m.text for m in memories]).T
        return [[memories[i] for i in (-row).argsort()[:count]] for row in likeness]

    return close


def fill_by_meaning(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    results: list[FilledField],
    facts: Sequence[Fact],
    close: Nearest,
    embedder: Embedder,
) -> dict[int, list[Heard]]:
    """Fill, in place, what no fact and no sentence answered; without such, nothing is loaded.

    Returns what was heard for each open field, sure or not; nothing where no reader fits.
    """
    open_ones = [n for n in range(len(fields)) if is_open(fields[n], asked[n], results[n])]
    reader = form_reader(embedder) if open_ones else None
    if reader is None:
        return {}
    words = [worded(fields[n], asked[n]) for n in open_ones]
    found = dict(zip(open_ones, hear(words, close, reader), strict=True))
    for n, heard in found.items():
        likely = [one for one in heard if one.chance >= MAYBE]
        results[n] = _from_heard(fields[n], asked[n], likely, facts)
    return found


def is_open(field: FormField, ask: Asked, result: FilledField) -> bool:
    """Whether it is still to be filled; not if there are values that the person has to choose."""
    yes_or_no = field.type in ("checkbox", "boolean") or (
        field.type == "radio" and not field.options
    )
    answered = result.value is not None or (bool(result.alternatives) and not result.unmatched)
    return bool(
        ask.fillable and ask.question and ask.via != "hidden" and not yes_or_no and not answered
    )


def _from_heard(
    field: FormField, ask: Asked, heard: Sequence[Heard], facts: Sequence[Fact]
) -> FilledField:
    """Filled where it is sure; else what may be meant is offered."""
    blank = replace(empty(field, ask), unmatched=ask.key is None or bool(heard))
    offers: dict[Value, Alternative] = {}
    for one in heard:
        value = as_written(one, field, ask, facts)
        if value is not None and value != "":
            offers.setdefault(value, Alternative(value, round(one.chance, 3), (one.memory.id,)))
    if not offers:
        return blank
    best, *others = offers.values()
    if best.confidence < SURE:
        return replace(blank, alternatives=tuple(offers.values())[:MOST_ALTERNATIVES])
    return replace(
        blank,
        value=best.value,
        confidence=best.confidence,
        memories=best.memories,
        alternatives=tuple(others[:MOST_ALTERNATIVES]),
        unmatched=False,
    )


def as_written(heard: Heard, field: FormField, ask: Asked, facts: Sequence[Fact]) -> Value | None:
    """What was heard, in the field's notation; a date that the sentence names is a whole one."""
    dates = list(dates_in(heard.value)) or day_of(heard.value)
    if field.type in ("date", "datetime-local", "month") or ask.key in DATES or dates:
        if len(dates) != 1:
            return None
        day, start, end = dates[0]
        if start or end < len(heard.value):
            return None
        text = fit_date(day, field, ask.key)
        return fit(text, ask.key, field) if text else None
    candidate = Candidate(ask.key or "", without_article(heard.value), heard.chance, ())
    shown = written(candidate, field, ask, facts)
    return fit(shown.value, ask.key, field) if shown else None
