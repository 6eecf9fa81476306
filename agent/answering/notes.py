"""Notes for an answer: passages that the question needs, with what may have changed them.

Selection proposes memories; nearest passages are added, and whatever may have changed one of them
comes along over the graph's change edges. The statement reader says how likely the answer needs
each. What a newer note has probably changed is no longer what holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.answering.retrieve import Retrieved
from agent.language.identify import common_language
from agent.language.units import in_message, units
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Home
from agent.memory.passages import Passage, passage_of, sources_of
from agent.models.second_reader import SecondReader, rivals, second_reader
from agent.ports import StatementReader
from policies.base import Question
from policies.baselines.fusion import activate
from policies.scoring.ranking import best, similar
from policies.selection import Choice, Selection, Step
from store.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Memory, Status, may_replace

LIKELIEST, NEAREST = 12, 6
"""Memories that are looked at beside the selection: by meaning and words, by meaning alone."""
BESIDE = 4
"""Most notes beside the selection."""
LEAST = 0.1
"""Relevance below which a passage beside the selection is no note."""
LEAST_WEIGHED = 0.05
"""The same where the second reader's opinion is in it, and whatever the judge of abstention says:
that knows less than the two readers."""
OVERRULING = 0.3
"""The same where the judge of abstention expects no answer in memory (``policies.abstain``)."""
BOTH_HOLD = (ChangeKind.ADDS, ChangeKind.REFINES)
"""Edges that bring the newer note along and leave the older one true."""
CHANGED = 0.2
"""Probability of a change from which the older note is taken to hold no longer. Of two people whose
words nobody learned from, 40 of 68 such changes were right (administrator, dairy_farmer)."""
DOUBTED = 0.15
"""Probability of a change from which the older note is no answer by itself."""
UNREAD = 0.4
"""Relevance of a passage in another language that has no gloss."""
SECOND = 8
"""Likeliest passages that the second reader is asked about."""
HOPS = 2
"""Steps along change edges from what was selected."""


@dataclass(frozen=True, slots=True)
class Note:
    """A passage that the question may need."""

    memory: Memory
    passage: Passage
    relevance: float
    """How likely the answer needs it, or needs what it may have changed."""
    weighed: bool = False
    """Whether the second reader's opinion is in that: then it is a calibrated probability."""
    changed: float = 0.0
    """Probability that a newer note changed it."""
    by: str = ""
    """The memory that most likely changed it."""
    change: ChangeKind | None = None
    score: float | None = None
    """What the policy that selected it gave it; None where it was not selected."""
    beside: frozenset[str] = frozenset()
    """Memories that hold together with it, by an edge: another allergy, another hobby."""
    quote: str = ""
    """The unit of the passage that the question needs most; empty where it is the whole."""
    changes: Passage | None = None
    """The older passage that it most likely changes, or a part of which it moves."""
    moved: str = ""
    """The date or time that it moves the older one to, computed (``answering.times.shifts``)."""

    @property
    def holds(self) -> bool:
        """Whether it is still taken to be true."""
        return self.changed < CHANGED

    def as_choice(self) -> Choice:
        """The memory as a choice, with its score in the selection."""
        return Choice(self.memory, self.relevance if self.score is None else self.score)

    def in_words(self) -> Memory:
        """The memory in the words of its passage, and what was computed of them."""
        return replace(self.memory, text=f"{self.passage.text} {self.moved}".rstrip())


