"""Drafts and the memories near them -> planned edits (EMG-RAG section 4.2). Pure: writes nothing.

The paper compares the relations of the draft and of the top-1 memory of the nearest partition. A
small model names the same relation in two ways now and then, so three exact comparisons decide,
the first that holds:

1. *the same statement*: same words, or the same relations with the same ends -> unchanged;
2. *the same slot*: same head and relation, another tail, and the relation holds one value at a
   time -> replace;
3. *the same sentence with another value*: what comes before the value is the same, and only a
   number, time, date, code or name differs -> replace.

Everything else is a new memory; with an end date it is the time-bound edit, expire.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.triples.relations import is_single
from store.journal import Edit, Insert, Replace
from store.partitions import Match
from store.records import entity_key
from store.types import Draft, Memory, Subclass, Triple

SAME_TEXT = 0.97
"""Cosine similarity from which two sentences with the same values say the same."""
SAME_TOPIC = 0.60
"""Cosine similarity from which a relation that is single only in its subclass is the same slot."""

MANY_VALUED = frozenset(
    """likes dislikes loves prefers has owns knows visits bought booked watched read plays eats
    drinks meets includes wants needs plans decided promised thinks uses speaks allergic_to
    noted is""".split()
)
"""Relations of which several may hold side by side, whatever their subclass."""

_CODE = re.compile(r"\b(?=[A-Za-z0-9-]*\d)(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z0-9-]{3,}\b")
_VALUE = re.compile(
    r"""\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?   # a resolved date
      | \d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?        # a time of day
      | \b(?=\w*\d)[\w+.-]*\w                   # a number or a code
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A draft that says what a memory says already: nothing is stored twice."""

    draft: Draft
    memory: str


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What would be done, in order; nothing is written yet."""

    edits: tuple[Edit, ...]
    unchanged: tuple[Unchanged, ...]


def plan_edits(
    drafts: Sequence[Draft],
    near: Callable[[Draft], Sequence[Match]],
    subclasses: Mapping[str, Subclass],
) -> EditPlan:
    """Decide for each draft between insert, expire, replace and nothing.

    ``near`` gives the stored memories that a draft may be about, best first.
    """
    edits: list[Edit] = []
    unchanged: list[Unchanged] = []
    taken: set[str] = set()
    seen: set[str] = set()
    for draft in drafts:
        said = " ".join(words(draft.text))
        if said in seen:
            continue
        seen.add(said)
        matches = near(draft)
        same = next((m for m in matches if same_statement(draft, m)), None)
        if same is not None:
            unchanged.append(Unchanged(draft, same.memory.id))
            continue
        old = next(
            (
                m
                for m in matches
                if m.memory.id not in taken
                and m.memory.source != (draft.source or "")
                and (sameslot(draft, m, subclasses) or same_but_value(draft.text, m.memory.text))
            ),
            None,
        )
        if old is None:
            edits.append(Insert(draft))
        else:
            taken.add(old.memory.id)
            edits.append(Replace(old.memory.id, draft))
    return EditPlan(tuple(edits), tuple(unchanged))


def same_statement(draft: Draft, match: Match) -> bool:
    """Whether the memory says what the draft says."""
    memory = match.memory
    if words(draft.text) == words(memory.text):
        return True
    if values(draft.text) != values(memory.text) or negated(draft.text) != negated(memory.text):
        return False
    if match.score >= SAME_TEXT and names(draft.text) == names(memory.text):
        return True
    told = {(*slot(t), _name(t.tail)) for t in draft.triples}
    known = {(*slot(t), _name(t.tail)) for t in memory.triples}
    return bool(told) and told <= known and match.score >= 0.85


def sameslot(draft: Draft, match: Match, subclasses: Mapping[str, Subclass]) -> bool:
    """Whether draft and memory give different values to one relation that can hold only one."""
    memory = match.memory
    told = {slot(t): _name(t.tail) for t in draft.triples}
    for triple in memory.triples:
        place = slot(triple)
        if place not in told or told[place] == _name(triple.tail):
            continue
        relation = place[1]
        if is_single(relation):
            return True
        subclass = subclasses.get(draft.subclass)
        if (
            subclass is not None
            and subclass.single
            and relation not in MANY_VALUED
            and memory.subclass == draft.subclass
            and match.score >= SAME_TOPIC
        ):
            return True
    return False


def same_but_value(new: str, old: str) -> bool:
    """Whether two sentences differ in nothing but their last values.

    'The EK349 flight departs at 01:40.' and '... at 01:30.' do; with EK350 they do not, because
    what stands before the verb says what the sentence is about.
    """
    new_values, old_values = _VALUE.findall(new), _VALUE.findall(old)
    if len(new_values) != len(old_values) or not new_values or new_values == old_values:
        return False
    if words(_VALUE.sub(" ", new)) != words(_VALUE.sub(" ", old)):
        return False
    subject = _subject(new)
    return bool(subject.strip()) and _VALUE.findall(subject) == _VALUE.findall(_subject(old))


def _subject(sentence: str) -> str:
    """The sentence up to its first common finite verb; empty where there is none."""
    match = re.search(
        r"\b(is|are|was|were|will|has|departs?|arrives?|leaves?|starts?|ends?|costs?|expires?"
        r"|begins?|takes?|lives?|works?)\b",
        sentence,
        re.IGNORECASE,
    )
    return sentence[: match.start()] if match else ""


def slot(triple: Triple) -> tuple[str, str]:
    """What a triple gives a value to: its head and relation, folded."""
    return (_name(triple.head), triple.relation.casefold())


def _name(entity: str) -> str:
    """An entity's key; one that holds a code is that code ('flight EK349' = 'EK349')."""
    codes = _CODE.findall(entity)
    return codes[0].casefold() if len(codes) == 1 else entity_key(entity)


def words(text: str) -> list[str]:
    """The words of a text, folded, without punctuation."""
    return [word.casefold() for word in _WORD.findall(text)]


def values(text: str) -> list[str]:
    """Numbers, times, dates and codes of a text, sorted and folded."""
    return sorted(value.casefold() for value in _VALUE.findall(text))


def names(text: str) -> set[str]:
    """Capitalised words other than the first and 'I': what a sentence is specifically about."""
    found = _WORD.findall(text)[1:]
    return {word.casefold() for word in found if word[0].isupper() and word != "I"}


def negated(text: str) -> bool:
    return bool(
        re.search(r"\b(not|no longer|never|cannot|stopped|quit)\b|n['’]t\b", text, re.IGNORECASE)
    )


def leftovers(plan: EditPlan, made: Sequence[Memory]) -> tuple[str, ...]:
    """Of the memories that an older version of a file gave, those the new one no longer states."""
    kept = {entry.memory for entry in plan.unchanged}
    kept |= {edit.memory for edit in plan.edits if isinstance(edit, Replace)}
    return tuple(memory.id for memory in made if memory.id not in kept)
