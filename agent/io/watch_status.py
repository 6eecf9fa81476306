"""Watched folders: add, remove and status.

Nothing here takes a file in; that is ``agent.io.watch``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.config import Config
from agent.io.ingest import locator_of
from agent.io.platform_events import why_wait
from agent.io.watch import is_text
from store.database.connection import DATABASE_NAME
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.spaces import spaces
from store.tables.side_tables.watch_queue import FileState, WatchedFile
from store.types import Memory, Status


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A file that was deleted, and what came from it and still stands."""

    path: Path
    memories: tuple[Memory, ...]


def gone_files(graph: MemoryGraph) -> tuple[GoneFile, ...]:
    """What could be forgotten because its file was deleted. Nothing is forgotten unasked."""
    found = []
    for file in graph.watched.in_state(FileState.GONE):
        sources = graph.sources.all_from(locator_of(file.path))
        made = [m for source in sources for m in graph.memories.made_from(source.id)]
        current = tuple(m for m in made if m.status is Status.CURRENT)
        if current:
            found.append(GoneFile(file.path, current))
    return tuple(found)


def watch_status(graph: MemoryGraph, config: Config, recent: int = 10) -> dict[str, Any]:
    """What is watched, how long the queue is, what went wrong last, and what each file gave."""
    table, counts = graph.watched, graph.watched.counts()
    done = [
        {
            "path": str(file.path),
            "at": file.at.isoformat(),
            "memories": sum(
                memory.status is Status.CURRENT
                for memory in (graph.memories.made_from(file.source) if file.source else ())
            ),
        }
        for file in table.in_state(FileState.DONE, recent)
    ]
    tried = [file for file in table.in_state(FileState.WAITING) if file.tries]
    errors = [
        {
            "path": str(file.path),
            "at": file.at.isoformat(),
            "tries": file.tries,
            "error": _error(graph, file),
            "again": file.state is FileState.WAITING,
        }
        for file in (*tried, *table.in_state(FileState.FAILED, recent))[:recent]
    ]
    return {
        "watching": [
            {
                "path": str(folder.path),
                "since": folder.since.isoformat(),
                "exists": folder.path.is_dir(),
                **{
                    state.value: counts.get(str(folder.path), {}).get(state, 0)
                    for state in FileState
                },
            }
            for folder in table.folders()
        ],
        "queue": table.waiting(),
        "paused": why_wait(config.watch_on_battery),
        "errors": errors,
        "recent": done,
        "gone": [
            {"path": str(file.path), "memories": [memory.id for memory in file.memories]}
            for file in gone_files(graph)
        ],
    }


def _error(graph: MemoryGraph, file: WatchedFile) -> str:
    stored = graph.sources.get(file.source).error if file.source else None
    return file.reason or stored or "interrupted"


def add_folders(graph: MemoryGraph, paths: Iterable[Path], config: Config) -> None:
    """Watch these folders from now on.

    :raises InvalidInput: if one is no folder, holds the home, or is watched by way of another.
    """
    for path in paths:
        folder = Path(os.path.abspath(path))
        if not folder.is_dir():
            raise InvalidInput(f"{path} is not a folder. Name one, or: memlane ingest {path}")
        if not is_text(folder):
            raise InvalidInput(f"{path!r} has a name that is not valid text. Rename it.")
        if folder == config.root or folder.is_relative_to(config.root):
            raise InvalidInput(f"{path} is inside memlane's own home and cannot be watched.")
        for other in graph.watched.folders():
            if folder != other.path and folder.is_relative_to(other.path):
                raise InvalidInput(f"{path} is already watched, as a part of {other.path}.")
            if folder != other.path and other.path.is_relative_to(folder):
                raise InvalidInput(
                    f"{other.path} inside it is already watched. Remove that first: "
                    f"memlane watch --remove {other.path}"
                )
        _refuse_of_other_space(folder, config)
        graph.watched.add_folder(folder, config.now())


def _refuse_of_other_space(folder: Path, config: Config) -> None:
    """:raises InvalidInput: if another space watches the folder, or one around or inside it."""
    for space in spaces(config.root):
        if space.name == config.space or not (space.home / DATABASE_NAME).exists():
            continue
        with MemoryGraph.open(space.home) as graph:
            watched = [one.path for one in graph.watched.folders()]
        for other in watched:
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                raise InvalidInput(
                    f"The space {space.name} watches {other}, and a folder belongs to one space. "
                    f"Remove it there first: memlane --space {space.name} watch --remove {other}"
                )


def remove_folder(graph: MemoryGraph, path: Path) -> None:
    """:raises InvalidInput: if it is not watched."""
    if not graph.watched.remove_folder(Path(os.path.abspath(path))):
        known = ", ".join(str(f.path) for f in graph.watched.folders()) or "none"
        raise InvalidInput(f"{path} is not watched. Watched: {known}.")