def gather(
    question: str, found: Retrieved, home: Home, reader: StatementReader, *, use_llm: bool = True
) -> tuple[Note, ...]:
    """The notes for a question about what holds, in order of time; empty if nothing is relevant.

    A question in another language is translated for the reader, if ``use_llm``.
    """
    pool = _pool(question, found, home)
    edges: dict[tuple[str, str], ChangeEdge] = {}
    for _ in range(HOPS):
        for edge in home.graph.change_edges.of(pool):
            edges[edge.older, edge.newer] = edge
        ends = {name for pair in edges for name in pair} - pool.keys()
        pool |= {memory.id: memory for memory in home.graph.memories.of(sorted(ends))}
    chosen = {choice.memory.id: choice.score for choice in found.selection.chosen}
    now = home.config.now()
    # What was selected may be over, where the question is about that; what an edge brought may not.
    replaced = {edge.older for edge in edges.values()}
    pool = {
        name: memory
        for name, memory in pool.items()
        if (memory.status is Status.CURRENT and (name in chosen or memory.holds_at(now)))
        or (memory.status is Status.REPLACED and name in replaced)
    }
    if not pool:
        return ()
    sources = sources_of(list(pool.values()), home.graph)
    passages = {name: passage_of(memory, sources) for name, memory in pool.items()}
    glosses = Glosses(home.graph.path.parent, home.llm)
    english = common_language(question, [passage.text for passage in passages.values()]) == "en"
    asked = question if english else glosses.make(question) if use_llm else None
    passages = {name: _readable(passage, glosses) for name, passage in passages.items()}
    relevance = _relevance(asked, passages, reader)
    second = second_reader(home.llm, load=True) if use_llm else None
    if second is not None:
        relevance = _weighed(question, relevance, passages, second)
    live = [
        _by_trust(edge, pool)
        for edge in edges.values()
        if edge.older in pool and edge.newer in pool
    ]
    relevance = _spread(relevance, live)
    notes = [
        replace(
            _note(memory, passages, relevance[memory.id], live),
            score=chosen.get(memory.id),
            weighed=second is not None,
        )
        for memory in pool.values()
    ]
    least = OVERRULING if found.likely is not None and not chosen else LEAST
    taken = _chosen(notes, chosen, LEAST_WEIGHED if second else least)
    if not english:
        return taken
    return tuple(replace(note, quote=_quote(question, note.passage, reader)) for note in taken)


def _by_trust(edge: ChangeEdge, pool: Mapping[str, Memory]) -> ChangeEdge:
    """The edge; turned round where the newer memory is not trusted enough to change the older."""
    older, newer = pool[edge.older], pool[edge.newer]
    if edge.change in BOTH_HOLD or may_replace(newer.trust, older.trust):
        return edge
    return replace(edge, older=edge.newer, newer=edge.older)


def _readable(passage: Passage, glosses: Glosses) -> Passage:
    """The passage as the reader reads it: in English, or empty where that cannot be had."""
    return replace(passage, read=in_english(passage, glosses) or "")


def _relevance(
    question: str | None, passages: Mapping[str, Passage], reader: StatementReader
) -> dict[str, float]:
    """Of each passage, how likely the answer needs it; ``UNREAD`` where the reader cannot say."""
    texts = list({passage.read for passage in passages.values() if passage.read})
    if question is None or not texts:
        return dict.fromkeys(passages, UNREAD)
    known = dict(zip(texts, reader.relevance(question, texts)[:, 0].tolist(), strict=True))
    return {name: known.get(passage.read, UNREAD) for name, passage in passages.items()}


def _weighed(
    question: str,
    relevance: Mapping[str, float],
    passages: Mapping[str, Passage],
    second: SecondReader,
) -> dict[str, float]:
    """The relevance, of the likeliest passages with what the second reader says of them."""
    words = {name: passage.words for name, passage in passages.items()}
    likeliest = sorted(relevance, key=lambda name: -relevance[name])
    first = {words[name]: relevance[name] for name in reversed(likeliest)}
    beside = dict(zip(first, rivals([*first.values()]).tolist(), strict=True))
    asked = list(dict.fromkeys(words[name] for name in likeliest))[:SECOND]
    both = second.relevance(
        question, asked, [first[text] for text in asked], [beside[text] for text in asked]
    )
    known = dict(zip(asked, both.tolist(), strict=True))
    # What the reader finds less likely than all of these is no likelier than they are.
    least = float(both.min(initial=1.0))
    return {name: known.get(words[name], min(chance, least)) for name, chance in relevance.items()}


def _quote(question: str, passage: Passage, reader: StatementReader) -> str:
    """Of a passage of several units, the one that the question needs most."""
    parts = units(passage.text)
    if len(parts) < 2:
        return ""
    read = [in_message(part, passage.text) for part in parts]
    return parts[int(reader.relevance(question, read)[:, 0].argmax())].text


