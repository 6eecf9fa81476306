"""Requests of other programs: search, look and edits.

Answers come from the resident process where one is up. What a program tells is somebody else's
words: it is stored as a quotation, trusted as such (docs/trust.md), and changes nothing that the
person said. One thread at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from agent.answering.trace import Trace, read_trace
from agent.config import Config
from agent.extraction.drafts import make_drafts
from agent.language.injection import as_data, steers
from agent.language.validation import checked_message
from agent.memory.remember import store_drafts, without_secrets
from agent.results import Remembered, Reply
from agent.server.resident.client import Client, connect
from agent.session.session import Session, open_session
from store.errors import InvalidInput, MemlaneError, UnknownId
from store.graph import MemoryGraph
from store.journal import Entry, Forget, Replace
from store.tables.paging import Neighbour
from store.tables.side_tables.change_edges import ChangeEdge
from store.types import Memory, Source, SourceKind, SourceStatus, Status

log = logging.getLogger("memlane.mcp")
MOST = 20
"""Memories that one answer gives."""
LOOKED_AT = 400
"""Lines of the journal that are looked through for the last changes."""


class AgentMemory:
    """One home, as other programs use it. Models load when first needed, if at all."""

    def __init__(
        self, config: Config, open_own: Callable[[Config], Session] = open_session
    ) -> None:
        self.config = config
        self._open_own = open_own
        self._own: Session | None = None
        self._turns: set[str] = set()

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    @property
    def graph(self) -> MemoryGraph:
        return self._session().graph

    def _session(self) -> Session:
        if self._own is None:
            self._own = self._open_own(self.config)
        return self._own

    def _assistant(self) -> Session | Client:
        return connect(self.config, log.info) or self._session()

    # ---- reading --------------------------------------------------------------------------

    def search(self, query: str, limit: int, as_of: str | None = None) -> Reply:
        """The memories for a question, without an answer; ``as_of`` a day those of that day."""
        _check(limit)
        asked = query if as_of is None else _as_of(query, as_of)
        found = self._assistant().ask(asked, k=limit, use_llm=False)
        if found.turn is not None:
            self._turns.add(found.turn)
        return found

    def why(self, turn: str) -> Trace:
        """How the memories of a search were chosen; only of this program's own searches.

        :raises UnknownId: for any other turn: what the person asked is nobody else's.
        """
        if turn not in self._turns:
            raise UnknownId(
                f"There is no search {turn} of yours. Give the turn of a search result."
            )
        return read_trace(self.graph, turn)

    def open(self, memory: str) -> tuple[Memory, Source | None, tuple[ChangeEdge, ...]]:
        """A memory that is not hidden, its source, and what may have changed it.

        :raises UnknownId: if there is none.
        """
        graph = self.graph
        found = graph.memories.get(memory)
        if found.status is Status.FORGOTTEN:
            raise UnknownId(f"There is no memory {memory}.")
        source = graph.sources.get(found.source) if found.source else None
        return found, source, tuple(graph.change_edges.of([found.id]))

    def entity(
        self, name: str, limit: int
    ) -> tuple[str, tuple[Memory, ...], tuple[Neighbour, ...], int]:
        """An entity's name as it was first told, its memories, its neighbours and their number.

        :raises UnknownId: if no memory names it.
        """
        _check(limit)
        graph, now = self.graph, self.config.now()
        known = graph.memories.entity(name)
        if known is None:
            begun = graph.browse.find_entities(name, limit=5)
            near = f" There are: {', '.join(map(repr, begun))}." if begun else ""
            raise UnknownId(f"No memory names {name!r}.{near}")
        page = graph.browse.of_entity(known, now, limit=limit)
        beside, total = graph.browse.around(known, now, limit=limit)
        return known, graph.memories.of(page.ids), beside, total

    def recent(self, limit: int) -> tuple[tuple[Entry, Memory], ...]:
        """The last changes of memories that hold, each memory once, the newest first."""
        _check(limit)
        graph, now = self.graph, self.config.now()
        found: dict[str, tuple[Entry, Memory]] = {}
        for entry in graph.journal.newest(LOOKED_AT):
            if entry.memory in found or entry.redacted or len(found) == limit:
                continue
            with suppress(UnknownId):  # erased since, or its insertion was undone
                memory = graph.memories.get(entry.memory)
                if memory.holds_at(now):
                    found[memory.id] = entry, memory
        return tuple(found.values())

    def current(self, memory: str) -> Memory:
        """:raises UnknownId: if there is no such memory, or it holds no more."""
        found = self.graph.memories.get(memory)
        if not found.holds_at(self.config.now()):
            raise UnknownId(f"{memory} holds no more; search again.")
        return found

    # ---- changing -------------------------------------------------------------------------

    def stored(self, ids: Iterable[str]) -> tuple[Memory, ...]:
        """Memories as they stand."""
        return self.graph.memories.of(tuple(dict.fromkeys(ids)))

    def remember(self, text: str, client: str) -> Remembered:
        """Store one fact, as something that the program said.

        :raises InvalidInput: if it is empty, too long, or gives orders to an assistant.
        """
        session, now = self._session(), self.config.now()
        fact, source = self._quoted(text)
        try:
            drafts = make_drafts([fact], session.placer.place([fact]), source, llm=None)
            return store_drafts(drafts, source, session.graph, session, now, actor=_actor(client))
        except MemlaneError as error:
            session.graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
            raise

    def edit(self, memory: Memory, text: str, client: str) -> tuple[Entry, ...]:
        """Put a new text in the place of a memory; the old one is kept as history."""
        graph, now = self.graph, self.config.now()
        with graph.writing():
            fact, source = self._quoted(text)
            (draft,) = make_drafts([fact], [memory.subclass], source, llm=None)
            draft = replace(draft, place=draft.place or memory.place)
            done = graph.apply(
                [Replace(memory.id, draft)], at=now, actor=_actor(client), source=source.id
            )
            graph.sources.mark(source.id, SourceStatus.EXTRACTED)
        return done

    def forget(self, memory: Memory, client: str) -> tuple[Entry, ...]:
        """Leave a memory out of every answer; undo brings it back."""
        return self.graph.apply([Forget(memory.id)], at=self.config.now(), actor=_actor(client))

    def checked(self, text: str) -> str:
        """A text as it may be stored: on one line, without secrets, and no order to anybody.

        :raises InvalidInput: if it is empty, too long or such an order.
        """
        fact = as_data(without_secrets(self._session(), checked_message(text)))
        if not fact:
            raise InvalidInput("Give one fact as a sentence.")
        if steers(fact):
            raise InvalidInput(
                "That reads as an order to an assistant rather than a fact, so it is not stored. "
                "The person can say it to memlane in their own words."
            )
        return fact

    def _quoted(self, text: str) -> tuple[str, Source]:
        """The checked fact, and its source: a quotation, which nothing takes for the person's."""
        fact = self.checked(text)
        graph = self.graph
        return fact, graph.sources.add(SourceKind.CHAT, f"> {fact}", self.config.now())


def _check(limit: int) -> None:
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be between 1 and {MOST}, not {limit}.")


def _as_of(query: str, day: str) -> str:
    """The question with the day that it is asked about.

    :raises InvalidInput: if that is no date.
    """
    try:
        when = datetime.fromisoformat(day)
    except ValueError:
        raise InvalidInput(f"as_of is a date such as 2025-03-01, not {day!r}.") from None
    return f"{query.rstrip(' ?.!')} on {when:%Y-%m-%d}?"


def _actor(client: str) -> str:
    return f"agent {client}"
