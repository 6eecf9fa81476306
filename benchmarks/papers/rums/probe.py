"""Does entropy tell personal questions from factual ones? The probe of DESIGN.md, at full size.

``python -m benchmarks.probe --data DIR [--quick]`` asks 200 questions of prefeval (their answer
should follow a preference of the user) and 200 of nq_open (no memory should matter). Every question
meets the same kind of memory: 20 preferences of other questions, its own among them where it has
one, of which the 2 nearest by the sentence encoder become candidates (RUMS's coarse filter). For
each model and form of prompt it reports areas under the ROC curve, personal against factual, of

- ``utility``: the entropy without memory less the lowest with one candidate (RUMS section 3.1),
- ``no_memory_entropy``: the entropy of the answer without memory,
- ``both``: a logistic regression over the two, out of fold (5 folds),

with the 95 % interval of 1,000 bootstrap samples of questions, from 5 samples of 20 tokens at
temperature 0.7. ``tempered`` figures take the entropy of the sharpened distribution instead.
Rewards are kept in ``build/benchmarks/probe.db``, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from agent.config import load_config
from agent.models.adapters.bert.embeddings import open_encoder
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import RewardCache
from agent.ports import Entropy, Prompt
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.reward_prompts import chat, plain

MODELS = ("smollm2-135m", "qwen2.5-coder-1.5b")
FORMS = {"plain": plain, "chat": chat}
SIDE, PROFILE, CANDIDATES = 200, 20, 2
SAMPLES, TOKENS, TEMPERATURE = 5, 20, 0.7
TOGETHER = 20
"""Questions whose prompts go to the engine at once: enough to fill its batches."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, whether a preference should shape its answer, and its candidate memories."""

    question: str
    personal: bool
    candidates: tuple[str, ...]
    profile: tuple[str, ...]
    """What the candidates are the nearest of."""


def main() -> None:
    options = parser("probe", __doc__ or "")
    options.set_defaults(seeds=1)
    options.add_argument("--models", nargs="+", default=list(MODELS), help="names or GGUF paths")
    options.add_argument("--threads", type=int, default=load_config().threads)
    given = options.parse_args()
    side = 4 if given.quick else SIDE
    models = given.models[:1] if given.quick else given.models
    figures: dict[str, float | int | None] = {}
    rng = np.random.default_rng(0)
    asked = questions(given.data, side, rng)
    own = [a for a in asked if a.personal]
    figures["n_personal"], figures["n_factual"] = len(own), len(asked) - len(own)
    cache = RewardCache(ROOT / "build" / "benchmarks" / "probe.db")
    for name in models:
        path, sha256 = reward_weights(name, load_config())
        identity = f"{path.name}@{sha256}"
        with LlamaRewards(path, identity=identity, n_threads=given.threads, cache=cache) as rewards:
            for form in FORMS:
                began = time.perf_counter()
                for tempered in (False, True):
                    scores = measure(rewards, asked, form, tempered, f"{name} {form}")
                    prefix = f"{name}_{form}_" + "tempered_" * tempered
                    figures |= {f"{prefix}{k}": v for k, v in areas(asked, scores).items()}
                figures[f"{name}_{form}_s"] = time.perf_counter() - began
    config = {
        "quick": given.quick, "data": given.data, "models": models, "side": side,
        "profile": PROFILE, "candidates": CANDIDATES, "samples": SAMPLES, "tokens": TOKENS,
        "temperature": TEMPERATURE, "threads": given.threads,
    }  # fmt: skip
    write_results("probe", config, [0], figures)
    for key, value in figures.items():
        print(f"{key:60} {value:.3f}")


