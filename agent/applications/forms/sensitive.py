"""Sensitive values that need consent."""

from __future__ import annotations

from collections.abc import Iterable

from agent.applications.forms.fields import Asked
from agent.applications.forms.matching.label_words import words
from agent.applications.forms.matching.vocabulary import vocabulary
from store.types import Memory

_HEALTH = frozenset({"attribute.health"})
_PRIVATE = _HEALTH | {"attribute.identity"}
"""Kinds of memories that make an answer to a question in the form's own words sensitive."""
_WORDS = frozenset(
    "medical medication medicine medicines health disease diagnosis illness condition conditions"
    " disability disabilities pregnant pregnancy blood hiv therapy insurance ssn passport visa"
    " licence license iban tax identity diabetes diabetic asthma epilepsy smoker religion"
    " ethnicity".split()
)


def is_sensitive(ask: Asked, evidence: Iterable[Memory]) -> bool:
    """Whether the field, or what the memories behind its value are about, is sensitive."""
    kinds = {memory.subclass for memory in evidence}
    if ask.key is not None:
        return vocabulary().keys[ask.key].sensitive or bool(kinds & _HEALTH)
    return bool(kinds & _PRIVATE) or bool(_WORDS & set(words(ask.question)))
