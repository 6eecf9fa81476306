"""Learning from profiles that were valued once (for ``benchmarks.purple``).

Training on-policy asks the language model for 32 new profiles a question in every epoch: hours.
So each question gets one pool of profiles, drawn from the starting policy, whose rewards every
variant, every epoch and every fold then share. A profile counts by how much likelier the policy
draws it now than when it was drawn, at most ``CLIP`` times (importance weights); otherwise the
gradient is that of the paper: z-scored rewards on the log-probability of Plackett-Luce.
``memlane train`` itself draws anew in every step, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from agent.learning.training import verdict
from agent.models.adapters.torch_gradients import TorchGradients
from policies.purple import plackett_luce
from policies.purple.purple import CandidateList
from policies.purple.purple_encoder import Propensities
from policies.purple.purple_training import clipped
from policies.training.mlp import Floats, Ints
from policies.training.reinforce import State, descend, turn

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

    listed: CandidateList
    profiles: Ints
    """Shape (profiles, k)."""
    drawn: Floats
    """The logarithm of each one's probability when it was drawn."""


def pool(listed: CandidateList, start: Propensities, k: int, count: int, seed: int) -> Pool:
    """``count`` different profiles, as far as there are so many."""
    scores = FLATTER * start.scores(listed.records)
    drawn = plackett_luce.sample(scores, k, 2 * count, np.random.default_rng(seed))
    kept = list(dict.fromkeys(map(tuple, drawn.tolist())))[:count]
    profiles = np.array(kept, np.int64)
    chances = np.array([plackett_luce.log_probability(scores, profile) for profile in profiles])
    return Pool(listed, profiles, chances)


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What one variant learns from: where it starts, and the profiles with their rewards."""

    start: Propensities
    pools: Sequence[Pool]
    rewards: Sequence[Floats]
    epochs: int
    seed: int = 0


def learn(lesson: Lesson) -> Propensities:
    """The encoder after so many passes over the pools."""
    backward = TorchGradients()
    start, pools = lesson.start.flat, lesson.pools
    worth = [plackett_luce.z_scores(np.asarray(own, np.float64)) for own in lesson.rewards]
    count = max(1, lesson.epochs * len(pools) // BATCH)

    def one(now: State[Propensities]) -> tuple[Floats, float, float]:
        total, gained = DECAY * (now.network.flat - start), 0.0
        for number in range(BATCH * now.step, BATCH * (now.step + 1)):
            place = turn(lesson.seed, number, len(pools))
            own, rewards = pools[place], worth[place]

            def pull(scores: Floats, own: Pool = own, rewards: Floats = rewards) -> Floats:
                nonlocal gained
                chances = np.array([plackett_luce.log_probability(scores, p) for p in own.profiles])
                weights = np.exp(np.minimum(chances - own.drawn, np.log(CLIP))) * rewards
                gained += float(weights.mean()) / BATCH
                pulls = [plackett_luce.gradient(scores, p) for p in own.profiles]
                return np.asarray(weights @ np.array(pulls) / len(weights))

            total -= backward.through(now.network, own.listed.records, pull) / BATCH
        return clipped(total), gained, 0.0

    return descend(State.fresh(lesson.start), one, count=count, rate=RATE, on_step=None).network


def wins(
    start: Propensities, learned: Propensities, pools: Sequence[Pool], rewards: Sequence[Floats]
) -> bool:
    """Whether ``learned`` is worth more than its start by the pools of questions held back.

    The rule of ``memlane train``, by the expected reward of either's profiles, which the pools tell
    without asking the model again (importance weights that sum to one).
    """

    def worth(network: Propensities) -> Floats:
        found = []
        for own, reward in zip(pools, rewards, strict=True):
            scores = network.scores(own.listed.records)
            chances = np.array([plackett_luce.log_probability(scores, p) for p in own.profiles])
            weights = np.exp(np.minimum(chances - own.drawn, np.log(CLIP)))
            found.append(float(weights @ reward / weights.sum()))
        return np.array(found)

    return verdict(worth(start), worth(learned)).wins


Learners = Callable[[Sequence[Lesson]], list[Propensities]]


@contextmanager
def learners(count: int = 2) -> Iterator[Learners]:
    """Learns several lessons at a time, in worker processes of one thread each."""
    # Spawned: the parent has threads of a language model, which a fork would not survive.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as workers:
        yield lambda lessons: list(workers.map(learn, lessons))
