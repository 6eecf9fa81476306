"""How much of the evidence a selection finds: ``python -m benchmarks.recall --data DIR``.

Recall@k is the share of the memories that an answer needs among the first k that a policy chooses,
averaged over the questions whose evidence is known; where the right answer is that nobody knows
(locomo's adversarial questions) there is none to find. locomo is read with its known errors
corrected, each turn a memory "Speaker: text" of its session's time; memdaily_zh and simulated
lives show that nothing is fitted to locomo's wording. The same frozen sentence encoder for all; no
language model takes part.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder, Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import Collection, load
from policies.base import Policy, Question
from policies.baselines.simple import TopK
from policies.registry import Tools, make_policy

CUTS = (5, 10, 20)
BAR = {"locomo.best.recall@10": 0.74}
NAMES = ("bm25", "rrf", "fused-plain", "fused", "partitioned", "decomposed", "recency")
LIVES = 8


def policies(seeds: int) -> dict[str, Policy]:
    """What is compared, by name or by name and seed; all choose as many as the largest cut."""
    tools = Tools(k=max(CUTS))
    # Without the product's floor: recall is asked for, not precision.
    return (
        {"dense": TopK(k=max(CUTS), floor=-1.0)}
        | {name: make_policy(name, tools) for name in NAMES}
        | {f"random/{s}": make_policy("random", replace(tools, seed=s)) for s in range(seeds)}
    )


def measured(
    collections: Sequence[Collection], encode: Callable[[Sequence[str]], Vectors], seeds: int
) -> dict[str, float]:
    """Recall by policy, kind of question and cut, over all questions of a set."""
    found: dict[str, list[float]] = defaultdict(list)
    for collection in collections:
        vectors = encode([memory.text for memory in collection.memories])
        items = [item for item in collection.items if item.required]
        asked = encode([item.text for item in items])
        compared = policies(seeds)
        views = {item.asked: collection.view(vectors, item.asked) for item in items}
        for item, vector in zip(items, asked, strict=True):
            question = Question(item.text, vector, item.asked)
            for name, policy in compared.items():
                chosen = policy.select(question, views[item.asked]).chosen
                ids = [choice.memory.id for choice in chosen]
                name = name.split("/")[0]  # only one policy has seeds: they are averaged
                needed = item.required or frozenset()
                for cut in CUTS:
                    share = len(needed & set(ids[:cut])) / len(needed)
                    found[f"{name}.recall@{cut}"].append(share)
                    found[f"{name}.{item.kind}.recall@{cut}"].append(share)
                    found[f"{name}.of {collection.name.split('/')[0]}.recall@{cut}"].append(share)
        progress(f"{collection.name}: {len(items)} questions")
    return {name: statistics.fmean(values) for name, values in found.items()}


def remembering(embedder: Embedder) -> Callable[[Sequence[str]], Vectors]:
    """The encoder, which reads every text once however often it is asked."""
    known: dict[str, Vectors] = {}

    def encode(texts: Sequence[str]) -> Vectors:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embedder.encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return encode


def sets(data: Path, *, quick: bool) -> dict[str, list[Collection]]:
    """The question sets, by the name of their figures."""
    if quick:
        return {"locomo": load("locomo", data)[:1], "memdaily_zh": load("memdaily_zh", data)[::20]}
    return {
        "locomo": load("locomo", data),
        "memdaily_zh": load("memdaily_zh", data),
        "lives_train": load("lives_train", data, lives=LIVES),
        "lives_test": load("lives_test", data, lives=LIVES),
    }


def main() -> None:
    args = parser("recall", __doc__ or "").parse_args()
    embedder = LocalEmbedder(load_config())
    encode = remembering(embedder)
    figures: dict[str, float | int | None] = {}
    for name, collections in sets(args.data, quick=args.quick).items():
        for figure, value in measured(collections, encode, args.seeds).items():
            if name == "locomo" or ".of " not in figure:  # the others are hundreds of people
                figures[f"{name}.{figure}"] = value
        asked = [item for one in collections for item in one.items if item.required]
        figures[f"{name}.questions"] = len(asked)
        figures[f"{name}.memories"] = sum(len(one.memories) for one in collections)
        for cut in CUTS:
            found = [float(figures[f"{name}.{p}.recall@{cut}"] or 0) for p in policies(0)]
            figures[f"{name}.best.recall@{cut}"] = max(found)
    settings = {"quick": args.quick, "embedder": embedder.identity, "bar": BAR, "lives": LIVES}
    path = write_results("recall", settings, range(args.seeds), figures)
    progress(f"locomo recall@10: {figures['locomo.best.recall@10']:.4f} ({path.name})")


if __name__ == "__main__":
    main()
