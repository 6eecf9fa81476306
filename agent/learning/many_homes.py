"""Training on many homes, local or on a cluster (docs/many-people.md).

What runs is the same code either way: ``over`` does one piece of work for each home, one after the
other or on a Dask scheduler, and gives the results in the order of the homes. A home is opened
where the work runs, and nothing of it comes back but weights and figures: ``HomeResult`` has no
field for anything else. One policy for all is made by rounds of averaging (McMahan and others,
2017): every home trains from the shared weights on its own questions, and the new shared weights
are the mean of theirs, each counted by how many questions it learned from. Invariant: the results
are those of the sequential run to the last bit, because each piece of work is a function of its
home, plan and weights alone, and the mean is taken in the order of the homes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from agent.answering.selection.policy_weights import numbers, shipped_network, with_numbers
from agent.config import load_config
from agent.learning.episodes import collect, split, write_pairs
from agent.learning.rewards import reward_of
from agent.learning.subset_labels import TAUGHT
from agent.learning.train_home import FEWEST_EPISODES, check, starting_policy
from agent.learning.training import Plan, compare, train
from policies.training.mlp import FlatWeights
from store.database.connection import DATABASE_NAME
from store.errors import InvalidInput, MemlaneError
from store.spaces import MAIN

if TYPE_CHECKING:
    from distributed import Client

    from agent.session.session import Session

RETRIES = 3
"""How often a piece of work that failed is tried again; a lost worker's work is, by the engine."""


class EngineMissing(MemlaneError):
    """The engine for many homes is not installed; the message names the command that does it."""


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class HomeResult:
    """What comes back from one home: weights and figures, never a text, an id or a path."""

    weights: bytes
    """The network after the home's own training; the shared one where it had too little."""
    learned: int
    """Questions it learned from; 0 where it had too few."""
    held: int
    """Questions held back, which the figures are of."""
    before: float
    after: float
    """Mean value of the selections on those, by the weights it began with and by the new ones."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round over all homes, and its figures, weighted by questions."""

    homes: int
    """Homes that had enough to learn from."""
    learned: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class TrainedTogether:
    """What a training over many people gave."""

    network: FlatWeights
    rounds: tuple[Round, ...]
    tested: Round | None
    """On test homes: with the weights begun with, and with the shared ones."""


def own_session(home: Path) -> Session:
    """A home with the models of the machine that the work runs on."""
    from agent.session.session import open_session

    return open_session(load_config({"home": str(home), "space": MAIN}))


@dataclass(frozen=True, slots=True)
class TrainHome:
    """Train from shared weights on one home's own questions; the home keeps its own weights."""

    plan: Plan
    start: bytes
    """The shared network's numbers."""
    pairs: int = 0
    """Question-answer pairs to see to first, written by the language model."""
    judged: bytes | None = None
    """Do not train: compare ``start`` with these weights, on all of the home's questions."""
    open: Callable[[Path], Session] = own_session

    def __call__(self, home: Path) -> HomeResult:
        plan = self.plan
        with self.open(home) as session:
            graph, embedder, now = session.graph, session.embedder, session.config.now()
            policy = with_numbers(
                starting_policy(session, plan.policy), network_of(plan.policy, self.start)
            )
            if self.pairs:
                write_pairs(graph, embedder, session.llm, now, wanted=self.pairs, seed=plan.seed)
            there = collect(graph, embedder, now)
            if len(there.episodes) < FEWEST_EPISODES:
                return HomeResult(self.start, 0, 0, 0.0, 0.0)
            value = reward_of(
                plan.reward,
                llm=session.llm,
                rewards=session.rewards,
                references=there.references,
                cache=None,
            )
            learning, held = split(there.episodes, plan.seed)
            if self.judged is None:
                new = train(policy, learning, value, plan)
            else:
                new = with_numbers(policy, network_of(plan.policy, self.judged))
                held = there.episodes
            verdict = compare(policy, new, held, value, seed=plan.seed)
        return HomeResult(
            numbers(new.network), len(learning), len(held), verdict.before, verdict.after
        )


