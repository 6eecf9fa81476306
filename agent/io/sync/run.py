"""One synchronisation of a home with the shared folder (docs/sync.md).

The order makes it safe to be killed anywhere: what was done here is noted first, what others did is
read and carried out, then the rest is told, and segments with forgotten texts go last. A step that
was done and not noted is done again, with the same result.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agent.io.sync.apply import Applied, apply
from agent.io.sync.capture import capture
from agent.io.sync.keys import claim, folder_key_id, id_of
from agent.io.sync.pairs import capture_pairs, record_pair
from agent.io.sync.segments import (
    SUFFIX,
    Unreadable,
    age,
    names_in,
    opened,
    parted,
    put_file,
    remove_parts,
    sealed,
    translated,
)
from store.errors import HomeUnavailable, InvalidInput
from store.graph import MemoryGraph
from store.sync.names import FOLDER, HOME, KEY
from store.sync.operations import Forgetting, Operation, Shared, SharedSource

OnProgress = Callable[[str, int, int], None]


@dataclass
class Synced:
    """What one run did."""

    folder: Path
    applied: Applied = field(default_factory=Applied)
    read: int = 0
    """Segments of other homes."""
    told: int = 0
    """Records that the others are told of."""
    purged: int = 0
    """Segments that were deleted because a text in them is forgotten."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Segments that could not be read, and why; they are tried again each time."""
    swept: bool = True
    """False while another process keeps the database from being rewritten after a forgetting."""
    dry_run: bool = False


def pair(graph: MemoryGraph, folder: Path, key: str) -> None:
    """Let this home take part in the synchronisation of a folder.

    :raises InvalidInput: if the folder, or this home, is of another key.
    """
    kept, theirs = graph.sync.state(KEY), folder_key_id(folder)
    if theirs not in (None, id_of(key)):
        raise _other_key(folder)
    if kept not in (None, key):
        raise InvalidInput(
            "This home has another key already. Show it with: memlane sync --key, and begin in an "
            "empty folder with it."
        )
    with graph.writing():
        graph.sync.set_state(KEY, key)
        graph.sync.set_state(FOLDER, str(folder.absolute()))
        if graph.sync.state(HOME) is None:
            graph.sync.set_state(HOME, secrets.token_hex(8))
    if theirs is None:
        claim(folder, key)


def synchronise(
    graph: MemoryGraph,
    folder: Path,
    now: datetime,
    on_progress: OnProgress = lambda what, done, total: None,
    *,
    dry_run: bool = False,
) -> Synced:
    """Bring this home and the folder up to date with one another.

    ``dry_run`` writes nothing into the folder: use it on a copy of the home.

    :raises HomeUnavailable: if the folder is not there or not paired.
    :raises InvalidInput: if it is encrypted with another key.
    :raises StoreFull: if a disk is full. What was done before stays done.
    """
    age()
    key = _key(graph, folder)
    owner = graph.sync.state(HOME) or ""
    done = Synced(folder, dry_run=dry_run)
    if not dry_run:
        remove_parts(folder, owner)
    with graph.writing():
        capture(graph)
        capture_pairs(graph)
        graph.sync.set_state(FOLDER, str(folder.absolute()))
    _read(graph, folder, key, done, on_progress)
    done.applied = apply(graph, now)
    with graph.writing():
        capture(graph)  # what was blanked while others' forgettings were carried out
        capture_pairs(graph)
    _tell(graph, folder, key, owner, done, on_progress)
    done.swept = graph.sweep()
    return done


def _key(graph: MemoryGraph, folder: Path) -> str:
    key, theirs = graph.sync.state(KEY), folder_key_id(folder)
    if key is None:
        raise HomeUnavailable(
            f"This home is not paired with {folder}. Pair it: memlane sync {folder} --pair"
        )
    if theirs is None:
        raise HomeUnavailable(
            f"{folder} is empty or not the shared folder. Connect the disk or wait for the file "
            f"sync; to begin anew there: memlane sync {folder} --pair"
        )
    if theirs != id_of(key):
        raise _other_key(folder)
    return key


def _other_key(folder: Path) -> InvalidInput:
    return InvalidInput(
        f"{folder} is encrypted with another key. Show the right one on the first machine: "
        "memlane sync --key"
    )


# ---- what others did ------------------------------------------------------------------------


def _read(
    graph: MemoryGraph, folder: Path, key: str, done: Synced, on_progress: OnProgress
) -> None:
    known = graph.sync.segments()
    new = [name for name in names_in(folder) if name not in known]
    for number, name in enumerate(new, 1):
        try:
            with translated(folder):
                data = (folder / name).read_bytes()
            shared = opened(data, key)
        except Unreadable as error:
            done.unreadable[name] = str(error)
            continue
        with graph.writing():
            record(graph, name, shared)
        done.read += 1
        on_progress("reading", number, len(new))


def record(graph: MemoryGraph, name: str, shared: Sequence[Shared]) -> None:
    """Take the records of a segment in, in the caller's transaction. The order does not matter."""
    # What is forgotten first: then what it says is not even written here.
    for item in sorted(shared, key=lambda item: not isinstance(item, Forgetting)):
        match item:
            case Forgetting():
                graph.forgettings.record(item, name)
            case Operation():
                graph.sync.record(item, name)
                graph.sync.set_dirty(item.memory, True)
            case SharedSource():
                graph.shared_sources.record(item, name)
            case _:
                record_pair(graph, item, name)
    graph.sync.hold(name, shared)


# ---- what this home did ---------------------------------------------------------------------


def _tell(
    graph: MemoryGraph,
    folder: Path,
    key: str,
    owner: str,
    done: Synced,
    on_progress: OnProgress,
) -> None:
    there = names_in(folder)
    forgotten = graph.sync.to_purge()
    purged = [name for name in there if name in forgotten]
    with graph.writing():
        # What else is in those is told anew, and so is what was in segments that somebody deleted.
        graph.sync.untell_lost([name for name in there if name not in purged])
    untold: list[Shared] = [
        *graph.sync.untold_forgettings(),
        *graph.shared_sources.untold(),
        *graph.sync.untold_operations(),
        *graph.sync.untold_pairs(),
    ]
    done.told, done.purged = len(untold), len(purged)
    if done.dry_run:
        return
    written = 0
    for group in parted(untold):
        name = secrets.token_hex(12) + SUFFIX
        put_file(folder, name, sealed(group, key), owner)
        with graph.writing():
            record(graph, name, group)
        written += len(group)
        on_progress("writing", written, len(untold))
    for name in purged:
        with translated(folder):
            (folder / name).unlink(missing_ok=True)
