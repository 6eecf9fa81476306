"""Read-only access to another home with its consent.

A home lets another one in by a consent in its own database, signed with its own key
(``sharing_consents`` beside this). Everything is read in one transaction with the check of that
consent, so what was read was allowed at the moment it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from store.database.connection import DATABASE_NAME, Connection, is_encrypted, translated
from store.database.driver import open_database, opening
from store.errors import HomeUnavailable, InvalidInput, StoreError
from store.tables.memories import MemoryTable
from store.tables.side_tables.personas import LineStatus, PersonaLayer, PersonaTable
from store.tables.side_tables.sharing_consents import (
    SharingConsent,
    SharingConsentTable,
    identity_of,
    place_of,
)
from store.tables.vectors import VectorTable
from store.types import Memory, Status

VIEWS = "Preference"
"""The type of memories that may be read from another home. Nothing else ever is: no name, no
address, no number, no event, nobody that the person knows."""


@dataclass(frozen=True, slots=True)
class SharedViews:
    """What a home that agreed lets be read: views, and what profiles are matched by."""

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    """Unit vectors, shape (len(texts), dimension)."""
    cache: tuple[NDArray[np.float32], ...]
    """Vectors of its fixed categories; their words stay where they are."""


def checked_home(home: Path) -> Path:
    """The folder of a home, links followed.

    :raises HomeUnavailable: if there is no memory in it.
    """
    place = place_of(home)
    if not (place / DATABASE_NAME).is_file():
        raise HomeUnavailable(
            f"{home} is not a memlane home: it has no {DATABASE_NAME}. Name the folder that the "
            "other person uses as --home."
        )
    return place


@contextmanager
def looked_into(home: Path) -> Iterator[Connection]:
    """The database of another home, for reads that all see one moment.

    :raises StoreError: if it cannot be read, or an older memlane wrote it.
    """
    path = checked_home(home) / DATABASE_NAME
    if is_encrypted(path.parent):
        raise StoreError(
            f"{home} is encrypted, and an encrypted home is read by its owner alone. Its owner can "
            "decrypt it: memlane lock --off"
        )
    with translated(path):
        with opening(path):
            conn = open_database(path, read_only=True)
        try:
            conn.execute("BEGIN")
            found = conn.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = 'persona_consents'"
            ).fetchone()
            if found is None:
                raise StoreError(
                    f"{home} was last used by an older memlane. Open it once with this version: "
                    f"memlane --home '{home}' status"
                )
            with closing(Connection(Database(conn), path)) as rows:
                yield rows
                conn.rollback()
        finally:
            conn.close()


def consent_for(theirs: Connection, mine: Path, identity: str | None) -> SharingConsent | None:
    """What the other home says to the one at ``mine``; None where it never named just that one."""
    given = SharingConsentTable(theirs).to(mine)
    if given is None or (given.peer is not None and given.peer != identity):
        return None
    return given


def agrees(ours: SharingConsentTable, home: Path) -> bool:
    """Whether both homes, this one and the one at ``home``, let each other in at this moment."""
    given = ours.to(home)
    if given is None or not given.stands:
        return False
    try:
        with looked_into(home) as theirs:
            return _both(ours, given, theirs)
    except (StoreError, InvalidInput):
        return False


def _both(ours: SharingConsentTable, given: SharingConsent, theirs: Connection) -> bool:
    """Whether the other side's consent fits ours."""
    back = consent_for(theirs, ours.home, identity_of(ours.home))
    known = identity_of(given.home)
    return (
        back is not None
        and back.stands
        and known is not None
        and (given.peer is None or given.peer == known)
    )


def read_views(
    ours: SharingConsentTable, home: Path, model: str, now: datetime
) -> SharedViews | None:
    """The views of another home; None where not both agree, or it cannot be read."""
    given = ours.to(home)
    if given is None or not given.stands:
        return None
    try:
        with looked_into(home) as theirs:
            return views_of(theirs, model, now) if _both(ours, given, theirs) else None
    except StoreError:
        return None


def views_of(rows: Connection, model: str, now: datetime) -> SharedViews:
    """What a home lets others read of it, whoever asks."""
    memories = {memory.id: memory for memory in MemoryTable(rows).list(Status.CURRENT)}
    vectors = VectorTable(rows).of(model)
    views = [
        (memory.text, vectors[memory.id])
        for memory in memories.values()
        if _is_view(memory, now) and memory.id in vectors
    ]
    lines = PersonaTable(rows)
    made = lines.vectors(model)
    cache = []
    for line in lines.lines(now):
        if line.standing is not LineStatus.FRESH or line.id not in made:
            continue
        if not _rests_on_views(line.evidence, memories, now):
            continue
        if line.layer is PersonaLayer.CACHE:
            cache.append(made[line.id])
        else:
            views.append((line.text, made[line.id]))
    matrix = np.stack([vector for _, vector in views]) if views else np.zeros((0, 0), np.float32)
    return SharedViews(tuple(text for text, _ in views), matrix, tuple(cache))


def _is_view(memory: Memory, now: datetime) -> bool:
    return memory.type == VIEWS and memory.holds_at(now)


def _rests_on_views(
    evidence: tuple[str, ...], memories: Mapping[str, Memory], now: datetime
) -> bool:
    return all(key in memories and _is_view(memories[key], now) for key in evidence)