def questions(data: Path, side: int, rng: np.random.Generator) -> list[Asked]:
    """``side`` personal and ``side`` factual questions, each with its candidates."""
    pairs = [
        (row["preference"], row["question"])
        for file in sorted((data / "prefeval" / "explicit_preference").glob("*.json"))
        for row in json.loads(file.read_text(encoding="utf-8"))
    ]
    lines = (data / "nq_open" / "NQ-open.dev.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = rng.permutation(len(pairs))[:side]
    factual = rng.permutation(len(lines))[:side]
    registry = ModelRegistry(load_config().models_dir)
    folder = registry.resolve_embedder("all-minilm-l6-v2")
    encoder = open_encoder(folder, sha256=registry.sha256(folder), name="all-minilm-l6-v2")
    preferences = [preference for preference, _ in pairs]
    vectors = encoder.encode(preferences)

    def asked(question: str, personal: bool, own: Sequence[int]) -> Asked:
        others = [int(i) for i in rng.permutation(len(pairs)) if i not in own]
        profile = [*own, *others[: PROFILE - len(own)]]
        near = vectors[profile] @ encoder.encode([question])[0]
        nearest = tuple(preferences[profile[i]] for i in np.argsort(-near)[:CANDIDATES])
        return Asked(question, personal, nearest, tuple(preferences[i] for i in profile))

    personal = [asked(pairs[i][1], True, [int(i)]) for i in chosen]
    # Trivia is typed without a question mark there; the form must not tell the sides apart.
    plain_ones = [f"{_question(json.loads(lines[i])['question'])}" for i in factual]
    return personal + [asked(q, False, []) for q in plain_ones]


def _question(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:].rstrip('?')}?"


def measure(
    rewards: LlamaRewards, asked: Sequence[Asked], form: str, tempered: bool, what: str
) -> NDArray[np.float64]:
    """(questions, 2): the utility and the entropy without memory of each."""
    make = FORMS[form]
    rows: list[tuple[float, float]] = []
    # Long and short ones mixed, both sides in every part: an interruption keeps them even.
    order = [i for pair in itertools.zip_longest(*_sides(asked)) for i in pair if i is not None]
    for start in range(0, len(order), TOGETHER):
        part = [asked[i] for i in order[start : start + TOGETHER]]
        prompts: list[Prompt] = []
        for one in part:
            prompts += [make(one.question), *(make(one.question, [m]) for m in one.candidates)]
        found = iter(_entropies(rewards, prompts, tempered))
        for one in part:
            none = next(found).mean
            rows.append((none - min(next(found).mean for _ in one.candidates), none))
        if not tempered:
            progress(f"{what}: {start + len(part)} of {len(order)}")
    scores = np.zeros((len(asked), 2))
    scores[order] = rows
    return scores


def _sides(asked: Sequence[Asked]) -> tuple[list[int], list[int]]:
    personal = [i for i, one in enumerate(asked) if one.personal]
    return personal, [i for i, one in enumerate(asked) if not one.personal]


def _entropies(rewards: LlamaRewards, prompts: Sequence[Prompt], tempered: bool) -> list[Entropy]:
    return rewards.entropy(
        prompts, samples=SAMPLES, max_tokens=TOKENS, temperature=TEMPERATURE, tempered=tempered
    )


def areas(asked: Sequence[Asked], scores: NDArray[np.float64]) -> dict[str, float]:
    """Areas under the curve with their intervals."""
    labels = np.array([one.personal for one in asked])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = StratifiedKFold(min(5, int(labels.sum())), shuffle=True, random_state=0)
    both = cross_val_predict(model, scores, labels, cv=folds, method="predict_proba")[:, 1]
    figures: dict[str, float] = {}
    for name, values in (
        ("utility", scores[:, 0]), ("no_memory_entropy", scores[:, 1]), ("both", both),
    ):  # fmt: skip
        figures[f"{name}_auc"] = float(roc_auc_score(labels, values))
        low, high = interval(labels, values)
        figures[f"{name}_auc_low"], figures[f"{name}_auc_high"] = low, high
    return figures


def interval(labels: NDArray[np.bool_], values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % bootstrap interval of an area, questions of each side drawn with replacement."""
    rng = np.random.default_rng(0)
    yes, no = np.flatnonzero(labels), np.flatnonzero(~labels)
    found = []
    for _ in range(1000):
        drawn = np.concatenate([rng.choice(yes, len(yes)), rng.choice(no, len(no))])
        found.append(roc_auc_score(labels[drawn], values[drawn]))
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


if __name__ == "__main__":
    main()
