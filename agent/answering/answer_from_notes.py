"""Answer from notes: what holds, in the user's words, and a quotation where the sentence may fail.

A small model does not keep track of what changed, marked or not. So it is shown only what is still
taken to hold, and what it says is checked against that. Where it says nothing that stands in the
notes, the most relevant notes themselves are the answer. Where a newer note may have changed what
the sentence rests on, both are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from agent.answering.answer import UNKNOWN, Answer, admits_nothing, to_you
from agent.answering.grounding import evidence, invented, terms
from agent.answering.notes import Note
from agent.language.injection import as_data, steers
from agent.language.sentences import is_chinese
from agent.ports import ChatTurn, LanguageModel
from policies.selection import Choice
from store.side_tables.change_edges import ChangeKind

MAX_TOKENS = 80
QUOTABLE = 0.3
"""Relevance from which a note is quoted where the model has no answer."""
DOUBTED = 0.3
"""Probability of a change from which the older note is no answer by itself."""
QUOTED = 2
"""Most notes that are quoted in an answer."""
COVERED = 0.5
"""Share of a note's words in the answer from which a quotation would only repeat it."""

SYSTEM = """You answer a question of the user. You get notes in the user's own words, with their \
dates: what holds now, and sometimes what held before. Say what holds now in one short sentence \
with exact names, dates and numbers, with you and your. If the notes say nothing about it, say: \
I don't know."""
OTHER_LANGUAGE = """ Answer in the language of the question."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "Holds now:\n[2025-05-12] Sold the Fabia to my cousin. The Leaf charges overnight in the "
        "yard.\nToday: 2025-05-20\nQuestion: What car do I drive?",
        "You drive a Leaf.",
    ),
    (
        "Holds now:\n[2025-03-02] choir starts an hour later from this wk\n"
        "Held before:\n[2025-01-10] choir mondays at 19:00\n"
        "Today: 2025-03-05\nQuestion: when does choir start",
        "Choir starts on Mondays at 20:00.",
    ),
    (
        "Holds now:\n[2025-04-04] My uncle Ivo keeps bees in Trebic.\n"
        "[2025-06-01] My friend Jan gave up his bees.\n"
        "Today: 2025-06-02\nQuestion: What does my uncle Ivo keep?",
        "Your uncle Ivo keeps bees.",
    ),
    (
        "Holds now:\n[2025-07-19] Doctor is pleased, the ramipril is finished with.\n"
        "Today: 2025-08-01\nQuestion: do i still take ramipril?",
        "No, you no longer take ramipril.",
    ),
    (
        "Holds now:\n[2025-09-02] tram 4 was late again\n"
        "Today: 2025-09-09\nQuestion: what is my shoe size",
        "I don't know.",
    ),
)


def answer_from_notes(
    question: str,
    notes: Sequence[Note],
    *,
    now: datetime,
    llm: LanguageModel,
    on_text: Callable[[str], None] | None = None,
) -> Answer:
    """Answer a question about what holds; abstains where no note is relevant.

    The evidence is the notes that hold and that the answer rests on.
    """
    notes = [note for note in notes if not steers(note.passage.text)]
    holding = [note for note in notes if note.holds] or list(notes)
    if not holding:
        return Answer(UNKNOWN, (), True)
    before = [note for note in notes if not note.holds and _needed(note, notes)]
    turns = build_turns(question, holding, before, now)
    said = llm.chat(turns, max_tokens=MAX_TOKENS, on_text=on_text).strip()
    best = max(holding, key=lambda note: note.relevance)
    shown = [note.as_choice().memory for note in (*holding, *before)]
    ended = _ended(best, notes)
    if (
        not said
        or admits_nothing(said)
        or steers(said)
        or invented(said, question, shown, now)
        or (ended and said.lower().startswith("yes"))
    ):
        return _quoting(holding, "No longer." if ended else "")
    base = max(holding, key=lambda note: (_shared(said, note), note.relevance))
    newer = next((note for note in holding if note.memory.id == base.by), None)
    if newer is not None and base.changed >= DOUBTED:
        return _quoting([base, newer], "", close="I am not sure which holds.")
    choices = [note.as_choice() for note in holding]
    rests_on = {choice.memory.id for choice in evidence(question, said, choices)}
    text = to_you(said)
    if best.relevance >= QUOTABLE and not _covered(said, best):
        text = f"{text} {quotation(best)}"
        rests_on.add(best.memory.id)
    return Answer(text, tuple(_plain(n) for n in holding if n.memory.id in rests_on), False)


def _quoting(notes: Sequence[Note], lead: str, close: str = "") -> Answer:
    """The most relevant notes as the answer, newest first."""
    best = sorted(notes, key=lambda note: -note.relevance)[:QUOTED]
    best = [note for note in best if note.relevance >= QUOTABLE]
    if not best:
        return Answer(UNKNOWN, (), True)
    best.sort(key=lambda note: note.passage.said, reverse=True)
    parts = [lead, *map(quotation, best), close]
    return Answer(" ".join(filter(None, parts)), tuple(map(_plain, best)), False)


def build_turns(
    question: str, holding: Sequence[Note], before: Sequence[Note], now: datetime
) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    # Examples in one language make a small model forget another.
    other = is_chinese(question)
    turns = [ChatTurn("system", SYSTEM + OTHER_LANGUAGE if other else SYSTEM)]
    for shown, answer in () if other else EXAMPLES:
        turns += [ChatTurn("user", shown), ChatTurn("assistant", answer)]
    parts = ["Holds now:", *map(_line, holding)]
    if before:
        parts += ["Held before:", *map(_line, before)]
    parts += [f"Today: {now:%A %Y-%m-%d}", f"Question: {as_data(question)}"]
    turns.append(ChatTurn("user", "\n".join(parts)))
    return tuple(turns)


def quotation(note: Note) -> str:
    """The user's own words with their day."""
    return f"On {note.passage.said:%Y-%m-%d} you said: “{note.passage.text}”"


def _line(note: Note) -> str:
    return f"[{note.passage.said:%a %Y-%m-%d}] {as_data(note.passage.text)}"


def _plain(note: Note) -> Choice:
    return Choice(note.memory, note.relevance)


def _needed(note: Note, notes: Sequence[Note]) -> bool:
    """Whether what changed a note can only be understood beside it: a shift without its value."""
    newer = next((other for other in notes if other.memory.id == note.by), None)
    return newer is not None and _has_digit(note) and not _has_digit(newer)


def _has_digit(note: Note) -> bool:
    return any(letter.isdigit() for letter in note.passage.text)


def _ended(best: Note, notes: Sequence[Note]) -> bool:
    """Whether the note says that something is over and gives nothing in its place."""
    return any(
        note.by == best.memory.id and note.change is ChangeKind.ENDS and not note.holds
        for note in notes
    )


def _shared(said: str, note: Note) -> int:
    return len(terms(note.passage.text) & terms(said))


def _covered(said: str, note: Note) -> bool:
    words = terms(note.passage.text)
    return not words or len(words & terms(said)) >= COVERED * len(words)
