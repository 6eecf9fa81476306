"""From selections and answers to figures: what one policy scores on one set of questions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agent.answering.answer import build_turns, note
from agent.ports import LanguageModel, RewardModel
from benchmarks.shared.questions.qa_data import Item
from benchmarks.shared.questions.qa_metrics import bleu, evidence, exact, rouge, token_f1
from benchmarks.shared.questions.qa_views import Put, respond
from benchmarks.shared.simulated_lives.lives import states
from policies.base import Policy
from policies.selection import Selection

MOST_TOKENS = 3000
"""Of notes; a longer prompt takes minutes on 2 cores and leaves the model's window. Its question
counts as not answered (figure ``too_long``)."""
SELECTED = ("precision", "recall", "f1", "memories", "notes_tokens", "prompt_tokens", "ms",
            "empty_unknown", "empty_known", "n")  # fmt: skip
ANSWERED = ("rouge1", "rouge2", "rouge_l", "bleu", "exact", "token_f1", "right", "evidence_f1",
            "abstained_unknown", "abstained_known", "too_long", "answers")  # fmt: skip
Figures = dict[str, float | int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """What a policy chose for a question, and the milliseconds it took it."""

    put: Put
    selection: Selection
    ms: float

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(choice.memory.id for choice in self.selection.chosen)


def select(policy: Policy, puts: Sequence[Put], *, twice: bool = True) -> list[Selected]:
    """The policy on each question; the embedding of the question is made already.

    The time is that of a second selection, when views and policies hold what they keep, or of the
    only one where a language model is asked.
    """
    done = []
    for put in puts:
        if twice:
            policy.select(put.question, put.view)
        began = time.perf_counter()
        selection = policy.select(put.question, put.view)
        done.append(Selected(put, selection, 1000 * (time.perf_counter() - began)))
    return done


def judge_selections(rows: Sequence[Selected], tokens: Callable[[str], int]) -> Figures:
    """Evidence over questions that need some; tokens over all; abstention over the others.

    ``notes_tokens`` are those of the chosen memories as the prompt has them, ``prompt_tokens``
    those of the whole prompt with its instructions, examples and the question.
    """
    found = [evidence(row.ids, row.put.required) for row in rows if row.put.required]
    notes = [notes_tokens(row, tokens) for row in rows]
    fixed = [sum(tokens(turn.content) for turn in build_turns(row.put.item.text, (),
             row.put.question.now)) for row in rows]  # fmt: skip
    unknown = [not row.ids for row in rows if not row.put.item.answerable]
    known = [not row.ids for row in rows if row.put.item.answerable]
    return {
        "precision": mean([one.precision for one in found]),
        "recall": mean([one.recall for one in found]),
        "f1": mean([one.f1 for one in found]),
        "memories": mean([len(row.ids) for row in rows]),
        "notes_tokens": mean(notes),
        "prompt_tokens": mean([a + b for a, b in zip(notes, fixed, strict=True)]),
        "ms": statistics.median(row.ms for row in rows) if rows else None,
        "empty_unknown": mean(unknown),
        "empty_known": mean(known),
        "n": len(found),
    }


def notes_tokens(row: Selected, tokens: Callable[[str], int]) -> int:
    """Each memory is a numbered line."""
    now = row.put.question.now
    return sum(
        tokens(note(choice.memory, now)) + tokens(f"{n}. \n")
        for n, choice in enumerate(row.selection.chosen, 1)
    )


@dataclass(frozen=True, slots=True)
class Answered:
    """What was said to a question, '' for an abstention, and whether that is right."""

    item: Item
    said: str
    right: float
    too_long: bool = False


def answer_all(
    rows: Sequence[Selected],
    llm: LanguageModel,
    chooser: RewardModel | None,
    tokens: Callable[[str], int],
) -> list[Answered]:
    """The product's answers. Where there are choices, ``chooser`` says which is likeliest."""
    done = []
    for row in rows:
        item = row.put.item
        if notes_tokens(row, tokens) > MOST_TOKENS:
            done.append(Answered(item, "", 0.0, too_long=True))
            continue
        reply = respond(row.put, row.selection.chosen, llm)
        said = "" if reply.abstained else reply.text
        if item.choices and chooser is not None:
            now = row.put.question.now
            turns = build_turns(item.text, row.selection.chosen, now, row.put.asked)
            (likely,) = chooser.choose([turns], [item.choices], by="letter")
            right = float(int(np.argmax(likely)) == item.right)
        else:
            right = right_answer(item, said)
        done.append(Answered(item, said, right))
    return done


def right_answer(item: Item, said: str) -> float:
    """Nothing said where nobody knows; a right value and no wrong one; else the words themselves.

    ``Item.wrong`` tells a question of one value (of a simulated life) from free text.
    """
    if not item.answerable:
        return float(not said)
    if item.of_a_value:
        return float(
            any(states(said, value) for value in item.answers)
            and not any(states(said, value) for value in item.wrong)
        )
    return exact(said, item.answers)


def judge_answers(rows: Sequence[Answered]) -> Figures:
    """Words over questions that have an answer; ``right`` over all."""
    known = [row for row in rows if row.item.answerable]
    unknown = [row for row in rows if not row.item.answerable]
    shared = [rouge(row.said, row.item.answers) for row in known]
    return {
        "rouge1": mean([one.rouge1 for one in shared]),
        "rouge2": mean([one.rouge2 for one in shared]),
        "rouge_l": mean([one.rouge_l for one in shared]),
        "bleu": bleu([row.said for row in known], [row.item.answers for row in known]),
        "exact": mean([exact(row.said, row.item.answers) for row in known]),
        "token_f1": mean([token_f1(row.said, row.item.answers) for row in known]),
        "right": mean([row.right for row in rows]),
        "abstained_unknown": mean([not row.said for row in unknown]),
        "abstained_known": mean([not row.said for row in known]),
        "too_long": mean([row.too_long for row in rows]),
        "answers": len(rows),
    }


def mean(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return statistics.fmean(values) if values else None
