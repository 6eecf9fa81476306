"""When to choose nothing: the shipped judge against fixed floors, on what it was not fitted to.

``python -m benchmarks.abstention --data /path/to/data [--quick]``

- *lives*: lives of the test bank of which a share of the facts was never told;
- *locomo*: its questions against those of category 5, which cannot be answered (known errors of the
  key corrected);
- *prefeval* and *personamem*: questions on which one's own preferences bear, against as many of
  *nq_open*, in homes of 40 preferences and of one person's own turns.

The positive class is 'nothing here answers this'. *precision* and *recall* are of keeping silent,
*kept* is the share of answerable questions that are not silenced, *balanced* the mean of recall and
kept. Compared: ``judge``; ``floor``, what top-k has had so far (nothing above a cosine of 0.2); and
``cosine``, a floor on the best cosine that costs least on the judge's own training cases.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from agent.answering.retrieve import READING, timeless
from agent.config import DEFAULT_POLICY, load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.abstention_cases import Case, K, life_cases
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import load
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.training.abstention_train import SILENCE, cases
from policies.abstain import AbstentionJudge, shipped, signs_of
from policies.base import Question
from store.derived.view import GraphView
from store.types import Memory

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
HOME = 40
"""Preferences in a home of prefeval."""
FLOOR = 0.2
FLOOR_LIVES = 4
"""Lives of the training bank that the floor on the cosine is set by, beside our own samples."""
POLICIES = tuple(dict.fromkeys(("top-k", "fused", DEFAULT_POLICY)))
_QUERY = re.compile(r"^User:[^\n]*\n")
"""The line with the person's name that their questions begin with."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def main() -> None:
    options = parser("abstention", __doc__ or "")
    options.add_argument("--lives", type=int, default=6, help="lives of the test bank")
    given = options.parse_args()
    judge = shipped()
    figures: dict[str, float | int | None] = {}
    with open_session(load_config()) as models:
        floor = cheapest(cases(models, 1 if given.quick else FLOOR_LIVES, POLICIES))
        sets = {
            "lives": lives(models, 1 if given.quick else given.lives),
            "locomo": locomo(models, given.data, given.quick),
            "prefeval": prefeval(models, given.data, given.quick),
            "personamem": personamem(models, given.data, given.quick),
        }
        for name, found in sets.items():
            rows = list(found)
            progress(f"{name}: {len(rows)} questions")
            for policy in POLICIES:
                own = [row for row in rows if row.policy == policy]
                figures |= {
                    f"{name}.{policy}.{k}": v for k, v in figures_of(own, judge, floor).items()
                }
    config = {"quick": given.quick, "k": K, "threshold": judge.threshold, "cosine_floor": floor}
    write_results("abstention", config, [], figures)
    for key, value in figures.items():
        print(f"{key:45} {value:.3f}")


# ---- figures --------------------------------------------------------------------------------


def likely(case: Case, judge: AbstentionJudge) -> float:
    if case.signs is None:
        return 1.0 if case.exact else 0.0
    return judge.likely(case.signs)


def figures_of(
    rows: Sequence[Case], judge: AbstentionJudge, floor: float
) -> dict[str, float | int]:
    """The figures of one set and one policy."""
    holds = np.array([row.holds for row in rows])
    said = np.array([likely(row, judge) for row in rows])
    best = np.array([row.best for row in rows])
    figures: dict[str, float | int] = {
        "answerable_n": int(holds.sum()),
        "unanswerable_n": int((~holds).sum()),
        "judge.auc": float(roc_auc_score(holds, said)),
        "cosine.auc": float(roc_auc_score(holds, best)),
    }
    for name, silent in (
        ("judge", said < judge.threshold),
        ("floor", best < FLOOR),
        ("cosine", best < floor),
    ):
        right = int((silent & ~holds).sum())
        recall, kept = right / max(1, (~holds).sum()), 1 - silent[holds].mean()
        figures |= {
            f"{name}.precision": right / max(1, int(silent.sum())),
            f"{name}.recall": float(recall),
            f"{name}.kept": float(kept),
            f"{name}.balanced": float(recall + kept) / 2,
        }
    return figures


