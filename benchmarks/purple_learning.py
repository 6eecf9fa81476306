"""Learning from profiles that were valued once (for ``benchmarks.purple``).

Training on-policy asks the language model for 32 new profiles a question in every epoch: hours.
So each question gets one pool of profiles, drawn from the starting policy, whose rewards every
variant, every epoch and every fold then share. A profile counts by how much likelier the policy
draws it now than when it was drawn, at most ``CLIP`` times (importance weights); otherwise the
gradient is that of the paper: z-scored rewards on the log-probability of Plackett-Luce.
``memlane train`` itself draws anew in every step, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agent.adapters.gradients import TorchGradients
from policies import plackett
from policies.bandit import Listed, Purple
from policies.bandit_training import clipped
from policies.network import Floats, Ints
from policies.propensity import Propensities
from policies.reinforce import State, descend, turn

FLATTER = 0.5
"""What the starting log-propensities are multiplied by when the pool is drawn: more is tried."""
CLIP = 5.0
BATCH = 8
RATE = 0.002
DECAY = 0.0003
"""Pull of every weight towards where it started: few questions must not undo a good start."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The profiles of one question, as rows of its candidates, and how likely each was drawn."""

    listed: Listed
    profiles: Ints
    """Shape (profiles, k)."""
    drawn: Floats
    """The logarithm of each one's probability when it was drawn."""


def pool(listed: Listed, start: Propensities, k: int, count: int, seed: int) -> Pool:
    """``count`` different profiles, as far as there are so many."""
    scores = FLATTER * start.scores(listed.records)
    drawn = plackett.sample(scores, k, 2 * count, np.random.default_rng(seed))
    kept = list(dict.fromkeys(map(tuple, drawn.tolist())))[:count]
    profiles = np.array(kept, np.int64)
    chances = np.array([plackett.log_probability(scores, profile) for profile in profiles])
    return Pool(listed, profiles, chances)


def learn(
    policy: Purple,
    pools: Sequence[Pool],
    rewards: Sequence[Floats],
    *,
    epochs: int,
    seed: int = 0,
    on_step: Callable[[int, int], None] = lambda step, of: None,
) -> Purple:
    """The policy after ``epochs`` passes over the pools; ``rewards`` are those of the profiles."""
    backward = TorchGradients()
    start = policy.network.flat
    worth = [plackett.z_scores(np.asarray(own, np.float64)) for own in rewards]
    count = max(1, epochs * len(pools) // BATCH)

    def one(now: State[Propensities]) -> tuple[Floats, float, float]:
        total, gained = DECAY * (now.network.flat - start), 0.0
        for number in range(BATCH * now.step, BATCH * (now.step + 1)):
            place = turn(seed, number, len(pools))
            own = pools[place]
            scores = now.network.scores(own.listed.records)
            chances = np.array([plackett.log_probability(scores, p) for p in own.profiles])
            weights = np.exp(np.minimum(chances - own.drawn, np.log(CLIP))) * worth[place]
            pull = np.sum(
                [
                    w * plackett.gradient(scores, p)
                    for w, p in zip(weights, own.profiles, strict=True)
                ],
                axis=0,
            ) / len(weights)
            total -= backward(now.network, own.listed.records, pull) / BATCH
            gained += float(weights.mean()) / BATCH
        on_step(now.step + 1, count)
        return clipped(total), gained, 0.0

    now = descend(State.fresh(policy.network), one, count=count, rate=RATE, on_step=None)
    return policy.with_network(now.network)
