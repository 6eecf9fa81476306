"""Execution of forwarded command lines in the resident process (``cli.forwarding.forward``).

The line is read and its outcome shown by the very code that does it in a process of its own
(``cli.app``); only what it prints is kept, and the work goes over our own socket like any other
command's.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.console import Console

from agent.server.hooks.recall import answer
from agent.server.resident.client import Client, connect
from agent.server.resident.requests import CommandLine, Printed
from cli.arguments import hoisted, settings, subcommand
from cli.context import Run
from cli.exit_codes import error_document, outcome
from store.errors import MemlaneError

if TYPE_CHECKING:
    from typer.core import TyperGroup

    from agent.config import Config
    from agent.session.session import Session


class NotForwardable(MemlaneError):
    """Only a process of its own can work this line out."""


@dataclass
class ForwardedRun(Run):
    """A run whose words came from elsewhere: what it prints is kept, and nobody can be asked."""

    line: CommandLine = field(kw_only=True)
    names_file: bool = False

    @cached_property
    def out(self) -> Console:
        screen = self.line.screen
        return Console(
            file=self.stdout,
            markup=False,
            highlight=False,
            soft_wrap=True,
            force_terminal=self.line.terminal,
            width=None if screen.get("COLUMNS", "").isdigit() else self.line.columns,
            _environ=screen,
        )

    @contextmanager
    def assistant(self) -> Iterator[Session | Client]:
        client = connect(self.config, self.note)
        if client is None:
            raise NotForwardable(f"the process of {self.config.home} has other settings")
        yield client

    def session(self) -> NoReturn:
        raise NotForwardable("a session is opened by a process of its own")

    def graph(self) -> NoReturn:
        raise NotForwardable("the database is opened by a process of its own")

    def located(self, path: Path) -> Path:
        self.names_file = True
        return Path(self.line.folder) / path

    def has_person(self) -> bool:
        if self.line.person:
            raise NotForwardable("there is a person to ask")
        return False


RELAYED = frozenset({"ask", "fill", "remember"})
"""The commands that are worked out here; ``cli.forwarding.forward`` knows when."""


def hook(line: CommandLine, config: Config) -> Printed:
    """What the hook of a coding agent prints; nothing where anything is wrong."""
    try:
        said = answer(line.words[2], line.stdin, str(config.root), config.space)
    except Exception:  # whatever it is, a hook must not stop the agent that calls it
        said = ""
    return Printed(said, "", 0)


def work_out(config: Config, app: TyperGroup) -> Callable[[CommandLine], Printed]:
    """What works lines out for the space of the resident process, in whatever thread it is called.

    ``app`` is the parser of ``cli.app``, which this process was started by. What it gives raises
    ``NotForwardable`` where that has to be done in a process of its own.
    """

    def command(line: CommandLine) -> Printed:
        if dict(line.settings) != settings(os.environ):
            raise NotForwardable("the settings are others")
        if tuple(line.words[:2]) == ("hook", "run"):
            return hook(line, config)
        if subcommand(line.words) not in RELAYED or "--help" in line.words or "-h" in line.words:
            raise NotForwardable("it is a command for a process of its own")
        run = ForwardedRun(line=line, began=line.began)
        run.stdout, run.stderr = io.StringIO(), io.StringIO()

        def taken(options: dict[str, str | None], now: str | None, json: bool, debug: bool) -> Run:
            run.options = {**options, "home": str(config.root), "space": config.space}
            run.now, run.json, run.debug = now, json, debug
            return run

        code: object = 0
        try:
            code = app.main(
                hoisted(line.words), prog_name="memlane", standalone_mode=False, obj=taken
            )
        except NotForwardable:
            raise
        except (typer.TyperException, typer.Abort) as error:
            raise NotForwardable("it is not spelt as it should be") from error
        except Exception as error:  # as in cli.exit_codes: whatever it is, one line is said of it
            if run.names_file:  # nothing is stored, and it would name the file by its whole path
                raise NotForwardable("the form cannot be filled") from error
            code, said = outcome(error)
            run.stderr.write(f"memlane: {said}\n")
            if run.json:
                run.stdout.write(error_document(said, code) + "\n")
        return Printed(
            run.stdout.getvalue(), run.stderr.getvalue(), code if isinstance(code, int) else 0
        )

    return command
