"""``memlane train``: training of the selection policy on the user's memories."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.learning.train_home import Trained
    from policies.training import reinforce
    from store.graph import MemoryGraph
    from store.tables.side_tables.training_data import QuestionAnswer, StoredWeights


def train(
    context: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(
            help="With --rollback: the number of the weights to use. 0 is the weights shipped "
            "with memlane."
        ),
    ] = None,
    reward: Annotated[
        str,
        typer.Option(
            help="The reward: answer (word overlap with the correct answer), likelihood (of the "
            "correct answer), entropy (certainty of the model; needs no correct answer), both "
            "(answer and entropy)."
        ),
    ] = "likelihood",
    warm_start: Annotated[
        int,
        typer.Option(
            "--warm-start", help="Warm-start episodes: supervised, on the correct memories."
        ),
    ] = 1000,
    episodes: Annotated[int, typer.Option(help="Policy-gradient episodes.")] = 100,
    policy: Annotated[
        str | None, typer.Option(help="The policy to train. Default: the configured one.")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed. The same seed gives the same training.")
    ] = 0,
    pairs: Annotated[
        int, typer.Option(min=0, help="Number of question-answer pairs; missing ones are written.")
    ] = 32,
    status: Annotated[bool, typer.Option("--status", help="Show the state of training.")] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Return to the previous weights, or to NUMBER.")
    ] = False,
    homes: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Train one policy on many homes: a home, or a folder of homes."
        ),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test-homes", metavar="DIR", help="Homes for testing only; not trained on."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler: tcp://HOST:8786"),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Local worker processes. 0: one home after another.")
    ] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of training over all homes.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the weights trained on many homes."),
    ] = None,
) -> None:
    """Learn from your memories and feedback which memories to choose.

    The local model writes questions and answers from your memories and checks each pair by
    answering it. From these pairs, and from the answers you judged, the policy learns which
    memories help. New weights are kept only if they do better on held-out questions. Ctrl-C loses
    nothing: run the command again to continue. With --homes, one policy is trained on the homes of
    many people. The homes are not changed, and only weights and figures leave them
    (docs/many-people.md).
    """
    run: Run = context.obj
    if number is not None and not rollback:
        raise InvalidInput("A number needs --rollback: memlane train --rollback NUMBER")
    if status and rollback:
        raise InvalidInput("--status and --rollback cannot be combined. Run one after the other.")
    if homes:
        from agent.learning.train_home import default_policy
        from agent.learning.training import Plan
        from cli.commands.learning.train_homes import train_over

        name = policy or default_policy(run.config.policy)
        train_over(
            run, Plan(name, reward, warm_start, episodes, seed), homes, test or (),
            scheduler=scheduler, workers=workers, rounds=rounds, pairs=pairs, out=out,
        )  # fmt: skip
    elif test or scheduler or workers or out or rounds > 1:
        raise InvalidInput(
            "Options of many homes (--test-homes, --scheduler, --workers, ...) go with --homes."
        )
    elif status:
        with run.graph() as graph:
            _show_status(run, graph, policy)
    elif rollback:
        with run.graph() as graph:
            _roll_back(run, graph, policy, number)
    else:
        _train(run, reward, warm_start, episodes, policy, seed, pairs)


def _train(
    run: Run,
    reward: str,
    warm_start: int,
    episodes: int,
    policy: str | None,
    seed: int,
    pairs: int,
) -> None:
    from agent.learning.train_home import default_policy, train_person
    from agent.learning.training import Plan

    plan = Plan(policy or default_policy(run.config.policy), reward, warm_start, episodes, seed)
    with run.session() as session, closing(_Bars(run)) as bars:
        try:
            done = train_person(session, plan, pairs=pairs, on_pair=bars.pair, on_step=bars.step)
        except KeyboardInterrupt:
            bars.close()
            run.err.print("Progress is saved. Run the same command again to continue.")
            raise
    document = {
        "policy": done.policy,
        "before": round(done.verdict.before, 4),
        "after": round(done.verdict.after, 4),
        "kept": "new" if done.kept else "old",
        "llm_calls": done.llm_calls,
        "cache_hits": done.cache_hits,
        "number": done.number,
        "episodes": done.episodes,
        "held_back": done.verdict.held,
        "sure": round(done.verdict.sure, 3),
        "reward": reward,
        "written": dict(done.written),
    }
    run.emit(document, lambda out: _show_trained(out, done, run.config.policy))


def _show_trained(out: Console, done: Trained, used: str) -> None:
    verdict = done.verdict
    for reason, count in done.written.items():
        said = "pairs written" if reason == "kept" else f"pairs dropped: {reason}"
        out.print(f"{count} {said}")
    out.print(
        f"On {verdict.held} held-out questions: {verdict.before:.3f} before, {verdict.after:.3f} "
        f"after (better in {verdict.sure:.0%} of resamples)."
    )
    if done.kept:
        out.print(
            f"The new weights of {done.policy} are in use, as number {done.number}. "
            "To go back: memlane train --rollback"
        )
    else:
        out.print(
            f"The old weights of {done.policy} stay in use: the new ones are not reliably better."
        )
    if used != done.policy:
        out.print(
            f"Answers still use {used}. To change that: memlane config set policy {done.policy}"
        )
    out.print(f"{done.llm_calls:,} model calls, {done.cache_hits:,} rewards came from the cache.")


def _roll_back(run: Run, graph: MemoryGraph, policy: str | None, number: int | None) -> None:
    from agent.learning.train_home import default_policy, roll_back

    name = policy or default_policy(run.config.policy)
    reached = roll_back(graph, name, number)
    said = f"the weights {reached}" if reached else "the weights shipped with memlane"
    run.emit(
        {"policy": name, "active": reached},
        lambda out: out.print(f"{name} uses {said} now."),
    )


# ---- status -------------------------------------------------------------------------------


def _show_status(run: Run, graph: MemoryGraph, policy: str | None) -> None:
    from collections import Counter

    from agent.answering.selection.policy_weights import due
    from agent.learning.train_home import trainable

    learned = graph.learned
    origins = Counter(pair.origin.value for pair in learned.pairs(run.config.now()))
    judged = Counter(said.value for said in learned.judgements().values())
    waiting = due(graph)
    document = {
        "pairs": dict(origins),
        "dropped": learned.failures(),
        "judged": dict(judged),
        "policies": [
            {
                "policy": name,
                "active": active.number if (active := learned.active(name)) else 0,
                "retrain_due": waiting.get(name),
                "weights": [_weights(w) for w in learned.history(name)],
            }
            for name in ((policy,) if policy else trainable())
        ],
    }
    run.emit(document, lambda out: _print_status(out, document))


def _weights(weights: StoredWeights) -> dict[str, Any]:
    from cli.output import json_output

    return {
        "number": weights.number,
        "at": json_output.iso(weights.at),
        "by": weights.by,
        "state": weights.state,
        "continues": weights.continues,
        "before": weights.before,
        "after": weights.after,
        **weights.figures,
    }


def _print_status(out: Console, document: dict[str, Any]) -> None:
    for what, words in (("pairs", "pairs"), ("judged", "answers judged")):
        counts = ", ".join(f"{n} {name}" for name, n in document[what].items()) or "none"
        out.print(f"{words}: {counts}")
    dropped = sum(document["dropped"].values())
    if dropped:
        out.print(f"pairs dropped because they failed the check: {dropped}")
    for policy in document["policies"]:
        used = policy["active"] or "those shipped with memlane"
        out.print(f"{policy['policy']}: weights in use: {used}")
        if policy["retrain_due"]:
            out.print(f"  retrain due: {policy['retrain_due']}. Run: memlane train")
        for row in policy["weights"]:
            out.print(
                f"  {row['number']:>3} {row['at'][:16]} by {row['by']}, {row['state']}: "
                f"{row['before']:.3f} -> {row['after']:.3f}"
            )


# ---- progress -----------------------------------------------------------------------------


class _Bars:
    """A bar a phase on stderr; nothing where that is no terminal."""

    def __init__(self, run: Run) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self._progress = Progress(
            TextColumn("{task.description:<15}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            Remaining(),
            console=run.err,
            transient=True,
            disable=not run.err.is_terminal,
        )
        self._tasks: dict[str, Any] = {}

    def close(self) -> None:
        self._progress.stop()

    def pair(self, done: int, wanted: int, pair: QuestionAnswer | None) -> None:
        said = pair.question if pair else "(one that does not hold)"
        self._update("writing pairs", done, wanted, said[:50])

    def step(self, phase: str, progress: reinforce.Progress) -> None:
        word = "reward" if phase == "policy gradient" else "fit"
        self._update(phase, progress.step, progress.of, f"{word} {progress.running:+.3f}")

    def _update(self, name: str, done: int, of: int, said: str) -> None:
        if name not in self._tasks:
            # Started late: while weights are put together, another bar is shown.
            self._progress.start()
            self._tasks[name] = self._progress.add_task(name, total=of, said="")
        self._progress.update(self._tasks[name], completed=done, said=said)