def train_together(
    homes: Sequence[Path],
    plan: Plan,
    *,
    rounds: int = 1,
    pairs: int = 0,
    test: Sequence[Path] = (),
    engine: Client | None = None,
    open: Callable[[Path], Session] = own_session,
    on_home: Callable[[int, int], None] = lambda done, of: None,
) -> TrainedTogether:
    """One policy from many homes. ``engine`` None: one home after the other, in this process.

    ``on_home`` is called with (pieces of work done, all of them).

    :raises InvalidInput: if the policy does not learn, or no home has enough to learn from.
    """
    check(plan)
    if plan.reward == "both" or plan.policy in TAUGHT:
        raise InvalidInput(
            "Training on many homes uses one reward and no labels: choose another of "
            "--reward or --policy."
        )
    if rounds < 1 or not homes:
        raise InvalidInput("Training on many homes needs at least one home and one round.")
    first = shipped_network(plan.policy)
    if first is None:
        raise InvalidInput(f"The policy {plan.policy!r} does not learn. Choose scout or walk.")
    of, done = rounds * len(homes) + len(test), 0
    shared = numbers(first)
    told: list[Round] = []

    def run(work: TrainHome, where: Sequence[Path]) -> list[HomeResult]:
        nonlocal done
        results = []
        for result in over(work, where, engine):
            done += 1
            on_home(done, of)
            results.append(result)
        return results

    for number in range(rounds):
        work = TrainHome(plan, shared, 0 if number else pairs, None, open)
        results = run(work, homes)
        shared = averaged(results, shared)
        told.append(_summary(results))
    if not any(one.learned for one in told):
        raise InvalidInput(
            f"None of the {len(homes)} homes has {FEWEST_EPISODES} questions to learn from. In "
            "each of them: memlane train, or with --pairs N here."
        )
    tested = None
    if test:
        work = TrainHome(plan, numbers(first), pairs, shared, open)
        tested = _summary(run(work, test))
    return TrainedTogether(network_of(plan.policy, shared), tuple(told), tested)


def averaged(results: Sequence[HomeResult], shared: bytes) -> bytes:
    """The mean of the weights by questions learned from, in the order given; ``shared`` of none."""
    total = sum(result.learned for result in results)
    if not total:
        return shared
    mean = np.zeros(len(results[0].weights) // 8)
    for result in results:
        mean += np.frombuffer(result.weights, "<f8") * (result.learned / total)
    return mean.astype("<f8").tobytes()


def network_of(policy: str, flat: bytes) -> FlatWeights:
    """The policy's network with these numbers."""
    shipped = shipped_network(policy)
    assert shipped is not None
    return replace(shipped, flat=np.frombuffer(flat, "<f8").copy())


def _summary(results: Sequence[HomeResult]) -> Round:
    held = sum(result.held for result in results)

    def mean(figure: Callable[[HomeResult], float]) -> float:
        return sum(figure(r) * r.held for r in results) / held if held else 0.0

    return Round(
        sum(result.learned > 0 for result in results),
        sum(result.learned for result in results),
        mean(lambda r: r.before),
        mean(lambda r: r.after),
    )


# ---- the engine ---------------------------------------------------------------------------


def over(
    work: Callable[[Path], R], homes: Sequence[Path], engine: Client | None = None
) -> Iterator[R]:
    """The work done for each home, in their order: here, or by the workers of ``engine``.

    ``work`` travels to the workers, so it is a plain value that pickles. A worker that dies gives
    its homes to another one; an error of the work itself is raised here.
    """
    if engine is None:
        yield from map(work, homes)
        return
    # Not pure: what a home holds changes, so a result of before is never taken for this one.
    futures = engine.map(work, list(homes), key="home", pure=False, retries=RETRIES)
    try:
        for future in futures:
            yield future.result()
    finally:
        engine.cancel(futures)


@contextmanager
def engine_at(scheduler: str | None, workers: int = 0) -> Iterator[Client | None]:
    """The scheduler at an address, a cluster of worker processes of this machine, or None.

    :raises EngineMissing: if the engine is not installed.
    :raises InvalidInput: if nothing answers at the address.
    """
    if scheduler is None and not workers:
        yield None
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise EngineMissing(
            "Many homes at once need Dask. Install it from the checkout: pip install '.[cluster]'. "
            "Without --scheduler and --workers they are trained one after the other."
        ) from error
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="10s", set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidInput(
                f"No scheduler answers at {scheduler!r}. Start one with: dask scheduler"
            ) from error
        with client:
            yield client
        return
    with (
        # Processes, one piece of work at a time in each: a home has one writer, a model one user.
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def homes_in(given: Sequence[Path]) -> tuple[Path, ...]:
    """The homes that are named: each folder itself, or the homes right inside it, by name.

    :raises InvalidInput: if a folder is no home and holds none.
    """
    found: list[Path] = []
    for folder in given:
        inside = sorted(path.parent for path in folder.glob(f"*/{DATABASE_NAME}"))
        own = [folder] if (folder / DATABASE_NAME).exists() else inside
        if not own:
            raise InvalidInput(
                f"{folder} is not a home and contains none: a home has a {DATABASE_NAME}."
            )
        found += own
    return tuple(dict.fromkeys(path.resolve() for path in found))
