"""Read-only views of the web page, loaded page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby, islice

from agent.answering.trace import TracedStep, in_words, read_trace
from agent.extraction.documents.sections import part_of
from agent.extraction.triples.read import ME
from agent.language.relation_names import worded
from agent.memory.time.history import FactEvent, lives
from agent.memory.time.timeline import Timeline
from agent.memory.uncertain.pending_questions import undecided
from agent.server.web.requests import (
    Answered,
    AnswerList,
    Answers,
    Around,
    At,
    Card,
    Cards,
    Decision,
    Excerpt,
    Hits,
    InTime,
    Journal,
    Line,
    Lines,
    Look,
    MemoryPage,
    Moment,
    Months,
    Neighbourhood,
    Overview,
    Reasons,
    Search,
    Start,
    Undecided,
    Why,
)
from agent.session.session import Session
from store.errors import InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Entry
from store.maintenance.batch_undo import plan_undo
from store.row_codecs import entity_key, row_id
from store.tables.paging import Neighbour, Page
from store.tables.side_tables.ingest_runs import IngestRun
from store.tables.sources import Turn
from store.tables.taxonomy import TYPES
from store.types import EditKind, Memory, Source, Status

LOOKED_AT = 400
"""Exchanges among which the last questions are looked for."""
MOST = 200
"""How much may be asked for at once."""
FOUND, FOUND_NAMES = 20, 8
"""Memories and entities that a search shows."""
AROUND_SPAN = 700
"""Letters of a source that are shown on either side of what a memory was read from."""


def start(session: Session, asked: Start) -> Overview:
    """What there is at all."""
    graph, now = session.graph, session.config.now()
    held = graph.browse.types(now)
    kept = graph.memories.counts()
    latest = graph.journal.newest(1)
    return Overview(
        memories=sum(held.values()),
        history=kept.get(Status.CURRENT, 0) + kept.get(Status.REPLACED, 0) - sum(held.values()),
        types=tuple((name, held.get(name, 0)) for name in TYPES),
        subclasses=graph.subclasses(),
        latest=latest[0].id if latest else None,
        first=graph.browse.best_joined(now),
        undecided=tuple(Undecided(*graph.memories.of(one.pair)) for one in undecided(graph, now)),
    )


def around(session: Session, asked: Around) -> Neighbourhood:
    """An entity and a page of what lies beside it.

    :raises UnknownId: if no memory names it.
    """
    graph, now = session.graph, session.config.now()
    limit, offset = _checked(asked.limit, asked.offset)
    name = _entity(graph, asked.entity)
    beside, total = graph.browse.around(name, now, limit=limit, offset=offset, type=asked.type)
    pairs = graph.browse.between([one.key for one in beside], now)
    joining = graph.memories.of([one.newest for one in beside])
    worded_ = tuple(map(_worded, beside, joining))
    return Neighbourhood(name, worded_, pairs, total)


def _worded(neighbour: Neighbour, newest: Memory) -> Neighbour:
    """The neighbour with its relations as the newest memory words them."""
    relations = (worded(relation, newest.text) for relation in neighbour.relations)
    return replace(neighbour, relations=tuple(dict.fromkeys(relations)))


def at(session: Session, asked: At) -> Cards:
    """The memories at an entity. :raises UnknownId: if no memory names it."""
    graph, now = session.graph, session.config.now()
    limit, offset = _checked(asked.limit, asked.offset)
    name = _entity(graph, asked.entity)
    found = graph.browse.of_entity(name, now, beside=asked.beside, limit=limit, offset=offset)
    return Cards(cards(graph, found, now), found.total)


def _entity(graph: MemoryGraph, name: str) -> str:
    known = graph.memories.entity(name)
    if known is None and entity_key(name) == entity_key(ME):
        return ME  # a home of which nothing is told yet
    if known is None:
        raise UnknownId(f"No memory names {name!r} any more.")
    return known


def in_time(session: Session, asked: InTime) -> Months:
    """Memories by day."""
    graph, now = session.graph, session.config.now()
    limit, offset = _checked(asked.limit, asked.offset)
    tomorrow = (now + timedelta(days=1)).date().isoformat()
    found = graph.browse.in_time(
        before=None if asked.ahead else asked.before or tomorrow,
        since=tomorrow if asked.ahead else None,
        type=asked.type,
        limit=limit,
        offset=offset,
    )
    return Months(cards(graph, found, now), found.total, graph.browse.months(asked.type))


def search(session: Session, asked: Search) -> Hits:
    """Entities by name and memories by their words."""
    graph, now = session.graph, session.config.now()
    found = graph.browse.find(asked.text, limit=FOUND)
    names = graph.browse.find_entities(asked.text, limit=FOUND_NAMES)
    return Hits(names, cards(graph, found, now), found.total)


def look(session: Session, asked: Look) -> MemoryPage:
    """One memory with its source and history. :raises UnknownId: if there is none."""
    graph, now = session.graph, session.config.now()
    memory = graph.memories.get(asked.memory)
    source = graph.sources.get(memory.source) if memory.source else None
    (life,) = lives(graph, [memory.id], now)
    return MemoryPage(
        card(memory, now),
        graph.journal.of_memory(memory.id)[-1].id,
        None if source is None else _excerpt(source, memory),
        tuple(_moment(graph, event) for event in life.events),
    )


def journal(session: Session, asked: Journal) -> Lines:
    """The last edits."""
    graph = session.graph
    limit, _ = _checked(asked.limit)
    before = None if asked.before is None else row_id("e", asked.before, "edit")
    if not asked.grouped:
        found = graph.journal.newest(limit + 1, before)
        return Lines(tuple(line_of(graph, entry) for entry in found[:limit]), len(found) > limit)
    runs = {source: run for run in graph.runs.list() for source in run.sources}
    lines: list[Line] = []
    for run, entries in groupby(_entries(graph, before), lambda one: runs.get(one.source or "")):
        if run is None:
            lines += (line_of(graph, entry) for entry in islice(entries, limit + 1 - len(lines)))
        else:
            lines.append(_of_run(graph, run, list(entries)))
        if len(lines) > limit:
            break
    return Lines(tuple(lines[:limit]), len(lines) > limit)


def _entries(graph: MemoryGraph, before: int | None) -> Iterator[Entry]:
    """The journal from its end, read in pieces."""
    while found := graph.journal.newest(MOST, before):
        yield from found
        before = row_id("e", found[-1].id, "edit")


def _of_run(graph: MemoryGraph, run: IngestRun, entries: Sequence[Entry]) -> Line:
    """One line for what a run did; its id is that of the first edit, behind which one reads on."""
    line = line_of(graph, entries[0])
    if len(entries) == 1:
        return line
    return replace(line, id=entries[-1].id, run=run.id, what=run.what, edits=len(entries))


def answers(session: Session, asked: Answers) -> AnswerList:
    """The last exchanges."""
    graph = session.graph
    limit, _ = _checked(asked.limit)
    asked_ = [turn for turn in graph.turns.last(LOOKED_AT) if turn.route != "update"]
    return AnswerList(tuple(map(_answered, reversed(asked_[-limit:]))))


def why(session: Session, asked: Why) -> Reasons:
    """How the memories behind an answer were chosen. :raises UnknownId: if there is none."""
    graph = session.graph
    trace = read_trace(graph, asked.turn)
    return Reasons(
        _answered(trace.turn),
        in_words(trace),
        tuple(map(_decision, trace.steps)),
        trace.cut,
    )


# ---- parts --------------------------------------------------------------------------------------


def card(memory: Memory, now: datetime) -> Card:
    """A memory, and what it is at this moment."""
    day = _day(memory).date().isoformat()
    if memory.status is Status.FORGOTTEN:
        return Card(memory, "forgotten", day)
    return Card(memory, Timeline([memory]).standing(memory, now).value, day)


def _day(memory: Memory) -> datetime:
    """When what a memory tells happens, as ``store.tables.paging`` orders them."""
    if memory.valid_from or memory.valid_until is None or memory.status is not Status.CURRENT:
        return memory.valid_from or memory.created
    return memory.valid_until - timedelta(seconds=1)


def cards(graph: MemoryGraph, found: Page, now: datetime) -> tuple[Card, ...]:
    return tuple(card(memory, now) for memory in graph.memories.of(found.ids))


def _excerpt(source: Source, memory: Memory) -> Excerpt:
    """The source around what was read; a source may be a book."""
    start, end = (memory.span.start, memory.span.end) if memory.span else (0, 0)
    first, last = max(0, start - AROUND_SPAN), min(len(source.text), end + AROUND_SPAN)
    return Excerpt(
        source.kind.value,
        source.locator,
        source.captured,
        source.place,
        source.text[first:start],
        source.text[start:end],
        source.text[end:last],
        more=first > 0 or last < len(source.text),
        part=part_of(source, memory.span),
    )


def _moment(graph: MemoryGraph, event: FactEvent) -> Moment:
    entry = None if event.entry is None else graph.journal.get(event.entry)
    swapped = entry is not None and entry.kind is EditKind.REPLACE
    return Moment(
        event.at,
        event.what,
        event.memory,
        event.detail,
        entry.before if entry and swapped else None,
        entry.after if entry and swapped else None,
        event.entry,
        event.actor,
        None if event.source is None else event.source.locator or event.source.kind.value,
        event.undone_by,
        entry is not None and event.undone_by is None and _can_undo(graph, entry),
    )


def _can_undo(graph: MemoryGraph, entry: Entry) -> bool:
    plan = plan_undo(graph.journal, [entry])
    return bool(plan.entries) and not plan.conflicts and not plan.erased


def line_of(graph: MemoryGraph, entry: Entry) -> Line:
    """An edit as a line of the journal."""
    undone = graph.journal.undo_of(entry.id)
    return Line(
        entry.id,
        entry.at,
        entry.kind.value,
        entry.actor,
        entry.memory,
        entry.before,
        entry.after,
        entry.undoes,
        None if undone is None else undone.id,
        any(change.redacted for change in entry.changes),
    )


def _answered(turn: Turn) -> Answered:
    return Answered(turn.id, turn.at, turn.text, turn.reply)


def _decision(traced: TracedStep) -> Decision:
    step, memory = traced.step, traced.memory
    return Decision(
        step.memory,
        None if memory is None else memory.text,
        None if memory is None else memory.type,
        step.score,
        step.probability,
        step.chosen,
        traced.used,
        step.activated,
        step.via,
        step.reason,
    )


def _checked(limit: int, offset: int = 0) -> tuple[int, int]:
    """:raises InvalidInput: if it is more than a page, or before the first one."""
    if not (1 <= limit <= MOST and 0 <= offset < 1 << 31):
        raise InvalidInput(f"A page has 1 to {MOST} entries, and begins at 0 or after.")
    return limit, offset
