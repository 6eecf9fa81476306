"""Joined profiles on this machine, with consent (Persona-DB 2.2).

Both homes have to say so, each in its own database and signed with its own key; without both
nothing is read in either direction. What is read serves one question and is gone with it: nothing
of another home is ever written, logged, shown or said. Consent is looked at again when the question
is answered, so one that is withdrawn in the middle counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from agent.applications.personas.cache_layer import matching_vector
from agent.ports import Vectors
from store.errors import InvalidInput, StoreError, UnknownId
from store.graph import MemoryGraph
from store.tables.side_tables.shared_homes import (
    SharedViews,
    agrees,
    checked_home,
    looked_into,
    read_views,
    views_of,
)
from store.tables.side_tables.sharing_consents import SharingConsent, ensure_identity, identity_of

NEIGHBOURS = 10
"""Profiles that a question is put to at most (equation 3's K)."""
ALIKE = 0.9
"""Share of views that two homes say word for word from which they are one person's."""
FEWEST = 5
"""Views from which that can be told."""


class Side(StrEnum):
    """How far a joining has come."""

    JOINED = "joined"
    WAITING = "waiting"
    """Agreed here; the other home has not, or has taken it back."""
    LEFT = "left"
    """Taken back here."""
    GONE = "gone"
    """There is no home in that folder now, or it cannot be read."""


@dataclass(frozen=True, slots=True)
class Partner:
    """Another home, as this one sees it."""

    home: Path
    side: Side
    since: datetime


@dataclass(frozen=True, slots=True)
class Profile:
    """What another home lets be read for one question."""

    home: Path
    views: SharedViews
    nearness: float
    """Cosine similarity of the two caches (equation 2)."""


# ---- consent ------------------------------------------------------------------------------


def join(graph: MemoryGraph, home: Path, at: datetime) -> Partner:
    """Agree to join with another home; nothing crosses before it agrees too.

    :raises HomeUnavailable: if there is no home in that folder.
    :raises InvalidInput: if it is this home itself, a copy of it, or of one that is joined.
    """
    place = checked_home(home)
    ours = graph.consents
    if place == ours.home or (place / graph.path.name).samefile(graph.path):
        raise InvalidInput(f"{home} is this home itself. Name another person's: --with HOME")
    mine, peer = ensure_identity(ours.home), identity_of(place)
    if peer == mine:
        raise InvalidInput(
            f"{home} is a copy of this home: it has the same key, so it is the same person. "
            f"If somebody else lives there now, they delete {place / 'profile.key'} first."
        )
    for other in ours.list():
        if other.stands and other.home != place and peer and _identity(other) == peer:
            raise InvalidInput(
                f"{home} is the same person as {other.home}, which is joined already. Leave that "
                f"one first: memlane persona join --leave '{other.home}'"
            )
    with looked_into(place):
        pass  # says now what stands in the way, rather than never joining in silence
    return _seen(graph, ours.agree(place, peer, at=at))


def _identity(consent: SharingConsent) -> str | None:
    return consent.peer or identity_of(consent.home)


def leave(graph: MemoryGraph, home: Path, at: datetime) -> Partner:
    """Take the consent back; it counts from this moment on, also for questions under way.

    :raises UnknownId: if there is none to take back.
    """
    given = graph.consents.withdraw(home, at=at)
    if given is None:
        raise UnknownId(f"This home is not joined with {home}. `memlane persona join` lists them.")
    return _seen(graph, given)


def partners(graph: MemoryGraph) -> tuple[Partner, ...]:
    """Every home that this one ever agreed to join with, and how that stands."""
    return tuple(_seen(graph, consent) for consent in graph.consents.list())


def _seen(graph: MemoryGraph, consent: SharingConsent) -> Partner:
    if not consent.stands:
        return Partner(consent.home, Side.LEFT, consent.withdrawn or consent.at)
    try:
        with looked_into(consent.home):
            pass
    except StoreError:
        return Partner(consent.home, Side.GONE, consent.at)
    side = Side.JOINED if agrees(graph.consents, consent.home) else Side.WAITING
    return Partner(consent.home, side, consent.at)


# ---- reading ------------------------------------------------------------------------------


def profiles(graph: MemoryGraph, model: str, now: datetime) -> tuple[Profile, ...]:
    """What the homes that agreed let be read at this moment, the nearest by cache first.

    A person who lives in two of them is read once, and one who lives here too not at all.
    """
    own = own_views(graph, model, now)
    key = _key(own)
    known = [own.texts]
    people = {identity_of(graph.consents.home)}
    found: list[Profile] = []
    for consent in graph.consents.list():
        if not consent.stands or (person := identity_of(consent.home)) in people:
            continue
        views = read_views(graph.consents, consent.home, model, now)
        if views is None or not views.texts or any(_same(views.texts, one) for one in known):
            continue
        if consent.peer is None and person is not None:
            graph.consents.bind(consent.home, person)
        people.add(person)
        known.append(views.texts)
        theirs = _key(views)
        near = float(key @ theirs) if key is not None and theirs is not None else 0.0
        found.append(Profile(consent.home, views, near))
    return tuple(sorted(found, key=lambda profile: -profile.nearness))


def put_to(question: Vectors, read: Sequence[Profile]) -> tuple[Profile, ...]:
    """The profiles that a question is put to: alike (equation 2), and with a view on the matter.

    By likeness alone most of them never spoke of it (benchmarks.persona_opinions).
    """

    def fit(profile: Profile) -> float:
        return profile.nearness + float((profile.views.vectors @ question).max(initial=-1.0))

    return tuple(sorted(read, key=lambda profile: -fit(profile))[:NEIGHBOURS])


def still_agree(graph: MemoryGraph, read: Sequence[Profile]) -> tuple[Profile, ...]:
    """Those of the profiles that may still be used at this moment."""
    return tuple(profile for profile in read if agrees(graph.consents, profile.home))


def _same(views: Sequence[str], others: Sequence[str]) -> bool:
    fewer = min(len(set(views)), len(set(others)))
    return fewer >= FEWEST and len(set(views) & set(others)) >= ALIKE * fewer


def own_views(graph: MemoryGraph, model: str, now: datetime) -> SharedViews:
    """What this home would let others read: the very same choice for both sides."""
    with looked_into(graph.consents.home) as rows:
        return views_of(rows, model, now)


def _key(views: SharedViews) -> Vectors | None:
    """What a profile is matched by: its cache, or where that is empty yet its views."""
    return matching_vector(views.cache or tuple(views.vectors))


# ---- retrieval ----------------------------------------------------------------------------


def composed(size: int, share: float, joined: bool) -> tuple[int, int]:
    """How many of ``size`` lines are the person's own and how many joined: r - ceil(xr), ceil(xr).

    ``share`` in [0, 1]; all are the person's own where nobody is joined.
    """
    theirs = math.ceil(share * size) if joined else 0
    return size - theirs, theirs


def nearest(vectors: Vectors, question: Vectors, count: int) -> list[int]:
    """Rows of the lines nearest to the question, best first."""
    if not len(vectors) or count < 1:
        return []
    return [int(row) for row in np.argsort(-(vectors @ question))[:count]]
