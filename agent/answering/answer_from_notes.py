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
from store.side_tables.change_edges import ChangeKind
from store.types import Trust

MAX_TOKENS = 80
QUOTABLE = 0.3
"""Relevance from which a note is quoted where the model has no answer."""
DOUBTED = 0.3
"""Probability of a change from which the older note is no answer by itself."""
QUOTED = 2
"""Most notes that are quoted in an answer."""

SYSTEM = """You answer a question of the user. You get notes in the user's own words, with their \
dates: what holds now, and sometimes what held before. Say what holds now in one short sentence \
with exact names, dates and numbers, with you and your. If the notes say nothing about it, say: \
I don't know."""
SYSTEM_ZH = """根据用户自己写的、带日期的笔记，用一句简短的中文回答用户的问题，\
写出准确的名字、日期和数字。\
前后不一致时以较新的笔记为准。如果笔记里没有答案，就说：我不知道。"""

LABELS = ("Holds now:", "Held before:", "Today:", "Question:")
LABELS_ZH = ("笔记：", "以前的笔记：", "今天：", "问题：")
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
    shown = [note.in_words() for note in (*holding, *before)]
    ended = _ended(best, notes)
    if (
        not said
        or admits_nothing(said)
        or steers(said)
        or invented(said, question, shown, now)
        or any(_echoes(said, note) for note in holding)
        or (ended and said.lower().startswith("yes"))
    ):
        return _quoting(holding, "No longer." if ended else "")
    base = max(holding, key=lambda note: (_shared(said, note), note.relevance))
    newer = next((note for note in holding if note.memory.id == base.by), None)
    if newer is not None and base.changed >= DOUBTED:
        return _quoting([base, newer], "", close="I am not sure which holds.")
    if best.passage.said > base.passage.said and _quotable(best):
        # The sentence rests on something older than the note that the question is about most.
        return _quoting([best], "")
    choices = [note.as_choice() for note in holding]
    rests_on = {choice.memory.id for choice in evidence(question, said, choices)}
    rests_on = rests_on or {base.memory.id}
    text = to_you(said)
    if _quotable(base) and _vague(question, said, base):
        text = f"{text} {quotation(base)}"
        rests_on.add(base.memory.id)
    return Answer(text, tuple(n.as_choice() for n in holding if n.memory.id in rests_on), False)


def _quoting(notes: Sequence[Note], lead: str, close: str = "") -> Answer:
    """The most relevant notes as the answer, newest first."""
    best = sorted(notes, key=lambda note: -note.relevance)[:QUOTED]
    quoted = {note.memory.id for note in best}
    best = [
        note
        for note in best
        if (_own(note) if close else _quotable(note) and note.by not in quoted)
    ]
    if not best:
        return Answer(UNKNOWN, (), True)
    best.sort(key=lambda note: note.passage.said, reverse=True)
    parts = [lead, *dict.fromkeys(map(quotation, best)), close]
    return Answer(" ".join(filter(None, parts)), tuple(note.as_choice() for note in best), False)


def build_turns(
    question: str, holding: Sequence[Note], before: Sequence[Note], now: datetime
) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    # Examples in one language make a small model forget another.
    other = is_chinese(question)
    turns = [ChatTurn("system", SYSTEM_ZH if other else SYSTEM)]
    for shown, answer in () if other else EXAMPLES:
        turns += [ChatTurn("user", shown), ChatTurn("assistant", answer)]
    now_line, then_line, today, asked = LABELS_ZH if other else LABELS
    parts = [now_line, *dict.fromkeys(map(_line, holding))]
    if before:
        parts += [then_line, *dict.fromkeys(map(_line, before))]
    parts += [f"{today} {now:%A %Y-%m-%d}", f"{asked} {as_data(question)}"]
    turns.append(ChatTurn("user", "\n".join(parts)))
    return tuple(turns)


def quotation(note: Note) -> str:
    """The user's own words with their day, in their language."""
    day, text = f"{note.passage.said:%Y-%m-%d}", note.passage.text
    if is_chinese(text):
        return f"你在 {day} 说过：“{text}”"
    if note.memory.trust is Trust.NOTED:
        return f"Your note of {day} says: “{text}”"
    return f"On {day} you said: “{text}”"


def _quotable(note: Note) -> bool:
    """Only the user's own words are given back; what a screen or a mail says is no answer."""
    return _own(note) and note.relevance >= QUOTABLE


def _own(note: Note) -> bool:
    return note.memory.trust in (None, Trust.TOLD, Trust.NOTED)


def _echoes(said: str, note: Note) -> bool:
    """Whether an answer gives back the lines of a text instead of one sentence."""
    return "\n" in said and any(
        line.strip() and line.strip() in note.memory.text for line in said.splitlines()
    )


def _line(note: Note) -> str:
    return f"[{note.passage.said:%a %Y-%m-%d}] {as_data(note.passage.text)}"


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


def _vague(question: str, said: str, note: Note) -> bool:
    """Whether a sentence says nothing of the note that the question did not say already."""
    return not (terms(said) & terms(note.passage.text)) - terms(question)
