"""The weights of ``purple`` that memlane ships: ``python -m benchmarks.purple_train --seed 0``.

The worlds are those of ``benchmarks.pretrain``: drawn by chance, and simulated lives of the
training bank; no row of a data set. First the warm start, towards the memories that a question
requires, with no language model. Then the policy gradient of the paper, on answerable questions: in
every step new profiles are drawn, and worth what they do to the log-likelihood of the answer under
the 135M model, with the product's own prompt. Rewards are kept in ``build/benchmarks/purple.db``,
so an interrupted run of the same seed goes on where it stopped. The figures are of worlds of
another seed: the share of required memories among the first five, and the log-likelihood where
rewards were measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from agent.config import load_config
from agent.learning.rewards import LikelihoodValue
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.adapters.torch_gradients import TorchGradients
from agent.models.lazy import LocalEmbedder, reward_weights
from agent.models.reward_cache import RewardCache
from agent.ports import Vectors
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_data import Collection
from benchmarks.training.selection.pretrain import episodes, told
from benchmarks.training.selection.pretrain_worlds import write_worlds
from policies.base import Episode, Policy
from policies.baselines.fusion import Fused
from policies.purple.purple import WEIGHTS, Purple
from policies.purple.purple_encoder import Propensities
from policies.purple.purple_training import policy_gradient, warm_start

WORLDS, HELD_BACK = 50, 10
WARM, BATCH, RATE = 600, 8, 0.001
"""Steps of the warm start, and episodes of each."""
STEPS, SETS, FINE = 100, 12, 0.0001
"""Of the policy gradient: steps of one question, profiles of each (the paper's 32, for 2 cores)."""
JUDGED = 24
"""Held-back questions whose answers' likelihood is measured before and after."""
MODEL = "smollm2-135m"


def main() -> None:
    options = parser("purple_train", __doc__ or "")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--worlds", type=int, default=WORLDS, help="to learn from")
    options.add_argument("--warm", type=int, default=WARM, help="steps of the warm start")
    options.add_argument("--steps", type=int, default=STEPS, help="of the policy gradient")
    given = options.parse_args()
    worlds, held, warm, steps, judged = given.worlds, HELD_BACK, given.warm, given.steps, JUDGED
    if given.quick:
        worlds, held, warm, steps, judged = 2, 1, 4, 0, 0
    # Sums of another order differ in the last bits, and training carries those on.
    torch.set_num_threads(1)
    config = load_config()
    embedder = LocalEmbedder(config)
    encode = remembering(embedder)
    progress("writing worlds")
    known, right = asked(write_worlds(given.seed, worlds), encode)
    unseen, right_unseen = asked(write_worlds(given.seed + 1, held), encode)
    progress(f"{len(known)} questions, {len(unseen)} held back")
    policy = Purple(Propensities.fresh(embedder.dimension, seed=given.seed), embedder.encode_tokens)
    figures: dict[str, float | int | None] = {
        "questions": len(known), "held_back": len(unseen), "weights": policy.network.size,
        "fused.recall@5": recall(Fused(k=policy.k), unseen),
        "untrained.recall@5": recall(policy, unseen),
    }  # fmt: skip
    gradients = TorchGradients()
    policy = warm_start(
        policy, known, gradients, count=warm, batch=BATCH, rate=RATE, seed=given.seed,
        on_step=told("warm start"),
    )  # fmt: skip
    figures["warm.recall@5"] = recall(policy, unseen)
    if steps:
        path, sha256 = reward_weights(MODEL, config)
        cache = RewardCache(ROOT / "build" / "benchmarks" / "purple.db")
        with LlamaRewards(path, identity=f"{path.name}@{sha256}", cache=cache) as rewards:
            probes = [episode for episode in unseen if episode.key in right_unseen]
            probes = probes[:: max(1, len(probes) // judged)][:judged]
            answered = [episode for episode in known if episode.key in right]
            value = LikelihoodValue(rewards, right | right_unseen, price=0.0)
            figures["fused.gain"] = gain(Fused(k=policy.k), probes, value)
            figures["warm.gain"] = gain(policy, probes, value)
            policy = policy_gradient(
                policy, answered, value, gradients, count=steps, sets=SETS, rate=FINE,
                seed=given.seed, on_step=told("policy gradient"),
            )  # fmt: skip
            figures["trained.gain"] = gain(policy, probes, value)
        figures["trained.recall@5"] = recall(policy, unseen)
    if not given.quick:
        # Single precision: half the size, and what inference computes with.
        policy.network.save(WEIGHTS, np.float32)
        figures["weights_kb"] = WEIGHTS.stat().st_size / 1000
    told_of = {
        "command": f"python -m benchmarks.purple_train --seed {given.seed} --worlds {worlds}"
        f" --warm {warm} --steps {steps}",
        "quick": given.quick, "worlds": worlds, "held_back": held, "warm_steps": warm,
        "batch": BATCH, "rates": [RATE, FINE], "gradient_steps": steps, "sets": SETS,
        "model": MODEL, "encoder": embedder.identity,
    }  # fmt: skip
    write_results("purple_train", told_of, [given.seed], figures)
    for key, value_of in figures.items():
        print(f"{key:24} {value_of}")


def asked(
    worlds: Sequence[Collection], encode: Callable[[Sequence[str]], Vectors]
) -> tuple[list[Episode], dict[str, str]]:
    """Questions of the worlds that need memories, and the answers of those that have one."""
    answers = {
        f"{world.name}/{item.key}": item.answers[0]
        for world in worlds
        for item in world.items
        if any(item.answers)
    }
    return [e for e in episodes(worlds, encode) if e.required], answers


def recall(policy: Policy, unseen: Sequence[Episode]) -> float:
    """The mean share of the required memories that the policy chooses."""
    shares = []
    for episode in unseen:
        required = episode.required or frozenset()
        chosen = policy.select(episode.question, episode.view).chosen
        shares.append(len(required & {c.memory.id for c in chosen}) / len(required))
    return float(np.mean(shares))


def gain(policy: Policy, probes: Sequence[Episode], value: LikelihoodValue) -> float:
    """Mean gain of the answer's log-likelihood a token over no memories, in nats."""
    gains: list[float] = []
    for episode in probes:
        ids = tuple(c.memory.id for c in policy.select(episode.question, episode.view).chosen)
        gains += value(episode, [ids])
    return float(np.mean(gains))


if __name__ == "__main__":
    main()
