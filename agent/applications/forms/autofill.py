"""Form filling from memory, with evidence for every value.

EMG-RAG, section 4.4. Invariants: a field without evidence is null with confidence 0; passwords,
one-time codes and card security codes are never filled, whatever memory may hold; a value stands
in a memory that holds now, but for the notation the field asks for or a part split off by a stated
rule; an identity or card number and health go nowhere without the person's consent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from agent.applications.forms.candidates import Candidate, candidates, home_country, only_offered
from agent.applications.forms.facts.read import Fact, read_facts
from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.free_questions import LEAST_SIMILARITY, Answer, Near, answers, nearest
from agent.applications.forms.matching.match import match_fields
from agent.applications.forms.sensitive import is_sensitive
from agent.applications.forms.values.fit import fit, fit_date
from agent.applications.forms.values.phones import write_phone
from agent.memory.time.timeline import Timeline, present
from agent.memory.vectors import ensure_vectors
from agent.ports import Embedder, LanguageModel
from agent.results import Alternative, FilledField, Value
from store.graph import MemoryGraph
from store.side_tables.form_consents import FormConsent
from store.types import Memory, Status

_MOST_ALTERNATIVES = 3
_DOUBT = 0.75
"""What another value of the same kind leaves of the confidence in the best one."""
_OFFERED = 0.5
"""Of the confidence in a value that the person has to choose."""
_DATES = frozenset({"bday", "cc-exp", "passport-expiry", "departure-date", "check-in", "check-out"})
_PHONES = frozenset({"tel", "tel-national"})

Consents = Callable[[str, str], FormConsent]
"""What the person said to a field and a site."""


class Filler(Protocol):
    """What a form is filled from; a ``Session`` is one."""

    graph: MemoryGraph
    llm: LanguageModel
    embedder: Embedder


def fill_from(
    source: Filler, fields: Sequence[FormField], now: datetime, *, use_llm: bool
) -> tuple[FilledField, ...]:
    """Fill a form from a graph, with the consents that are kept in it.

    The encoder is loaded only for labels that no phrase names.
    """
    graph, embedder = source.graph, source.embedder

    def near(question: str) -> list[Memory]:
        ensure_vectors(graph, embedder)
        (vector,) = embedder.encode([question])
        found = graph.index(embedder.identity, now).nearest(vector, probes=3, count=3)
        return [match.memory for match in found if match.score >= LEAST_SIMILARITY]

    return fill(
        fields,
        graph.memories.list(),
        embedder=embedder,
        llm=source.llm if use_llm else None,
        now=now,
        near=near,
        consents=graph.form_consents.get,
    )


def fill(
    fields: Sequence[FormField],
    memories: Sequence[Memory],
    *,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
    now: datetime,
    near: Near | None = None,
    consents: Consents | None = None,
) -> tuple[FilledField, ...]:
    """One result a field, in the order of the form.

    Memories that hold no more at ``now`` are not used. The embedder finds what a label means
    that no phrase names; the language model points at spans that no pattern reads, in memories
    that are ``near`` the question. Without ``consents`` nothing is withheld: the caller asks.
    """
    current = present(Timeline([m for m in memories if m.status is not Status.FORGOTTEN]), now)
    asked = match_fields(fields, embedder)
    facts = read_facts(current)
    open_questions = [
        (field, ask)
        for field, ask in zip(fields, asked, strict=True)
        if ask.key is None and ask.via != "hidden" and ask.question and ask.fillable
    ]
    if near is None:
        near = nearest(current, embedder)
    answered = answers(open_questions, current, near=near, llm=llm)
    by_id = {memory.id: memory for memory in current}
    results: list[FilledField] = []
    for field, ask in zip(fields, asked, strict=True):
        if ask.key is None:
            found = answered.get(id(field))
            result = _answered(field, ask, found) if found else _empty(field, ask)
        elif not ask.fillable:
            result = _empty(field, ask)
        else:
            result = _from_facts(field, ask, facts, now)
        evidence = [by_id[memory] for memory in result.memories if memory in by_id]
        if result.value is not None and is_sensitive(ask, evidence):
            result = replace(result, sensitive=True)
            if consents is not None:
                result = _with_consent(result, consents(ask.consent_name, field.site))
        results.append(result)
    return tuple(results)


def _with_consent(result: FilledField, consent: FormConsent) -> FilledField:
    """The result as the person lets it go out; without their word, that there is one."""
    if consent.given:
        return replace(result, consent=consent)
    return replace(
        result, value=None, confidence=0.0, memories=(), alternatives=(), consent=consent
    )


def _empty(field: FormField, ask: Asked) -> FilledField:
    return FilledField(field.name, field.label, None, 0.0, key=ask.key, note=ask.note)


def _answered(field: FormField, ask: Asked, answer: Answer) -> FilledField:
    return FilledField(
        field.name,
        field.label,
        answer.value,
        round(answer.confidence, 3),
        answer.memories,
        note=ask.note,
    )


def _from_facts(field: FormField, ask: Asked, facts: Sequence[Fact], now: datetime) -> FilledField:
    chosen = only_offered(ask, facts, now)
    if chosen:
        # Shown to choose from, but not the person's word for what belongs here.
        offers = _offers(field, ask, [replace(c, confidence=_OFFERED) for c in chosen], facts)
        return replace(_empty(field, ask), alternatives=tuple(offers[:_MOST_ALTERNATIVES]))
    offers = _offers(field, ask, candidates(ask, facts, now), facts)
    if not offers:
        return _empty(field, ask)
    best, *others = offers
    rivals = [o for o in others if o.confidence >= 0.8 * best.confidence]
    return FilledField(
        field.name,
        field.label,
        best.value,
        round(best.confidence * (_DOUBT if rivals else 1.0), 3),
        best.memories,
        tuple(others[:_MOST_ALTERNATIVES]),
        key=ask.key,
        note=ask.note,
    )


def _offers(
    field: FormField, ask: Asked, found: Sequence[Candidate], facts: Sequence[Fact]
) -> list[Alternative]:
    """The candidates as the field takes them, each value once, best first."""
    offers: dict[Value, Alternative] = {}
    for candidate in found:
        written = _written(candidate, field, ask, facts)
        value = fit(written.value, written.key, field) if written else None
        if written is None or value is None or value == "":
            continue
        confidence = round(ask.confidence * written.confidence, 3)
        offers.setdefault(value, Alternative(value, confidence, written.memories))
    return list(offers.values())


def _written(
    candidate: Candidate, field: FormField, ask: Asked, facts: Sequence[Fact]
) -> Candidate | None:
    """Dates and phone numbers in the field's notation; None where it takes none of theirs."""
    if candidate.key in _DATES:
        text = fit_date(candidate.value, field, candidate.key)
        return replace(candidate, value=text) if text else None
    if candidate.key not in _PHONES or field.options or field.type in ("number", "integer"):
        return candidate
    home = home_country(ask.subject, facts)
    national = candidate.key == "tel-national" or "tel-country-code" in ask.beside
    text = write_phone(
        candidate.value, field, region=home[0].code if home else "", national=national
    )
    memories = candidate.memories
    if home and text.startswith("+") and not candidate.value.startswith("+"):
        memories = (*memories, home[1])  # the calling code follows from where they live
    return replace(candidate, value=text, memories=memories) if text else None
