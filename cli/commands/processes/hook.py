"""``memlane hook``: memories for the sessions of coding agents, and of them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands.processes.hook_review import review
from cli.context import Run
from cli.forwarding.hooked import hooked
from cli.input.confirm import confirmed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from agent.server.hooks import tools

app = typer.Typer(help="Memories for coding agents, without being asked.", no_args_is_help=True)
app.command()(review)


class Tool(StrEnum):
    """The coding agents whose hooks memlane knows."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    CURSOR = "cursor"


Which = Annotated[Tool, typer.Argument(help="The coding agent.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Change the file without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


@app.command()
def install(context: typer.Context, tool: Which, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Put hooks into the settings of a coding agent.

    From then on, each prompt comes with the few memories that belong to it, and each session starts
    with a few that belong to the project's folder: at most 5, as data, with their ids. Nothing is
    stored of a prompt. When a session ends, what you told in it waits for 'memlane hook review'.
    The change is shown first; all other settings stay. In folders that the setting hook_exclude
    names the hooks are off. Cursor adds no memories to prompts, only to the start of a session.

    \b
    Examples:
      memlane hook install claude-code --dry-run
      memlane config set hook_exclude "~/work;~/clients"
    """
    from agent.server.hooks.settings_file import with_hook

    run: Run = context.obj
    command = _command(run, tool)
    done = f"Installed. It works in new sessions. To undo it: memlane hook remove {tool}"
    if tool is Tool.CODEX:
        done += "\nCodex asks you once to trust the new hooks (/hooks)."
    _change(
        run, tool, lambda text, known, path: with_hook(text, command, known, path), yes, dry_run,
        done, "The hooks are installed already.",
    )  # fmt: skip


@app.command()
def remove(context: typer.Context, tool: Which, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Take memlane's hooks out of the settings of a coding agent.

    All other settings stay. The change is shown first.
    """
    from agent.server.hooks.settings_file import without_hook

    _change(
        context.obj, tool, without_hook, yes, dry_run, "Removed.",
        "No hook of memlane is installed.",
    )  # fmt: skip


@app.command("run", hidden=True)
def run_(context: typer.Context, tool: Which) -> None:
    """What the coding agent calls: its message comes on standard input."""
    config = context.obj.config
    hooked(["--home", str(config.root), "--space", config.space, "hook", "run", str(tool)])


@app.command(hidden=True)
def start(context: typer.Context) -> None:
    """Begin a resident process for the next prompt, where commands may leave one behind."""
    from store.database.connection import DATABASE_NAME, is_encrypted

    run: Run = context.obj
    home = run.config.home
    # There is nothing to give, or nobody who could be asked for the key.
    if (home / DATABASE_NAME).exists() and not is_encrypted(home):
        run.keep_resident()


def _change(
    run: Run,
    tool: Tool,
    make: Callable[[str, tools.Tool, Path], str],
    yes: bool,
    dry_run: bool,
    done: str,
    nothing: str,
) -> None:
    """Show a change of the settings, ask, and make it."""
    from agent.server.hooks.settings_file import difference, read, write
    from agent.server.hooks.tools import tool_named

    known = tool_named(tool)
    path = known.settings(os.environ)
    before = read(path)
    after = make(before, known, path)
    shown = difference(before, after, path)
    changed = bool(shown) and not dry_run
    if shown and not run.json:
        run.out.print(shown, highlight=False)
    if changed:
        otherwise = "Add --yes to change the file, or --dry-run to only see the change."
        changed = confirmed(run, "Change this file?", yes=yes, otherwise=otherwise)
    if changed:
        write(path, after)

    def show(out: Console) -> None:
        out.print(done if changed else "Nothing was changed." if shown else nothing)

    run.emit({"tool": str(tool), "file": str(path), "diff": shown, "changed": changed}, show)


def _command(run: Run, tool: Tool) -> str:
    """The command line that the tool runs, by absolute paths: it may have another PATH."""
    found = shutil.which("memlane") or ""
    start = [os.path.abspath(found)] if found else [sys.executable, "-P", "-m", "cli.main"]
    config = run.config
    home = [] if config.origins["home"] == "default" else ["--home", str(config.root.absolute())]
    space = [] if config.space == "main" else ["--space", config.space]
    return shlex.join([*start, *home, *space, "hook", "run", str(tool)])