def cheapest(rows: Sequence[Case]) -> float:
    """The floor on the best cosine that costs least on these cases, as the judge's costs are."""
    holds = np.array([row.holds for row in rows])
    best = np.array([row.best for row in rows])

    # Answerable and not weigh alike, as they do in no home in particular.
    def cost(floor: float) -> float:
        return SILENCE * float((best[holds] < floor).mean()) + float((best[~holds] >= floor).mean())

    return min((round(floor, 2) for floor in np.arange(0.05, 0.8, 0.01)), key=cost)


# ---- the sets -------------------------------------------------------------------------------


def lives(models: Session, count: int) -> Iterator[Case]:
    for seed in range(count):
        yield from life_cases(TEST, seed, models, POLICIES)


def locomo(models: Session, data: Path, quick: bool) -> Iterator[Case]:
    for conversation in load("locomo", data)[: 1 if quick else None]:
        view = conversation.view(models.embedder.encode([m.text for m in conversation.memories]))
        asked = [(item.text, item.kind, item.answerable) for item in conversation.items]
        yield from asked_of(models, f"locomo {conversation.name}", view, asked)


def prefeval(models: Session, data: Path, quick: bool) -> Iterator[Case]:
    pairs = [
        (row["preference"], row["question"])
        for path in sorted((data / "prefeval" / "explicit_preference").glob("*.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    random.Random(0).shuffle(pairs)
    homes = [pairs[start : start + HOME] for start in range(0, len(pairs), HOME)]
    general = trivia(data)
    for number, home in enumerate(homes[: 1 if quick else None]):
        view = view_of(models, [preference for preference, _ in home])
        asked = [(question, "preference", True) for _, question in home]
        asked += [(next(general), "nq_open", False) for _ in home]
        yield from asked_of(models, f"prefeval {number}", view, asked)


def personamem(models: Session, data: Path, quick: bool) -> Iterator[Case]:
    """What a person said, sentence by sentence; their questions without the options."""
    general = trivia(data)
    for number, (said, queries) in enumerate(personas(data)):
        if quick and number:
            break
        asked = [(question, "persona", True) for question, _ in queries]
        asked += [(next(general), "nq_open", False) for _ in queries]
        yield from asked_of(models, f"personamem {number}", view_of(models, said), asked)


def personas(data: Path) -> Iterator[tuple[list[str], list[tuple[str, dict[str, Any]]]]]:
    """Of each person of personamem the sentences they said, and their questions with their rows."""
    folder = data / "personamem_32k"
    sessions = json.loads((folder / "documents.json").read_text(encoding="utf-8"))
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    for user in sorted({query["user_id"] for query in queries}):
        said = [
            sentence
            for session in sessions
            if session["user_id"] == user
            for line in session["content"].splitlines()
            if line.startswith("[USER]")
            for sentence in _SENTENCE.split(line.removeprefix("[USER] ").removeprefix("User: "))
            if len(sentence.split()) >= 4
        ]
        own = [query for query in queries if query["user_id"] == user]
        yield (
            said,
            [(_QUERY.sub("", query["meta"]["retrieval_query"]).strip(), query) for query in own],
        )


def trivia(data: Path) -> Iterator[str]:
    """Questions of nq_open in an order of chance, as people write them."""
    lines = (data / "nq_open" / "NQ-open.dev.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [str(json.loads(line)["question"]) for line in lines]
    random.Random(1).shuffle(questions)
    return iter(questions)


def view_of(models: Session, texts: Sequence[str]) -> GraphView:
    memories = tuple(
        Memory(f"m{n}", text, "Preference", "preference.diet", NOW) for n, text in enumerate(texts)
    )
    return GraphView(memories, models.embedder.encode(texts), frozenset(m.id for m in memories))


def asked_of(
    models: Session, home: str, view: GraphView, asked: Sequence[tuple[str, str, bool]]
) -> Iterator[Case]:
    """Cases of a home that nobody has placed in a graph: each policy straight on the view."""
    vectors = models.embedder.encode([text for text, _, _ in asked])
    for name in POLICIES:
        policy = models.policy(name, K, use_llm=False)
        for (text, kind, holds), vector in zip(asked, vectors, strict=True):
            question = Question(text, vector, NOW)
            chosen = policy.select(question, view).chosen
            signs = signs_of(timeless(question), view, chosen, READING)
            yield Case(home, kind, name, text, holds, signs, exact=False)


if __name__ == "__main__":
    main()
