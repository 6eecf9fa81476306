"""Successor score: which memory a change told in other words ends.

'I have moved to the Payments team' names neither the old team nor the relation as the memory does
('My team at work is Logistics'), and no list of wordings is long enough. What both share shows all
the same: whom they are about, the words beside their values, what kind of thing the values are. A
logistic function of these signs, fitted to wordings that we wrote (``benchmarks.succession_train``;
whole banks of topics held back), gives the chance. Asked only of drafts that tell a change, about
states that last. No database, no language model; names are compared by vectors that cost
microseconds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np

from agent.extraction.triples.pattern_kinds import PERSON
from agent.language.dates.date_literals import values_of
from agent.language.dates.time_phrases import without_lead
from agent.language.relation_names import is_named, is_single
from agent.memory.editing.changes.named_value import is_one_of_several, tells_change
from agent.memory.editing.compare import named_apart, negated
from agent.memory.editing.judges.wording_features import folded, value_and_slot
from agent.ports import Vectors
from policies.weight_file import read_json
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft, Triple

WEIGHTS = Path(__file__).parent.parent / "data" / "succession.json"
SURE = 0.4
"""Chance from which a memory is taken to be succeeded. On banks held back: the right one in 81 to
98 of 100 changes, a wrong one in 0 to 6, and in 3 to 10 where the right one was never told."""
SIGNS = (
    "cosine", "slots", "of_old", "of_new", "head", "relation", "kind", "named", "gone",
)  # fmt: skip
LONGEST_VALUE = 6
"""Words that a value may have to be set into the place of another."""

NameVectors = Callable[[Sequence[str]], Vectors]

_TIME = re.compile(
    r"\b(?:since|from|as of|until|on|by|in)\s+(?:\d{4}-\d\d-\d\d|[A-Z][a-z]+ \d{1,2}(?:, \d{4})?"
    r"|\d{1,2} [A-Z][a-z]+(?: \d{4})?)(?: on)?,?",
    re.IGNORECASE,
)
_ABOUT_CHANGE = frozenset(
    folded(
        """now new changed change switched moved move these days nowadays will be instead longer any
        more replaced left started been has have become becomes going gone over took other another
        since from"""
    )
)
_GONE = re.compile(
    r"\b(?:instead of|rather than|no longer|not|left|quit|stopped|dropped|from|replac\w+|swapped"
    r"|traded|cancelled|moved out|used to|gave up)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"^(?:my|our) (?:\w+ )?(?P<who>{PERSON})\b"
    r"(?! (?:is|was|has been|will be) (?:called |named |now )?(?-i:[A-Z]))",
    re.IGNORECASE,
)
_ADDING = frozenset(
    "likes dislikes prefers wants needs thinks has meets promised decided allergic_to speaks plays"
    " expires_on booked take eat drink use read watch collect".split()
)
_HAPPENED = re.compile(
    r"\b(?:yesterday|ago|last (?:night|week|month|year|\w+day)|went|bought|ate|met|visited|played"
    r"|watched|saw)\b",
    re.IGNORECASE,
)
_MINE = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
_VALUE = re.compile(
    r"(?<!^)\b(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w'&-]*(?: [A-Z][\w'&-]*)*|\b[A-Z]?\d[\w-]*"
)


@dataclass(frozen=True, slots=True)
class Succession:
    """How likely a memory is what a draft puts an end to."""

    bias: float
    weights: tuple[float, ...]
    """One of each of ``SIGNS``."""
    names: NameVectors

    @classmethod
    def shipped(cls, names: NameVectors) -> Self:
        """With the weights that memlane comes with."""
        return cls(*load(WEIGHTS), names)

    def likely(self, draft: Draft, match: NearMemory) -> float:
        """The chance in [0, 1]; 0 where the two cannot be about one state of one person."""
        old = match.memory
        if draft.valid_until is not None or old.valid_until is not None:
            return 0.0
        if not may_succeed(draft.text, draft.triples, old.text, old.triples):
            return 0.0
        found = signs(old.text, old.triples, draft.text, draft.triples, match.score, self.names)
        return self.chance(found)

    def chance(self, found: Sequence[float]) -> float:
        """Of signs in the order of ``SIGNS``."""
        total = self.bias + sum(w * sign for w, sign in zip(self.weights, found, strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))

    def succeeded(self, draft: Draft, matches: Sequence[NearMemory]) -> NearMemory | None:
        """The likeliest memory, if it is likely enough."""
        if not tells_change(draft):
            return None
        chances = [(self.likely(draft, match), match) for match in matches]
        chance, best = max(chances, key=lambda one: one[0], default=(0.0, None))
        return best if chance >= SURE else None


@cache
def load(path: Path) -> tuple[float, tuple[float, ...]]:
    """The bias and the weights.

    :raises WeightsDamaged: if the file is missing or damaged.
    :raises ValueError: if they are of other signs than these.
    """
    told = read_json(path)
    if tuple(told["weights"]) != SIGNS:
        raise ValueError(f"{path} is for other signs: python -m benchmarks.succession_train")
    return told["bias"], tuple(told["weights"].values())


def may_succeed(
    new: str, new_triples: Sequence[Triple], old: str, old_triples: Sequence[Triple]
) -> bool:
    """Whether both tell a lasting state of one subject that has one value at a time."""
    known = [
        {t.relation for t in triples if is_single(t.relation) or is_named(t.relation)}
        for triples in (new_triples, old_triples)
    ]
    mine = [_MINE.search(text) is not None for text in (new, old)]
    heads = [{entity_key(t.head) for t in triples[:1]} for triples in (new_triples, old_triples)]
    return (
        not any(negated(text) for text in (new, old))
        and all(_is_state(text) for text in (new, old))
        and subject(new) == subject(old)
        and (all(mine) or bool(heads[0] & heads[1]))
        and not named_apart(new, old)
        and not (all(known) and not known[0] & known[1])
        and not any(_adds_up(t.relation) for t in (*new_triples[:1], *old_triples[:1]))
    )


def _adds_up(relation: str) -> bool:
    """Whether a further value takes nobody's place: one more that is liked, one more friend."""
    return relation in _ADDING or is_one_of_several(relation)


