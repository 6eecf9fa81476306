"""Slot lookup for questions: 'Which company do I work for?' is (me, works_at).

Similarity alone misses a fact told in other words ('I start at Luma on Tuesday'). The names of
relations and their synonyms (``agent.language.relation_names``) find it exactly. Only relations of
one value at a time are looked up so: of what one likes there may be hundreds. Whether one has
several doctors or cars no noun says, so those are looked up where just one memory, of those that
held at the time, gives a value. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.language.relation_names import LASTING, attribute_name, lemma, relation_name
from store.types import Memory

LONGEST = 3
"""Words of a phrase that may name a relation."""
_WORD = re.compile(r"[^\W\d_]+")
_VERBS = {
    "live": "lives_in",
    "move": "lives_in",
    "home": "lives_in",
    "reside": "lives_in",
    "relocate": "lives_in",
    "work": "works_at",
    "job": "works_at",
    "employ": "works_at",
}
"""Words that ask for a relation without its preposition: 'Where do I work?', 'When did I move?'."""
_OWN = {"drive": "drives", "car": "drives", "account": "bank"}
"""Words for relations of which a person may have several values."""
_NOUN = re.compile(
    r"\b(?:my|our|which|what)(?: (?:old|former|previous|new|current|last|next|first))?"
    r" (?P<noun>[a-z]+(?: [a-z]+)?)\b(?!['’])",
    re.IGNORECASE,
)
_BEST = re.compile(
    r"\b(?:which|what) (\w+) (?:do|did) i (?:like|love|enjoy) (?:the )?(?:best|most)\b",
    re.IGNORECASE,
)
_KIN = {"works_as": "works_at", "lives_in": "address", "address": "lives_in"}
"""Relations that are asked for by each other's names where nothing is known of the first."""


def relations_asked(question: str) -> frozenset[str]:
    """The relations that the words of a question name."""
    words = [word.casefold() for word in _WORD.findall(question)]
    phrases = (
        " ".join(words[at : at + length])
        for length in range(1, LONGEST + 1)
        for at in range(len(words) - length + 1)
    )
    named = {name for phrase in phrases for name in (relation_name(phrase), attribute_name(phrase))}
    if best := _BEST.search(question):
        named.add(f"favourite_{best.group(1).casefold()}")
    named |= {_VERBS[base] for word in words if (base := lemma(word)) in _VERBS}
    return frozenset(n for n in named if n in LASTING or n.startswith("favourite_"))


def in_slot(question: str, memories: Sequence[Memory]) -> list[Memory]:
    """The memories that give a value to what the question asks for, in the order given."""
    asked = relations_asked(question)
    if not asked:
        return _only_one(question, memories)
    said = question.casefold()
    kin = {_KIN[name] for name in asked if name in _KIN}
    edges = [
        (m, t) for m in memories for t in m.triples if t.relation in asked or t.relation in kin
    ]
    for relations in (asked, kin):
        found = [(memory, triple) for memory, triple in edges if triple.relation in relations]
        others = {t.head for _, t in found if t.head != "me" and t.head.casefold() in said}
        if not others and not re.search(r"\b(?:i|my|me|our|we)\b", said):
            return []
        heads = others or {"me"}
        hits = dict.fromkeys(memory.id for memory, triple in found if triple.head in heads)
        if hits:
            return [memory for memory in memories if memory.id in hits]
    return []


def _only_one(question: str, memories: Sequence[Memory]) -> list[Memory]:
    """The one memory that gives a value to a noun of the person's; none where there are more."""
    if not re.search(r"\b(?:i|my|me|our|we)\b", question, re.IGNORECASE):
        return []
    named = {_OWN[base] for word in _WORD.findall(question) if (base := lemma(word)) in _OWN}
    for found in _NOUN.finditer(question):
        words = found["noun"].casefold().split()
        named |= {attribute_name(" ".join(words)), attribute_name(words[0])}
    giving = [
        memory
        for memory in memories
        if any(t.head == "me" and t.relation in named for t in memory.triples)
    ]
    return giving if len(giving) == 1 else []
