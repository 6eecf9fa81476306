"""Notes for an answer: passages that the question needs, with what may have changed them.

Selection proposes memories; nearest passages are added, and whatever may have changed one of them
comes along over the graph's change edges. The statement reader says how likely the answer needs
each; where the language model is at hand, it reads the likeliest together with the question and
says which of them answer it and still hold (``agent.models.note_reader``). What a newer note has
probably changed is no longer what holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.answering.retrieve import Part, Retrieved
from agent.errors import PromptTooLong
from agent.language.identify import common_language
from agent.language.injection import steers
from agent.language.units import in_message, units
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Home
from agent.memory.passages import Passage, passage_of, sources_of
from agent.models.note_reader import NOTES, DatedNote, NoteReader, note_reader
from agent.ports import StatementReader
from policies.base import Question
from policies.baselines.fusion import activate
from policies.scoring.ranking import best, similar
from policies.selection import Choice, Selection, Step
from store.side_tables.change_edges import ChangeEdge, ChangeKind
from store.spaces import number_of
from store.types import Memory, Status, may_replace

LIKELIEST, NEAREST = 12, 6
"""Memories that are looked at beside the selection: by meaning and words, by meaning alone."""
BESIDE = 4
"""Most notes beside the selection."""
LEAST = 0.1
"""Relevance below which a passage beside the selection is no note."""
LEAST_READ = 0.05
"""The same where the notes were read together, and whatever the judge of abstention says: that
knows less. What was selected is no note below it either."""
KNOWN = 0.4
"""Probability that any of the notes that were read together answers, below which there is none
(``silent`` of ``python -m benchmarks.note_reader_train``)."""
NONE_BY_FIRST, KNOWN_AGAINST = 0.02, 0.9
"""Where the statement reader is this sure that no note answers, the other has to be surer that
one does. Each is wrong at times in a home of three notes: one took a dentist's appointment for a
passport number, the other an allergy for no answer. Hardly any question of the writers learned
from is so."""
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
CHANGED_READ = 0.5
"""``CHANGED`` of notes that were read together: their relevance says already whether they hold."""
SMOOTHING = 10
"""Of reciprocal rank fusion: how much less the first ranks count."""
HOPS = 2
"""Steps along change edges from what was selected."""


@dataclass(frozen=True, slots=True)
class Note:
    """A passage that the question may need."""

    memory: Memory
    passage: Passage
    relevance: float
    """How likely the answer needs it, or needs what it may have changed."""
    together: bool = False
    """Whether the notes were read together: then it is the calibrated probability that the note
    answers the question and holds."""
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
        return self.changed < (CHANGED_READ if self.together else CHANGED)

    def as_choice(self) -> Choice:
        """The memory as a choice, with its score in the selection."""
        return Choice(self.memory, self.relevance if self.score is None else self.score)

    def in_words(self) -> Memory:
        """The memory in the words of its passage, and what was computed of them."""
        return replace(self.memory, text=f"{self.passage.text} {self.moved}".rstrip())


def gather(
    question: str,
    found: Retrieved,
    home: Home,
    reader: StatementReader,
    *,
    use_llm: bool = True,
    past: bool = False,
) -> tuple[Note, ...]:
    """The notes for a question, in order of time; empty if nothing is relevant.

    A question in another language is translated for the reader, if ``use_llm``. Of one about the
    ``past`` a note may have changed since: its edges say nothing of it.
    """
    parts = found.parts or (Part(home, found),)
    looked = [_look(question, part, past) for part in parts]
    pool = {name: memory for one in looked for name, memory in one.pool.items()}
    if not pool:
        return ()
    chosen = {choice.memory.id: choice.score for choice in found.selection.chosen}
    passages = {name: passage for one in looked for name, passage in one.passages.items()}
    english = common_language(question, [passage.text for passage in passages.values()]) == "en"
    glosses = Glosses(home.graph.path.parent, home.llm)
    asked = question if english else glosses.make(question) if use_llm else None
    for one in looked:
        # What a text says in English is kept in the home that the text is of.
        of_home = Glosses(one.part.home.graph.path.parent, home.llm)
        passages |= {name: _readable(passage, of_home) for name, passage in one.passages.items()}
    live = [_by_trust(edge, pool) for one in looked for edge in one.edges]
    relevance = _spread(_relevance(asked, passages, reader), live)
    together = note_reader(home.llm) if use_llm else None
    if together is not None:
        listed = _listed(question, looked, relevance, home)
        try:
            against = max(relevance.values()) < NONE_BY_FIRST
            answered, relevance = _read(question, listed, relevance, passages, together)
            if answered < (KNOWN_AGAINST if against else KNOWN):
                return ()
        except PromptTooLong:  # in scripts of which each character is several tokens
            together = None
    notes = [
        replace(
            _note(memory, passages, relevance[memory.id], live, past),
            score=chosen.get(memory.id),
            together=together is not None,
        )
        for memory in pool.values()
    ]
    least = OVERRULING if found.likely is not None and not chosen else LEAST
    if together is not None:
        least = LEAST_READ
        chosen = {name: score for name, score in chosen.items() if relevance[name] >= least}
    taken = _chosen(notes, chosen, least)
    if not english:
        return taken
    return tuple(replace(note, quote=_quote(question, note.passage, reader)) for note in taken)


@dataclass(frozen=True, slots=True)
class _Looked:
    """What one space has for a question, by the ids that the answer uses."""

    part: Part
    pool: Mapping[str, Memory]
    passages: Mapping[str, Passage]
    edges: Sequence[ChangeEdge]
    own: Mapping[str, str]
    """The id that the space itself has for each memory."""


def _look(question: str, part: Part, past: bool) -> _Looked:
    """The memories of one space that the question may need, with what may have changed them."""
    graph, now, named = part.home.graph, part.home.config.now(), part.named
    pool = _pool(question, part.found, part.home, past)
    edges: dict[tuple[str, str], ChangeEdge] = {}
    for _ in range(0 if past else HOPS):
        for edge in graph.change_edges.of(pool):
            edges[edge.older, edge.newer] = edge
        ends = {name for pair in edges for name in pair} - pool.keys()
        pool |= {memory.id: memory for memory in graph.memories.of(sorted(ends))}
    chosen = {choice.memory.id for choice in part.found.selection.chosen}
    # What was selected may be over, where the question is about that; what an edge brought may not.
    replaced = {edge.older for edge in edges.values()}
    pool = {
        name: memory
        for name, memory in pool.items()
        if past
        or (memory.status is Status.CURRENT and (name in chosen or memory.holds_at(now)))
        or (memory.status is Status.REPLACED and name in replaced)
    }
    sources = sources_of(list(pool.values()), graph)
    passages = {}
    for name, memory in pool.items():
        passage = passage_of(memory, sources)
        place, start = passage.place
        passages[named(name)] = replace(passage, place=(named(place), start))
    live = [
        replace(edge, older=named(edge.older), newer=named(edge.newer))
        for edge in edges.values()
        if edge.older in pool and edge.newer in pool
    ]
    shown = {named(name): part.shown(memory) for name, memory in pool.items()}
    return _Looked(part, shown, passages, live, {named(name): name for name in pool})


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


def _listed(
    question: str, looked: Sequence[_Looked], relevance: Mapping[str, float], home: Home
) -> list[str]:
    """The ids of the likeliest memories, by the reader and by nearness together."""
    asked = home.embedder.encode([question])[0]
    near: dict[str, float] = {}
    for one in looked:
        index = one.part.home.graph.index(home.embedder.identity, home.config.now())
        vectors = {name: index.vector(own) for name, own in one.own.items()}
        near |= {name: -1.0 if v is None else float(v @ asked) for name, v in vectors.items()}
    score = dict.fromkeys(near, 0.0)
    for by in (relevance, near):
        for rank, name in enumerate(sorted(near, key=lambda name: -by[name])):
            score[name] += 1 / (SMOOTHING + rank)
    return sorted(near, key=lambda name: -score[name])


def _read(
    question: str,
    listed: Sequence[str],
    relevance: Mapping[str, float],
    passages: Mapping[str, Passage],
    reader: NoteReader,
) -> tuple[float, dict[str, float]]:
    """How likely any answers, and each answers and holds, of the first that are listed.

    Those that are not read are no likelier than what is.
    """
    notes: dict[DatedNote, float] = {}
    for name in listed:
        if len(notes) < NOTES and not steers(passages[name].text):
            notes.setdefault(_dated(passages[name]), relevance[name])
    reading = reader.read(question, list(notes), list(notes.values()))
    known = dict(zip(notes, reading.relevance.tolist(), strict=True))
    least = min(known.values(), default=0.0)
    return reading.answered, {
        name: known.get(_dated(passages[name]), min(chance, least))
        for name, chance in relevance.items()
    }


def _dated(passage: Passage) -> DatedNote:
    return passage.said, passage.words


def _quote(question: str, passage: Passage, reader: StatementReader) -> str:
    """Of a passage of several units, the one that the question needs most."""
    parts = units(passage.text)
    if len(parts) < 2:
        return ""
    read = [in_message(part, passage.text) for part in parts]
    return parts[int(reader.relevance(question, read)[:, 0].argmax())].text


def _pool(question: str, found: Retrieved, home: Home, past: bool) -> dict[str, Memory]:
    pool = {choice.memory.id: choice.memory for choice in found.selection.chosen}
    now = home.config.now()
    view = home.graph.view(now, home.embedder.identity, history=past)
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
    past: bool,
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
    return replace(note, changed=1.0) if memory.status is Status.REPLACED and not past else note


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
    return tuple(sorted(chosen, key=lambda note: (note.passage.said, number_of(note.memory.id))))


def selected(selection: Selection, notes: Sequence[Note], *, past: bool = False) -> Selection:
    """The selection that the notes are, with the trace of why each of them is one.

    What was replaced is one only where the question is about the ``past``.
    """
    by_id = {n.memory.id: n for n in notes if past or n.memory.status is Status.CURRENT}
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
