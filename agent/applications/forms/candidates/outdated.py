"""Values that a newer memory may have changed: the newer one is looked at for this very field.

A change edge says that a newer memory may change an older one, not which part of it. So the field
decides: where the newer memory has a value for it, that one counts. The language model looks at
less likely changes, too, and at newer memories with another number of the same form ("the old SIM
is dead, they gave me 07700 900874"), where the person told them. Without it a value in doubt is
offered, not filled in, unless the newer memory tells of another thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agent.answering.notes.gather import DOUBTED
from agent.applications.forms.candidates.by_meaning import as_written
from agent.applications.forms.candidates.by_model import CODE
from agent.applications.forms.candidates.copying import LESS_SURE, copied
from agent.applications.forms.candidates.field_notes import Notes
from agent.applications.forms.candidates.from_facts import sources_of, subjects
from agent.applications.forms.candidates.written import withdrawn
from agent.applications.forms.facts.read import Fact
from agent.applications.forms.fields import Asked, FormField, worded
from agent.applications.forms.matching.label_words import fold
from agent.memory.time.changed import Newer
from agent.ports import LanguageModel
from agent.results import Alternative, FilledField
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Trust

MOST_NEWER = 3
"""Newer memories that the language model reads for one field."""


def prefer_newer(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    results: list[FilledField],
    facts: Sequence[Fact],
    newer: Mapping[str, Sequence[Newer]],
    memories: Sequence[Memory],
    llm: LanguageModel | None,
    notes: Notes | None = None,
) -> None:
    """Replace or withdraw, in place, the values of memories that ``newer`` ones may have changed.

    ``newer`` has for the id of a memory those that may have changed it, the likeliest first. Where
    ``notes`` reads memories for a field, only newer ones count that the field is about.
    """
    known = {memory.id: memory for memory in memories}
    for n, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        result = results[n]
        if result.value is None:
            continue
        likely = next((newer[id_] for id_ in result.memories if id_ in newer), ())
        found = [one for one in likely if one.probability >= DOUBTED]
        if llm is None:
            if not all(_of_another_thing(one, ask, facts) for one in found):
                results[n] = withdrawn(result)
            continue
        told = [one for one in likely if one.memory.trust in (None, Trust.TOLD)]
        later = [one.memory for one in (found or told)[:1]]
        later += [one for one in _alike(result, ask, facts, memories) if one not in later]
        later = later[:MOST_NEWER]
        if later and notes is not None and (reader := notes()) is not None:
            own = [known[id_] for id_ in result.memories if id_ in known]
            read = reader.read(worded(field, ask), [*own, *later])
            later = later if read is None else [one for one in later if one in read.likely]
        copy = copied(worded(field, ask), later, llm) if later else None
        if copy is None or copy.score < LESS_SURE:
            continue
        value = as_written(copy.heard, field, ask, facts)
        if value is None or value == result.value:
            continue
        offer = Alternative(value, round(copy.heard.chance, 3), (copy.heard.memory.id,))
        without = withdrawn(result, offer)
        if copy.is_sure(worded(field, ask), (), llm):
            without = replace(
                without,
                value=value,
                confidence=offer.confidence,
                memories=offer.memories,
                alternatives=without.alternatives[1:],
            )
        results[n] = without


def _alike(
    result: FilledField, ask: Asked, facts: Sequence[Fact], memories: Sequence[Memory]
) -> list[Memory]:
    """What the person told later that has another number of the same form, the latest first.

    A number that is read as somebody else's, or as another thing, is none.
    """
    value, known = str(result.value), {memory.id: memory for memory in memories}
    told = max((known[id_].created for id_ in result.memories if id_ in known), default=None)
    if told is None or sum(char.isdigit() for char in value) < CODE:
        return []
    others = {
        (fact.memory.id, fact.value)
        for fact in facts
        if fact.key not in sources_of(ask.key or "") or fact.subject not in subjects(ask.subject)
    }
    later = [
        memory
        for memory in memories
        if memory.created > told
        and memory.trust in (None, Trust.TOLD)
        and any(
            number != value and (memory.id, number) not in others
            for number in _of_form(value, memory.text)
        )
    ]
    return sorted(later, key=lambda memory: memory.created, reverse=True)


def _of_form(value: str, text: str) -> Iterator[str]:
    """The stretches of a text with digits and letters where the value has digits and letters."""
    wanted, form = _form(value), _form(text)
    start = form.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not (form[start - 1 : start] in ("0", "a") or form[end : end + 1] in ("0", "a")):
            yield text[start:end]
        start = form.find(wanted, start + 1)


def _form(text: str) -> str:
    return "".join("0" if c.isdigit() else "a" if c.isalpha() else c for c in text)


def _of_another_thing(newer: Newer, ask: Asked, facts: Sequence[Fact]) -> bool:
    """Whether the newer memory is read to its end, and none of it is what the field asks for.

    'My wife's number is ...' changes no name. An end names no new value, so it may be about this.
    """
    memory = newer.memory
    told = [fact for fact in facts if fact.memory.id == memory.id]
    values = {fold(fact.value) for fact in told}
    whole = bool(memory.triples) and all(fold(one.tail) in values for one in memory.triples)
    if ask.key is None or newer.change is ChangeKind.ENDS or not whole:
        return False
    sources = {source for key in (ask.key, *ask.instead) for source in sources_of(key)}
    return not any(f.key in sources and f.subject in subjects(ask.subject) for f in told)
