"""Notes for an answer: passages that the question needs, with what may have changed them.

Selection proposes memories; nearest passages are added, and whatever may have changed one of them
comes along over the graph's change edges. The statement reader says how likely the answer needs
each; where the language model is at hand, it reads the likeliest together with the question and
says which of them answer it and still hold (``models.readers.note_reader``). What a newer note has
probably changed is no longer what holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.answering.notes.candidates import BOTH_HOLD, candidates
from agent.answering.notes.parts import chances_of_changed_part
from agent.answering.notes.reading import first_of, read_together, relevance_of, spread
from agent.answering.notes.shifts import LEFT_OUT
from agent.answering.retrieve import Retrieved
from agent.language.identify import common_language
from agent.memory.gloss import Glosses
from agent.memory.home import Home
from agent.memory.passages import Passage
from agent.memory.time.changed import CHANGED
from agent.models.readers.note_reader import note_reader
from agent.ports import Embedder, StatementReader
from policies.selection import Choice, Selection, Step
from store.spaces import number_of
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Memory, Status

BESIDE = 4
"""Most notes beside the selection."""
LEAST = 0.1
"""Relevance below which a passage beside the selection is no note."""
LEAST_READ = 0.05
"""The same where the notes were read together, and whatever the judge of abstention says: that
knows less. What was selected is no note below it either."""
KNOWN = 0.5
"""Probability that any of the notes that were read together answers, below which nothing is claimed
(``silent`` of ``python -m benchmarks.adapter_fit``; docs/decisions/0023-reading-adapter.md)."""
NEAREST = 0.15
"""The same, below which not even the nearest note is shown
(``python -m benchmarks.homes --stories 1 --silent``)."""
OVERRULING = 0.3
"""The same where the judge of abstention expects no answer in memory (``policies.abstain``)."""
DOUBTED = 0.3
"""Probability of a change from which the older note is no answer by itself."""
SURE = 0.5
"""Relevance of a note that was read together with others from which an answer has to tell it."""
SMOOTHING = 0.1
"""Added to both relevances before their ratio counts: where the question is about neither, it says
little (docs/decisions/0023-reading-adapter.md)."""


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
    answered: float = 1.0
    """Probability that any of the notes that were read together answers."""
    over: bool = False
    """Whether it has ended by itself: a booking of last week, an offer until Sunday."""
    changed: float = 0.0
    """Probability that a newer note changed it."""
    by: str = ""
    """The memory that most likely changed it."""
    change: ChangeKind | None = None
    nearest: bool = False
    """Whether the statement reader and nearness together put it first, and both think it near."""
    score: float | None = None
    """What the policy that selected it gave it; None where it was not selected."""
    refined: str = ""
    """The memory that may have changed a part of it: another place, at the same time."""
    beside: frozenset[str] = frozenset()
    """Memories that hold together with it, by an edge: another allergy, another hobby."""
    changes: Passage | None = None
    """The older passage that it most likely changes, or a part of which it moves."""
    moved: str = ""
    """The date or time that it moves the older one to, computed, and what the older one says where
    it gives the day (``answering.notes.shifts``)."""

    before: Passage | None = None
    """What held before the one that it changes, where it names nothing itself: 'back to the old
    evening' (``answering.notes.returns``)."""

    @property
    def holds(self) -> bool:
        """Whether it is still taken to be true."""
        return not self.over and self.changed < CHANGED

    @property
    def unsure(self) -> bool:
        """Whether hardly any of the notes that were read together answers."""
        return self.answered < KNOWN

    @property
    def surely_needed(self) -> bool:
        """Whether the notes were read together and this one is an answer by itself."""
        return self.together and self.relevance >= SURE

    @property
    def about(self) -> str:
        """What it corrects, if the value that it puts right is left out: else a small model tells
        that ('wrong family, Theo's girl is Milou')."""
        return self.passage.about if LEFT_OUT in self.passage.about else ""

    @property
    def told(self) -> str:
        """All that is told of it: the words of its passage, and what goes with them."""
        before = self.before.words if self.before else ""
        parts = (self.about, self.passage.text, self.moved, before)
        return " ".join(filter(None, parts))

    def as_choice(self) -> Choice:
        """The memory as a choice, with its score in the selection."""
        return Choice(self.memory, self.relevance if self.score is None else self.score)

    def in_words(self) -> Memory:
        """The memory in the words of its passage, and what was computed of them."""
        return replace(self.memory, text=self.told)


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
    together = note_reader(home.llm) if use_llm else None
    ended = together is not None and not past
    pool = candidates(question, found, home, past=past, ended=ended)
    if not pool.memories:
        return ()
    texts = [passage.text for passage in pool.passages.values()]
    english = common_language(question, texts) == "en"
    glosses = Glosses(home.graph.path.parent, home.llm)
    asked = question if english else glosses.make(question) if use_llm else None
    relevance = spread(relevance_of(asked, pool.passages, reader), pool.edges)
    nearest = first_of(pool, relevance)
    read = None
    if together is not None:
        read = read_together(question, asked or question, pool, relevance, together)
    if read is not None:
        answered, relevance = read
        if answered < NEAREST:
            return ()
    scores = {choice.memory.id: choice.score for choice in found.selection.chosen}
    notes = [
        replace(
            _note(memory, pool.passages, relevance[name], pool.edges, past),
            score=scores.get(name),
            over=name in pool.over,
            nearest=name == nearest,
            together=read is not None,
            answered=1.0 if read is None else answered,
        )
        for name, memory in pool.memories.items()
    ]
    if english:
        notes = _by_part(notes, pool.passages, question, home.embedder)
    if read is not None:
        notes = _passed_on([_with_the_question(note, notes) for note in notes])
    chosen = scores.keys() & relevance.keys()
    least = OVERRULING if found.likely is not None and not chosen else LEAST
    if read is not None:
        least = LEAST_READ
        chosen = {name for name in chosen if relevance[name] >= least}
    return _chosen(notes, chosen, least)


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
    parts = [
        edge for edge in edges if edge.older == memory.id and edge.change is ChangeKind.REFINES
    ]
    part = max(parts, key=lambda edge: edge.probability, default=None)
    note = Note(
        memory,
        passages[memory.id],
        relevance,
        refined=part.newer if part and part.probability >= DOUBTED else "",
        beside=beside,
        changes=passages[first.older] if first and first.probability >= DOUBTED else None,
    )
    if last is not None:
        note = replace(note, changed=last.probability, by=last.newer, change=last.change)
    return replace(note, changed=1.0) if memory.status is Status.REPLACED and not past else note


