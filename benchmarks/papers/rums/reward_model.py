"""Which model should give rewards: ``python -m benchmarks.reward_model --data DIR [--quick]``.

A reward is good if it is larger for the memory that answers than for one that merely looks like
it. Questions of locomo and of simulated lives (bank ``test``) with one required memory: beside it
stands the memory nearest to the question that is not required. ``right`` is the share of questions
whose required memory makes the reference answer the likelier (PURPLE equation 4; mean over tokens),
in the product's own few-shot prompt and in plain dialogue, for each model, with the 95 % interval
of 1,000 bootstrap samples; ``seconds`` a question; ``of_cosine`` is the share in which the required
memory is nearer to the question anyway. Entropy as a reward: ``benchmarks.probe``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.reward_cache import RewardCache
from agent.session.session import open_session
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_data import Collection, load
from benchmarks.shared.reward_prompts import answering, plain

MODELS = ("smollm2-135m", "qwen2.5-coder-1.5b")
FORMS = {"product": answering, "plain": plain}
QUESTIONS = 60
"""Of each set, drawn by seed."""
TOGETHER = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, the memory it needs, and the nearest one that it does not need."""

    text: str
    answer: str
    needed: str
    beside: str
    nearer: bool
    """Whether the needed one is nearer to the question."""


def main() -> None:
    options = parser("reward_model", __doc__ or "")
    options.set_defaults(seeds=1)
    options.add_argument("--models", nargs="+", default=list(MODELS), help="names or GGUF paths")
    given = options.parse_args()
    count = 4 if given.quick else QUESTIONS
    models = given.models[:1] if given.quick else given.models
    config = load_config()
    figures: dict[str, float | int | None] = {}
    with open_session(config) as session:
        encode = remembering(session.embedder)
        sets = {}
        for name in ("locomo", "lives_test"):
            sets[name] = drawn(load(name, given.data, lives=2), encode, count)
            figures[f"{name}.n"] = len(sets[name])
            figures[f"{name}.of_cosine"] = float(np.mean([one.nearer for one in sets[name]]))
    cache = RewardCache(ROOT / "build" / "benchmarks" / "reward_model.db")
    for model in models:
        path, sha256 = reward_weights(model, config)
        identity = f"{path.name}@{sha256}"
        with LlamaRewards(
            path, identity=identity, n_threads=config.threads, cache=cache
        ) as rewards:
            for name, asked in sets.items():
                for form in FORMS:
                    began = time.perf_counter()
                    hits = judged(rewards, asked, form, f"{model} {name} {form}")
                    key = f"{name}.{model}.{form}"
                    figures[f"{key}.right"] = float(hits.mean())
                    figures[f"{key}.right_low"], figures[f"{key}.right_high"] = interval(hits)
                    figures[f"{key}.seconds"] = (time.perf_counter() - began) / len(asked)
    told = {"quick": given.quick, "data": given.data, "models": models, "questions": count}
    write_results("reward_model", told, [0], figures)
    for key, value in figures.items():
        print(f"{key:55} {value:.3f}")


def drawn(collections: Sequence[Collection], encode: object, count: int) -> list[Asked]:
    """Questions with one required memory and an answer, by seed."""
    assert callable(encode)
    found = []
    for one in collections:
        texts = {memory.id: memory.text for memory in one.memories}
        vectors = encode(list(texts.values()))
        rows = {memory: row for row, memory in enumerate(texts)}
        items = [i for i in one.items if i.required and len(i.required) == 1 and i.answers]
        for item, asked in zip(items, encode([i.text for i in items]), strict=True):
            needed = next(iter(item.required or ()))
            if needed not in texts:
                continue
            near = vectors @ asked
            best = next(m for m in sorted(texts, key=lambda m: -near[rows[m]]) if m != needed)
            nearer = bool(near[rows[needed]] > near[rows[best]])
            found.append(Asked(item.text, item.answers[0], texts[needed], texts[best], nearer))
    order = np.random.default_rng(0).permutation(len(found))[:count]
    return [found[i] for i in order]


def judged(
    rewards: LlamaRewards, asked: Sequence[Asked], form: str, what: str
) -> NDArray[np.float64]:
    """1 for each question whose required memory makes its answer the likelier."""
    make = FORMS[form]
    hits: list[float] = []
    for start in range(0, len(asked), TOGETHER):
        part = asked[start : start + TOGETHER]
        prompts = [make(one.text, [memory]) for one in part for memory in (one.needed, one.beside)]
        answers = [f" {one.answer}" for one in part for _ in range(2)]
        likely = [float(tokens.mean()) for tokens in rewards.log_likelihood(prompts, answers)]
        hits += [float(a > b) for a, b in zip(likely[::2], likely[1::2], strict=True)]
        progress(f"{what}: {start + len(part)} of {len(asked)}")
    return np.array(hits)


def interval(hits: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % bootstrap interval of a share."""
    rng = np.random.default_rng(0)
    means = rng.choice(hits, (1000, len(hits))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


if __name__ == "__main__":
    main()
