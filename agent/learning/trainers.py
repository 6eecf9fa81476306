"""Choice of the trainer (``reinforce`` or ``purple_training``) for a policy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol, TypeVar, cast

from agent.answering.selection.policy_weights import is_learned
from policies.base import Episode, Value
from policies.purple import purple_training
from policies.purple.purple import Purple
from policies.training import reinforce
from policies.training.reinforce import OnStep, State, Trainable
from store.errors import InvalidInput

SETS = 16
"""Profiles drawn for an episode where a person waits: half of the paper's 32, in half the time."""
P = TypeVar("P", bound=Trainable)


class Steps(Protocol):
    """What of a plan the ways take."""

    @property
    def warm_start(self) -> int: ...
    @property
    def episodes(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def rollouts(self) -> int: ...
    @property
    def rate(self) -> float: ...


def warm_start(
    policy: P, known: Sequence[Episode], plan: Steps, state: State[Any] | None, on_step: OnStep
) -> P:
    """Teach what the episodes require.

    :raises InvalidInput: if the policy cannot be taught.
    """
    if isinstance(policy, Purple):
        if not any(episode.required for episode in known):
            return policy  # it orders candidates: of 'none' it learns nothing
        made: object = purple_training.warm_start(
            policy, known, _gradients(), count=plan.warm_start, batch=1, seed=plan.seed,
            state=state, on_step=on_step,
        )  # fmt: skip
    elif is_learned(policy):
        made = reinforce.warm_start(
            policy, known, count=plan.warm_start, rate=plan.rate, seed=plan.seed,
            state=state, on_step=on_step,
        )  # fmt: skip
    else:
        raise _cannot(policy)
    return cast(P, made)  # each way gives back a policy of the kind it was given


def policy_gradient(
    policy: P,
    episodes: Sequence[Episode],
    value: Value,
    plan: Steps,
    state: State[Any] | None,
    on_step: OnStep,
) -> P:
    """Teach what makes selections worth more.

    :raises InvalidInput: if the policy cannot be taught, or there are no episodes.
    """
    if isinstance(policy, Purple):
        made: object = purple_training.policy_gradient(
            policy, episodes, value, _gradients(), count=plan.episodes, sets=SETS,
            seed=plan.seed, state=state, on_step=on_step,
        )  # fmt: skip
    elif is_learned(policy):
        made = reinforce.policy_gradient(
            policy, episodes, value, count=plan.episodes, rate=plan.rate,
            rollouts=plan.rollouts, seed=plan.seed, state=state, on_step=on_step,
        )  # fmt: skip
    else:
        raise _cannot(policy)
    return cast(P, made)


def _cannot(policy: Trainable) -> InvalidInput:
    return InvalidInput(f"The policy {policy.name!r} does not learn.")


@cache
def _gradients() -> purple_training.Backward:
    from agent.models.adapters.torch_gradients import TorchGradients

    return TorchGradients()
