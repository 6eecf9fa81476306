"""What the language model chooses, by what stands in its prompt (the paper's baselines)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from agent.applications.personas.predict_option import prompt_of
from agent.config import Config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.reward_cache import RewardCache
from benchmarks.papers.persona_db.opinions_voices import Voices, predicted
from benchmarks.shared.common import ROOT, progress
from benchmarks.shared.questions.qa_models import TokenCount

TOGETHER = 10
"""Cases whose prompts go to the engine at once."""
Lines = Callable[[Voices], tuple[list[str], list[str]]]


def _recent(count: int) -> Lines:
    return lambda one: ([q.said(i) for q, i in one.case.history[-count:]], [])


def _retrieved(size: int, share: float) -> Lines:
    return lambda one: one.texts(size, share)


ROWS: Mapping[str, Lines] = {
    "nothing": lambda one: ([], []),
    "most recent 5": _recent(5),
    "most similar 5": _retrieved(5, 0.0),
    "most similar 10": _retrieved(10, 0.0),
    "similar and joined 5": _retrieved(5, 0.25),
    "similar and joined 10": _retrieved(10, 0.25),
    "all history": _recent(20),
}
WITH_VOTES = ("own", "joined", "model")


def ask_model(
    kind: str, heard: Sequence[Voices], model: str, config: Config, folds: np.ndarray
) -> dict[str, float | int | None]:
    """Accuracy of the model alone and with the votes, and the tokens of its prompts."""
    figures: dict[str, float | int | None] = {f"{kind}.asked": len(heard)}
    count = TokenCount(replace(config, llm=model))
    path, sha256 = reward_weights(model, config)
    cache = RewardCache(ROOT / "build" / "benchmarks" / "persona_opinions.db")
    identity = f"{path.name}@{sha256}"
    with LlamaRewards(path, identity=identity, n_threads=config.threads, cache=cache) as rewards:
        for row, lines in ROWS.items():
            prompts = [_prompt(one, lines) for one in heard]
            logs = []
            for start in range(0, len(heard), TOGETHER):
                part = slice(start, start + TOGETHER)
                options = [[f" {o}" for o in one.case.asked.options] for one in heard[part]]
                logs += [np.log(p + 1e-9) for p in rewards.choose(prompts[part], options)]
                progress(f"{kind}, {row}: {len(logs)} of {len(heard)}")
            said = [
                replace(one, logs={**one.logs, "model": log})
                for one, log in zip(heard, logs, strict=True)
            ]
            figures[f"{kind}.{row}.chosen"] = float(predicted(said, ("model",))[0].mean())
            size = 10 if row.endswith("10") else 5 if row.endswith("5") else 20
            share = 0.25 if "joined" in row else 0.0
            names = WITH_VOTES if "joined" in row else ("own", "model")
            mixed, weights = predicted(said, names, size, share, folds)
            figures[f"{kind}.{row}.with_votes"] = float(mixed.mean())
            figures[f"{kind}.{row}.tokens"] = float(np.mean([count(p) for p in prompts]))
            if "joined" in row:
                with_groups, _ = predicted(said, (*names, "groups"), size, share, folds)
                figures[f"{kind}.{row} and groups.with_votes"] = float(with_groups.mean())
                for name, weight in zip(names, weights, strict=True):
                    figures[f"{kind}_{row}_weight_{name}"] = float(weight)
        for row in ("majority", "demographics", "groups", "own"):
            figures[f"{kind}.{row}.chosen"] = float(predicted(heard, (row,))[0].mean())
    return figures


def _prompt(one: Voices, lines: Lines) -> str:
    own, joined = lines(one)
    return prompt_of(one.case.asked.text, own, joined, one.case.asked.options)
