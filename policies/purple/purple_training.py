"""Training of ``purple``: what to put first, then what makes answers better.

*Warm start*, where the required memories are known (ours; the paper has none): ascend the
log-probability that the required come first. *Policy gradient* (appendix A): ``SETS`` profiles of
an episode are drawn from the Plackett-Luce model, valued in one call, z-scored, and each pulls the
propensities by its score.

Gradients through the encoder arrive as a callable: this package knows no package of tensors. Chance
is drawn anew for every step from the seed and the step's number, so a training that goes on from a
``State`` gives what it would have given uninterrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from policies.base import Episode, Value
from policies.purple import plackett_luce
from policies.purple.purple import CandidateList, Purple
from policies.purple.purple_encoder import Propensities, Records
from policies.training.mlp import Floats, Ints
from policies.training.reinforce import OnStep, State, descend, turn
from store.errors import InvalidInput

SETS = 32
"""Profiles drawn for an episode: the paper's."""
BATCH = 4
"""Episodes of a step of the warm start; the paper's batch of 16 is for its gradient steps."""
RATE = 0.0003
CLIP = 1.0
"""Longest gradient (the paper's, appendix D)."""

Backward = Callable[[Propensities, Records, Floats], Floats]
"""The gradient in the weights (``flat``'s order) of ``scores @ pull``; pull is (records,)."""


def warm_start(
    policy: Purple,
    episodes: Sequence[Episode],
    backward: Backward,
    *,
    count: int,
    batch: int = BATCH,
    rate: float = RATE,
    seed: int = 0,
    state: State[Propensities] | None = None,
    on_step: OnStep | None = None,
) -> Purple:
    """Teach the policy to put first what is required: ``count`` steps of ``batch`` episodes.

    :raises InvalidInput: if no candidate of any episode is required.
    """
    usable = [episode for episode in episodes if episode.required]
    if not usable:
        raise InvalidInput("The warm start needs episodes that say which memories they require.")

    @cache  # candidates do not depend on the weights
    def listed(place: int) -> CandidateList:
        return policy.listed(usable[place].question, usable[place].view)

    def one(now: State[Propensities]) -> tuple[Floats, float, float]:
        total, likely = np.zeros_like(now.network.flat), 0.0
        for number in range(batch * now.step, batch * (now.step + 1)):
            place = turn(seed, number, len(usable))
            candidates = listed(place)
            required = _places(candidates, usable[place])
            if not 0 < len(required) < len(candidates.rows):
                continue
            scores = now.network.scores(candidates.records)
            # In any order among themselves: as they stand now, the likeliest.
            profile = required[np.argsort(-scores[required], kind="stable")]
            pull = plackett_luce.gradient(scores, profile) / len(profile)
            likely += plackett_luce.log_probability(scores, profile) / len(profile)
            total -= backward(now.network, candidates.records, pull) / batch
        return clipped(total), likely / batch, 0.0

    now = descend(
        state or State.fresh(policy.network), one, count=count, rate=rate, on_step=on_step
    )
    return policy.with_network(now.network)


def policy_gradient(
    policy: Purple,
    episodes: Sequence[Episode],
    value: Value,
    backward: Backward,
    *,
    count: int,
    sets: int = SETS,
    rate: float = RATE,
    seed: int = 0,
    state: State[Propensities] | None = None,
    on_step: OnStep | None = None,
) -> Purple:
    """Teach the policy what makes profiles worth more, for ``count`` episodes.

    :raises InvalidInput: if there are no episodes.
    """
    if not episodes:
        raise InvalidInput("There are no episodes to learn from.")

    @cache  # candidates do not depend on the weights
    def listed(place: int) -> CandidateList:
        return policy.listed(episodes[place].question, episodes[place].view)

    def one(now: State[Propensities]) -> tuple[Floats, float, float]:
        place = turn(seed, now.step, len(episodes))
        candidates = listed(place)
        if len(candidates.rows) < 2:
            return np.zeros_like(now.network.flat), 0.0, 0.0
        scores = now.network.scores(candidates.records)
        rng = np.random.default_rng([seed, now.step, 1])
        drawn = plackett_luce.sample(scores, policy.k, sets, rng)
        rewards = _rewards(episodes[place], candidates, drawn, value)
        pull = np.zeros(len(scores))
        for profile, above in zip(drawn, plackett_luce.z_scores(rewards), strict=True):
            pull += above / sets * plackett_luce.gradient(scores, profile)
        gradient = -backward(now.network, candidates.records, pull)
        return clipped(gradient), float(rewards.mean()), 0.0

    now = descend(
        state or State.fresh(policy.network), one, count=count, rate=rate, on_step=on_step
    )
    return policy.with_network(now.network)


def clipped(gradient: Floats) -> Floats:
    """The gradient, no longer than ``CLIP``."""
    length = float(np.linalg.norm(gradient))
    return gradient if length <= CLIP else gradient * (CLIP / length)


def _rewards(episode: Episode, candidates: CandidateList, drawn: Ints, value: Value) -> Floats:
    """What each profile is worth; the same profile is asked for once, all in one call."""
    ids = [episode.view.memories[row].id for row in candidates.rows]
    profiles = [tuple(ids[place] for place in profile) for profile in drawn]
    distinct = list(dict.fromkeys(profiles))
    worth = dict(zip(distinct, value(episode, distinct), strict=True))
    return np.array([worth[profile] for profile in profiles])


def _places(candidates: CandidateList, episode: Episode) -> Ints:
    required = episode.required or frozenset()
    here = [p for p, row in enumerate(candidates.rows) if episode.view.memories[row].id in required]
    return np.array(here, np.int64)
