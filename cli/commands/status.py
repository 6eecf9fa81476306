"""The command ``status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cli.commands.processes.resident import running_of, shape
from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console


def status(context: typer.Context) -> None:
    """Show what is stored and what is waiting."""
    run: Run = context.obj
    from agent.io.encryption import key_at_hand
    from agent.io.watch_status import watch_status
    from agent.server.hooks.ended import EndedSessions
    from agent.session.doctor import overview
    from cli.commands.files.watch import folder_lines, waiting_line
    from store.database.connection import is_encrypted

    if is_encrypted(run.config.home) and key_at_hand(run.config.home) is None:
        _locked_status(run)
        return
    with run.graph() as graph:
        found = overview(graph, run.config)
        found["watch"] = watch_status(graph, run.config)
    found["sessions_to_review"] = len(EndedSessions(run.config.home).all())
    running = running_of(run.config)
    if running is not None:
        found |= shape(running)

    def show(out: Console) -> None:
        out.print(f"home      {found['home']}")
        out.print(f"encrypted {'yes, unlocked' if found['encrypted'] else NOT_ENCRYPTED}")
        for what in ("memories", "sources"):
            counts = ", ".join(f"{n} {name}" for name, n in found[what].items()) or "none"
            out.print(f"{what:<9} {counts}")
        if bare := found["vectors_waiting"]:
            who = "memlane up makes them" if running is None else "they are being made"
            out.print(
                f"vectors   {bare:,} memories wait for theirs: until then their words find them "
                f"({who})"
            )
        if running is None:
            out.print("resident  not running: commands load the models themselves (memlane up)")
        else:
            loaded = ", ".join(running.loaded) or "nothing"
            port = f", port {running.port}" if running.port else ""
            takes = f" ({running.memory_mb:,} MB)" if running.memory_mb else ""
            ends = (
                f", ends after {running.ends_after_minutes} minutes without a command"
                if running.ends_after_minutes
                else ""
            )
            out.print(
                f"resident  process {running.pid}{port}, up {running.uptime_s:,.0f} s, "
                f"in memory: {loaded}{takes}{ends}"
            )
        for line in folder_lines(found["watch"]):
            out.print(f"watched   {line}")
        if waiting := waiting_line(found["watch"]):
            out.print(f"watched   {waiting}")
        for one in found["failed"]:
            where = one["path"] or one["kind"]
            state = "failed   " if one["status"] == "failed" else "waiting  "
            out.print(f"{state} {one['source']} {where}: {one['error']}")
        for one in found["undecided"]:
            out.print(f"to decide {_undecided(one)}")
        if sessions := found["sessions_to_review"]:
            out.print(f"to review sessions of coding agents: {sessions} (memlane hook review)")
        if found["queue"]:
            out.print(f"{found['queue']} not extracted yet: memlane ingest --retry")

    run.emit(found, show)


NOT_ENCRYPTED = "no: whoever has the disk can read it (to encrypt it: memlane lock)"


def _locked_status(run: Run) -> None:
    home = run.config.home
    run.emit(
        {"home": str(home), "encrypted": True, "locked": True, "running": False},
        lambda out: out.print(f"home      {home}\nencrypted yes, locked: memlane unlock"),
    )


def _undecided(one: dict[str, Any]) -> str:
    """A contradiction with the ways to decide it."""
    old, new = one["memories"]
    return (
        f"{one['question']}\n          Answer in memlane chat, or: memlane forget --soft {old} (or "
        f"{new}); memlane memories unlink {old} {new} if both are true."
    )
