"""Values that a newer memory may have changed: the newer one is looked at for this very field.

A change edge says that a newer memory may change an older one, not which part of it. So the field
decides: where the newer memory has a value for it, that one counts. Without a language model a
value in doubt is offered, not filled in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.applications.forms.by_meaning import as_written
from agent.applications.forms.by_model import LESS_SURE, copied
from agent.applications.forms.facts.read import Fact
from agent.applications.forms.fields import Asked, FormField, worded
from agent.applications.forms.written import MOST_ALTERNATIVES
from agent.ports import LanguageModel
from agent.results import Alternative, FilledField
from store.types import Memory


def prefer_newer(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    results: list[FilledField],
    facts: Sequence[Fact],
    newer: Mapping[str, Memory],
    llm: LanguageModel | None,
) -> None:
    """Replace or withdraw, in place, the values of memories that ``newer`` ones may have changed.

    ``newer`` has for the id of a memory the one that most likely changed it.
    """
    for n, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        result = results[n]
        later = next((newer[id_] for id_ in result.memories if id_ in newer), None)
        if result.value is None or later is None:
            continue
        if llm is None:
            results[n] = _withdrawn(result)
            continue
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


def _withdrawn(result: FilledField, *first: Alternative) -> FilledField:
    """The field left empty; what it had is offered, after ``first``."""
    assert result.value is not None
    had = Alternative(result.value, result.confidence, result.memories)
    offers = (*first, had, *result.alternatives)[:MOST_ALTERNATIVES]
    return replace(result, value=None, confidence=0.0, memories=(), alternatives=offers)
