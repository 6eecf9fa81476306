"""Contradictions between memories with single-valued relations (docs/trust.md). No model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from agent.language.dates.date_literals import values_of
from agent.language.dates.dated import in_figures
from agent.language.relation_names import is_single
from agent.memory.entities.names import ONE_HOLDER, may_be_one, role_name
from agent.results import Doubt
from policies.selection import Choice, Selection
from store.row_codecs import entity_key
from store.types import Memory, Trust


def contradictions(memories: Sequence[Memory]) -> tuple[Doubt, ...]:
    """Pairs of memories that give two values to what can have one.

    Either one relation that holds one value at a time has two, or two sentences differ in nothing
    but a number, time, date or code. Memories that are history contradict nothing.
    """
    standing = [memory for memory in memories if memory.status == "current"]
    found = []
    for at, one in enumerate(standing):
        for other in standing[at + 1 :]:
            if _two_values(one, other):
                swap = (one.trust or Trust.TOLD).rank < (other.trust or Trust.TOLD).rank
                found.append(Doubt(other, one) if swap else Doubt(one, other))
    return tuple(found)


def contradicting(
    new: Sequence[Memory], others: Sequence[Memory]
) -> Iterator[tuple[Memory, Memory]]:
    """Pairs of a new memory and one of the others that contradict each other, as above.

    Others are looked up by what they could contradict in, so many of them cost little.
    """
    alike: defaultdict[object, list[Memory]] = defaultdict(list)
    for other in others:
        for sign in _signs(other):
            alike[sign].append(other)
    for one in new:
        near = {other.id: other for sign in _signs(one) for other in alike.get(sign, ())}
        for other in near.values():
            if contradictions((one, other)):
                yield one, other


def _signs(memory: Memory) -> set[object]:
    """What two memories that contradict each other have in common."""
    slots = {(entity_key(t.head), t.relation) for t in memory.triples if is_single(t.relation)}
    return {*slots, tuple(_parted(memory.text)[0])}


def doubted(evidence: Sequence[Choice], selection: Selection | None) -> tuple[Doubt, ...]:
    """The contradictions that an answer should own up to: those that touch what it rests on."""
    used = {choice.memory.id for choice in evidence}
    read = [choice.memory for choice in (selection.chosen if selection else evidence)]
    return tuple(d for d in contradictions(read) if {d.first.id, d.second.id} & used)


def trusted_first(evidence: Sequence[Choice], doubts: Sequence[Doubt]) -> tuple[Choice, ...]:
    """The evidence with the more trusted memory of each contradiction before the other one."""
    result = list(evidence)
    for doubt in doubts:
        places = {choice.memory.id: place for place, choice in enumerate(result)}
        first, second = places.get(doubt.first.id), places.get(doubt.second.id)
        differ = doubt.first.trust != doubt.second.trust
        if differ and first is not None and second is not None and second < first:
            result.insert(second, result.pop(first))
    return tuple(result)


def _two_values(one: Memory, other: Memory) -> bool:
    if _over(one, other) or _over(other, one):
        return False  # one ended before the other began
    slots = {(entity_key(t.head), t.relation): entity_key(t.tail) for t in one.triples}
    for triple in other.triples:
        tail = slots.get((entity_key(triple.head), triple.relation))
        if tail is None or tail == entity_key(triple.tail) or not is_single(triple.relation):
            continue
        if role_name(triple.relation) in ONE_HOLDER and may_be_one(tail, triple.tail):
            continue  # 'My boss is Mr Tan' and 'Kenji is my boss' are two names of one boss
        if triple.relation in _OF_A_DAY and _on_other_days(one, other):
            continue  # the same flight number of two days is two flights
        return True
    (words, values), (other_words, other_values) = map(_parted, (one.text, other.text))
    # What comes before the last value says what the sentence is about.
    return (
        bool(values)
        and words == other_words
        and (values[:-1] == other_values[:-1] and values[-1] != other_values[-1])
    )


_OF_A_DAY = frozenset("departs_at arrives_at seat gate terminal platform coach".split())


def _on_other_days(one: Memory, other: Memory) -> bool:
    days = [set(values_of(memory.text)["date"]) for memory in (one, other)]
    return bool(days[0]) and bool(days[1]) and not days[0] & days[1]


def _parted(text: str) -> tuple[list[str], list[str]]:
    """The words of a sentence, and its values: those with a digit."""
    found = [word.strip(".,;:!?()'\"") for word in in_figures(text).casefold().split()]
    values = [word for word in found if any(c.isdigit() for c in word)]
    return [word if word not in values else "#" for word in found], values


def _over(one: Memory, other: Memory) -> bool:
    return one.valid_until is not None and one.valid_until <= (other.valid_from or other.created)
