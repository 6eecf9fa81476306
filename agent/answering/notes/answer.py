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

from agent.answering.answer import Answer, admits_nothing, to_you, unanswered
from agent.answering.grounding import evidence, invented, names, terms
from agent.answering.notes.gather import DOUBTED, LEAST, Note
from agent.answering.notes.prompt import build_turns, chance_of_answer
from agent.answering.notes.quotations import BESIDE_BEST, excerpts, is_own, quotable, quotations
from agent.answering.notes.times import misses_shift, times_told, with_before, with_shift
from agent.answering.replies import nearest, no_longer, not_sure
from agent.language.identify import common_language
from agent.language.injection import steers
from agent.ports import LanguageModel
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Status, Trust

MAX_TOKENS = 80
NO_LESS = 0.6
"""Of the relevance of a note, that from which what may have changed it is the answer."""
LEAST_SHOWN = 0.1
"""Of the relevance of the likeliest note, that below which a note is not shown to the model."""
UNLIKELY = 0.2
"""Relevance below which a sentence that rests on a note gives way to a later note that answers."""
ANSWERS_TOO = 0.75
"""Relevance of a note that was read together with others, from which it is told beside a sentence
that says nothing of it."""
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
    hidden = {note.passage.place for note in over}
    holding = [_in_own_words(n, over) if n.passage.place in hidden else n for n in holding]
    holding = _with_shifts(holding, notes, llm)
    holding = [with_before(note, notes, question) for note in holding]
    shown = _shown(holding)
    turns = build_turns(question, shown, now)
    said = llm.chat(turns, max_tokens=MAX_TOKENS, on_text=on_text).strip()
    best = max(holding, key=lambda note: note.relevance)
    wanted = quotable(holding)
    base = max(holding, key=lambda note: _rests_on(said, question, note))
    ended = _ended(best, notes)
    if (
        not said
        or admits_nothing(said)
        or steers(said)
        or invented(said, question, [n.in_words() for n in shown], times_told(shown, question, now))
        or any(_echoes(said, note) for note in holding)
        or _out_of_date(said, question, holding, over)
        or any(misses_shift(said, note, now) for note in wanted if _is_of(base, note))
        or (ended and said.lower().startswith("yes"))
    ):
        changing = {note.memory.id for note in wanted}
        # Of a note and what may have changed it, the later one is the answer.
        moved = [note.changes for note in wanted if note.moved]
        left = [
            note
            for note in wanted
            if not (note.by in changing and note.changed >= DOUBTED) and note.passage not in moved
        ]
        wanted = left or wanted
        if not said or admits_nothing(said):
            wanted = [note for note in wanted if _answers(question, note, llm)]
            if not wanted:
                return _nearest_of(question, [note for note in holding if note.together])
        return _quoting(question, wanted, lead=no_longer(question) if ended else "")
    newer = next((note for note in holding if note.memory.id == base.by), None)
    unsaid = newer is not None and not _says(said, newer, question)
    if newer is not None and unsaid and base.changed >= DOUBTED and is_own(base) and is_own(newer):
        if newer.relevance >= NO_LESS * base.relevance:
            return _quoting(question, [newer])
        if not base.together:  # else the reader knew the newer one and took the older one to hold
            return _quoting(question, [base, newer], close=not_sure(question))
    part = next((note for note in holding if note.memory.id == base.refined), None)
    if part is not None and _leaves_out(said, part, base, question):
        return _quoting(question, [base, part])
    if (
        best in wanted
        and _overtakes(best, base, question)
        and not _knew(said, best, base, question)
    ):
        return _quoting(question, [best])
    # A small model picks the wrong part of what it read, so the words stand beside its sentence.
    # A line of a file has its headings before it, and names what else stands under them.
    words = [] if base.memory.trust is Trust.NOTED else [base]
    beside = [note for note in wanted if _goes_with(note, base) and not _says(said, note, question)]
    shown_too = [
        note
        for note in dict.fromkeys((*words, *beside))
        if is_own(note) and _helps_to_check(note, said, question, over)
    ]
    choices = [note.as_choice() for note in holding]
    rests_on = {choice.memory.id for choice in evidence(question, said, choices)}
    rests_on = (rests_on or {base.memory.id}) | {note.memory.id for note in shown_too}
    text = "\n".join([to_you(said), *excerpts(shown_too)])
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


