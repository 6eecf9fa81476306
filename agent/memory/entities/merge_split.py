"""Manual merges and splits of entities, stored as memories.

'Kenji and Mr Tan are the same.' is an insert in the journal, so it is undone, forgotten for good,
exported and shown as every memory is; a later decision on the same two names takes its place. Two
who share one name are split by giving one of them a name of its own in the relations of her
memories. Plans are pure; ``decide`` writes.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from agent.language.relation_names import DIFFERENT_FROM, SAME_AS
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import LONGEST, ME_KEY, key_of, phrase_of
from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Edit, Entry, Insert, Replace
from store.types import Draft, Memory, SourceKind, SourceStatus, Span, Status, Triple

_SUBCLASS = "relationship.colleague_friends"
"""Where a decision hangs when nothing is known of either name."""


@dataclass(frozen=True, slots=True)
class EntityDecision:
    """What the person decided, in words, and the edits that make it so."""

    text: str
    triple: Triple
    replaces: str | None = None
    """The earlier decision on the same two names."""
    amends: tuple[Amend, ...] = ()


def plan_merge(one: str, other: str, known: Identities, graph: MemoryGraph) -> EntityDecision:
    """The two names are one.

    :raises InvalidInput: if they are one name, or no names.
    :raises UnknownId: if nothing is known under one of them; names near it are told.
    :raises EditConflict: if they are one already, or something told keeps them apart.
    """
    one, other = known_name(one, known, graph), known_name(other, known, graph)
    if key_of(one) == key_of(other):
        raise InvalidInput(f"{one!r} is one name; a merge needs two, such as Kenji and 'Mr Tan'.")
    who, with_ = known.who(one), known.who(other)
    if who == with_:
        raise EditConflict(
            f"{one} and {other} are already merged. `memlane entities show {quote(one)}` says why."
        )
    denied = known.apart(one, other)
    if (between := known.kept_apart(who, with_, besides=denied)) is not None:
        raise EditConflict(
            f"{one} and {other} cannot be merged: {between} says that two of their names are "
            f"different. To undo that: memlane memories forget --soft {between}"
        )
    return EntityDecision(_sentence(one, other, "the same"), Triple(one, SAME_AS, other), denied)


def plan_split(
    one: str, other: str | None, known: Identities, graph: MemoryGraph
) -> EntityDecision:
    """The two names, merged by hand or by what was told, are not one.

    :raises InvalidInput: if ``other`` is left out and there is not exactly one other name.
    :raises UnknownId: if nothing is known under one of the names.
    :raises EditConflict: if they were never merged.
    """
    one = known_name(one, known, graph)
    called = [name for name in known.names(known.who(one)) if key_of(name) != key_of(one)]
    if other is None:
        if not called:
            raise EditConflict(
                f"{one} has no other name: there is nothing to split. For two people under one "
                "name give --memory and --as."
            )
        if len(called) > 1:
            raise InvalidInput(f"{one} is also {', '.join(called)}: name the one to split it from.")
        other = called[0]
    other = known_name(other, known, graph)
    if key_of(one) == key_of(other):
        raise InvalidInput(
            f"{one!r} is one name. For two people under one name give --memory and --as."
        )
    if known.who(one) != known.who(other):
        raise EditConflict(f"{one} and {other} are not merged: there is nothing to split.")
    return EntityDecision(
        _sentence(one, other, "not the same"),
        Triple(one, DIFFERENT_FROM, other),
        known.decision(one, other),
    )


def plan_reject(
    one: str, other: str | None, known: Identities, graph: MemoryGraph
) -> EntityDecision:
    """A suggestion is wrong: the two names are not one, or the one name is of one only.

    :raises EditConflict: if the two are merged, or were rejected before.
    """
    one = known_name(one, known, graph)
    if other is None or key_of(one) == key_of(other):
        return EntityDecision(f"{_said(one, True)} is one and the same.", Triple(one, SAME_AS, one))
    other = known_name(other, known, graph)
    if (denied := known.apart(one, other)) is not None:
        raise EditConflict(f"{one} and {other} are already separate ({denied}).")
    if known.who(one) == known.who(other):
        raise EditConflict(
            f"{one} and {other} are merged. To split them: memlane entities split {quote(one)} "
            f"{quote(other)}"
        )
    text = _sentence(one, other, "not the same")
    return EntityDecision(text, Triple(one, DIFFERENT_FROM, other))


def plan_part(
    name: str, memories: Sequence[str], new: str, known: Identities, graph: MemoryGraph
) -> EntityDecision:
    """Some memories under ``name`` are about somebody else, who gets the name ``new``.

    :raises InvalidInput: if a memory does not name it, or ``new`` is no other name.
    :raises EditConflict: if a memory is no longer current.
    """
    name, new = known_name(name, known, graph), checked_name(new)
    if key_of(name) == key_of(new) or key_of(new) == ME_KEY:
        raise InvalidInput(f"Give the second one its own name, such as --as '{name} (work)'.")
    amends = []
    for memory in map(graph.memories.get, dict.fromkeys(memories)):
        triples = tuple(
            Triple(_renamed(t.head, name, new), t.relation, _renamed(t.tail, name, new))
            for t in memory.triples
        )
        if triples == memory.triples:
            raise InvalidInput(f"{memory.id} does not name {name}: {memory.text}")
        amends.append(Amend(memory.id, triples=triples))
    if not amends:
        raise InvalidInput("Name the memories about the second one with --memory.")
    text = _sentence(name, new, "not the same")
    earlier = known.decision(name, new)
    return EntityDecision(text, Triple(name, DIFFERENT_FROM, new), earlier, tuple(amends))


def decide(decision: EntityDecision, graph: MemoryGraph, now: datetime) -> tuple[Entry, ...]:
    """Write a decision: its own memory, and the relations that it changes, in one transaction."""
    with graph.writing():
        source = graph.sources.add(SourceKind.MANUAL, decision.text, now)
        draft = Draft(
            decision.text,
            _subclass(decision.triple, graph),
            now,
            triples=(decision.triple,),
            source=source.id,
            span=Span(0, len(decision.text)),
        )
        first: Edit = (
            Insert(draft) if decision.replaces is None else Replace(decision.replaces, draft)
        )
        entries = graph.apply([*decision.amends, first], at=now, actor="user", source=source.id)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    return entries


def about(who: str, known: Identities, graph: MemoryGraph) -> tuple[Memory, ...]:
    """The memories of every status that speak of an entity under any of its names."""
    found: dict[str, Memory] = {}
    for name in (*known.names(who), *known.phrases(who, ever=True), who):
        for memory in graph.memories.of(
            list(dict.fromkeys(memory for _, memory in graph.memories.neighbours(name)))
        ):
            ends = {end for t in memory.triples for end in (t.head, t.tail)}
            # 'my boss' of last year may be somebody else.
            if any(known.who(end, memory.created) == who for end in ends):
                found[memory.id] = memory
    return tuple(sorted(found.values(), key=lambda memory: int(memory.id[1:])))


def checked_name(name: str) -> str:
    """A name in one line.

    :raises InvalidInput: if nothing of it can be seen, or it is longer than a name.
    """
    clean = " ".join(name.encode("utf-8", "replace").decode().replace("\x00", " ").split())
    if not any(unicodedata.category(letter)[0] in "LNSP" for letter in clean):
        raise InvalidInput("The name is empty: give one, such as 'Mr Tan'.")
    if len(clean) > LONGEST:
        raise InvalidInput(f"The name has {len(clean):,} characters; a name has at most {LONGEST}.")
    return clean


def known_name(name: str, known: Identities, graph: MemoryGraph) -> str:
    """The name as it is spelt in the graph.

    :raises UnknownId: if nothing is known under it; names near it are told.
    """
    clean = checked_name(name)
    if key_of(clean) == ME_KEY:
        return ME_KEY
    spelt = known.shown(clean) or graph.memories.entity(clean)
    if spelt is not None and phrase_of(clean) is None:
        return spelt
    if phrase_of(clean) is not None and (
        spelt is not None or known.who(clean) in map(known.who, graph.memories.entity_names())
    ):
        return clean
    names = {entity.casefold(): entity for entity in graph.memories.entity_names()}
    near = difflib.get_close_matches(clean.casefold(), list(names)[:20_000], 3, 0.6)
    hint = (
        f"Did you mean {' or '.join(names[found] for found in near)}?"
        if near
        else "`memlane entities list --all` shows the names."
    )
    raise UnknownId(f"Nothing is known about {clean!r}. {hint}")


def _renamed(end: str, name: str, new: str) -> str:
    return new if key_of(end) == key_of(name) else end


def _subclass(triple: Triple, graph: MemoryGraph) -> str:
    """The subclass of the newest memory of either name: a decision hangs with what it is about."""
    ids = [m for end in (triple.head, triple.tail) for _, m in graph.memories.neighbours(end)]
    near = [m for m in graph.memories.of(list(dict.fromkeys(ids))) if m.status is Status.CURRENT]
    shown = {subclass.id for subclass in graph.subclasses()}
    of_people = [m.subclass for m in near if m.type in ("Relationship", "Event")]
    return next((s for s in reversed(of_people) if s in shown), _SUBCLASS)


def _sentence(one: str, other: str, what: str) -> str:
    return f"{_said(one, True)} and {_said(other, False)} are {what}."


def _said(name: str, first: bool) -> str:
    spoken = "I" if key_of(name) == ME_KEY else name
    return spoken[:1].upper() + spoken[1:] if first else spoken
