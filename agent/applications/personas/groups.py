"""Stable groups of memories to refine together.

Each memory joins the nearest group whose first member is near enough, or begins one. So a new
memory touches one group alone, and what was made of the others still stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from store.derived.view import GraphView
from store.tables.side_tables.personas import PersonaLine
from store.types import Memory

NEAR = 0.36
"""Cosine similarity with the first memory of a group from which another belongs to it."""
MOST = 8
"""Memories of a group: what a small model can take in at once."""
LOOKED_AT = 3000
"""The newest memories that are refined; older ones keep no line of their own."""
UNREFINED = frozenset(
    f"attribute.{name}" for name in ("name", "birthday", "address", "contact", "identity", "health")
)
"""Subclasses that nothing is concluded from: codes and numbers say nothing of a person, and of
somebody's health nothing should be guessed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that one distilled line is made of, oldest first."""

    memories: tuple[Memory, ...]
    rows: tuple[int, ...]
    """Their rows in the view."""

    @property
    def slot(self) -> str:
        """By which the group is known when it has grown."""
        return self.memories[0].id

    @property
    def basis(self) -> str:
        """Another one whenever a memory joined, left or changed its words."""
        return digest([f"{memory.id} {memory.text}" for memory in self.memories])


def digest(parts: Sequence[str]) -> str:
    """A short hash of what something is made of."""
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=12).hexdigest()


def groups(view: GraphView) -> tuple[Group, ...]:
    """Groups of at least two memories among those that may be refined."""
    rows = [r for r, memory in enumerate(view.memories) if memory.subclass not in UNREFINED]
    rows = sorted(rows, key=lambda row: int(view.memories[row].id[1:]))[-LOOKED_AT:]
    leaders: list[int] = []
    members: list[list[int]] = []
    known = np.zeros((0, view.vectors.shape[1] if view.vectors.ndim == 2 else 0), np.float32)
    for row in rows:
        near = known @ view.vectors[row]
        free = [i for i in np.argsort(-near) if near[i] >= NEAR and len(members[i]) < MOST]
        if free:
            members[free[0]].append(row)
        else:
            leaders.append(row)
            members.append([row])
            known = view.vectors[leaders]
    return tuple(
        Group(tuple(view.memories[row] for row in group), tuple(group))
        for group in members
        if len(group) > 1
    )


def batches(lines: Sequence[PersonaLine]) -> tuple[tuple[PersonaLine, ...], ...]:
    """Distilled lines that are read together for an induced one: at least two, in their order."""
    cut = (tuple(lines[start : start + MOST]) for start in range(0, len(lines), MOST))
    return tuple(batch for batch in cut if len(batch) > 1)
