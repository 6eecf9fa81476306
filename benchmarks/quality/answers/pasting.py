"""The alternative to a memory system: paste the dated messages into the same model.

*plain* gives the messages and the question; *few-shot* gives four worked examples of later notes
before them. Where not all messages fit, those that BM25 finds nearest to the question are taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from agent.ports import ChatTurn, LanguageModel
from store.derived.tokenize import words

MAX_TOKENS = 80
PROMPT_TOKENS = 3000
"""What the pasted messages may take; the context of the shipped model holds 4,096."""

SYSTEM = (
    "You answer the user's question from the user's own messages, which are dated. Later messages "
    "may change what earlier ones say. Answer in one short sentence. If the messages do not hold "
    "the answer, say: I don't know."
)

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "[2025-02-01 09:00] I drive a grey Skoda Fabia.\n"
        "[2025-05-12 18:30] Sold the Fabia to my cousin. The Leaf charges overnight in the yard.\n"
        "Today: 2025-05-20\nQuestion: What car do I drive?",
        "You drive a Leaf.",
    ),
    (
        "[2025-01-10 20:00] Choir practice is on Mondays at 19:00.\n"
        "[2025-03-02 08:15] Choir starts an hour later from this week.\n"
        "Today: 2025-03-05\nQuestion: When does choir start?",
        "Choir starts on Mondays at 20:00.",
    ),
    (
        "[2025-04-04 12:00] My uncle Ivo keeps bees in Trebic.\n"
        "[2025-06-01 12:00] My friend Jan gave up his bees.\n"
        "Today: 2025-06-02\nQuestion: What does my uncle Ivo keep?",
        "Your uncle Ivo keeps bees.",
    ),
    (
        "[2025-03-03 10:00] I take ramipril for my blood pressure.\n"
        "[2025-07-19 10:00] Doctor is pleased, the ramipril is finished with.\n"
        "Today: 2025-08-01\nQuestion: Do I still take ramipril?",
        "No, you stopped taking ramipril in July 2025.",
    ),
)


def pasted(
    messages: Sequence[tuple[datetime, str]],
    question: str,
    now: datetime,
    count: Callable[[str], int],
    *,
    examples: bool,
) -> tuple[ChatTurn, ...]:
    """The prompt: messages in order of time, the newest last, as many as fit."""
    turns = [ChatTurn("system", SYSTEM)]
    for shown, answer in EXAMPLES if examples else ():
        turns += [ChatTurn("user", shown), ChatTurn("assistant", answer)]
    lines = [f"[{at:%Y-%m-%d %H:%M}] {' '.join(text.split())}" for at, text in messages]
    chosen = _fitting(lines, question, count)
    body = "\n".join(lines[n] for n in chosen)
    turns.append(ChatTurn("user", f"{body}\nToday: {now:%Y-%m-%d}\nQuestion: {question}"))
    return tuple(turns)


def _fitting(lines: Sequence[str], question: str, count: Callable[[str], int]) -> list[int]:
    """The rows that fit, in their order; the nearest to the question where not all do."""
    sizes = [count(line) + 1 for line in lines]
    if sum(sizes) <= PROMPT_TOKENS:
        return list(range(len(lines)))
    scores = _bm25(question, lines)
    chosen: list[int] = []
    room = PROMPT_TOKENS
    for row in sorted(range(len(lines)), key=lambda row: (-scores[row], -row)):
        if sizes[row] <= room:
            chosen.append(row)
            room -= sizes[row]
    return sorted(chosen)


def _bm25(question: str, lines: Sequence[str], k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Okapi BM25 of each line for the question."""
    bags = [Counter(words(line)) for line in lines]
    mean = sum(bag.total() for bag in bags) / len(bags)
    held = Counter(word for bag in bags for word in bag)
    scores = []
    for bag in bags:
        norm = k1 * (1 - b + b * bag.total() / mean)
        scores.append(
            sum(
                math.log(1 + (len(bags) - held[word] + 0.5) / (held[word] + 0.5))
                * bag[word] * (k1 + 1) / (bag[word] + norm)
                for word in set(words(question))
                if word in bag
            )
        )  # fmt: skip
    return scores


def answer_by_pasting(
    llm: LanguageModel,
    messages: Sequence[tuple[datetime, str]],
    question: str,
    now: datetime,
    count: Callable[[str], int],
    *,
    examples: bool,
) -> str:
    """What the model answers from the pasted messages."""
    turns = pasted(messages, question, now, count, examples=examples)
    return llm.chat(turns, max_tokens=MAX_TOKENS).strip()