def _pool(question: str, found: Retrieved, home: Home) -> dict[str, Memory]:
    pool = {choice.memory.id: choice.memory for choice in found.selection.chosen}
    now = home.config.now()
    view = home.graph.view(now, home.embedder.identity)
    if view.memories:
        put = Question(question, home.embedder.encode([question])[0], now)
        rows = [candidate.row for candidate in activate(put, view, LIKELIEST)]
        rows += best(similar(put, view), NEAREST).tolist()
        for row in rows:
            pool.setdefault(view.memories[row].id, view.memories[row])
    return pool


def _spread(relevance: Mapping[str, float], edges: Iterable[ChangeEdge]) -> dict[str, float]:
    """What may have changed something relevant is relevant itself."""
    spread = dict(relevance)
    for _ in range(HOPS):
        for edge in edges:
            along = spread[edge.older] * edge.probability
            spread[edge.newer] = max(spread[edge.newer], along)
    return spread


def _note(
    memory: Memory,
    passages: Mapping[str, Passage],
    relevance: float,
    edges: Iterable[ChangeEdge],
) -> Note:
    edges = [edge for edge in edges if memory.id in (edge.older, edge.newer)]
    added = [edge for edge in edges if edge.change is ChangeKind.ADDS]
    beside = frozenset(name for edge in added for name in (edge.older, edge.newer)) - {memory.id}
    own = [edge for edge in edges if edge.older == memory.id and edge.change not in BOTH_HOLD]
    last = max(own, key=lambda edge: edge.probability, default=None)
    back = [edge for edge in edges if edge.newer == memory.id and edge not in added]
    first = max(back, key=lambda edge: edge.probability, default=None)
    note = Note(
        memory,
        passages[memory.id],
        relevance,
        beside=beside,
        changes=passages[first.older] if first and first.probability >= CHANGED else None,
    )
    if last is not None:
        note = replace(note, changed=last.probability, by=last.newer, change=last.change)
    return replace(note, changed=1.0) if memory.status is Status.REPLACED else note


def _chosen(notes: Sequence[Note], selected: Collection[str], least: float) -> tuple[Note, ...]:
    """The selection, of ``BESIDE`` other passages the most relevant, and what changed these.

    What was selected stays whatever the reader says of it: it may be a link of a chain. What no
    longer holds takes nobody's place: it is not shown to the model.
    """
    chosen = [note for note in notes if note.memory.id in selected]
    others = [note for note in notes if note.memory.id not in selected and note.relevance >= least]
    others.sort(key=lambda note: note.passage.said, reverse=True)
    others.sort(key=lambda note: (-note.relevance, -note.changed))
    places: dict[tuple[str, int], Note] = {}
    for note in others:
        if note.holds and len(places) < BESIDE:
            places.setdefault(note.passage.place, note)
    chosen += [*places.values(), *[note for note in others if not note.holds][:BESIDE]]
    known = {note.memory.id for note in chosen}
    doubted = {note.by for note in chosen if note.changed >= DOUBTED and note.relevance >= least}
    chosen += [note for note in notes if note.memory.id in doubted - known]
    return tuple(sorted(chosen, key=lambda note: (note.passage.said, int(note.memory.id[1:]))))


def selected(selection: Selection, notes: Sequence[Note]) -> Selection:
    """The selection that the notes are, with the trace of why each of them is one."""
    by_id = {note.memory.id: note for note in notes if note.memory.status is Status.CURRENT}
    brought = {note.by: note.memory.id for note in notes if note.by}
    steps = [
        step if step.chosen == (step.memory in by_id) else _decided(step, by_id)
        for step in selection.trace
    ]
    known = {step.memory for step in steps}
    for name, note in by_id.items():
        if name not in known:
            older = brought.get(name)
            reason = f"may have changed {older}" if older else "the question may need it"
            steps.append(Step(name, note.relevance, True, reason, via=older))
    kept = {choice.memory.id for choice in selection.chosen}
    beside = [note for name, note in by_id.items() if name not in kept]
    beside.sort(key=lambda note: -note.relevance)
    chosen = (*selection.chosen, *(note.as_choice() for note in beside))
    return replace(selection, chosen=chosen, trace=tuple(steps))


def _decided(step: Step, notes: Mapping[str, Note]) -> Step:
    if step.memory in notes:
        return replace(step, chosen=True, reason="the question may need it")
    return replace(step, chosen=False, reason="the question hardly needs it")
