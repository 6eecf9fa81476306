"""Training a policy that decides memory by memory (EMG-RAG section 4.3): first what should be
taken, then what it becomes worth.

*Warm start*: cross-entropy against the required memories (equation 5). *Policy gradient*:
REINFORCE (equation 6; Williams, 1992), where the reward of a decision is what the selection is
worth after it less what it was worth before (equation 3). Four rollouts of an episode share one
call of ``Value``, and each decision is weighed against the mean return of the rollouts from there
on, in units of the spread that such differences have had lately. The units are not the episode's
own: an episode where every choice is worth about nothing would else pull as hard as one where they
are worth everything, and the policy would learn to keep silent.

Chance is drawn anew for every step from the seed and the step's number, so a training that goes on
from a ``State`` gives bit for bit what it would have given uninterrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from policies.base import Episode, Policy, Question, Value
from policies.training.mlp import Adam, FlatWeights, Floats, Ints, Mlp, N
from policies.weight_file import read_arrays
from store.database.whole_files import whole_file
from store.derived.view import GraphView
from store.errors import InvalidInput, WeightsDamaged

WARM_EPISODES = 1000
GRADIENT_EPISODES = 100
RATE = 0.001
DISCOUNT = 0.99
"""The paper's (section 5.1)."""
ROLLOUTS = 4
_ANEW = "Begin it anew: memlane train"
SMOOTHING = 0.95
"""What the running reward keeps of itself at each step."""


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """One sampled selection and the decisions that made it."""

    states: Floats
    """Shape (decisions, inputs)."""
    actions: Ints
    sets: tuple[tuple[str, ...], ...]
    """The selection after each decision."""

    @property
    def chosen(self) -> tuple[str, ...]:
        """The selection at the end."""
        return self.sets[-1] if self.sets else ()


class Trainable(Policy, Protocol):
    """A policy that a network makes; what is needed to keep and to compare its weights."""

    @property
    def network(self) -> FlatWeights: ...


class LearnedPolicy(Trainable, Protocol):
    """A policy whose decisions a network makes: action 1 takes the memory, 0 leaves it."""

    @property
    def network(self) -> Mlp: ...

    def with_network(self, network: Mlp) -> Self:
        """The same policy with other weights."""
        ...

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        """States (n, inputs) of a walk that decides rightly, and what is right in each (n,).

        It does not depend on the network.
        """
        ...

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        """A walk whose decisions are drawn by their probabilities."""
        ...


P = TypeVar("P", bound=LearnedPolicy)


@dataclass(frozen=True, slots=True, eq=False)
class State(Generic[N]):
    """All that a training needs to go on: weights, Adam's moments, how many steps were taken."""

    network: N
    adam: Adam
    step: int = 0
    running: float = 0.0
    """Moving mean of the reward."""
    spread: float = 0.0
    """Moving mean of the squared differences from the mean return; 0 before the first."""

    @classmethod
    def fresh(cls, network: N) -> Self:
        return cls(network, Adam.fresh(network))

    def save(self, path: Path) -> None:
        """Write an npz, whole or not at all."""
        network = self.network
        with whole_file(path) as file:
            np.savez(
                file,
                shape=np.array([network.inputs, network.hidden, network.outputs]),
                flat=network.flat,
                mean=self.adam.mean,
                square=self.adam.square,
                counts=np.array([self.adam.count, self.step]),
                moving=np.array([self.running, self.spread]),
            )

    @classmethod
    def load(cls, path: Path, kind: type[N]) -> Self:
        """One whose network is of this kind.

        :raises WeightsDamaged: if the file is missing or damaged.
        """
        network = kind.load(path)
        held = read_arrays(path, ("mean", "square", "moving", "counts"), remedy=_ANEW)
        try:
            mean, square = held["mean"], held["square"]
            running, spread = (float(value) for value in held["moving"])
            adams, step = (int(count) for count in held["counts"])
            if mean.shape != network.flat.shape or square.shape != network.flat.shape:
                raise ValueError(mean.shape)
        except (ValueError, TypeError) as error:
            raise WeightsDamaged(
                f"The training kept at {path} is damaged (wrong numbers). {_ANEW}"
            ) from error
        return cls(network, Adam(mean, square, adams), step, running, spread)


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """Told after each step. Raising in ``on_step`` stops; ``state`` is where to go on."""

    step: int
    """Counted from 1."""
    of: int
    reward: float
    """What the rollouts' selections are worth on average; of the warm start, minus its loss."""
    running: float
    """Its moving mean."""
    state: State[Any]  # of whichever network learns: whoever is told only keeps it


OnStep = Callable[[Progress], None]