def _by_part(
    notes: Sequence[Note], passages: Mapping[str, Passage], question: str, embedder: Embedder
) -> list[Note]:
    """The notes, each as likely changed as the part of it that the question asks for."""
    changed = [note for note in notes if note.by in passages and note.changed < 1]
    pairs = [(note.passage.words, passages[note.by].words) for note in changed]
    shares = chances_of_changed_part(question, pairs, embedder)
    share = dict(zip((note.memory.id for note in changed), shares, strict=True))
    return [replace(n, changed=n.changed * share.get(n.memory.id, 1.0)) for n in notes]


def _with_the_question(note: Note, notes: Sequence[Note]) -> Note:
    """The note, as likely changed as the pair and the question say together.

    The pair was judged without the question. The notes were read with it, and relevance means that
    a note answers and holds: of two notes of which one holds, their relevances are odds, too. So a
    dentist is not hidden by a new doctor, and a doubtful change counts where the newer note is the
    answer. One sentence of a message may end what the next one replaces, so all of it counts.
    """
    if not note.by or note.changed >= 1:
        return note
    places = {other.passage.place for other in notes if other.memory.id == note.by}
    newer = max((n.relevance for n in notes if n.passage.place in places), default=note.relevance)
    ratio = (newer + SMOOTHING) / (note.relevance + SMOOTHING)
    odds = note.changed / (1 - note.changed) * ratio
    return replace(note, changed=odds / (1 + odds))


def _passed_on(notes: Sequence[Note]) -> list[Note]:
    """The notes, each as likely needed as it still holds; what changed it is needed for the rest.

    'The physiotherapist cannot manage Thursday' names nobody, and the note that it changes does.
    """
    relevance = {note.memory.id: note.relevance for note in notes}
    for note in sorted(notes, key=lambda note: note.passage.said):
        if note.by in relevance and note.by != note.memory.id:
            rest = note.changed * relevance[note.memory.id]
            relevance[note.by] = min(1.0, relevance[note.by] + rest)
            if note.holds:
                relevance[note.memory.id] -= rest
    return [replace(note, relevance=relevance[note.memory.id]) for note in notes]


def _chosen(notes: Sequence[Note], selected: Collection[str], least: float) -> tuple[Note, ...]:
    """The selection, of ``BESIDE`` other passages the most relevant, and what changed these.

    What was selected stays whatever the reader says of it: it may be a link of a chain. What no
    longer holds takes nobody's place: it is not shown to the model. What a note changed comes with
    it, whole or in part: that something is over is known by what it ended. Where no note is surely
    an answer, what the other readers put first comes too.
    """
    if not any(note.surely_needed for note in notes):
        near = (note for note in notes if note.nearest and note.together and note.holds)
        selected = {*selected, *(note.memory.id for note in near)}
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
    said = {note.passage.place for note in chosen}
    telling = {note.memory.id for note in notes if note.passage.place in said}
    gone = [note for note in notes if not note.holds and note.by in telling]
    gone += [note for note in notes if note.refined in telling and note not in gone]
    chosen += [note for note in gone if note not in chosen][:BESIDE]
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
