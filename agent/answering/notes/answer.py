"""Answer from notes: what holds, in the user's words, and a quotation where the sentence may fail.

A small model does not keep track of what changed, marked or not. So it is shown only what is still
taken to hold, and what it says is checked against that. The words that its sentence rests on stand
beside it. Where it says nothing that stands in the notes, the most relevant notes themselves are
the answer. Where a newer note may have changed what the sentence rests on, that one is quoted; both
are, where the question hardly needs the newer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from agent.answering.answer import Answer, to_you, unanswered
from agent.answering.grounding import evidence
from agent.answering.notes.gather import DOUBTED, Note
from agent.answering.notes.prompt import build_turns, chance_of_answer
from agent.answering.notes.quotations import BESIDE_BEST, excerpts, is_own, quotable, quotations
from agent.answering.notes.returns import with_before
from agent.answering.notes.sentence import NO_LESS, Sentence, sentence_of
from agent.answering.notes.times import misses_shift, times_told, with_shift
from agent.answering.replies import nearest, no_longer, not_sure
from agent.language.identify import common_language
from agent.language.injection import steers
from agent.ports import LanguageModel
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Status, Trust

MAX_TOKENS = 80
LEAST_SHOWN = 0.1
"""Of the relevance of the likeliest note, that below which a note is not shown to the model."""
OVER = 0.6
"""Probability of an end from which the answer says that something holds no longer."""
SURELY_ANSWERED = 0.9
"""Where the model finds no answer: probability that any note answers from which the likeliest is
quoted although none by itself is sure (docs/decisions/0023-reading-adapter.md)."""
CLOSED, QUOTED_ALONE = 0.5, 0.65
"""Where the model finds no answer: what its yes to one note adds to the note's relevance, and from
where that is quoted. The two make different mistakes: on homes of voices held out relevance
separates notes of the right story with an area of 0.73, yes with 0.71, both with 0.80
(``python -m benchmarks.homes --every 4 --closed``)."""


def answer_from_notes(
    question: str,
    notes: Sequence[Note],
    *,
    now: datetime,
    llm: LanguageModel,
    on_text: Callable[[str], None] | None = None,
    past: bool = False,
) -> Answer:
    """Answer a question from notes; abstains where no note is relevant.

    Where hardly any is, it abstains too, and shows the one that comes nearest.

    The evidence is the notes that the answer rests on, and that hold unless the question is about
    the ``past``.
    """
    notes = [note for note in notes if not steers(note.passage.text)]
    current = [
        note for note in notes if past or (note.memory.status is Status.CURRENT and not note.over)
    ]
    holding = [note for note in current if note.holds] or current
    if any(note.unsure for note in notes):
        return _nearest_of(question, holding)
    gone = _likelier_than(holding, [note for note in notes if note.over])
    if gone is not None:
        return _quoting(question, [gone], lead=no_longer(question))
    if not holding:
        return unanswered(question)
    over = [note for note in notes if note not in holding]
    holding = _as_read(question, holding, over, notes, llm)
    shown = _shown(holding)
    said = llm.chat(build_turns(question, shown, now), max_tokens=MAX_TOKENS, on_text=on_text)
    sentence = sentence_of(said.strip(), question, holding, over)
    best = max(holding, key=lambda note: note.relevance)
    wanted = quotable(holding)
    ended = _ended(best, notes)
    if (
        not sentence.stands(shown, times_told(shown, question, now))
        or any(misses_shift(sentence.text, note, now) for note in wanted if sentence.is_of(note))
        or (ended and sentence.text.lower().startswith("yes"))
    ):
        return _in_quotations(sentence, wanted, llm, lead=no_longer(question) if ended else "")
    return _giving_way(sentence, best, wanted) or _with_its_words(sentence, wanted)


def _as_read(
    question: str,
    holding: Sequence[Note],
    over: Sequence[Note],
    notes: Sequence[Note],
    llm: LanguageModel,
) -> list[Note]:
    """The notes as they are read: without what holds no longer, with what was computed of them."""
    hidden = {note.passage.place for note in over}
    own = [_in_own_words(n, over) if n.passage.place in hidden else n for n in holding]
    return [with_before(note, notes, question) for note in _with_shifts(own, notes, llm)]


def _in_quotations(
    sentence: Sentence, wanted: Sequence[Note], llm: LanguageModel, *, lead: str
) -> Answer:
    """The notes in place of a sentence that does not stand.

    Of a note and what may have changed it, the later one is the answer. Where the model found
    none, only notes that surely answer are.
    """
    question, holding = sentence.question, sentence.holding
    changing = {note.memory.id for note in wanted}
    moved = [note.changes for note in wanted if note.moved]
    left = [
        note
        for note in wanted
        if not (note.by in changing and note.changed >= DOUBTED) and note.passage not in moved
    ]
    wanted = left or wanted
    if sentence.is_empty:
        wanted = [note for note in wanted if _answers(question, note, llm)]
        if not wanted:
            return _nearest_of(question, [note for note in holding if note.together])
    return _quoting(question, wanted, lead=lead)


def _giving_way(sentence: Sentence, best: Note, wanted: Sequence[Note]) -> Answer | None:
    """The notes in place of a sentence that stands, where a newer or likelier one says more."""
    question, base, holding = sentence.question, sentence.base, sentence.holding
    newer = next((note for note in holding if note.memory.id == base.by), None)
    untold = newer is not None and not sentence.tells(newer)
    if newer is not None and untold and base.changed >= DOUBTED and is_own(base) and is_own(newer):
        if newer.relevance >= NO_LESS * base.relevance:
            return _quoting(question, [newer])
        if not base.together:  # else the reader knew the newer one and took the older one to hold
            return _quoting(question, [base, newer], close=not_sure(question))
    part = next((note for note in holding if note.memory.id == base.refined), None)
    if part is not None and sentence.leaves_out(part):
        return _quoting(question, [base, part])
    if best in wanted and sentence.is_overtaken_by(best):
        return _quoting(question, [best])
    return None


def _with_its_words(sentence: Sentence, wanted: Sequence[Note]) -> Answer:
    """The sentence, and beside it the words that it rests on, where they help to check it.

    A small model picks the wrong part of what it read. A line of a file has its headings before
    it, and names what else stands under them.
    """
    base, holding = sentence.base, sentence.holding
    words = [] if base.memory.trust is Trust.NOTED else [base]
    beside = [note for note in wanted if sentence.goes_with(note) and not sentence.tells(note)]
    shown_too = [
        note
        for note in dict.fromkeys((*words, *beside))
        if is_own(note) and sentence.is_checked_by(note)
    ]
    choices = [note.as_choice() for note in holding]
    rests_on = {one.memory.id for one in evidence(sentence.question, sentence.text, choices)}
    rests_on = (rests_on or {base.memory.id}) | {note.memory.id for note in shown_too}
    text = "\n".join([to_you(sentence.text), *excerpts(shown_too)])
    return Answer(text, tuple(n.as_choice() for n in holding if n.memory.id in rests_on), False)


def _shown(holding: Sequence[Note]) -> list[Note]:
    """The notes that the model reads: without those that the question hardly needs.

    A small model takes them for a part of the story. What is bound to a note that it reads stays.
    """
    least = LEAST_SHOWN * max(note.relevance for note in holding)
    near = [note for note in holding if not note.together or note.relevance >= least]
    bound = {name for note in near for name in (note.by, note.refined, *note.beside)}
    return [note for note in holding if note in near or note.memory.id in bound]


def _nearest_of(question: str, holding: Sequence[Note]) -> Answer:
    """Nothing that claims to be an answer: what comes nearest, if it is in the user's own words.

    That is the likeliest of what was read together, and what is nearest by the other readers.
    """
    shown = quotable(holding)[:1] if holding else []
    shown += [note for note in holding if note.nearest and is_own(note) and note not in shown]
    if not shown:
        return unanswered(question)
    text = " ".join([nearest(question), *quotations(shown)])
    return Answer(text, tuple(note.as_choice() for note in shown), True)


def _in_own_words(note: Note, over: Sequence[Note]) -> Note:
    """The note without the rest of its message, of which a part holds no longer.

    What changed a part of its line may have changed it, too.
    """
    note = replace(note, passage=replace(note.passage, text=note.passage.words))
    gone = [other for other in over if other.by and other.passage.words == note.passage.words]
    last = max(gone, key=lambda other: other.changed, default=note)
    if last.changed <= note.changed:
        return note
    return replace(note, by=last.by, changed=last.changed, change=last.change)


def _answers(question: str, note: Note, llm: LanguageModel) -> bool:
    """Whether a note is quoted although the model found no answer in the notes.

    The closed question about one note finds other mistakes than the reader's relevance.
    """
    if note.together:
        return note.surely_needed or note.answered >= SURELY_ANSWERED
    text = note.passage.words
    if note.relevance >= QUOTED_ALONE or common_language(question, [text]) != "en":
        return True
    chance = chance_of_answer(question, note, llm)
    return chance is None or note.relevance + CLOSED * chance >= QUOTED_ALONE


def _with_shifts(holding: Sequence[Note], notes: Sequence[Note], llm: LanguageModel) -> list[Note]:
    """The notes, with the computed time in those that move an older one.

    The model reads amounts for those alone that may be the answer.
    """
    wanted = quotable(holding)
    return [with_shift(note, notes, llm if note in wanted else None) for note in holding]


def _quoting(question: str, notes: Sequence[Note], lead: str = "", close: str = "") -> Answer:
    """The notes as the answer, newest first."""
    if not notes:
        return unanswered(question)
    parts = [lead, *quotations(notes), close]
    return Answer(" ".join(filter(None, parts)), tuple(note.as_choice() for note in notes), False)


def _likelier_than(holding: Sequence[Note], over: Sequence[Note]) -> Note | None:
    """The likeliest note that has ended, where nothing that holds answers nearly as well."""
    best = max((note.relevance for note in holding), default=0.0)
    likeliest = max(over, key=lambda note: note.relevance, default=None)
    return likeliest if likeliest and best < BESIDE_BEST * likeliest.relevance else None


def _ended(best: Note, notes: Sequence[Note]) -> bool:
    """Whether the note says that something is over and gives nothing in its place."""
    said_together = {note.memory.id for note in notes if note.passage.place == best.passage.place}
    return any(
        note.by in said_together and note.change is ChangeKind.ENDS and note.changed >= OVER
        for note in notes
    )