def _out_of_date(said: str, question: str, holding: Sequence[Note], over: Sequence[Note]) -> bool:
    """Whether the answer tells no more than what a newer note changed, naming it."""
    value = terms(said) - terms(question)
    naming = [note for note in holding if value <= terms(note.passage.text)]
    return bool(value and naming) and (
        any(value <= terms(note.passage.text) for note in over)
        and all(note.changes and value <= terms(note.changes.text) for note in naming)
    )


def _quoting(question: str, notes: Sequence[Note], lead: str = "", close: str = "") -> Answer:
    """The notes as the answer, newest first."""
    if not notes:
        return unanswered(question)
    parts = [lead, *quotations(notes), close]
    return Answer(" ".join(filter(None, parts)), tuple(note.as_choice() for note in notes), False)


def _echoes(said: str, note: Note) -> bool:
    """Whether an answer gives back the lines of a text instead of one sentence."""
    return "\n" in said and any(
        line.strip() and line.strip() in note.memory.text for line in said.splitlines()
    )


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


def _rests_on(said: str, question: str, note: Note) -> tuple[int, int, float]:
    """How far a sentence is of a note: by what the question did not say already, then by all."""
    shared = terms(note.told) & terms(said)
    return len(shared - terms(question)), len(shared), note.relevance


def _is_of(base: Note, note: Note) -> bool:
    """Whether a sentence that rests on ``base`` tells what a note tells, or what it may change."""
    return base == note or base.by == note.memory.id


def _says(said: str, note: Note, question: str) -> bool:
    """Whether a sentence says something of a note that the question did not say already."""
    return bool((terms(note.told) - terms(question)) & terms(said))


def _helps_to_check(note: Note, said: str, question: str, over: Sequence[Note]) -> bool:
    """Whether the words of a note say more than a sentence, and nothing that holds no longer.

    'Sold the Jazz, there is a Skoda in the garage instead' names what it changed: where the
    sentence says what holds, that is enough. What it may have changed is no reason to hide it.
    """
    unsaid = terms(f"{note.passage.words} {note.moved}") - terms(f"{question} {said}")
    if not unsaid or note.refined or note.changed >= DOUBTED:
        return False
    ended = [other.passage.text for other in over if other.by == note.memory.id]
    return not _says(said, note, question) or not unsaid & terms(" ".join(ended))


def _goes_with(note: Note, base: Note) -> bool:
    """Whether a note is told beside a sentence that rests on another one."""
    if note.memory.id in base.beside:
        return True
    replaced = note.by == base.memory.id and note.changed >= LEAST
    return note.together and note.relevance >= ANSWERS_TOO and not replaced


def _leaves_out(said: str, part: Note, base: Note, question: str) -> bool:
    """Whether a sentence that rests on ``base`` says nothing of what changed a part of it.

    'Choir is on Thursdays in the church' and 'There are works in the church, so we sing in the
    school': what holds is in both.
    """
    known = f"{question} {base.passage.text}"
    likely = part.relevance >= NO_LESS * base.relevance
    return likely and is_own(base) and is_own(part) and not _says(said, part, known)


def _knew(said: str, best: Note, base: Note, question: str) -> bool:
    """Whether a sentence that rests on ``base`` says something that only ``best`` tells."""
    own = terms(best.told) - terms(f"{base.passage.text} {question}")
    return bool(own & terms(said))


def _overtakes(best: Note, base: Note, question: str) -> bool:
    """Whether a sentence that rests on ``base`` gives way to what the question is about most.

    That is later, tells a name or number, and is by itself an answer that holds more surely. Where
    the notes were not read together it may be somebody else's news: then it has to be known to
    change ``base``, or the question hardly needs ``base``.
    """
    if base.relevance >= best.relevance or best.passage.said <= base.passage.said:
        return False
    if best.together:
        return best.surely_needed and bool(names(best.passage.words) - names(question))
    if base.relevance >= NO_LESS * best.relevance:
        return False
    may_have_changed = base.by == best.memory.id and base.changed >= DOUBTED
    return may_have_changed or base.relevance < UNLIKELY
