"""Training on one user's home: pairs, episodes, evaluation, weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from agent.answering.selection.policy_weights import (
    is_learned,
    is_trainable,
    numbers,
    shape,
    shipped_network,
    with_numbers,
)
from agent.errors import TooLittleToLearn
from agent.learning.cost_counters import Count, CountedModel, CountedRewards
from agent.learning.episodes import (
    OnPair,
    collect,
    current_view,
    split,
    write_pairs,
)
from agent.learning.rewards import KINDS, Watched, needs_reference, reward_of
from agent.learning.subset_labels import TAUGHT, lessons
from agent.learning.training import Checkpoint, HeldBackVerdict, OnStep, Plan, compare, train
from agent.models.lazy import open_cache
from policies.base import Episode
from policies.purple.purple import Purple
from policies.registry import POLICIES
from policies.training.reinforce import LearnedPolicy, Trainable
from store.errors import InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.tables.side_tables.training_data import StoredWeights

if TYPE_CHECKING:
    from agent.session.session import Session

FEWEST_MEMORIES = 10
FEWEST_EPISODES = 8
"""Below these a training would learn one question by heart."""
PAIRS = 32
"""Question-answer pairs that a training sees to; written where the person gave fewer."""
OWN_WALK = "scout"
_PROBES = 8
"""Episodes that the spreads of a mixture are measured on."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training did."""

    policy: str
    verdict: HeldBackVerdict
    kept: bool
    """Whether the new weights are in use now."""
    number: int
    llm_calls: int
    """Prompts that a model worked on: pairs written and tried, answers, rewards."""
    cache_hits: int
    """Rewards that were there already."""
    episodes: int
    written: Counter[str] = field(default_factory=Counter)
    """What became of the tries to write pairs in this run."""


def train_person(
    session: Session,
    plan: Plan,
    *,
    pairs: int = PAIRS,
    on_pair: OnPair = lambda done, wanted, pair: None,
    on_step: OnStep = lambda phase, progress: None,
) -> Trained:
    """Train a policy on what this person's memories and judgements teach.

    Interrupted anywhere, the same call goes on where it was.

    :raises InvalidInput: if the policy does not learn, or a number of the plan is unusable.
    :raises TooLittleToLearn: if there are too few memories or too few pairs that hold.
    """
    if plan.policy in TAUGHT:
        plan = replace(plan, episodes=0)  # its labels say what a gradient would find out
    check(plan)
    graph, embedder, now = session.graph, session.embedder, session.config.now()
    old = starting_policy(session, plan.policy)
    view = current_view(graph, embedder, now)
    if len(view.current) < FEWEST_MEMORIES:
        raise TooLittleToLearn(
            f"There are {len(view.current)} memories to learn from; training needs at least "
            f"{FEWEST_MEMORIES}. Tell memlane more, or: memlane ingest PATH"
        )
    if plan.reward != "answer":
        _ = session.rewards.identity  # loads it: told now if it is missing, not hours later
    cache = open_cache(session.config.home, session.config.reward_cache_mb)
    count = Count(cache)
    llm, rewards = CountedModel(session.llm, count), CountedRewards(session.rewards, count)
    checkpoint = Checkpoint(session.config.home, plan.policy)
    unanswered = not needs_reference(plan.reward)
    known = checkpoint.keys(plan)
    there = collect(graph, embedder, now, unanswered=unanswered)
    chosen = there.with_keys(known) if known else None
    written: Counter[str] = Counter()
    if chosen is None:
        checkpoint.clear()
        written = write_pairs(
            graph, embedder, llm, now, wanted=pairs, seed=plan.seed, on_pair=on_pair
        )
        there = collect(graph, embedder, now, unanswered=unanswered)
        chosen = there.episodes
    if len(chosen) < FEWEST_EPISODES:
        raise TooLittleToLearn(
            f"{len(chosen)} question-answer pairs passed the check; training needs at least "
            f"{FEWEST_EPISODES}. Judge answers with 'memlane feedback', tell memlane more, "
            "or let it write more: memlane train --pairs N"
        )
    learning, held = split(chosen, plan.seed)
    value = Watched(
        reward_of(
            plan.reward,
            llm=llm,
            rewards=rewards,
            references=there.references,
            cache=cache,
            probes=_probes(learning) if plan.reward == "both" else (),
        )
    )
    keys = [episode.key for episode in chosen]
    if is_learned(old) and plan.policy in TAUGHT:
        learning = lessons(learning, value, embedder, old.network, on_step)
    new = train(old, learning, value, plan, checkpoint=checkpoint, keys=keys, on_step=on_step)
    verdict = compare(old, new, held, value, seed=plan.seed)
    used = {memory for episode in chosen for memory in episode.required or ()} | value.memories
    kept = keep(session, plan, old, new, verdict, used, by="train")
    checkpoint.clear()
    return Trained(
        plan.policy, verdict, kept.active, kept.number, count.calls, count.hits, len(chosen),
        written,
    )  # fmt: skip


