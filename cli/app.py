"""Root of the ``memlane`` command: global options, subcommands and exit codes.

Nothing heavy is imported before a command needs it, so ``memlane --help`` is instant.
Exit codes: 0 done, 1 the request could not be met, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.arguments import hoisted
from cli.commands import guide, spaces
from cli.commands.admin import config, models
from cli.commands.admin.doctor import doctor
from cli.commands.conversation import say_ask_remember
from cli.commands.conversation.chat import chat
from cli.commands.conversation.demo import demo
from cli.commands.conversation.feedback import feedback
from cli.commands.conversation.why import why
from cli.commands.files import backup, consent, fill, ingest, transfer
from cli.commands.files.rescue import rescue
from cli.commands.files.sync import sync
from cli.commands.files.watch import watch
from cli.commands.learning import persona
from cli.commands.learning.ratings import predict, rate
from cli.commands.learning.train import train
from cli.commands.memories import entities, forget, memories, types, undo
from cli.commands.processes import browser, hook
from cli.commands.processes.lock import lock, unlock
from cli.commands.processes.mcp import mcp
from cli.commands.processes.resident import down, up
from cli.commands.processes.web import web
from cli.commands.services import remind, travel
from cli.commands.status import status
from cli.commands.today import today
from cli.context import Run
from cli.exit_codes import exit_code, report
from cli.output.command_groups import GroupedCommands, first_screen
from store.database.encryption.keys import register_source

app = typer.Typer(
    name="memlane",
    cls=GroupedCommands,
    help="A personal memory agent that runs on your own machine. Nothing leaves it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(say_ask_remember.say)
app.command()(chat)
app.command()(say_ask_remember.remember)
app.command()(say_ask_remember.ask)
app.command("help")(guide.help_)
app.command("list")(memories.list_)
app.command()(memories.search)
app.command()(forget.forget)
app.command()(undo.undo)
app.command()(why)
app.command()(feedback)
app.command()(train)
app.command()(ingest.ingest)
app.command()(fill.fill)
app.add_typer(consent.app, name="consent")
app.command()(rate)
app.command()(predict)
app.command()(today)
app.command()(remind)
app.command()(travel)
app.command()(watch)
app.add_typer(memories.app, name="memories")
app.add_typer(entities.app, name="entities")
app.add_typer(types.app, name="types")
app.add_typer(persona.app, name="persona")
app.add_typer(spaces.app, name="spaces")
app.add_typer(models.app, name="models")
app.command()(mcp)
app.add_typer(hook.app, name="hook")
app.command()(up)
app.command()(down)
app.command()(web)
app.add_typer(browser.app, name="browser")
app.command()(lock)
app.command()(unlock)
app.command()(status)
app.command()(doctor)
app.add_typer(config.app, name="config")
app.command()(transfer.export)
app.command("import")(transfer.import_)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(sync)
app.command()(rescue)
app.command()(guide.completion)


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder of your memory.")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The space to work in; see: memlane spaces"),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="ISO",
            help="Use this as the current time: dates in messages are resolved against it.",
        ),
    ] = None,
    llm: Annotated[
        str | None, typer.Option(metavar="NAME-OR-PATH", help="The language model to use.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    no_resident: Annotated[
        bool,
        typer.Option("--no-resident", help="Do not leave a process behind for the next command."),
    ] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    make = context.obj or Run  # ``cli.forwarding.forwarded`` brings its own
    resident = "no" if no_resident else None
    given = {"home": home, "space": space, "llm": llm, "resident": resident}
    context.obj = make(given, now, json, debug)


def _held_by_resident(home: Path) -> bytes | None:
    from agent.server.resident.client import held_key

    return held_key(home)


def main() -> None:
    """The entry point of the ``memlane`` command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    if list(arguments[:1]) in (["--version"], ["version"]):
        from importlib.metadata import version

        print(f"memlane {version('memlane')}")
        return 0
    register_source(_held_by_resident)
    ordered = hoisted(arguments)
    completes = guide.COMPLETION_VARIABLE in os.environ
    if completes:
        from typer._completion_classes import completion_init

        completion_init()

    def work() -> object:
        if not ordered and not completes:
            print(first_screen(app), flush=True)
            return 0
        try:
            return app(ordered, prog_name="memlane", standalone_mode=False)
        except typer.Exit as stop:
            return stop.exit_code
        except typer.Abort:
            raise KeyboardInterrupt from None
        except typer.TyperException as error:
            text, asked = error.format_message(), getattr(error, "ctx", None)
            if asked is not None and text == asked.get_help() and "--json" not in ordered:
                print(text, flush=True)  # a group alone, as `memlane` alone
                return 0
            about = "memlane" if asked is None else asked.command_path
            report(f"{' '.join(text.split())} Try '{about} --help'.", 2, ordered)
            return 2

    return exit_code(work, ordered)


if __name__ == "__main__":  # as the resident process is started: python -m cli.app up
    main()
