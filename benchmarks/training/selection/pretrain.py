"""The policies that memlane ships: ``python -m benchmarks.pretrain --seed 0``.

Trains ``walk`` and ``scout`` on worlds that we wrote and drew by chance (``pretrain_worlds``; no
row of a data set, and of the simulated lives the training bank alone) and writes their weights to
``policies/data``. First the warm start, then the policy gradient. Its value of a selection here is
the F-measure of the evidence (recall counting ``RECALL`` times) less ``PRICE`` a memory. That needs
no language model, so this start is made in minutes; what a memory does for an *answer* comes from
the person's own episodes (``memlane train``). The figures are of worlds of other seeds.

``--check DIR`` trains nothing. It prints evidence precision, recall and F1 and the number of chosen
memories of the shipped weights and of the fixed baselines, each at its best number of memories, on
the development sets. Nothing is trained on them; the settings below were compared on two of them
(docs/selection.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from agent.config import load_config
from agent.ports import Embedder, NameEncoder, Vectors
from agent.session.session import open_session
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import Collection, load
from benchmarks.shared.questions.qa_metrics import Evidence, evidence
from benchmarks.shared.questions.qa_views import lived, plain
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.training.selection.pretrain_worlds import write_worlds
from policies.base import Episode, Policy, Question, Value
from policies.baselines.bm25 import Bm25
from policies.baselines.fusion import Fused, Rrf
from policies.baselines.simple import TopK
from policies.scoring.question_entities import NameIndex, NameVectors
from policies.training.mlp import Mlp
from policies.training.reinforce import Progress, policy_gradient, warm_start
from policies.walk import scout, walk
from policies.walk.scout import HIDDEN, Scout
from policies.walk.scout_state import STATE
from policies.walk.walk import Walk
from store.derived.view import GraphView

WORLDS, HELD_BACK = 220, 50
FROM_EACH = 24
"""Questions of a world that are learned from."""
WARM, GRADIENT = 12_000, 4_000
"""Steps of the two stages. The paper's 1,000 and 100 are for one person's own (section 5.1)."""
BATCH = 10
"""Episodes of a step of the warm start."""
RATES = (0.002, 0.001)
DECAY = 0.0003
REQUIRED_WEIGHT = 5.0
ROLLOUTS = 8
RECALL = {"walk": 1.0, "scout": 2.0}
"""How many times precision recall is worth: a memory too many costs an answer little, one of three
links that lacks costs it whole. With 1 the gradient made ``scout`` unlearn all but the first link;
with 2 ``walk``, which sees three cosines, took all it met."""
PRICE = 0.01
"""What a chosen memory costs; the evidence is worth at most 1."""
MOST = 10
"""Memories that a fixed baseline chooses at most."""
BASELINES: dict[str, Callable[[int], Policy]] = {
    "top-k": lambda k: TopK(k=k, floor=-1.0),
    "bm25": lambda k: Bm25(k=k),
    "rrf": lambda k: Rrf(k=k),
    "fused": lambda k: Fused(k=k),
}


def main() -> None:
    options = parser("pretrain", __doc__ or "")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--check", type=Path, metavar="DIR", help="data sets to measure on")
    given = options.parse_args()
    if given.check:
        check(given.check, quick=given.quick)
    else:
        train(given.seed, quick=given.quick)


# ---- training -----------------------------------------------------------------------------------


def train(seed: int, *, quick: bool) -> None:
    """Make the weights and write them with their figures; a quick run writes no weights."""
    worlds, held_back, warm, gradient = WORLDS, HELD_BACK, WARM, GRADIENT
    if quick:
        worlds, held_back, warm, gradient = 12, 6, 1000, 20
    with open_session(load_config()) as models:
        encode = remembering(models.embedder)
        known = episodes(write_worlds(seed, worlds), encode)
        unseen = episodes(write_worlds(seed + 1, held_back), encode)
        names = names_of(models.embedder)
    progress(f"{len(known)} episodes, {len(unseen)} held back")
    figures = dict(fixed(unseen))
    for policy, path in fresh(names, seed):
        figures |= prefixed(f"{policy.name}.untrained", measured(policy, unseen))
        policy = warm_start(
            policy, known, count=warm, batch=BATCH, rate=RATES[0], decay=DECAY,
            required_weight=REQUIRED_WEIGHT, seed=seed, on_step=told("warm start"),
        )  # fmt: skip
        figures |= prefixed(f"{policy.name}.warm", measured(policy, unseen))
        policy = policy_gradient(
            policy, known, worth(RECALL[policy.name]), count=gradient, rate=RATES[1],
            rollouts=ROLLOUTS, seed=seed, on_step=told("policy gradient"),
        )  # fmt: skip
        figures |= prefixed(f"{policy.name}.trained", measured(policy, unseen))
        if not quick:
            policy.network.save(path)
    config = {
        "command": f"python -m benchmarks.pretrain --seed {seed}", "quick": quick,
        "worlds": worlds, "held_back": held_back, "from_each": FROM_EACH,
        "warm_steps": warm, "batch": BATCH, "gradient_episodes": gradient,
        "rates": RATES, "decay": DECAY, "required_weight": REQUIRED_WEIGHT,
        "rollouts": ROLLOUTS, "recall": RECALL, "price": PRICE,
        "encoder": models.embedder.identity,
        "weights": {p.name: p.network.size for p, _ in fresh(names, seed)},
    }  # fmt: skip
    write_results("pretrain", config, [seed], figures)
    show(figures)


def names_of(embedder: Embedder) -> NameVectors:
    """The encoder of names that the walk needs."""
    if not isinstance(embedder, NameEncoder):
        raise SystemExit(f"{embedder.identity} has no vectors of names; take the built-in encoder.")
    return embedder.encode_names


def fresh(names: NameVectors, seed: int) -> tuple[tuple[Walk | Scout, Path], ...]:
    """The policies before they have learned anything, and where their weights go."""
    return (
        (Walk(Mlp.fresh(len(walk.STATE), seed=seed), names=NameIndex(names)), walk.WEIGHTS),
        (Scout(Mlp.fresh(len(STATE), HIDDEN, seed=seed), names=NameIndex(names)), scout.WEIGHTS),
    )


def episodes(
    worlds: Sequence[Collection], encode: Callable[[Sequence[str]], Vectors]
) -> list[Episode]:
    """``FROM_EACH`` questions of each world, spread over it."""
    made = []
    for world in worlds:
        if not world.items or not world.memories:
            continue
        whole = world.view(encode([memory.text for memory in world.memories]))
        views: dict[tuple[int, ...], GraphView] = {}
        items = world.items[:: max(1, -(-len(world.items) // FROM_EACH))]
        for item, vector in zip(items, encode([item.text for item in items]), strict=True):
            rows = world.told_by(item.asked)
            view = views.setdefault(rows, whole.narrowed(rows))
            question = Question(item.text, vector, item.asked)
            made.append(Episode(f"{world.name}/{item.key}", question, view, item.required))
    return made


def worth(recall: float) -> Value:
    """The F-measure of the evidence less a small price a memory."""

    def value(episode: Episode, selections: Sequence[tuple[str, ...]]) -> list[float]:
        required = episode.required or frozenset()
        return [
            f_measure(evidence(chosen, required), recall) - PRICE * len(chosen)
            for chosen in selections
        ]

    return value


def f_measure(agreed: Evidence, recall: float) -> float:
    """The harmonic mean of precision and recall, the latter worth ``recall`` times as much."""
    weighed = recall**2 * agreed.precision + agreed.recall
    return (1 + recall**2) * agreed.precision * agreed.recall / weighed if weighed else 0.0


def told(stage: str) -> Callable[[Progress], None]:
    def tell(now: Progress) -> None:
        if now.step % (now.of // 5 or 1) == 0:
            progress(f"{stage}: {now.step} of {now.of}, running reward {now.running:.3f}")

    return tell


# ---- measuring ----------------------------------------------------------------------------------


def measured(policy: Policy, asked: Iterable[Episode]) -> dict[str, float]:
    """Means over questions of known evidence; ``answerable`` are those that have some."""
    found: list[tuple[float, float, float, float, float]] = []
    for episode in asked:
        if episode.required is None:
            continue
        ids = [c.memory.id for c in policy.select(episode.question, episode.view).chosen]
        agreed = evidence(ids, episode.required)
        found.append(
            (agreed.precision, agreed.recall, agreed.f1, len(ids), float(bool(episode.required)))
        )
    precision, recall, f1, count, some = np.array(found).T
    return {
        "precision": float(precision.mean()),
        "recall": float(recall.mean()),
        "f1": float(f1.mean()),
        "f1_answerable": float(f1[some > 0].mean()),
        "f1_unanswerable": float(f1[some == 0].mean()) if (some == 0).any() else 0.0,
        "chosen": float(count.mean()),
    }


def fixed(asked: Sequence[Episode]) -> dict[str, float]:
    """The fixed baselines, each at the number of memories where its F1 is best."""
    figures: dict[str, float] = {}
    for name, make in BASELINES.items():
        tried = [measured(make(k), asked) for k in range(1, MOST + 1)]
        best = max(range(MOST), key=lambda n: tried[n]["f1"])
        figures |= prefixed(name, tried[best] | {"k": best + 1})
    return figures


def prefixed(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name}.{key}": value for key, value in figures.items()}


def show(figures: dict[str, float]) -> None:
    """A line for each policy."""
    for name in dict.fromkeys(key.rsplit(".", 1)[0] for key in figures):
        own = {key.rsplit(".", 1)[1]: v for key, v in figures.items() if key.startswith(name + ".")}
        print(f"{name:28}" + "  ".join(f"{key} {value:.3f}" for key, value in own.items()))


# ---- checking -----------------------------------------------------------------------------------


def check(data: Path, *, quick: bool) -> None:
    """Shipped weights and fixed baselines on the development sets."""
    with open_session(load_config()) as models:
        names = names_of(models.embedder)
        some = 40 if quick else 1
        sets = {
            "lives (train bank, other seeds)": [*lived(TRAIN, range(100, 102), models)],
            "lives (test bank)": [*lived(TEST, range(1 if quick else 3), models)],
            "locomo": plain(load("locomo", data), models)[::some],
            "memdaily_zh": plain(load("memdaily_zh", data)[::some], models),
        }
    for title, puts in sets.items():
        asked = [put.episode for put in puts]
        figures = fixed(asked)
        for policy in (Walk.shipped(names), Scout.shipped(names)):
            figures |= prefixed(policy.name, measured(policy, asked))
        best = max(figures[f"{name}.f1"] for name in BASELINES)
        for name in ("walk", "scout"):
            figures[f"{name}.over_best_baseline"] = figures[f"{name}.f1"] / best
        print(f"\n{title}: {len(asked)} questions")
        show(figures)


if __name__ == "__main__":
    main()
