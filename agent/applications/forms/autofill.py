"""Form filling from memory, with evidence for every value.

EMG-RAG, section 4.4. Invariants: a field without evidence is null with confidence 0; passwords,
one-time codes and card security codes are never filled, whatever memory may hold; a value stands
in a memory that holds now, but for the notation the field asks for or a part split off by a stated
rule; an identity or card number and health go nowhere without the person's consent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from agent.applications.forms.candidates.by_meaning import Nearest, among, fill_by_meaning
from agent.applications.forms.candidates.by_model import (
    Copying,
    OpenForm,
    facts_by_model,
    fill_by_model,
    withdraw_irrelevant,
)
from agent.applications.forms.candidates.field_notes import FieldReader, Notes
from agent.applications.forms.candidates.from_facts import Candidate, candidates, only_offered
from agent.applications.forms.candidates.outdated import prefer_newer
from agent.applications.forms.candidates.written import MOST_ALTERNATIVES, empty, written
from agent.applications.forms.facts.read import Fact, read_facts
from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.free_questions import Answer, answers
from agent.applications.forms.matching.match import match_fields
from agent.applications.forms.sensitive import is_sensitive
from agent.applications.forms.values.fit import fit
from agent.extraction.own_words import first_person
from agent.memory.changes import LEAST
from agent.memory.time.changed import Newer, possibly_newer
from agent.memory.time.timeline import Timeline, present
from agent.memory.vectors.waiting import ensure_vectors_for
from agent.ports import Embedder, LanguageModel, Vectors
from agent.results import Alternative, FilledField, Value
from store.derived.partitions import NearMemory
from store.graph import MemoryGraph
from store.spaces import Space, as_seen, named_in
from store.tables.side_tables.form_consents import FormConsent
from store.types import Memory, Status, Trust

_DOUBT = 0.75
"""What another value of the same kind leaves of the confidence in the best one."""
_OFFERED = 0.5
"""Of the confidence in a value that the person has to choose."""

Consents = Callable[[str, str], FormConsent]
"""What the person said to a field and a site."""


class Filler(Protocol):
    """What a form is filled from; a ``Session`` is one."""

    graph: MemoryGraph
    llm: LanguageModel
    embedder: Embedder

    @property
    def field_reader(self) -> FieldReader | None: ...


def fill_from(
    source: Filler,
    fields: Sequence[FormField],
    now: datetime,
    *,
    use_llm: bool,
    others: Sequence[tuple[Space, MemoryGraph]] = (),
) -> tuple[FilledField, ...]:
    """Fill a form from a graph and what it sees of ``others``, with the consents kept in it.

    What a newer memory may have changed counts only where that one has nothing for the field.

    The encoder is loaded only for labels that no phrase names.
    """
    graph, embedder = source.graph, source.embedder
    memories = graph.memories.list()
    newer = possibly_newer(memories, graph, least=LEAST, by=now)
    for space, other in others:
        theirs = other.memories.list()
        memories += tuple(as_seen(memory, space) for memory in theirs)
        for old, found in possibly_newer(theirs, other, least=LEAST, by=now).items():
            seen = tuple(one._replace(memory=as_seen(one.memory, space)) for one in found)
            newer[named_in(space.name, old)] = seen

    def close(texts: Sequence[str], count: int) -> list[list[Memory]]:
        words = [word for text in texts for word in text.split()]
        for asked in (graph, *(other for _, other in others)):
            ensure_vectors_for(words, asked, embedder)
        vectors = embedder.encode(texts)
        found = _nearest(graph, embedder, vectors, count, now)
        for space, other in others:
            theirs = _nearest(other, embedder, vectors, count, now)
            seen = [[replace(m, memory=as_seen(m.memory, space)) for m in near] for near in theirs]
            both = [a + b for a, b in zip(found, seen, strict=True)]
            found = [sorted(near, key=lambda m: -m.score)[:count] for near in both]
        return [[m.memory for m in near if is_evidence(m.memory)] for near in found]

    return fill(
        fields,
        memories,
        embedder=embedder,
        llm=source.llm if use_llm else None,
        notes=(lambda: source.field_reader) if use_llm else None,
        now=now,
        close=close,
        newer=newer,
        consents=graph.form_consents.get,
    )


def _nearest(
    graph: MemoryGraph, embedder: Embedder, vectors: Vectors, count: int, now: datetime
) -> list[list[NearMemory]]:
    index = graph.index(embedder.identity, now)
    return [index.nearest(vector, probes=3, count=count) for vector in vectors]


def is_evidence(memory: Memory) -> bool:
    """Whether a memory may fill a form: the 'I' of a document or mail is anybody, so what that
    says fills nothing."""
    return memory.trust is not Trust.READ or not first_person(memory.text)


def fill(
    fields: Sequence[FormField],
    memories: Sequence[Memory],
    *,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
    notes: Notes | None = None,
    now: datetime,
    close: Nearest | None = None,
    newer: Mapping[str, Sequence[Newer]] | None = None,
    consents: Consents | None = None,
) -> tuple[FilledField, ...]:
    """One result a field, in the order of the form.

    Memories that hold no more at ``now`` are not used. The embedder finds what a label means
    that no phrase names; the language model copies the values that nothing else reads, and
    ``notes`` says which memories those may be in. ``close`` finds the memories nearest to a field,
    ``newer`` names what may have changed one (``outdated``). Without ``consents`` nothing is
    withheld: the caller asks.
    """
    memories = [m for m in memories if m.status is not Status.FORGOTTEN and is_evidence(m)]
    current = present(Timeline(memories), now)
    asked = match_fields(fields, embedder)
    near_all = close or (among(current, embedder) if embedder is not None else None)
    facts = read_facts(current)
    if llm is not None and embedder is not None and near_all is not None:
        open_asks = [ask for ask in asked if ask.fillable]
        facts += facts_by_model(open_asks, facts, Copying(llm, near_all, embedder, notes))
    open_questions = [
        (field, ask)
        for field, ask in zip(fields, asked, strict=True)
        if (ask.key is None or ask.via == "meaning")
        and (ask.via != "hidden" and ask.question and ask.fillable)
    ]
    answered = answers(open_questions, current)
    by_id = {memory.id: memory for memory in current}
    results: list[FilledField] = []
    for field, ask in zip(fields, asked, strict=True):
        result = empty(field, ask)
        if ask.key is not None and ask.fillable:
            result = _from_facts(field, ask, facts, now)
        if result.value is None and (found := answered.get(id(field))):
            result = _answered(field, ask, found)
        results.append(result)
    if embedder is not None and near_all is not None:
        heard = fill_by_meaning(fields, asked, results, facts, near_all, embedder)
        if llm is not None:
            form = OpenForm(fields, asked, facts, heard, by_id, newer or {})
            copying = Copying(llm, near_all, embedder, notes)
            withdraw_irrelevant(form, results, copying)
            fill_by_model(form, results, copying)
    prefer_newer(fields, asked, results, facts, newer or {}, current, llm, notes)
    for n, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        result = results[n]
        # What is offered is told as much as what is filled in.
        told = (result.memories, *(one.memories for one in result.alternatives))
        evidence = [by_id[memory] for ids in told for memory in ids if memory in by_id]
        if not evidence or not is_sensitive(ask, evidence):
            continue
        consent = consents(ask.consent_name, field.site) if consents is not None else None
        if result.value is not None:
            result = replace(result, sensitive=True)
            results[n] = result if consent is None else _with_consent(result, consent)
        elif consent is not None and not consent.given:
            # Nobody is asked to agree to a mere guess.
            results[n] = replace(result, alternatives=())
    return tuple(results)


def _with_consent(result: FilledField, consent: FormConsent) -> FilledField:
    """The result as the person lets it go out; without their word, that there is one."""
    if consent.given:
        return replace(result, consent=consent)
    return replace(
        result, value=None, confidence=0.0, memories=(), alternatives=(), consent=consent
    )


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
        return replace(empty(field, ask), alternatives=tuple(offers[:MOST_ALTERNATIVES]))
    found = candidates(ask, facts, now)
    offers = _offers(field, ask, [one for one in found if not one.over], facts)
    known = {one.value for one in offers}
    over = [
        replace(one, confidence=one.confidence * _OFFERED)
        for one in _offers(field, ask, [one for one in found if one.over], facts)
        if one.value not in known
    ]
    if not offers:
        return replace(empty(field, ask), alternatives=tuple(over[:MOST_ALTERNATIVES]))
    best, *others = offers
    rivals = [o for o in others if o.confidence >= 0.8 * best.confidence]
    return FilledField(
        field.name,
        field.label,
        best.value,
        round(best.confidence * (_DOUBT if rivals else 1.0), 3),
        best.memories,
        (*others, *over)[:MOST_ALTERNATIVES],
        key=ask.key,
        note=ask.note,
    )


def _offers(
    field: FormField, ask: Asked, found: Sequence[Candidate], facts: Sequence[Fact]
) -> list[Alternative]:
    """The candidates as the field takes them, each value once, best first."""
    offers: dict[Value, Alternative] = {}
    for candidate in found:
        shown = written(candidate, field, ask, facts)
        value = fit(shown.value, shown.key, field) if shown else None
        if shown is None or value is None or value == "":
            continue
        confidence = round(ask.confidence * shown.confidence, 3)
        offers.setdefault(value, Alternative(value, confidence, shown.memories))
    return list(offers.values())
