"""The progress bar of commands that take a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cli.context import Run

Advance = Callable[[str, int, int], None]


@contextmanager
def progress(run: Run) -> Iterator[Advance]:
    """A bar on stderr with the time that is left; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(),
        console=run.err,
        transient=True,
        disable=not run.err.is_terminal,
    ) as bar:
        task = bar.add_task("")

        def advance(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=max(total, 1))

        yield advance
