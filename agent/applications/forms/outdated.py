"""Values that a newer memory may have changed: the newer one is looked at for this very field.

A change edge says that a newer memory may change an older one, not which part of it. So the field
decides: where the newer memory has a value for it, that one counts. Without a language model a
value in doubt is offered, not filled in, unless the newer memory tells of another thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.applications.forms.by_meaning import as_written
from agent.applications.forms.by_model import LESS_SURE, copied
from agent.applications.forms.candidates import sources_of, subjects
from agent.applications.forms.facts.read import Fact
from agent.applications.forms.fields import Asked, FormField, worded
from agent.applications.forms.matching.label_words import fold
from agent.applications.forms.written import MOST_ALTERNATIVES
from agent.memory.changes import Newer
from agent.ports import LanguageModel
from agent.results import Alternative, FilledField
from store.side_tables.change_edges import ChangeKind


def prefer_newer(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    results: list[FilledField],
    facts: Sequence[Fact],
    newer: Mapping[str, Sequence[Newer]],
    llm: LanguageModel | None,
) -> None:
    """Replace or withdraw, in place, the values of memories that ``newer`` ones may have changed.

    ``newer`` has for the id of a memory those that may have changed it, the likeliest first.
    """
    for n, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        result = results[n]
        found = next((newer[id_] for id_ in result.memories if id_ in newer), ())
        if result.value is None or not found:
            continue
        if llm is None:
            if not all(_of_another_thing(one, ask, facts) for one in found):
                results[n] = _withdrawn(result)
            continue
        later = found[0].memory
        copy = copied(worded(field, ask), [later], llm)
        if copy is None or copy.score < LESS_SURE:
            continue
        value = as_written(copy.heard, field, ask, facts)
        if value is None or value == result.value:
            continue
        offer = Alternative(value, round(copy.heard.chance, 3), (later.id,))
        withdrawn = _withdrawn(result, offer)
        if copy.is_sure(worded(field, ask), (), llm):
            withdrawn = replace(
                withdrawn,
                value=value,
                confidence=offer.confidence,
                memories=offer.memories,
                alternatives=withdrawn.alternatives[1:],
            )
        results[n] = withdrawn


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


def _withdrawn(result: FilledField, *first: Alternative) -> FilledField:
    """The field left empty; what it had is offered, after ``first``."""
    assert result.value is not None
    had = Alternative(result.value, result.confidence, result.memories)
    offers = (*first, had, *result.alternatives)[:MOST_ALTERNATIVES]
    return replace(result, value=None, confidence=0.0, memories=(), alternatives=offers)