def _is_state(text: str) -> bool:
    """Whether it tells of what lasts, whatever subclass it was placed in; 'since May' may stand."""
    bare = _TIME.sub(" ", text)
    return not any(values_of(bare).values()) and _HAPPENED.search(bare) is None


def subject(text: str) -> str:
    """The person of mine that a sentence is about; '' for myself and for everybody else."""
    found = _SUBJECT.match(without_lead(_TIME.sub("", text).strip(" ,")))
    return found["who"].casefold() if found else ""


def signs(
    old: str,
    old_triples: Sequence[Triple],
    new: str,
    new_triples: Sequence[Triple],
    cosine: float,
    names: NameVectors,
) -> tuple[float, ...]:
    """What memory and message share, in the order of ``SIGNS``."""
    (old_value, old_slot), (new_value, new_slot) = parts(old, old_triples), parts(new, new_triples)
    new_slot = re.sub(re.escape(old_value), " ", new_slot, flags=re.IGNORECASE)
    mine, theirs = (
        [word for word in folded(slot) if word not in _ABOUT_CHANGE]
        for slot in (old_slot, new_slot)
    )
    both = set(mine) & set(theirs)
    first, second = names([" ".join(mine) or "me", " ".join(theirs) or "me"])
    heads = [{t.head.casefold() for t in triples[:1]} for triples in (old_triples, new_triples)]
    relations = [
        {t.relation for t in triples} - {"noted", "has", "is"}
        for triples in (old_triples, new_triples)
    ]
    named = re.search(rf"(?<!\w){re.escape(old_value)}(?!\w)", new, re.IGNORECASE) is not None
    return (
        cosine,
        float(np.dot(first, second)),
        len(both) / max(1, len(set(mine))),
        len(both) / max(1, len(set(theirs))),
        float(bool(heads[0] & heads[1])),
        float(bool(relations[0] & relations[1])),
        float(_kind(old_value) == _kind(new_value)),
        float(named),
        float(named and _GONE.search(new) is not None),
    )


def parts(text: str, triples: Sequence[Triple]) -> tuple[str, str]:
    """The value that a sentence gives, and the words beside it; its dates are neither."""
    bare = _TIME.sub(" ", text)
    value, slot = value_and_slot(bare, triples)
    if len(value.split()) >= LONGEST_VALUE or not triples or triples[0].relation == "noted":
        named = [found for found in _VALUE.findall(bare) if found != "I"]
        if named:
            value, slot = named[-1], bare.replace(named[-1], " ")
    return value, slot


def _kind(value: str) -> str:
    """What kind of thing a value is, by its letters."""
    for kind, shape in (
        ("mail", r".*@.*"), ("number", r"(?:[Rr]oom )?[A-Z]?\d[\d .-]*"), ("code", r".*\d.*"),
        ("person", r"(?:Mr|Mrs|Ms|Dr|Prof)\b.*"), ("name", r"[A-Z].*"),
    ):  # fmt: skip
        if re.fullmatch(shape, value.strip(), re.DOTALL):
            return kind
    return "word"


def in_slot_of(draft: Draft, match: NearMemory) -> Draft:
    """The draft with the relation of the memory that it succeeds, beside its own.

    So a question about what was before finds both, and the next change finds this one.
    """
    known = {(entity_key(t.head), t.relation) for t in draft.triples}
    value, _ = parts(draft.text, draft.triples)
    place = match.memory.triples[0] if match.memory.triples else None
    if place is None or place.relation == "noted" or len(value.split()) >= LONGEST_VALUE:
        return draft
    if (entity_key(place.head), place.relation) in known or entity_key(value) == place.head:
        return draft
    return replace(draft, triples=(Triple(place.head, place.relation, value), *draft.triples))
