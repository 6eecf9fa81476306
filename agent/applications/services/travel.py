"""Address of a destination, with its memories (EMG-RAG 4.4).

A destination is somebody or something by any name that is known ('my sister', 'Granny', 'gym',
'my cat's vet'), or an event ('the dentist'). Steps lead from what was asked to an address, each of
them a memory; where a step is missing, that is told and nothing is guessed. Links are text: nothing
is contacted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from agent.applications.services.places import Place, event_company, event_place, places_in
from agent.applications.services.upcoming import occasion
from agent.errors import NotRemembered
from agent.extraction.triples.patterns import thing
from agent.language.relation_names import attribute_name
from agent.language.sentences import capitalized
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import ME_KEY, key_of
from agent.memory.time.timeline import Timeline, happens, present
from agent.results import Standing
from store.derived.tokenize import words
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.types import Memory, Status

LONGEST = 200
"""Characters of a destination."""
_DEEPEST = 4
"""Steps from a name to an address: 'my cat's vet' is three."""
_HOME = frozenset({"home", "my home", "my place", "my house", "my flat", "me"})
_WORK = frozenset(
    {"work", "my work", "office", "my office", "the office", "my workplace", "my job"}
)
_TO = re.compile(r"^(?:(?:take me |navigate |drive |go |travel |get )?to |how do i get to )", re.I)
_IDLE = frozenset("the my our a an to of next event".split())
_COORDINATES = re.compile(r"(-?\d{1,2}\.\d+),\s*(-?\d{1,3}\.\d+)")
_MAP = "https://www.openstreetmap.org/search?query="


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to go, and how memory leads there."""

    destination: str
    """What was asked, as memory calls it."""
    address: str
    memories: tuple[str, ...]
    """Ids of the memories that lead there, from the name to the address."""
    others: tuple[str, ...] = ()
    """Other addresses that memory has for it."""

    @property
    def link(self) -> str:
        """A ``geo:`` address (RFC 5870) that a map program opens."""
        if (found := _COORDINATES.fullmatch(self.address)) is not None:
            return f"geo:{found[1]},{found[2]}"
        return f"geo:0,0?q={quote(self.address, safe='')}"

    @property
    def map(self) -> str:
        """The same for a browser; following it tells the address to a map on the web."""
        return _MAP + quote(self.address, safe="")


def travel(graph: MemoryGraph, asked: str, now: datetime) -> Destination:
    """The address of a place, a person or an event, from memory.

    :raises InvalidInput: if nothing is asked, or far too much.
    :raises NotRemembered: if no memory leads from it to an address; the message says how far.
    """
    spoken = _TO.sub("", " ".join(asked.split())).strip(" .?!")
    if not spoken or len(spoken) > LONGEST:
        raise InvalidInput(
            f"Name a place, a person or an event in at most {LONGEST} letters, such as: "
            "memlane travel dentist"
        )
    memories = graph.memories.list(Status.CURRENT, Status.REPLACED)
    return destination(memories, spoken, now, Identities.of(graph, now))


def destination(
    memories: Sequence[Memory], spoken: str, now: datetime, known: Identities
) -> Destination:
    """See ``travel``; ``memories`` are those that were not forgotten."""
    line = Timeline(memories)
    current = present(line, now)
    ways = _Ways(current, known)
    reached = False
    for node, via in ways.starts(spoken):
        reached = reached or ways.knows(node)
        if (way := ways.address(node)) is not None:
            return _arrived(ways.shown(node, spoken), way, via)
    planned = [m for m in memories if line.standing(m, now) is Standing.PLANNED]
    event = _event(spoken, [*current, *planned], now)
    if event is not None:
        where, company = event_place(event), event_company(event)
        way = ways.follow(where or company or "", _DEEPEST)
        if way is None and where is not None:
            way = _Way(where, ())  # a place's name leads there; a person's does not
        if way is not None:
            return _arrived(spoken, way, (event.id,))
        raise NotRemembered(
            f"I remember {event.text!r} ({event.id}), but not where. Tell me with: "
            f"memlane memories edit {event.id}"
        )
    if reached:
        raise NotRemembered(
            f"I know {spoken!r}, but not its address. Tell me, for example: "
            f'memlane remember "{capitalized(spoken)} is at 5 Mill Road, Leeds."'
        )
    raise NotRemembered(
        f"No memory says who, what or where {spoken!r} is, and I do not guess. Tell me, for "
        "example: "
        f'memlane remember "{capitalized(spoken)} is at 5 Mill Road, Leeds."'
    )


@dataclass(frozen=True, slots=True)
class _Way:
    where: str
    memories: tuple[str, ...]
    others: tuple[str, ...] = ()


def _arrived(name: str, way: _Way, via: Sequence[str]) -> Destination:
    ids = tuple(dict.fromkeys([*via, *way.memories]))
    return Destination(name, way.where, ids, way.others)


class _Ways:
    """What leads on from each entity: to where it is, and to other entities."""

    def __init__(self, memories: Sequence[Memory], known: Identities) -> None:
        self._known = known
        self._places: dict[str, list[Place]] = defaultdict(list)
        self._steps: dict[tuple[str, str], list[tuple[str, Memory]]] = defaultdict(list)
        self._met: set[str] = set()
        for memory in memories:
            for place in places_in(memory):
                self._places[known.who(place.subject, memory.created)].append(place)
            for triple in memory.triples:
                head = known.who(triple.head, memory.created)
                self._steps[head, triple.relation].append((triple.tail, memory))
                self._met |= {head, known.who(triple.tail, memory.created)}

    def knows(self, node: str) -> bool:
        """Whether any memory speaks of it."""
        return node in self._places or node in self._met

    def shown(self, node: str, spoken: str) -> str:
        """What memory calls an entity; as it was spoken of where it has no other name."""
        names = self._known.names(node)
        return names[0] if names and key_of(names[0]) != key_of(spoken) else spoken

    # ---- from what was asked to an entity -------------------------------------------------

    def starts(self, spoken: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Entities that a destination may mean, with the memories that lead from it to them."""
        key = spoken.casefold()
        if key in _HOME:
            yield ME_KEY, ()
            return
        if key in _WORK:
            yield "office", ()
            yield from self._step(ME_KEY, "works_at")
            return
        for name in dict.fromkeys((spoken, thing(spoken), f"my {spoken}")):
            node = self._known.who(name)
            yield node, self._known.joined_by(node)
        yield from self._chain(spoken)

    def _chain(self, spoken: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """'my cat's vet' and 'the vet of my cat' step by step; 'gym' is mine."""
        whose = re.fullmatch(r"(?:the )?(.+?) of (.+)", spoken, re.IGNORECASE)
        phrase = f"{whose[2]}'s {whose[1]}" if whose else spoken
        parts = [part for part in re.split(r"['’]s?\s+", phrase) if part]
        own = re.fullmatch(r"(?:my|our)\s+(.+)", parts[0], re.IGNORECASE)
        # 'Tom's gym' begins with Tom; 'my gym' and 'gym' begin with the person.
        if own or len(parts) == 1:
            ends = [(ME_KEY, ())]
            parts = [own[1] if own else thing(parts[0]), *parts[1:]]
        else:
            ends = [(self._known.who(parts[0]), ())]
            parts = parts[1:]
        found: list[tuple[str, tuple[str, ...]]] = list(ends)
        for part in parts[:_DEEPEST]:
            found = [
                (node, (*before, *via))
                for at, before in found
                for node, via in self._step(at, attribute_name(part), part)
            ]
        yield from found

    def _step(
        self, node: str, relation: str, word: str = ""
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        if word and node == ME_KEY:
            who = self._known.who(f"my {word}")
            if self.knows(who):
                yield who, self._known.joined_by(who)
        for tail, memory in reversed(self._steps.get((node, relation), ())):
            yield self._known.who(tail, memory.created), (memory.id,)

    # ---- from an entity to an address -----------------------------------------------------

    def address(self, node: str, left: int = _DEEPEST) -> _Way | None:
        """Where an entity is; a place that is an entity itself leads on to its address."""
        told = sorted(self._places.get(node, ()), key=lambda one: one.memory.created)
        if not told or not left:
            return None
        newest = told[-1]
        # 'Porto' was told last, and before that where in Porto.
        exact = [one for one in told if newest.where.casefold() in one.where.casefold()]
        best = max(exact, key=lambda one: (len(one.where), one.memory.created))
        others = dict.fromkeys(
            one.where for one in told if one.where.casefold() not in best.where.casefold()
        )
        on = self.follow(best.where, left - 1)
        where, memories = (on.where, on.memories) if on else (best.where, ())
        return _Way(where, (best.memory.id, *memories), tuple(others))

    def follow(self, where: str, left: int) -> _Way | None:
        """The address of a place that is told by its name, if it has one."""
        for name in dict.fromkeys((where, where.split(",")[0])):
            node = self._known.who(thing(name))
            if node != ME_KEY and (way := self.address(node, left)) is not None:
                return way
        return None


def _event(spoken: str, memories: Sequence[Memory], now: datetime) -> Memory | None:
    """The event that is meant: the next one that has all its words, else the one told last."""
    wanted = set(words(spoken)) - _IDLE
    if not wanted:
        return None
    wall = now.replace(tzinfo=None)
    found: list[tuple[bool, float, Memory]] = []
    for memory in memories:
        if not wanted <= set(words(memory.text)):
            continue
        coming = occasion(memory, wall)
        if coming is not None:
            found.append((False, (coming.at - wall).total_seconds(), memory))
        elif happens(memory):
            found.append((True, -memory.created.timestamp(), memory))
    return min(found, key=lambda one: one[:2])[2] if found else None
