"""What the resident process does with a command line that was handed to it (``cli.relay``).

The line is read and its outcome shown by the very code that does it in a process of its own; only
what it prints is kept, and the work goes over our own socket like any other command's.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from agent.resident.calls import CommandLine, Printed
from agent.resident.client import Client, connect
from cli.exits import outcome
from cli.quick import understood
from cli.relay import settings
from cli.run import Run
from store.errors import MemlaneError

if TYPE_CHECKING:
    from agent.session import Session
    from store.graph import MemoryGraph


class Unsuited(MemlaneError):
    """Only a process of its own can work this line out."""


@dataclass
class RelayedRun(Run):
    """A run whose words came from elsewhere: what it prints is kept, and nobody can be asked."""

    line: CommandLine = field(kw_only=True)

    @cached_property
    def out(self) -> Console:
        screen = self.line.screen
        return Console(
            file=self.stdout,
            highlight=False,
            soft_wrap=True,
            force_terminal=self.line.terminal,
            width=None if screen.get("COLUMNS", "").isdigit() else self.line.columns,
            _environ=screen,
        )

    @contextmanager
    def assistant(self) -> Iterator[Session | Client]:
        client = connect(self.config, lambda line: None)
        if client is None:
            raise Unsuited(f"the process of {self.config.home} has other settings")
        yield client

    @contextmanager
    def session(self) -> Iterator[Session]:
        raise Unsuited("a session is opened by a process of its own")
        yield  # a generator, as what it stands for

    @contextmanager
    def graph(self) -> Iterator[MemoryGraph]:
        raise Unsuited("the database is opened by a process of its own")
        yield

    def has_person(self) -> bool:
        if self.line.person:
            raise Unsuited("there is a person to ask")
        return False


def work_out(home: Path) -> Callable[[CommandLine], Printed]:
    """What works lines out for the home of the resident process, in whatever thread it is called.

    :raises Unsuited: (what it gives) where that has to be done in a process of its own.
    """

    def command(line: CommandLine) -> Printed:
        read = understood(line.words)
        if read is None or dict(line.settings) != settings(os.environ):
            raise Unsuited("it is not spelt plainly, or the settings are others")
        plain, spelling, given = read
        run = RelayedRun(
            {**plain.options, "home": str(home)}, plain.now, plain.json, plain.debug, line=line
        )
        run.stdout, run.stderr = io.StringIO(), io.StringIO()
        code = 0
        try:
            spelling.does(run, **_placed(given, line))
        except Unsuited:
            raise
        except Exception as error:  # as in cli.exits: whatever it is, one line is said of it
            if "form" in given:  # nothing is stored, and it would name the file by its whole path
                raise Unsuited("the form cannot be filled") from error
            code, said = outcome(error)
            run.stderr.write(f"memlane: {said}\n")
        return Printed(run.stdout.getvalue(), run.stderr.getvalue(), code)

    return command


def _placed(given: dict[str, Any], line: CommandLine) -> dict[str, Any]:
    """The words of a command, where a file is meant from where the person is."""
    form = given.get("form")
    return given if form is None else {**given, "form": Path(line.folder) / form}
