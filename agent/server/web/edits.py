"""Edits from the web page, through the same journal.

Invariant: what changed since the page showed it is never overwritten unseen. Each edit names the
last journal line of the memory that the person saw (``seen``), checked in its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from agent.applications.services.today import doubts
from agent.io.markdown_edit import Block, Plain, difference, read_blocks, written
from agent.language.validation import checked_message
from agent.memory.editing.conflicts import Holds
from agent.memory.remember import edit_by_hand, without_secrets
from agent.memory.uncertain.pending_questions import settle_pair
from agent.results import Remembered
from agent.server.web.requests import Decide, Done, Edit, Leave, Pin, Supersede, Undo, UndoRun
from agent.session.session import Session
from store.errors import EditConflict
from store.graph import MemoryGraph
from store.journal import Amend, Entry, Forget, Replace, checked_text
from store.maintenance.batch_undo import from_sources, plan_undo, undo_all
from store.types import Memory

USER = "user"


def edit(session: Session, asked: Edit) -> Done:
    """Put right what is wrong; as in the editor of ``memlane memories edit``.

    :raises InvalidInput: if a date, subclass or text cannot be used.
    :raises EditConflict: if somebody changed the memory meanwhile.
    """
    graph, now = session.graph, session.config.now()
    memory = graph.memories.get(asked.memory)
    typed = difference(
        {memory.id: memory},
        [_typed(memory, asked)],
        subclasses=[subclass.id for subclass in graph.subclasses()],
        now=now,
        clean=partial(without_secrets, session),
    )
    if not typed.edits:
        return Done((), memory.id, "Nothing changed.")
    return _checked(
        graph, asked.memory, asked.seen, lambda: graph.apply(typed.edits, at=now, actor=USER)
    )


def _typed(memory: Memory, asked: Edit) -> Block:
    """The block of the memory, as the editor would have it after these changes."""
    (block,) = read_blocks(written([memory]))
    given: Mapping[str, Plain] = {
        name: value
        for name in ("subclass", "place", "valid_from", "valid_until")
        if (value := getattr(asked, name)) is not None
    }
    text = block.text if asked.text is None else checked_text(checked_message(asked.text))
    return replace(block, fields={**block.fields, **given}, text=text)


def supersede(session: Session, asked: Supersede) -> Done:
    """Put a new memory in the place of an old one, which stays as history."""
    graph = session.graph
    text = checked_text(without_secrets(session, checked_message(asked.text)))
    # Placed before the transaction: no model is called inside of one.
    subclass = session.placer.place([text])[0]
    return _checked(
        graph,
        asked.memory,
        asked.seen,
        lambda: edit_by_hand(
            session, text, lambda draft: Replace(asked.memory, draft), subclass=subclass
        ),
    )


def leave(session: Session, asked: Leave) -> Done:
    """Take a memory out of every answer."""
    graph, now = session.graph, session.config.now()
    return _checked(
        graph,
        asked.memory,
        asked.seen,
        lambda: graph.apply([Forget(asked.memory)], at=now, actor=USER),
    )


def pin(session: Session, asked: Pin) -> Done:
    """Keep a memory, or take its pin off again."""
    graph, now = session.graph, session.config.now()
    edit = Amend(asked.memory, pinned=asked.pinned)
    return _checked(
        graph, asked.memory, asked.seen, lambda: graph.apply([edit], at=now, actor=USER)
    )


def undo(session: Session, asked: Undo) -> Done:
    """Take back one edit. :raises EditConflict: if later edits stand in the way."""
    graph = session.graph
    entry = graph.journal.get(asked.entry)
    return _done(undo_all(graph, [entry], at=session.config.now(), actor=USER))


def undo_run(session: Session, asked: UndoRun) -> Done:
    """Take back what an ingest or import did, as far as it stands."""
    graph = session.graph
    run = graph.runs.get(asked.run)
    standing = plan_undo(graph.journal, from_sources(graph.journal, run.sources)).entries
    if not standing:
        return Done((), None, "Nothing of it is left to undo.")
    done = undo_all(graph, standing, at=session.config.now(), actor=USER)
    redo = f"memlane undo {done[0].id} --batch"
    return Done((), None, f"{len(done):,} changes undone. To redo them in a terminal: {redo}")


def decide(session: Session, asked: Decide) -> Done:
    """Settle a contradiction or a possible change.

    :raises EditConflict: if one of the two is not there any more.
    """
    graph, now = session.graph, session.config.now()
    pair = (asked.older, asked.newer)
    with graph.writing():
        if pair not in {(one.older.id, one.newer.id) for one in doubts(graph, now)}:
            raise EditConflict("That is decided already. Reload the page.")
        if asked.holds == "both":
            graph.change_edges.dismiss(*pair, now)
        return _done(settle_pair(graph, pair, Holds(asked.holds), now))


def told(remembered: Remembered) -> Done:
    """What became of a fact that was told on the page."""
    done = _done(remembered.entries)
    if remembered.queued:
        return replace(done, note="Stored. The memory will be ready in a moment.")
    known = remembered.unchanged[-1] if remembered.unchanged else None
    note = remembered.note or ("I knew that already." if known and not done.entries else "")
    return replace(done, memory=done.memory or known, note=note)


def _checked(
    graph: MemoryGraph, memory: str, seen: str, work: Callable[[], tuple[Entry, ...]]
) -> Done:
    with graph.writing():
        if graph.journal.of_memory(memory)[-1].id != seen:
            raise EditConflict(
                f"{memory} was changed after you opened it here. Reload it and edit it again."
            )
        return _done(work())


def _done(entries: tuple[Entry, ...]) -> Done:
    return Done(tuple(entry.id for entry in entries), entries[-1].memory if entries else None)
