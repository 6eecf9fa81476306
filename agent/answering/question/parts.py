"""The questions that one message asks: 'when n where is my eye test' asks two.

A small model answers one thing at a time, and the notes that answer two questions at once hide one
another. A linear classifier over meaning and wording says whether a message may ask several things
(``benchmarks.question_parts_train`` makes the weights). The language model then writes each as a
question of its own, and the statement reader leaves out what asks nothing. Where less than two are
left, or one has words that the message has not, it stays one question.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.answering.grounding import names, terms
from agent.answering.routing import same_encoder, wording_slots
from agent.language.identify import common_language
from agent.language.injection import as_data
from agent.models.fixed_turns import fixed
from agent.ports import KINDS, ChatTurn, Embedder, LanguageModel, StatementReader
from policies.weight_file import read_arrays

WEIGHTS = Path(__file__).parents[1] / "data" / "question_parts.npz"
SEVERAL = 0.4
"""Probability from which a message may ask several things, and the model is asked to split it."""
ASKS = 0.5
"""Probability from which a part is a question."""
LONGEST = 400
"""Characters of a message that is split; a longer one is no question that somebody typed."""
MOST = 4
"""More parts than a person asks at once."""
MAX_TOKENS = 80
SYSTEM = (
    "Write each thing that the message asks as a question of its own, one a line. Each line can be "
    "understood alone: repeat who or what it is about. Keep the words of the message. Leave out "
    "what is no question."
)
EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "when does the ferry leave n whats the booking code",
        "when does the ferry leave\nwhats the booking code of the ferry",
    ),
    (
        "Who teaches my pottery class, and how much do I pay for it?",
        "Who teaches my pottery class?\nHow much do I pay for my pottery class?",
    ),
    ("my landlord wants to know, when am i moving out", "when am i moving out"),
    ("Where and when is Ben's party?", "Where is Ben's party?\nWhen is Ben's party?"),
    ("what car do i drive now", "what car do i drive now"),
    (
        "what did i pay for the sofa, where did i get it n is it still under warranty",
        "what did i pay for the sofa\nwhere did i get the sofa\nis the sofa still under warranty",
    ),
)
_BEGIN = fixed(SYSTEM, EXAMPLES)


def questions_in(
    message: str, embedder: Embedder, reader: StatementReader | None, llm: LanguageModel
) -> tuple[str, ...]:
    """The questions of a message in their order; the message itself where it asks one thing.

    Only in English, and with the encoder that the weights were made for.
    """
    if reader is None or len(message) > LONGEST or common_language(message, []) != "en":
        return (message,)
    if chance_of_several(message, embedder) < SEVERAL:
        return (message,)
    said = llm.chat((*_BEGIN, ChatTurn("user", as_data(message))), max_tokens=MAX_TOKENS)
    parts = asking([line.strip() for line in said.splitlines() if line.strip()], reader)
    return tuple(parts) if _are_of(message, parts) else (message,)


def chance_of_several(message: str, embedder: Embedder) -> float:
    """The probability that a message asks more than one thing; 0 with an unknown encoder."""
    weights = _weights()
    if not same_encoder(str(weights["encoder"]), embedder.identity):
        return 0.0
    slots, values = wording_slots(message)
    score = embedder.encode([message])[0] @ weights["meaning"] + weights["bias"]
    score += values @ weights["wording"][slots].astype(np.float32)
    return float(1 / (1 + np.exp(-score)))


def asking(parts: Sequence[str], reader: StatementReader) -> list[str]:
    """Those that ask something, by the statement reader: a model splits off frames as well."""
    if not parts:
        return []
    rows = [KINDS.index("question"), KINDS.index("command")]
    chances = reader.kinds(parts)[:, rows].sum(axis=1)
    return [part for part, chance in zip(parts, chances, strict=True) if chance >= ASKS]


def _are_of(message: str, parts: Sequence[str]) -> bool:
    """Whether parts are several, and each asks in words of the message.

    One word may be new ('the ref of the flight' of 'when do we fly and whats the ref'), but no name
    or number.
    """
    known = terms(message)
    named = known | names(message)
    return 1 < len(set(parts)) <= MOST and all(
        # The first word of a part begins with a capital and is no name.
        len(terms(part) - known) <= 1 and names(part[:1].lower() + part[1:]) <= named
        for part in parts
    )


@cache
def _weights() -> dict[str, NDArray[np.float32]]:
    return read_arrays(WEIGHTS)
