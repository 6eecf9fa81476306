"""What ``memlane train`` takes of one person's time: pairs, labels and training, all of it.

``python -m benchmarks.training_person [--quick]``. A home of 2,000 memories (``many_memories``),
the configured models, an empty cache of rewards and every default of the command, as a person would
run it. The pairs are written once and serve all policies, so the first policy pays for them:
*pairs_minutes*; *minutes* is all the rest of that policy's training, *total_minutes* both. *calls*
counts prompts that a model worked on, *hits* rewards that were there already. The bar of a policy
is 60 minutes on 2 cores for ``purple`` and the selectors of RUMS. ``--quick`` takes pairs of our
own instead of written ones and the 135M model.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from agent.config import Config, load_config
from agent.learning.train_home import FEWEST_EPISODES, PAIRS, train_person
from agent.learning.training import Plan
from agent.models.lazy import LocalEmbedder
from agent.session.session import Session, open_session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import NOW, Told, memories
from benchmarks.speed.homes.select_speed import home_of
from store.tables.side_tables.training_data import PairOrigin
from store.types import Status

MEMORIES = 2_000
BAR_MINUTES = 60
Figures = dict[str, float | int | None]


def main() -> None:
    options = parser("training_person", __doc__ or "")
    options.add_argument("--policies", nargs="+", default=["purple", "rums-binary", "scout"])
    options.add_argument("--memories", type=int, default=MEMORIES)
    options.set_defaults(seeds=1)
    given = options.parse_args()
    config = load_config(now=NOW)
    plan = Plan("")
    if given.quick:
        given.policies, given.memories = given.policies[-1:], 60
        config = replace(config, reward_llm="smollm2-135m")
        plan = replace(plan, warm_start=20, episodes=1)
    setting = settings(config, given.memories, given.quick)
    told = memories(given.memories)
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seeds):
            home = home_of(given.memories, Path(folder) / f"{seed}", told, LocalEmbedder(config))
            with open_session(replace(config, home=home)) as session:
                if given.quick:
                    practise(session, told)
                for name in given.policies:
                    own = replace(plan, policy=name, seed=seed)
                    found = trained(session, own, pairs=0 if given.quick else PAIRS)
                    figures |= {f"{name}.{key}": value for key, value in found.items()}
                    progress(f"seed {seed}, {name}: {found}")
                    # After each policy, as all of them take more than an hour.
                    write_results("training_person", setting, list(range(seed + 1)), figures)


def settings(config: Config, count: int, quick: bool) -> dict[str, object]:
    return {
        "quick": quick, "memories": count, "llm": config.llm, "reward_model": config.reward_model,
        "bar_minutes": BAR_MINUTES,
        "tables": {"Minutes": ["pairs_minutes", "minutes", "total_minutes", "episodes", "calls",
                               "hits", "before", "after", "kept"]},
    }  # fmt: skip


def trained(session: Session, plan: Plan, *, pairs: int) -> Figures:
    """One training by the command's own code."""
    written = began = time.perf_counter()
    step = 0

    def on_pair(done: int, wanted: int, _: object) -> None:
        nonlocal written
        written = time.perf_counter()
        progress(f"{plan.policy}: {done} of {wanted} pairs")

    def on_step(phase: str, _: object) -> None:
        nonlocal step
        step += 1
        if step % 50 == 1:
            progress(f"{plan.policy}: {phase}, step {step}")

    done = train_person(session, plan, pairs=pairs, on_pair=on_pair, on_step=on_step)
    ended = time.perf_counter()
    return {
        "pairs_minutes": (written - began) / 60,
        "minutes": (ended - written) / 60,
        "total_minutes": (ended - began) / 60,
        "episodes": done.episodes,
        "calls": done.llm_calls,
        "hits": done.cache_hits,
        "before": done.verdict.before,
        "after": done.verdict.after,
        "kept": int(done.kept),
    }


def practise(session: Session, told: list[Told]) -> None:
    """Pairs for a smoke run: another wording of what was told asks for it."""
    for memory in session.graph.memories.list(Status.CURRENT)[: 2 * FEWEST_EPISODES]:
        asked = next(one.changes[0] for one in told if one.memory == memory.text)
        session.graph.learned.add_pair(
            asked, memory.text, [memory], origin=PairOrigin.WRITTEN, at=NOW
        )


if __name__ == "__main__":
    main()
