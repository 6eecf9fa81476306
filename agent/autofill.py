"""Filling a form from memory: every value with the memories that state it, or nothing.

Invariants: a field without evidence is null with confidence 0; passwords, one-time codes and
card security codes are never filled, whatever memory may hold; a value stands in a memory that
holds now, but for the notation the field asks for or a part split off by a stated rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.forms.answers import Answer, answers
from agent.forms.derive import candidates
from agent.forms.facts import Fact, read_facts
from agent.forms.fields import Asked, FormField
from agent.forms.keys import vocabulary
from agent.forms.matching import match_fields
from agent.forms.values import Value, fit, fit_date
from agent.periods import Timeline, present
from agent.ports import Embedder, LanguageModel
from agent.results import Alternative, FilledField
from store.types import Memory, Status

__all__ = ["Alternative", "FilledField", "fill"]

_MOST_ALTERNATIVES = 3
_DOUBT = 0.75
"""What another value of the same kind leaves of the confidence in the best one."""
_DATES = frozenset({"bday", "cc-exp", "passport-expiry", "departure-date", "check-in", "check-out"})


def fill(
    fields: Sequence[FormField],
    memories: Sequence[Memory],
    *,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
    now: datetime,
) -> tuple[FilledField, ...]:
    """One result a field, in the order of the form.

    Memories that hold no more at ``now`` are not used. The embedder finds what a label means
    that no phrase names; the language model points at spans that no pattern reads.
    """
    current = present(Timeline([m for m in memories if m.status is not Status.FORGOTTEN]), now)
    asked = match_fields(fields, embedder)
    facts = read_facts(current)
    open_questions = [
        (field, ask)
        for field, ask in zip(fields, asked, strict=True)
        if ask.key is None and ask.via != "hidden" and ask.question
    ]
    answered = answers(open_questions, current, embedder=embedder, llm=llm)
    results: list[FilledField] = []
    for field, ask in zip(fields, asked, strict=True):
        if ask.key is None:
            found = answered.get(id(field))
            results.append(_answered(field, found) if found else _empty(field, ask))
        elif not ask.fillable:
            results.append(_empty(field, ask))
        else:
            results.append(_from_facts(field, ask, facts, now))
    return tuple(results)


def _empty(field: FormField, ask: Asked) -> FilledField:
    return FilledField(field.name, field.label, None, 0.0, key=ask.key)


def _answered(field: FormField, answer: Answer) -> FilledField:
    return FilledField(
        field.name, field.label, answer.value, round(answer.confidence, 3), answer.memories
    )


def _from_facts(field: FormField, ask: Asked, facts: Sequence[Fact], now: datetime) -> FilledField:
    assert ask.key is not None
    offers: dict[Value, Alternative] = {}
    for candidate in candidates(ask, facts, now):
        dated = candidate.key in _DATES
        text = fit_date(candidate.value, field, candidate.key) if dated else candidate.value
        if text is None:
            continue
        value = fit(text, candidate.key, field)
        if value is None or value == "":
            continue
        confidence = round(ask.confidence * candidate.confidence, 3)
        offers.setdefault(value, Alternative(value, confidence, candidate.memories))
    if not offers:
        return _empty(field, ask)
    best, *others = offers.values()
    rivals = [o for o in others if o.confidence >= 0.8 * best.confidence]
    return FilledField(
        field.name,
        field.label,
        best.value,
        round(best.confidence * (_DOUBT if rivals else 1.0), 3),
        best.memories,
        tuple(others[:_MOST_ALTERNATIVES]),
        key=ask.key,
        sensitive=vocabulary().keys[ask.key].sensitive,
    )
