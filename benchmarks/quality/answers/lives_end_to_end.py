"""Simulated lives from raw text: router, extraction, edits and answers with the local 1.5B model.

One life of each bank, the same judging as in ``lives``, over the answer's words: an answer that
names a value states it, an abstention states nothing. N questions are drawn by seed, because a
message and an answer take seconds each; a life has about 40 messages.

Two arms beside ours answer the same questions with the same model and no memory: *plain* gets the
dated messages pasted, those nearest to the question by BM25 where not all fit, and *few_shot* four
worked examples before them. Forms are filled by ours alone.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agent.answering.answer import admits_nothing
from agent.config import load_config
from agent.memory.remember import remember_source
from agent.session.session import Session, open_session
from benchmarks.quality.answers.pasting import answer_by_pasting
from benchmarks.shared.common import parser, progress
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.simulated_lives.lives import (
    BANKS,
    K,
    Line,
    Tally,
    at,
    fresh,
    report,
    score,
    selected,
)
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.shared.simulated_lives.lives_world import Asked, write_life
from store.types import SourceKind

SEED = 100
"""Of the life; no life of ``lives`` has it."""


def main() -> None:
    options = parser("lives_end_to_end", __doc__ or "")
    options.add_argument("--bank", choices=["train", "test", "both"], default="both")
    options.add_argument("--questions", type=int, default=24, help="of each bank")
    given = options.parse_args()
    names = ["train", "test"] if given.bank == "both" else [given.bank]
    count = 2 if given.quick else given.questions
    tally = Tally()
    with open_session(load_config()) as models:
        for name in names:
            run_end_to_end(BANKS[name], models, tally, name, count)
    config = {"quick": given.quick, "questions": count, "k": K, "banks": names}
    report("lives_end_to_end", config, [SEED], tally)


def run_end_to_end(bank: Bank, models: Session, tally: Tally, name: str, count: int) -> None:
    """Raw text in, answers out, both by the local model; ``count`` questions drawn by seed."""
    life = write_life(bank, SEED)
    count_tokens = TokenCount(models.config)
    drawn = random.Random(0).sample(range(len(life.asked)), min(count, len(life.asked)))
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        waiting = list(life.told)
        for asked in (life.asked[i] for i in sorted(drawn)):
            while waiting and waiting[0].at <= asked.at:
                told = waiting.pop(0)
                there = at(session, told.at)
                if told.kind is SourceKind.CHAT:
                    there.respond(told.raw)
                else:
                    source = session.graph.sources.add(told.kind, told.raw, told.at)
                    remember_source(source, session.graph, there, told.at)
            progress(f"{name} end to end: {asked.text}")
            if asked.kind == "form":
                lines = selected(session, asked, defaultdict(str))
            else:
                reply = at(session, asked.at).ask(asked.text, k=K)
                lines = [] if reply.abstained else [Line(reply.text, "")]
                messages = [(told.at, told.raw) for told in life.told if told.at <= asked.at]
                _pasted(asked, messages, models, count_tokens, tally, name)
            wrong = score(asked, lines, tally, f"{name}.endtoend")
            if wrong and name == "train":
                progress(f"  {wrong}: {[line.text for line in lines]} right={set(asked.right)}")


def _pasted(
    asked: Asked,
    messages: Sequence[tuple[datetime, str]],
    models: Session,
    count: TokenCount,
    tally: Tally,
    name: str,
) -> None:
    """Score what the model answers from the pasted messages, with and without examples."""
    for arm in ("plain", "few_shot"):
        said = answer_by_pasting(
            models.llm, messages, asked.text, asked.at, count, examples=arm == "few_shot"
        )
        lines = [] if admits_nothing(said) else [Line(said, "")]
        score(asked, lines, tally, f"{name}.{arm}")


if __name__ == "__main__":
    main()
