"""``memlane train --homes``: one policy trained on many homes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.context import Run
from cli.output.progress import progress

if TYPE_CHECKING:
    from rich.console import Console

    from agent.learning.many_homes import Round, TrainedTogether
    from agent.learning.training import Plan


def train_over(
    run: Run,
    plan: Plan,
    homes: Sequence[Path],
    test: Sequence[Path],
    *,
    scheduler: str | None,
    workers: int,
    rounds: int,
    pairs: int,
    out: Path | None,
) -> None:
    """Train over the homes and write the shared weights to ``out``; no home's own change."""
    from agent.learning.many_homes import engine_at, homes_in, train_together

    own, others = homes_in(homes), homes_in(test) if test else ()
    with progress(run.err) as advance, engine_at(scheduler, workers) as engine:
        done = train_together(
            own,
            plan,
            rounds=rounds,
            pairs=pairs,
            test=others,
            engine=engine,
            on_home=lambda at, of: advance("homes", at, of),
        )
    if out is not None:
        done.network.save(out)
    document = {
        "policy": plan.policy,
        "homes": len(own),
        "rounds": [_figures(one) for one in done.rounds],
        "tested": None if done.tested is None else _figures(done.tested),
        "weights": None if out is None else str(out),
    }
    run.emit(document, lambda console: _show(console, done, out))


def _figures(one: Round) -> dict[str, float | int]:
    return {
        "homes": one.homes,
        "learned": one.learned,
        "before": round(one.before, 4),
        "after": round(one.after, 4),
    }


def _show(out: Console, done: TrainedTogether, written: Path | None) -> None:
    for number, one in enumerate(done.rounds, 1):
        out.print(
            f"Round {number}: {one.homes} homes, {one.learned} questions; on held-out questions "
            f"{one.before:.3f} before, {one.after:.3f} after."
        )
    if done.tested is not None:
        out.print(
            f"On {done.tested.homes} test homes: {done.tested.before:.3f} before, "
            f"{done.tested.after:.3f} with the shared weights."
        )
    if written is not None:
        out.print(f"The shared weights are in {written}.")
        out.print("The homes keep their own weights.")
    else:
        out.print("The homes keep their own weights. To keep the shared weights: --out FILE")
