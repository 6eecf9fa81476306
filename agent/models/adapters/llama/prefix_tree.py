"""Prefix tree over token ids, so that shared prefixes are decoded once. Pure.

The tree is never built. Sorted, the paths that share a beginning stand together, and each path
adds to the tree exactly what it does not share with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Path:
    """One token sequence to read. Logits are wanted behind each token from ``wanted`` on."""

    tokens: tuple[int, ...]
    wanted: int
    """Index of the first token whose logits are wanted; the last token's always are."""


@dataclass(frozen=True, slots=True)
class Node:
    """One token of the tree: where it stands and which paths run through it."""

    token: int
    position: int
    paths: tuple[int, ...]
    """Indices of the paths, within the window."""
    wanting: tuple[int, ...]
    """Those of them that want the logits behind this token."""


def common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def windows(paths: Sequence[Path], *, cells: int, most: int, room: int) -> Iterator[range]:
    """Split sorted paths into runs that fit the cache together.

    A window has at most ``most`` paths, and its tree with ``room`` further cells a path has at
    most ``cells``. A path that does not fit alone makes a window of its own: the caller checked
    lengths before.
    """
    start = used = 0
    before: tuple[int, ...] = ()
    for index, path in enumerate(paths):
        new = len(path.tokens) - common(path.tokens, before) + room
        if index > start and (used + new > cells or index - start >= most):
            yield range(start, index)
            start, used = index, 0
            new = len(path.tokens) + room
        used += new
        before = path.tokens
    if start < len(paths):
        yield range(start, len(paths))


def reading_order(paths: Sequence[Path], held: int) -> Iterator[Node]:
    """Every token of the tree over sorted paths, parents before children.

    The first ``held`` tokens of the first path lie in the cache already and are left out, for all
    that share them.
    """
    before: tuple[int, ...] = paths[0].tokens[:held] if paths else ()
    for index, path in enumerate(paths):
        start = common(path.tokens, before)
        # How far each later path goes along with this one; they stand right behind it.
        sharing: list[tuple[int, int]] = []
        along = len(path.tokens)
        for other in range(index + 1, len(paths)):
            along = min(along, common(paths[other].tokens, path.tokens))
            if along <= start:
                break
            sharing.append((other, along))
        for position in range(start, len(path.tokens)):
            through = (index, *(other for other, along in sharing if along > position))
            yield Node(
                path.tokens[position],
                position,
                through,
                tuple(k for k in through if position >= paths[k].wanted),
            )
        before = path.tokens
