"""What holds beside a memory, whatever the statement reader thinks of the two sentences.

The reader learned from what people tell over weeks; of two bare sentences that differ in one word
('My brother lives in Rome', 'My sister lives in Paris') it is often sure that one ends the other.
"""

from __future__ import annotations

from agent.language.relation_names import holds_several
from agent.memory.editing.changes.named_value import is_one_of_several
from agent.memory.editing.changes.reschedule import another
from agent.memory.editing.compare import named_apart, negated, slot
from agent.memory.editing.decision import deny_two_things, same_person
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft, Memory


def both_hold(draft: Draft, match: NearMemory) -> bool:
    """Whether a draft takes nothing from a memory: it is about others, or one more, or for a while.

    Denials are the pair judge's: what it does not take for the end of a memory ends none.
    """
    memory = match.memory
    for_a_while = draft.valid_until is not None and memory.valid_until is None
    return (
        for_a_while
        or negated(draft.text)
        or not same_person(draft, match)
        or deny_two_things(draft.text, memory.text)
        or named_apart(draft.text, memory.text)
        or another(draft, memory)
        or _one_more(draft, memory)
    )


def _one_more(draft: Draft, memory: Memory) -> bool:
    """Whether it gives another value to what may have several: a language, a friend."""
    told = {slot(triple): entity_key(triple.tail) for triple in draft.triples}
    known = {slot(triple): entity_key(triple.tail) for triple in memory.triples}
    return any(is_one_of_several(relation) for _, relation in told) or any(
        known[place] != told[place] and holds_several(place[1])
        for place in told.keys() & known.keys()
    )
