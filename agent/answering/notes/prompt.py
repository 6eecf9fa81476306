"""Prompts about notes: the question with the dated notes, and whether one note answers it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.answering.notes.gather import Note
from agent.answering.notes.shifts import BEFORE
from agent.language.identify import common_language
from agent.language.injection import as_data
from agent.memory.passages import LONGEST
from agent.models.closed_question import chance_of_yes, worked
from agent.models.fixed_turns import fixed
from agent.models.readers.note_reader import note_reader
from agent.ports import ChatTurn, LanguageModel

SYSTEM = (
    "You answer the user's question from the user's own messages, which are dated. Later messages "
    "may change what earlier ones say. Answer in one short sentence, with you and your. If the "
    "messages do not hold the answer, say: I don't know."
)
SYSTEM_ZH = """根据用户自己写的、带日期的笔记，用一句简短的中文回答用户的问题，\
写出准确的名字、日期和数字。\
前后不一致时以较新的笔记为准。如果笔记里没有答案，就说：我不知道。"""
IN_ITS_LANGUAGE = "Write the answer in the language of the question."

LABELS = ("Today:", "Question:")
LABELS_ZH = ("今天：", "问题：")
EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "[Sat 2025-02-01] I drive a grey Skoda Fabia.\n"
        "[Mon 2025-05-12] Sold the Fabia to my cousin. The Leaf charges overnight in the yard.\n"
        "Today: Tuesday 2025-05-20\nQuestion: What car do I drive?",
        "You drive a Leaf.",
    ),
    (
        "[Fri 2025-01-10] Choir practice is on Mondays at 19:00.\n"
        "[Sun 2025-03-02] Choir starts an hour later from this week.\n"
        "Today: Wednesday 2025-03-05\nQuestion: When does choir start?",
        "Choir starts on Mondays at 20:00.",
    ),
    (
        "[Fri 2025-04-04] My uncle Ivo keeps bees in Trebic.\n"
        "[Sun 2025-06-01] My friend Jan gave up his bees.\n"
        "Today: Monday 2025-06-02\nQuestion: What does my uncle Ivo keep?",
        "Your uncle Ivo keeps bees.",
    ),
    (
        "[Mon 2025-03-03] I take ramipril for my blood pressure.\n"
        "[Sat 2025-07-19] Doctor is pleased, the ramipril is finished with.\n"
        "Today: Friday 2025-08-01\nQuestion: Do I still take ramipril?",
        "No, you stopped taking ramipril in July 2025.",
    ),
    (
        "[Tue 2025-09-02] tram 4 was late again\n"
        "Today: Tuesday 2025-09-09\nQuestion: what is my shoe size",
        "I don't know.",
    ),
)
_BEGIN = {"en": fixed(SYSTEM, EXAMPLES), "zh": fixed(SYSTEM_ZH)}
_IN_ITS_LANGUAGE = fixed(f"{SYSTEM} {IN_ITS_LANGUAGE}")
ANSWERS = worked(
    "Does the note answer the question, or a part of it? The note is the user's own. "
    "Answer yes or no.",
    (
        ("Question: Where do I work?\nNote: first day at the bakery went ok, my feet hurt", True),
        ("Question: What is my shoe size?\nNote: tram 4 was late again", False),
        (
            "Question: When is my sister's exam?\n"
            "Note: Ines sits the exam on the 9th, a week later than planned",
            True,
        ),
        (
            "Question: What colour is my bike?\n"
            "Note: The bike is at the shop until Friday, brakes again.",
            False,
        ),
        (
            "Question: Who looks after the cat in August?\n"
            "Note: sorted: Nils takes Mimi while we're away",
            True,
        ),
        (
            "Question: Where does my uncle live?\nNote: My uncle Ivo gave up his bees last spring.",
            False,
        ),
        (
            "Question: What do I drink in the morning?\n"
            "Note: no more coffee for me, doc says tea only",
            True,
        ),
        ("Question: What is my account number?\nNote: locker code is 4471 now", False),
    ),
)


def build_turns(question: str, holding: Sequence[Note], now: datetime) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    # Examples in one language make a small model forget another.
    language = common_language(question, [note.passage.text for note in holding])
    begin = _BEGIN.get(language, _IN_ITS_LANGUAGE)
    today, asked = LABELS_ZH if language == "zh" else LABELS
    lines = [*dict.fromkeys(map(_line, holding)), f"{today} {now:%A %Y-%m-%d}"]
    return (*begin, ChatTurn("user", "\n".join([*lines, f"{asked} {as_data(question)}"])))


def read_beginnings(llm: LanguageModel, now: datetime) -> None:
    """Load the model and let it read what the prompts of every answer from notes begin with."""
    question = "What day is it?"
    if (reader := note_reader(llm)) is not None:
        reader.read(question, [(now, question)], [0.5])
    llm.chat(build_turns(question, (), now), max_tokens=1)


def _line(note: Note) -> str:
    moved = f" (that makes it {as_data(note.moved)})" if note.moved else ""
    before = f" (before that: {as_data(note.before.words)})" if note.before else ""
    words = note.passage.text
    if note.about and BEFORE not in note.moved:
        words = note.passage.with_corrected(words, LONGEST)
    return f"[{note.passage.said:%a %Y-%m-%d}] {as_data(words)}{moved}{before}"


def chance_of_answer(question: str, note: Note, llm: LanguageModel) -> float | None:
    """How likely the model says that a note by itself answers; None where it does not tell."""
    text = as_data(note.passage.words)
    return chance_of_yes(ANSWERS, f"Question: {as_data(question)}\nNote: {text}", llm)
