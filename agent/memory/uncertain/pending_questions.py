"""Pending questions to the user.

A contradiction that came of a note, a screenshot or the command line waits for the next chat, and
is asked again a day later until it is decided. Names that may be one, or a name that may be two,
are asked about once, when they are ripe, at a moment when the person is not waiting for an answer.
What is answered is decided as by hand (``agent.memory.entities.merge_split``), so that it is undone
and forgotten like all else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agent.memory.editing.conflicts import Holds, ask
from agent.memory.entities.identity import Identities
from agent.memory.entities.merge_split import EntityDecision, plan_merge, plan_part, plan_reject
from agent.memory.entities.relation_graph import centrality, relation_graph
from agent.memory.entities.suggestions import Suggestion, suggestions
from agent.results import phrase
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.journal import Entry, Expire, Forget
from store.tables.side_tables.pending_questions import MemoryPair, QuestionKind
from store.types import Memory, Trust

RIPE = 3
"""Memories that speak of two names before it is worth a question whether they are one."""
AGAIN = timedelta(hours=20)
"""After how long an undecided contradiction is asked again: once a day, at any time of it."""
LOOKED_AT = 1000
"""How many of the newest memories are searched for suggestions."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A question, in words and by the memories it is about."""

    ask: QuestionKind
    pair: MemoryPair
    text: str


def next_question(graph: MemoryGraph, model: str, now: datetime, *, quiet: bool) -> Pending | None:
    """What to ask next; suggestions only where it is ``quiet``. ``model`` names the encoder."""
    waiting = graph.questions.waiting(QuestionKind.HOLDS, now - AGAIN)
    contradiction = next(_holding(graph, waiting, now), None)
    return contradiction or (_suggestion(graph, model, now) if quiet else None)


def undecided(graph: MemoryGraph, now: datetime) -> tuple[Pending, ...]:
    """The contradictions that wait for the person's word, asked or not."""
    return tuple(_holding(graph, graph.questions.undecided(QuestionKind.HOLDS), now))


def settle_pair(
    graph: MemoryGraph, pair: MemoryPair, holds: Holds, now: datetime, source: str | None = None
) -> tuple[Entry, ...]:
    """Settle a contradiction as the person says, in the caller's transaction."""
    old, new = graph.memories.of(pair)
    if holds is Holds.BOTH:  # the others are decided by what they end, and undone with it
        graph.questions.decide(QuestionKind.HOLDS, pair, now)
        return ()
    # The older did hold once, so it ends now and stays in history.
    edit = Forget(new.id) if holds is Holds.OLD else Expire(old.id, max(now, old.valid_from or now))
    return graph.apply([edit], at=now, actor="user" if source is None else "auto", source=source)


def _holding(graph: MemoryGraph, pairs: Iterable[MemoryPair], now: datetime) -> Iterator[Pending]:
    for pair in pairs:
        old, new = graph.memories.of(pair)
        if old.holds_at(now) and new.holds_at(now):
            yield Pending(QuestionKind.HOLDS, pair, ask(_from(old), _from(new)))


def _from(memory: Memory) -> str:
    """A memory's text, with where it is from unless the person said it."""
    if memory.trust in (None, Trust.TOLD):
        return memory.text
    return f"{memory.text} ({phrase(memory.trust)})"


def _suggestion(graph: MemoryGraph, model: str, now: datetime) -> Pending | None:
    for kind, pair, found in _ripe(graph, model, now):
        if not graph.questions.was_asked(kind, pair):
            return Pending(kind, pair, _asked(found))
    return None


def _ripe(
    graph: MemoryGraph, model: str, now: datetime
) -> Iterator[tuple[QuestionKind, MemoryPair, Suggestion]]:
    """Suggestions that rest on enough, each with the memories it is known by.

    Those about the most connected come first: what is decided of them changes the most answers.
    """
    places = [subclass.id for subclass in graph.subclasses()]
    newest = graph.index(model, now).newest(places, LOOKED_AT)
    known = Identities.of(graph, now)
    for found in _by_centrality(suggestions(newest, known, now), newest, known):
        if found.other is None:
            yield QuestionKind.SPLIT, (found.memories[0], found.apart[0]), found
        elif len(found.memories) >= RIPE:
            first, second = (
                graph.memories.neighbours(name)[0][1] for name in (found.one, found.other)
            )
            yield QuestionKind.MERGE, (first, second), found


def _by_centrality(
    found: Sequence[Suggestion], memories: Sequence[Memory], known: Identities
) -> Sequence[Suggestion]:
    if len(found) < 2:
        return found
    central = centrality(relation_graph(memories, known.who))

    def weight(one: Suggestion) -> float:
        return sum(central.get(known.who(name), 0.0) for name in (one.one, one.other) if name)

    return sorted(found, key=weight, reverse=True)


def _asked(found: Suggestion) -> str:
    ids = ", ".join(found.memories[:4])
    if found.other is None:
        return f"Is {found.one} two people ({found.why}: {ids})? Yes or no?"
    return f"Are {found.one} and {found.other} one and the same ({found.why}: {ids})? Yes or no?"


def open_in(trace: Mapping[str, Any]) -> Iterator[MemoryPair]:
    """The contradictions that a turn asked about; an imported trace may hold anything."""
    pairs = trace.get("open")
    for pair in pairs if isinstance(pairs, list) else ():
        match pair:
            case [str(old), str(new)]:
                yield old, new


def suggested_in(trace: Mapping[str, Any]) -> tuple[QuestionKind, MemoryPair] | None:
    """The suggestion that a turn asked about; an imported trace may hold anything."""
    match trace.get("suggested"):
        case [QuestionKind.MERGE | QuestionKind.SPLIT as kind, str(first), str(second)]:
            return QuestionKind(kind), (first, second)
        case _:
            return None


def decision_on(
    kind: QuestionKind, pair: MemoryPair, yes: bool, graph: MemoryGraph, model: str, now: datetime
) -> EntityDecision | None:
    """What the answer to a suggestion decides; None where nothing suggests it any more."""
    found = next((s for k, p, s in _ripe(graph, model, now) if (k, p) == (kind, pair)), None)
    if found is None:
        return None
    known = Identities.of(graph, now)
    try:
        if not yes:
            return plan_reject(found.one, found.other, known, graph)
        if found.other is None:
            return plan_part(found.one, found.apart, found.suggested_name, known, graph)
        return plan_merge(found.one, found.other, known, graph)
    except MemlaneError:
        return None  # somebody decided it meanwhile
