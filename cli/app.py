"""The ``memlane`` command: global options, subcommands, and errors turned into exit codes.

Nothing heavy is imported before a command needs it, so ``memlane --help`` is instant.
Exit codes: 0 done, 1 the request could not be met, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cli import entities, files, memories, system, talk, transfer, types
from cli.demo import demo
from cli.run import Run
from store.errors import InvalidInput, MemlaneError

app = typer.Typer(
    name="memlane",
    help="A personal memory agent that lives on your own machine. Nothing leaves it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(talk.say)
app.command()(talk.chat)
app.command()(talk.remember)
app.command()(talk.ask)
app.command()(files.ingest)
app.command()(files.fill)
app.add_typer(memories.app, name="memories")
app.add_typer(entities.app, name="entities")
app.add_typer(types.app, name="types")
app.add_typer(system.models, name="models")
app.command()(system.status)
app.command()(system.doctor)
app.add_typer(system.config, name="config")
app.command()(transfer.export)
app.command("import")(transfer.import_)
app.command()(transfer.backup)
app.command()(transfer.restore)

_FLAGS = ("--json", "--debug")
_VALUED = ("--home", "--now", "--llm")


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where your memory lives.")
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(metavar="ISO", help="A fixed clock: dates in messages resolve against it."),
    ] = None,
    llm: Annotated[
        str | None, typer.Option(metavar="NAME-OR-PATH", help="The language model to use.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    context.obj = Run({"home": home, "llm": llm}, now, json, debug)


def main() -> None:
    """The entry point of the ``memlane`` command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    if "--version" in arguments[:1]:
        from importlib.metadata import version

        print(f"memlane {version('memlane')}")
        return 0
    ordered = hoisted(arguments)
    try:
        code = app(ordered, prog_name="memlane", standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        print("memlane: interrupted", file=sys.stderr)
        return 130
    except InvalidInput as error:
        return _failed(error, 2, ordered)
    except MemlaneError as error:
        return _failed(error, 1, ordered)
    except typer.TyperException as error:
        text = " ".join(error.format_message().split())
        print(f"memlane: {text} Try 'memlane --help'.", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        # The last line of all: no traceback ever reaches a user; --debug shows it.
        if "--debug" in ordered:
            raise
        print(
            f"memlane: unexpected {type(error).__name__}: {_one_line(error)} "
            "(nothing stored is lost; run again with --debug to see where)",
            file=sys.stderr,
        )
        return 1
    return code if isinstance(code, int) else 0


def _failed(error: MemlaneError, code: int, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        raise error
    print(f"memlane: {_one_line(error)}", file=sys.stderr)
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def hoisted(arguments: Sequence[str]) -> list[str]:
    """Global options moved to the front, so that they work before and after the subcommand.

    What follows ``--`` stays where it is.
    """
    rest = list(arguments)
    front: list[str] = []
    kept: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            kept += [word, *rest]
            break
        if word in _FLAGS or word.startswith(tuple(f"{name}=" for name in _VALUED)):
            front.append(word)
        elif word in _VALUED and rest:
            front += [word, rest.pop(0)]
        else:
            kept.append(word)
    return front + kept
