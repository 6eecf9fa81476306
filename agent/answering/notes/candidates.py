"""Passages that a question may need: selected ones, near ones, and what may have changed these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from agent.answering.notes.corrections import without_corrected
from agent.answering.retrieve import Part, Retrieved
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Home
from agent.memory.passages import Passage, as_told, goes_on, passage_of, section, sources_of
from policies.base import Question
from policies.baselines.fusion import activate
from policies.scoring.ranking import best, similar
from store.derived.large.part import Sought
from store.graph import MemoryGraph
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Memory, Source, Status, Trust, may_replace

LIKELIEST, NEAREST, ENDED = 12, 6, 4
"""Memories that are looked at beside the selection: by meaning and words, by meaning alone, and of
those that have ended."""
ANCHORS, AROUND = 3, 4
"""Lines of documents that bring others of their section along, and how many each brings."""
BOTH_HOLD = (ChangeKind.ADDS, ChangeKind.REFINES)
"""Edges that bring the newer note along and leave the older one true."""
CORRECTED = 0.5
"""Probability of a correction from which its words are read with what they correct."""
HOPS = 2
"""Steps along change edges from what was selected."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories of all spaces that are asked, by the ids that the answer uses."""

    memories: dict[str, Memory]
    passages: dict[str, Passage]
    edges: tuple[ChangeEdge, ...]
    """Change edges between them; the older end of each is the one that may be changed."""
    near: dict[str, float]
    """Cosine of each to the question; -1 where a memory has no vector."""
    over: frozenset[str]
    """Those that have ended by themselves, and were not selected as what the question asks for."""
    around: dict[str, tuple[str, ...]]
    """Of lines of documents, the lines that stand around them, the nearest first."""


def candidates(
    question: str, found: Retrieved, home: Home, *, past: bool, ended: bool
) -> Candidates:
    """What is looked at for a question, with ``ended`` also what has ended by itself.

    Of one about the ``past`` a note may have changed since: its edges say nothing of it.
    """
    put = Question(question, home.embedder.encode([question])[0], home.config.now())
    parts = [
        _of_space(put, part, past=past, ended=ended) for part in found.parts or (Part(home, found),)
    ]
    return Candidates(
        {name: memory for one in parts for name, memory in one.memories.items()},
        {name: passage for one in parts for name, passage in one.passages.items()},
        tuple(edge for one in parts for edge in one.edges),
        {name: cosine for one in parts for name, cosine in one.near.items()},
        frozenset().union(*(one.over for one in parts)),
        {name: lines for one in parts for name, lines in one.around.items()},
    )


def _of_space(put: Question, part: Part, *, past: bool, ended: bool) -> Candidates:
    """What one space has for a question."""
    home, named = part.home, part.named
    selected = {choice.memory.id for choice in part.found.selection.chosen}
    known = _near(put, part, past=past, ended=ended)
    lines = _around(known, home.graph)
    known |= {one.id: one for near in lines.values() for one in near}
    edges: dict[tuple[str, str], ChangeEdge] = {}
    for _ in range(0 if past else HOPS):
        for edge in home.graph.change_edges.of(known):
            edges[edge.older, edge.newer] = edge
        ends = {name for pair in edges for name in pair} - known.keys()
        known |= {memory.id: memory for memory in home.graph.memories.of(sorted(ends))}
    # What was selected may be over, where the question is about that; what an edge brought may not.
    replaced = {edge.older for edge in edges.values()}
    own = {
        name: memory
        for name, memory in known.items()
        if past
        or (
            memory.status is Status.CURRENT
            and (ended or name in selected or memory.holds_at(put.now))
        )
        or (memory.status is Status.REPLACED and name in replaced)
    }
    over = (
        named(name)
        for name, memory in own.items()
        if ended
        and name not in selected
        and memory.status is Status.CURRENT
        and not memory.holds_at(put.now)
    )
    sources = as_told(list(own.values()), home.graph)
    # What a text says in English is kept in the home that the text is of.
    glosses = Glosses(home.graph.path.parent, home.llm)
    index = home.graph.index(home.embedder.identity, put.now)
    vectors = {name: index.vector(name) for name in own}
    memories = {named(name): part.shown(memory) for name, memory in own.items()}
    passages = {named(n): _passage(part, memory, sources, glosses) for n, memory in own.items()}
    between = tuple(
        _by_trust(replace(edge, older=named(edge.older), newer=named(edge.newer)), memories)
        for edge in edges.values()
        if edge.older in own and edge.newer in own
    )
    return Candidates(
        memories,
        _with_corrected(passages, memories, between),
        between,
        {named(n): -1.0 if v is None else float(v @ put.vector) for n, v in vectors.items()},
        frozenset(over),
        {
            named(name): tuple(named(one.id) for one in near if one.id in own)
            for name, near in lines.items()
        },
    )


