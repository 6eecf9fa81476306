"""Policy training: warm start, policy gradient and evaluation.

A training is described by a ``Plan``. It can be interrupted at any moment: ``Checkpoint`` keeps the
last finished step, and the same plan on the same episodes goes on from there and gives what it
would have given in one piece. New weights are kept only if they win on episodes that were held
back: the mean value of their selections is higher, and is so in four of five resamples of those
episodes (paired bootstrap), so that a lucky draw of two or three questions changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from agent.answering.selection.policy_weights import is_learned
from policies.base import Episode, Value
from policies.purple import purple_training
from policies.purple.purple import Purple
from policies.training import reinforce
from policies.training.mlp import FlatWeights, Floats, Mlp
from policies.training.reinforce import Progress, State, Trainable
from store.database.connection import is_encrypted
from store.database.whole_files import whole_file
from store.erasure.secure_delete import CACHE_FOLDER
from store.errors import InvalidInput, WeightsDamaged

P = TypeVar("P", bound=Trainable)
SETS = 16
"""Profiles drawn for an episode where a person waits: half of the paper's 32, in half the time."""
SURE = 0.8
"""Share of resamples in which new weights have to be better."""
RESAMPLES = 1000
WARM, GRADIENT = "warm start", "policy gradient"
OnStep = Callable[[str, Progress], None]
"""Called after each step with the name of the phase; raising stops the training."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a policy is trained. The numbers are the paper's (section 5.1)."""

    policy: str
    reward: str = "likelihood"
    """One of ``agent.learning.rewards.KINDS``."""
    warm_start: int = reinforce.WARM_EPISODES
    """Episodes of supervised teaching; 0 leaves it out."""
    episodes: int = reinforce.GRADIENT_EPISODES
    """Episodes of policy gradient; 0 leaves it out."""
    seed: int = 0
    rate: float = reinforce.RATE


@dataclass(frozen=True, slots=True)
class _About:
    """What a checkpoint is of; see ``Checkpoint.save``."""

    plan: dict[str, str | int | float]
    keys: tuple[str, ...]
    start: str
    phase: str


class Checkpoint:
    """Where an interrupted training goes on: two small files in the cache of a home.

    Forgetting something for good empties that folder, and a damaged checkpoint counts as none. In
    an encrypted home none is kept: what is interrupted there begins anew.
    """

    def __init__(self, home: Path, policy: str) -> None:
        self._off = is_encrypted(home)
        self._folder = home / CACHE_FOLDER / f"training-{policy}"

    def save(
        self, plan: Plan, keys: Sequence[str], start: str, phase: str, state: State[Any]
    ) -> None:
        """``keys`` are those of all episodes, ``start`` the digest of the first weights."""
        if self._off:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.save(self._folder / "state.npz")
        about = _About(asdict(plan), tuple(keys), start, phase)
        with whole_file(self._folder / "about.json") as file:
            file.write(json.dumps(asdict(about)).encode())

    def keys(self, plan: Plan) -> tuple[str, ...] | None:
        """The episodes of an interrupted training of this plan; None where there is none."""
        about = self._about()
        return about.keys if about and about.plan == asdict(plan) else None

    def load(
        self, plan: Plan, keys: Sequence[str], start: str, kind: type[FlatWeights] = Mlp
    ) -> tuple[str, State[Any]] | None:
        """Phase and state of the interrupted training of just this; None where there is none."""
        about = self._about()
        if about and about == _About(asdict(plan), tuple(keys), start, about.phase):
            with suppress(InvalidInput, WeightsDamaged):
                return about.phase, State.load(self._folder / "state.npz", kind)
        return None

    def _about(self) -> _About | None:
        with suppress(OSError, ValueError, TypeError, KeyError):
            told = json.loads((self._folder / "about.json").read_text(encoding="utf-8"))
            return _About(**{**told, "keys": tuple(told["keys"])})
        return None

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def train(
    policy: P,
    episodes: Sequence[Episode],
    value: Value,
    plan: Plan,
    *,
    checkpoint: Checkpoint | None = None,
    keys: Sequence[str] = (),
    on_step: OnStep = lambda phase, progress: None,
) -> P:
    """The policy with new weights. ``keys`` name all episodes of the run in its checkpoint.

    :raises InvalidInput: if there are no episodes.
    """
    start = digest(policy)
    kind = type(policy.network)
    found = checkpoint.load(plan, keys, start, kind) if checkpoint else None
    phase, state = found or (WARM, None)
    reached: tuple[str, State[Any]] | None = None

    def step(name: str) -> Callable[[Progress], None]:
        def after(progress: Progress) -> None:
            nonlocal reached
            reached = name, progress.state
            if checkpoint and name == GRADIENT:  # a step of it may have taken minutes
                checkpoint.save(plan, keys, start, name, progress.state)
            on_step(name, progress)

        return after

    try:
        if phase == WARM:
            known = [episode for episode in episodes if episode.required is not None]
            if known and plan.warm_start:
                policy = _warm_start(policy, known, plan, state, step(WARM))
            state = None
        if plan.episodes:
            policy = _policy_gradient(policy, episodes, value, plan, state, step(GRADIENT))
    except BaseException:  # Ctrl-C above all
        if checkpoint and reached:
            checkpoint.save(plan, keys, start, *reached)
        raise
    return policy


def _warm_start(
    policy: P,
    known: Sequence[Episode],
    plan: Plan,
    state: State[Any] | None,
    on_step: reinforce.OnStep,
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


def _policy_gradient(
    policy: P,
    episodes: Sequence[Episode],
    value: Value,
    plan: Plan,
    state: State[Any] | None,
    on_step: reinforce.OnStep,
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
            seed=plan.seed, state=state, on_step=on_step,
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


def digest(policy: Trainable) -> str:
    """Tells one set of weights from another."""
    return hashlib.sha256(policy.network.flat.tobytes()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class HeldBackVerdict:
    """What held-back episodes say of new weights against the old ones."""

    before: float
    """Mean value of the old weights' selections, and of the new ones'."""
    after: float
    sure: float
    """Share of resamples in which the new ones are better."""
    held: int

    @property
    def wins(self) -> bool:
        return self.after > self.before and self.sure >= SURE


def compare(
    old: Trainable, new: Trainable, held: Sequence[Episode], value: Value, *, seed: int = 0
) -> HeldBackVerdict:
    """Both policies choose for each episode, and both selections get their value in one call."""
    worth = np.zeros((len(held), 2))
    for row, episode in enumerate(held):
        chosen = [
            tuple(c.memory.id for c in policy.select(episode.question, episode.view).chosen)
            for policy in (old, new)
        ]
        worth[row] = value(episode, chosen)
    return verdict(worth[:, 0], worth[:, 1], seed)


def verdict(before: Floats, after: Floats, seed: int = 0) -> HeldBackVerdict:
    """From the values of both for each held-back episode (paired bootstrap)."""
    gain = after - before
    drawn = np.random.default_rng(seed).integers(len(gain), size=(RESAMPLES, len(gain)))
    sure = float((gain[drawn].mean(axis=1) > 0).mean())
    return HeldBackVerdict(float(before.mean()), float(after.mean()), sure, len(gain))
