"""``memlane memories forget``: permanent erasure, or soft with --soft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.confirm import confirmed, interactive
from cli.output import json_output, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from store.erasure.plan import ErasePlan
    from store.erasure.run import Forgotten
    from store.graph import MemoryGraph

MOST = 10
"""Memories that words may name at once."""


def forget(
    context: typer.Context,
    memories: Annotated[
        list[str],
        typer.Argument(help="Memories such as m12, or words that they contain, one after another."),
    ],
    soft: Annotated[
        bool, typer.Option("--soft", help="Only hide them from answers; undo works for 30 days.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_proof: Annotated[
        bool,
        typer.Option(
            "--no-proof",
            help="Keep no hashes. 'doctor --forgotten' cannot check this erasure later.",
        ),
    ] = False,
    all_spaces: Annotated[
        bool,
        typer.Option("--all-spaces", help="Also forget what says the same in other spaces."),
    ] = False,
) -> None:
    """Forget memories for good.

    Their text is erased from the database, the history, the raw text they were read from, chat
    turns and caches. Then every byte of the home is searched for it. With --soft they are only
    hidden from answers, and erased after 30 days. Memories that are named by words are shown, and
    you are asked before anything is forgotten. Other spaces are searched with --all-spaces only.

    \b
    Examples:
      memlane memories forget m12 m13
      memlane memories forget spare key
      memlane memories forget m12 --soft
    """
    from store.journal import Forget

    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        memories = _ids(run, graph, memories, asks=not (yes or soft))
        texts = [memory.text for memory in graph.memories.of(tuple(dict.fromkeys(memories)))]
        if soft:
            wanted = [Forget(memory) for memory in dict.fromkeys(memories)]
            entries = graph.apply(wanted, at=now, actor="user")
        else:
            plan = graph.plan_erase(memories)
            if not _agreed(run, plan, yes):
                run.err.print("Nothing was forgotten.")
                raise typer.Exit(1)
            done = graph.erase(memories, at=now, proof=not no_proof)
    others, unsure = _elsewhere(run, texts, yes, all_spaces, soft=soft, proof=not no_proof)
    spaces = {"spaces": others} if others else {}
    if soft:
        edits = {"edits": json_output.edits(entries)}
        run.emit(
            {**edits, "undoable_until": json_output.iso(_until(now)), **spaces},
            lambda out: render.softly_forgotten(out, entries, _until(now)),
        )
    else:
        run.emit(json_output.forgotten(done) | spaces, lambda out: render.forgotten(out, done))
    if others and not run.json:
        _say_spaces(run, others, soft=soft)
    problems = [_remedy(done)] if not soft and not done.verified else []
    for problem in (*problems, *unsure):
        run.err.print(f"memlane: {problem}")
    if problems or unsure:
        raise typer.Exit(1)


def _ids(run: Run, graph: MemoryGraph, named: list[str], *, asks: bool) -> list[str]:
    """The ids that a command line names; what is no id are words of the memories.

    Words may fit more than was meant, so they need a person who sees what they fit and agrees.

    :raises InvalidInput: if the words fit nothing or too much, or there is nobody to agree.
    """
    from store.errors import InvalidInput

    words = " ".join(one for one in named if not _is_id(one))
    if not words:
        return named
    found = graph.memories.mentioning(words, MOST + 1)
    if not found:
        raise InvalidInput(
            f"{words!r} is no id such as m12, and no memory contains these words. To look for it: "
            "memlane search WORDS"
        )
    if len(found) > MOST:
        raise InvalidInput(
            f"More than {MOST} memories contain {words!r}. Name more of their words, or their ids:"
            " memlane search WORDS"
        )
    ids = [memory.id for memory in reversed(found)]
    if not (asks and interactive(run)):
        shown = "; ".join(f"{memory.id}: {memory.text.rstrip('.')}" for memory in reversed(found))
        raise InvalidInput(
            f"{words!r} is no id. Memories that contain these words: {shown}. To forget them: "
            f"memlane forget {' '.join(ids)}"
        )
    return [one for one in named if _is_id(one)] + ids


def _is_id(word: str) -> bool:
    from store.errors import UnknownId
    from store.row_codecs import row_id

    try:
        row_id("m", word, "memory")
    except UnknownId:
        return False
    return True


def _elsewhere(
    run: Run, texts: Sequence[str], yes: bool, all_spaces: bool, *, soft: bool, proof: bool
) -> tuple[dict[str, list[str] | None], list[str]]:
    """By the name of each other space what was forgotten there; None where nobody looked.

    With what could not be verified.
    """
    from store.database.connection import DATABASE_NAME
    from store.graph import MemoryGraph
    from store.journal import Forget
    from store.spaces import home_of, names
    from store.types import Status

    config, now = run.config, run.config.now()
    found: dict[str, list[str] | None] = {}
    unsure: list[str] = []
    for name in names(config.root):
        if name == config.space:
            continue
        home = home_of(config.root, name)
        if not all_spaces:
            found[name] = None
            continue
        found[name] = []
        if not (home / DATABASE_NAME).exists():
            continue
        with MemoryGraph.open(home) as graph:
            same = {m.id: m for text in texts for m in graph.memories.saying(text)}
            if soft:
                wanted = [m.id for m in same.values() if m.status is Status.CURRENT]
                graph.apply([Forget(memory) for memory in wanted], at=now, actor="user")
                found[name] = wanted
            elif same and _agreed(run, graph.plan_erase(same), yes, name):
                done = graph.erase(same, at=now, proof=proof)
                found[name] = sorted(done.plan.ids)
                unsure += [] if done.verified else [f"In the space {name}: {_remedy(done)}"]
    return found, unsure


def _say_spaces(run: Run, others: Mapping[str, list[str] | None], *, soft: bool) -> None:
    from agent.io.transfer.backup import FOLDER as BACKUPS

    for name, ids in others.items():
        if ids:
            run.out.print(f"In the space {name}: {', '.join(ids)}.")
    looked = [run.config.space, *(name for name, ids in others.items() if ids is not None)]
    left = [name for name, ids in others.items() if ids is None]
    run.out.print(
        f"Spaces that were searched: {', '.join(looked)}."
        + (f" Not searched: {', '.join(left)}; to search them too: --all-spaces" if left else "")
    )
    backups = run.config.root / BACKUPS
    if not soft and looked != ["main"] and any(backups.glob("*.zip")):
        run.out.print(f"Backups of the whole home may still hold it: {backups}")


def _until(now: datetime) -> datetime:
    from store.erasure.run import KEPT

    return now + KEPT


def _agreed(run: Run, plan: ErasePlan, yes: bool, space: str = "") -> bool:
    if not yes:
        for memory in plan.memories:
            run.err.print(f"  {memory.id}: {memory.text}")
    return confirmed(
        run,
        f"Forget for good, with history and raw text: {', '.join(m.id for m in plan.memories)}"
        f"{f' of the space {space}' if space else ''}? "
        "This cannot be undone.",
        yes=yes,
        otherwise="Forgetting for good cannot be undone. Add --yes to confirm, or --soft to be "
        "able to undo it for 30 days.",
    )


def _remedy(done: Forgotten) -> str:
    if done.erased.still_in:
        places = ", ".join(done.erased.still_in[:5])
        return (
            f"It is forgotten, but {places} says the same independently. See: memlane memories "
            "history; to forget that memory too: memlane memories forget ID"
        )
    if done.searched.found:
        return (
            f"It is erased from memory, but these files of the home still contain bytes of it: "
            f"{', '.join(done.searched.found)}. Delete them, or close other memlane processes "
            "and run: memlane doctor --forgotten"
        )
    return (
        "It is erased from memory, but another process uses the database, so the old bytes are "
        "not overwritten yet. Close that process and run: memlane doctor --forgotten"
    )
