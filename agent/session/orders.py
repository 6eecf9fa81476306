"""Orders about memory in a chat: forget something that was told, take the last edit back.

The statement reader tells an order from a statement; what an order names is found by meaning. An
order is never stored as a fact. What it hides or takes back can be taken back itself, so nothing
is lost by an order that was misread.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from agent.answering.grounding import names
from agent.extraction.told import tells
from agent.language.clauses import joined_parts
from agent.language.identify import is_foreign
from agent.memory.home import Home
from agent.ports import ORDERS, StatementReader
from agent.results import Reply, Route
from store.derived.large.part import Sought
from store.erasure.run import KEPT
from store.errors import StoreError, UnknownId
from store.journal import Entry, Forget
from store.maintenance.batch_undo import undo_all
from store.types import Memory, SourceKind, Status

Kind = Literal["forget", "undo"]
SURE = 0.8
"""Probability from which a message is taken for an order, and a part of one surely for none."""
TELLS = 0.5
"""Probability that a part of an order tells something, from which it is remembered."""
LONGEST = 300
"""Characters of an order; a longer message tells something beside it."""
NEAR = 0.4
"""Nearness to the order from which a memory may be what it names."""
NAMED = 0.2
"""The same where both contain the same name, number or code."""
APART = 0.1
"""How much less near than the nearest one another memory that it names may be."""
LOOKED_AT = 24
"""Memories of the most similar meaning that the reader looks at."""
MOST = 5
"""Memories that one order hides; it is asked to name fewer."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a message orders."""

    kind: Kind
    words: str
    """Those of the order alone: what else is told names nothing that is to be forgotten."""
    rest: str = ""
    """What the message tells after the order: 'scrap that, the MOT is on the 11th instead'."""

    @property
    def carried_out(self) -> bool:
        """Whether it is to be carried out. What corrects the last thing told is told like any
        change: the change is found, and what the new words leave out is not lost."""
        return self.kind == "forget" or not self.rest


def order_in(message: str, home: Home) -> Order | None:
    """The order that a message is, if it surely is one about memory.

    Where it tells something too, what is ordered stands before that. A part that is no sure order
    by itself carries nothing out.
    """
    reader = home.statements
    if reader is None or len(message) > LONGEST or is_foreign(message):
        return None
    if _kind(message, reader) is None:
        return None
    rest = _rest(message, reader)
    words = message[: len(message) - len(rest)].strip()
    kind = _kind(words, reader)
    return None if kind is None else Order(kind, words, rest)


def _kind(words: str, reader: StatementReader) -> Kind | None:
    chances = reader.orders([words])[0]
    by_kind: dict[Kind, float] = {
        "forget": float(chances[ORDERS.index("forget")]),
        "undo": float(chances[ORDERS.index("undo")]),
    }
    likeliest = max(by_kind, key=lambda kind: by_kind[kind])
    return likeliest if by_kind[likeliest] >= SURE else None


def _rest(message: str, reader: StatementReader) -> str:
    """The message from the first part on that tells something by itself and is no order."""
    for part in joined_parts(message)[1:]:
        start = message.find(part)
        is_none = reader.orders([part])[0][ORDERS.index("none")]
        if start > 0 and is_none >= SURE and tells(part, reader) >= TELLS:
            return message[start:]
    return ""


def carry_out(order: Order, home: Home, now: datetime) -> Reply:
    """What became of an order; its edits are in the reply."""
    return _undone(home, now) if order.kind == "undo" else _forgotten(order.words, home, now)


def _undone(home: Home, now: datetime) -> Reply:
    try:
        last = home.graph.journal.last_standing()
        edits = _made_together(last, home)
        if edits is None:
            return _said(
                f"The last edit, {last.id}, was made of a file. To take it back: "
                f"memlane memories undo {last.id}"
            )
        done = undo_all(home.graph, edits, at=now)
    except UnknownId:
        return _said("There is nothing to take back.")
    except StoreError as error:
        return _said(str(error))
    lines = [f"Taken back: {e.after or e.before or e.memory} ({e.id})" for e in done]
    return _said("\n".join([*lines, f"To redo it: memlane memories undo {done[0].id}"]), done)


def _made_together(last: Entry, home: Home) -> tuple[Entry, ...] | None:
    """The last edit and those made with it; None where the person did not type them."""
    if last.source is None:
        return (last,)
    if home.graph.sources.get(last.source).kind not in (SourceKind.CHAT, SourceKind.MANUAL):
        return None
    return home.graph.journal.of_batch(last.batch) if last.batch else (last,)


def _forgotten(message: str, home: Home, now: datetime) -> Reply:
    named = _named(message, home, now)
    if not named:
        return _said("I remember nothing of that, so there is nothing to forget.")
    if len(named) > MOST:
        lines = [f"  {memory.id}: {memory.text}" for memory in named]
        asked = "Which of these? Name it, or use: memlane memories forget ID"
        return _said("\n".join([asked, *lines]))
    done = home.graph.apply([Forget(memory.id) for memory in named], at=now, actor="user")
    lines = [f"Forgotten: {entry.before} ({entry.id})" for entry in done]
    ids = " ".join(memory.id for memory in named)
    lines.append(
        f"It is in no answer now and is erased on {now + KEPT:%Y-%m-%d}. To keep it: memlane "
        f"memories undo {done[-1].id}. To erase it now: memlane memories forget {ids}"
    )
    return _said("\n".join(lines), done)


def _named(message: str, home: Home, now: datetime) -> list[Memory]:
    """The memories that an order names, the nearest first.

    Nearness is the similarity of meaning or the relevance by the reader, whichever is more.
    """
    vector = home.embedder.encode([message])[0]
    sought = [Sought(message, vector)]
    view = home.graph.view(now, home.embedder.identity, history=True, asked=sought)
    if not view.memories or home.statements is None:
        return []
    similar = view.vectors @ vector
    rows = np.argsort(-similar)[:LOOKED_AT].tolist()
    memories = [view.memories[row] for row in rows]
    relevant = home.statements.relevance(message, [memory.text for memory in memories])[:, 0]
    near = np.maximum(similar[rows], relevant)
    least = max(NEAR, float(near.max()) - APART)
    called = names(message)
    found = [
        (float(nearness), memory)
        for nearness, memory in zip(near, memories, strict=True)
        if nearness >= least or (nearness >= NAMED and called & names(memory.text))
    ]
    found.sort(key=lambda pair: -pair[0])
    return [memory for _, memory in found if memory.status is not Status.FORGOTTEN]


def _said(text: str, entries: tuple[Entry, ...] = ()) -> Reply:
    return Reply(Route.UPDATE, text, entries=entries)