def warm_start(
    policy: P,
    episodes: Sequence[Episode],
    *,
    count: int = WARM_EPISODES,
    batch: int = 1,
    rate: float = RATE,
    decay: float = 0.0,
    required_weight: float = 1.0,
    seed: int = 0,
    state: State[Mlp] | None = None,
    on_step: OnStep | None = None,
) -> P:
    """Teach the policy to take what is required: ``count`` steps of Adam of ``batch`` episodes.

    ``decay`` pulls every weight to 0 (its share is added to the gradient), so that a network with
    many inputs does not learn one kind of life by heart. ``required_weight`` is how much a required
    memory counts in the loss where another counts 1 (the paper's); above 1, a miss costs more than
    a needless memory.
    Episodes of unknown requirements are left out; the others come in turns, each pass shuffled.

    :raises InvalidInput: if no episode says what it requires.
    """
    known = [episode for episode in episodes if episode.required is not None]
    if not known:
        raise InvalidInput("The warm start needs episodes that say which memories they require.")
    lessons: dict[int, tuple[Floats, Ints]] = {}

    def lesson(place: int) -> tuple[Floats, Ints]:
        if place not in lessons:
            asked = known[place]
            lessons[place] = policy.lesson(
                asked.question, asked.view, asked.required or frozenset()
            )
        return lessons[place]

    def one(now: State[Mlp]) -> tuple[Floats, float, float]:
        turns = range(batch * now.step, batch * (now.step + 1))
        states, labels = zip(*(lesson(turn(seed, n, len(known))) for n in turns), strict=True)
        right = np.concatenate(labels)
        weights = np.where(right == 1, required_weight, 1.0)
        loss, gradient = now.network.loss_and_gradient(np.concatenate(states), right, weights)
        return gradient + decay * now.network.flat, -loss, 0.0

    now = descend(
        state or State.fresh(policy.network), one, count=count, rate=rate, on_step=on_step
    )
    return policy.with_network(now.network)


def policy_gradient(
    policy: P,
    episodes: Sequence[Episode],
    value: Value,
    *,
    count: int = GRADIENT_EPISODES,
    rate: float = RATE,
    rollouts: int = ROLLOUTS,
    seed: int = 0,
    state: State[Mlp] | None = None,
    on_step: OnStep | None = None,
) -> P:
    """Teach the policy to take what makes the selection worth more, for ``count`` episodes.

    :raises InvalidInput: if there are no episodes.
    """
    if not episodes:
        raise InvalidInput("There are no episodes to learn from.")

    def one(now: State[Mlp]) -> tuple[Floats, float, float]:
        episode = episodes[turn(seed, now.step, len(episodes))]
        walker = policy.with_network(now.network)
        rng = np.random.default_rng([seed, now.step, 1])
        rolls = [walker.roll(episode.question, episode.view, rng) for _ in range(rollouts)]
        worth = _worth(episode, rolls, value)
        above = advantages([returns(roll, worth, DISCOUNT) for roll in rolls])
        spread = _moved(now, now.spread, float((above**2).mean()) if len(above) else 0.0)
        weights = above / np.sqrt(spread) if spread > 1e-12 else above
        _, gradient = now.network.loss_and_gradient(
            np.concatenate([roll.states for roll in rolls]),
            np.concatenate([roll.actions for roll in rolls]),
            weights,
        )
        return gradient, float(np.mean([worth[roll.chosen] for roll in rolls])), spread

    now = descend(
        state or State.fresh(policy.network), one, count=count, rate=rate, on_step=on_step
    )
    return policy.with_network(now.network)


def descend(
    now: State[N],
    one: Callable[[State[N]], tuple[Floats, float, float]],
    *,
    count: int,
    rate: float,
    on_step: OnStep | None,
) -> State[N]:
    """Steps down the gradients of ``one``, until ``count`` have been taken in all.

    It gives the gradient, the reward, and the spread where it uses one.
    """
    while now.step < count:
        gradient, reward, spread = one(now)
        network, adam = now.adam.step(now.network, gradient, rate)
        running = _moved(now, now.running, reward)
        now = State(network, adam, now.step + 1, running, spread)
        if on_step is not None:
            on_step(Progress(now.step, count, reward, now.running, now))
    return now


def _moved(now: State[Any], mean: float, value: float) -> float:
    """A moving mean one value on; the first value is its own mean."""
    kept = SMOOTHING if now.step else 0.0
    return kept * mean + (1 - kept) * value


def turn(seed: int, number: int, among: int) -> int:
    """Whose turn it is: each pass over the episodes goes through all of them, shuffled."""
    past, place = divmod(number, among)
    return int(_order(seed, past, among)[place])


@lru_cache(maxsize=4)
def _order(seed: int, past: int, among: int) -> Ints:
    return np.random.default_rng([seed, past, 0]).permutation(among)


def _worth(
    episode: Episode, rolls: Sequence[Rollout], value: Value
) -> dict[tuple[str, ...], float]:
    """What every selection on the rollouts' ways is worth, each asked for once, in one call."""
    sets = list(dict.fromkeys([(), *(made for roll in rolls for made in roll.sets)]))
    return dict(zip(sets, value(episode, sets), strict=True))


def returns(roll: Rollout, worth: dict[tuple[str, ...], float], discount: float) -> Floats:
    """What each decision and those after it add, discounted (equations 3 and 4)."""
    values = np.array([worth[()], *(worth[made] for made in roll.sets)])
    gains = np.diff(values)
    total, made = 0.0, np.zeros(len(gains))
    for place in range(len(gains) - 1, -1, -1):
        total = gains[place] + discount * total
        made[place] = total
    return made


def advantages(all_returns: Sequence[Floats]) -> Floats:
    """Returns less their mean over the rollouts at the same decision.

    A rollout that has ended returns 0 from there on.
    """
    longest = max((len(own) for own in all_returns), default=0)
    padded = np.zeros((len(all_returns), longest))
    for row, own in zip(padded, all_returns, strict=True):
        row[: len(own)] = own
    above = padded - padded.mean(axis=0)
    return np.concatenate([row[: len(own)] for row, own in zip(above, all_returns, strict=True)])