def check(plan: Plan) -> None:
    """:raises InvalidInput: if there is no such reward, or a number cannot be."""
    if plan.reward not in KINDS:
        raise InvalidInput(f"There is no reward {plan.reward!r}. Choose from: {', '.join(KINDS)}.")
    if min(plan.warm_start, plan.episodes, plan.seed) < 0:
        raise InvalidInput(
            "--warm-start, --episodes and --seed must be whole numbers of 0 or more."
        )
    if not plan.warm_start and not plan.episodes:
        raise InvalidInput("Nothing to do: set --warm-start or --episodes above 0.")


def trainable() -> tuple[str, ...]:
    """Names of the policies that learn."""
    return tuple(name for name in POLICIES if shipped_network(name) is not None)


def default_policy(configured: str) -> str:
    """The configured policy if it learns, else our own walk."""
    return configured if configured in trainable() else OWN_WALK


def starting_policy(session: Session, name: str) -> LearnedPolicy | Purple:
    """The policy with the weights in use; with the shipped ones where retraining is due.

    :raises InvalidInput: if there is no such policy, or it does not learn.
    """
    policy = session.policy(name, session.config.k)
    shipped = shipped_network(name)
    if shipped is None or not is_trainable(policy):
        raise InvalidInput(
            f"The policy {name!r} does not learn. Choose from: {', '.join(trainable())}."
        )
    return with_numbers(policy, shipped) if name in session.graph.learned.due() else policy


def roll_back(graph: MemoryGraph, policy: str, number: int | None) -> int:
    """Return to earlier weights, by default to those that the ones in use were made from.

    :raises UnknownId: if there are none of this number, or none to return from.
    """
    active = graph.learned.active(policy)
    if number is None:
        if active is None:
            raise UnknownId(
                f"{policy} uses the weights shipped with memlane: there is nothing to roll back."
            )
        number = active.continues
        earlier = {w.number for w in graph.learned.history(policy) if w.flat is not None}
        if number not in earlier:  # pruned, or removed with something forgotten
            number = 0
    graph.learned.activate(policy, number)
    return number


def keep(
    session: Session,
    plan: Plan,
    old: Trainable,
    new: Trainable,
    verdict: HeldBackVerdict,
    used: set[str],
    *,
    by: Literal["train", "feedback"],
    wins: bool | None = None,
) -> StoredWeights:
    """Store what came of a training; the new weights are in use from now on if they won."""
    won = verdict.wins if wins is None else wins
    graph = session.graph
    active = graph.learned.active(plan.policy)
    goes_on = active is not None and active.flat == numbers(old.network)
    return graph.learned.add_weights(
        StoredWeights(
            policy=plan.policy,
            number=0,
            at=session.config.now(),
            by=by,
            shape=shape(new.network),
            flat=numbers(new.network) if won else None,
            state="kept" if won else "lost",
            before=verdict.before,
            after=verdict.after,
            continues=active.number if active is not None and goes_on else 0,
            active=won,
            figures={
                "reward": plan.reward,
                "warm_start": plan.warm_start,
                "episodes": plan.episodes,
                "seed": plan.seed,
                "held_back": verdict.held,
                "sure": round(verdict.sure, 3),
            },
        ),
        used,
    )


def _probes(episodes: Sequence[Episode]) -> list[tuple[Episode, tuple[str, ...]]]:
    """Right and (nearly always) wrong selections by which the spread of a reward is measured."""
    found: list[tuple[Episode, tuple[str, ...]]] = []
    for episode in [e for e in episodes if e.required][:_PROBES]:
        required = episode.required or frozenset()
        others = [m.id for m in episode.view.memories if m.id not in required]
        found += [(episode, tuple(sorted(required))), (episode, tuple(others[:1]))]
    return found
