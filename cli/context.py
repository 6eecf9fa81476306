"""Context of one command: options, session and output.

Stdout carries the answer (with ``--json`` exactly one JSON document), stderr everything else;
progress vanishes when stderr is no terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from cli import BEGAN
from cli.importing import collecting_paused

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from agent.config import Config
    from agent.server.resident.client import Client
    from agent.session.session import Session
    from store.graph import MemoryGraph


@dataclass
class Run:
    """What the global options say, and what they lead to."""

    options: dict[str, str | None] = field(default_factory=dict)
    """Settings given on the command line, by key."""
    now: str | None = None
    json: bool = False
    debug: bool = False
    began: float = BEGAN
    """When the command was given, by ``time.monotonic``."""
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)

    @cached_property
    def config(self) -> Config:
        """:raises InvalidInput: if an option or the configuration file is unusable."""
        from datetime import datetime

        from agent.config import load_config

        if self.now is None:
            return load_config(self.options)
        from agent.language.dates import parse_when

        present = datetime.now().astimezone().replace(microsecond=0)
        return load_config(self.options, now=parse_when(self.now, present))

    def only_main(self, command: str) -> None:
        """:raises InvalidInput: if the run is in a space, where this command does not work yet."""
        if self.config.space != "main":
            from store.errors import InvalidInput

            raise InvalidInput(
                f"memlane {command} does not work with spaces yet. It works in the space main: "
                "leave --space out, and unset MEMLANE_SPACE."
            )

    @cached_property
    def out(self) -> Console:
        from rich.console import Console

        return Console(markup=False, highlight=False, soft_wrap=True)

    @cached_property
    def err(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The home of this run with its models, closed at the end."""
        with collecting_paused():
            from agent.session.session import open_session
            from store.database.notices import listening

        with (
            listening(self.note),
            self.assembling() as on_progress,
            open_session(self.config, on_progress=on_progress) as session,
        ):
            yield session

    @contextmanager
    def assistant(self) -> Iterator[Session | Client]:
        """What answers for the home of this run: its resident process, or a session of our own.

        Both give the same results; only the first is there at once.
        """
        from agent.server.resident.client import connect
        from agent.server.resident.paths import Place, wait_for_start

        # Two language models at once on a small machine take minutes instead of seconds.
        wait_for_start(Place(self.config.home))
        client = connect(self.config, self.note)
        if client is not None:
            yield client
            return
        with self.session() as session:
            yield session
            used = session.loaded
        if used:
            self.keep_resident()

    def keep_resident(self) -> bool:
        """Begin a resident process for what comes next; whether one was begun or is there."""
        from agent.server.resident.starting.leave_behind import leave_behind

        # A build has no next command, and the next command has no model of this one's.
        if os.environ.get("CI") or self.options.get("llm"):
            return False
        standing = replace(self, now=None)  # --now is of this command alone too
        return leave_behind(self.config, standing.resident_command(), self.note)

    def resident_command(self, port: int | None = None) -> list[str]:
        """The command line of a resident process with the settings of this one."""
        from pathlib import Path

        words = [sys.executable, "-P", "-m", "cli.app", "--home", str(self.config.root)]
        words += ["--space", self.config.space] if self.config.space != "main" else []
        if given := self.options.get("llm"):
            path = Path(given).expanduser()
            words += ["--llm", str(path.absolute()) if path.exists() else given]
        words += ["--now", self.now] if self.now else []
        words += ["--debug"] if self.debug else []
        words += ["up", "--foreground"]
        return words + (["--port", str(port)] if port is not None else [])

    def graph(self) -> MemoryGraph:
        """The home of this run without any model."""
        from agent.memory.home import open_graph

        return open_graph(self.config)

    def status(self, what: str) -> AbstractContextManager[object]:
        """Says on stderr what is being done; nothing where that is no terminal."""
        return self.err.status(what) if self.err.is_terminal else nullcontext()

    @contextmanager
    def assembling(self) -> Iterator[Callable[[str, int, int], None]]:
        """A progress bar for weights that are put together at their first use."""
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            console=self.err,
            transient=True,
            disable=not self.err.is_terminal,
        )
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            # Started late and stopped early: a live display breaks the prompt of the chat.
            if what not in tasks:
                progress.start()
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done)
            if done >= total:
                progress.remove_task(tasks.pop(what))
                progress.stop()

        try:
            yield report
        finally:
            progress.stop()

    def emit(self, document: object, show: Callable[[Console], None]) -> None:
        """Print the JSON document, or let ``show`` render it for people."""
        if self.json:
            self.print_json(document)
        else:
            show(self.out)

    def print_json(self, document: object) -> None:
        """One JSON document on one or more lines of stdout."""
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        self.stdout.flush()

    def note(self, line: str) -> None:
        """One line beside the answer."""
        print(f"memlane: {line}", file=self.stderr)

    def located(self, path: Path) -> Path:
        """A file named on the command line, from where the person is."""
        return path

    def show_timing(self, timings: Iterable[Mapping[str, float] | None]) -> None:
        """A table of where the time went, beside the answer."""
        from cli.output.timing import show_timing

        show_timing(timings, self.began, self.stderr)

    def has_person(self) -> bool:
        """Whether there is somebody at a terminal who can be asked."""
        return sys.stdin.isatty() and sys.stderr.isatty()