def _near(put: Question, part: Part, *, past: bool, ended: bool) -> dict[str, Memory]:
    """What was selected in a space, and what is nearest to the question."""
    home = part.home
    near = {choice.memory.id: choice.memory for choice in part.found.selection.chosen}
    sought = [Sought(put.text, put.vector)]
    view = home.graph.view(put.now, home.embedder.identity, history=past, asked=sought)
    if view.memories:
        rows = [candidate.row for candidate in activate(put, view, LIKELIEST)]
        rows += best(similar(put, view), NEAREST).tolist()
        for row in rows:
            near.setdefault(view.memories[row].id, view.memories[row])
    if ended:
        index = home.graph.index(home.embedder.identity, put.now)
        over = [match.memory for match in index.nearest_over(put.vector, count=LIKELIEST)]
        over = [memory for memory in over if memory.status is Status.CURRENT][:ENDED]
        near = {memory.id: memory for memory in over} | near
    return near


def _around(known: Mapping[str, Memory], graph: MemoryGraph) -> dict[str, list[Memory]]:
    """What stands around the first lines of documents among what is known.

    'When: Thursday, 08:50' says little without the line before it, and nothing in it is found.
    """
    noted = [memory for memory in known.values() if memory.trust is Trust.NOTED][:ANCHORS]
    sources = sources_of(noted, graph)
    found = {}
    for memory in noted:
        if memory.source in sources and memory.span is not None:
            place = memory.span.start
            stretch = section(sources[memory.source].text, place)
            near = graph.memories.read_near(memory.source, stretch, place, AROUND + 1)
            found[memory.id] = [one for one in near if one.id != memory.id]
    return found


def _passage(
    part: Part, memory: Memory, sources: Mapping[str, Source], glosses: Glosses
) -> Passage:
    """The passage as the reader reads it: in English, or empty where that cannot be had."""
    passage = passage_of(memory, sources)
    place, start = passage.place
    read = in_english(passage, glosses) or ""
    return replace(passage, read=read, place=(part.named(place), start))


def _with_corrected(
    passages: Mapping[str, Passage], memories: Mapping[str, Memory], edges: Iterable[ChangeEdge]
) -> dict[str, Passage]:
    """The passages; what probably corrects something of the same conversation, with that."""
    found = dict(passages)
    for edge in sorted(edges, key=lambda one: one.probability):
        corrects = edge.probability >= CORRECTED and edge.change is ChangeKind.CORRECTS
        if corrects and goes_on(memories[edge.older], memories[edge.newer]):
            newer = passages[edge.newer]
            about = without_corrected(passages[edge.older], newer)
            found[edge.newer] = replace(newer, about=about)
    return found


def _by_trust(edge: ChangeEdge, memories: Mapping[str, Memory]) -> ChangeEdge:
    """The edge; turned round where the newer memory is not trusted enough to change the older."""
    older, newer = memories[edge.older], memories[edge.newer]
    if edge.change in BOTH_HOLD or may_replace(newer.trust, older.trust):
        return edge
    return replace(edge, older=edge.newer, newer=edge.older)
