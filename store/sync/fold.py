"""What holds of a memory after all operations on it, in whatever order they came. Pure.

The *heads* of a register are the operations that no other one took the place of. More than one
means that homes changed the memory while apart. One of them holds, the same in every home; what is
lost by that stands as a copy beside it, and the person is asked which of the two holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.sync.operations import ENDS, GONE, PINNED, WHAT, Operation, Value
from store.types import Status


@dataclass(frozen=True, slots=True)
class Merged:
    """The operation that holds in each register, and what stands against it."""

    what: Operation | None
    """None where the text is forgotten, or has not come yet."""
    ends: Operation | None
    pinned: Operation | None
    losers: tuple[Operation, ...] = ()
    """Other things that the memory says, each of which becomes a copy of it."""
    successor: str | None = None
    """What took the place of the memory, where the losers stand against that."""
    rivals: tuple[str, ...] = ()
    """Memories that took its place in other homes, the earliest first, ``rivals[-1]`` holds."""


def merged(heads: Iterable[Operation]) -> Merged:
    """Fold the heads of one memory; the result does not depend on their order."""
    by_register: dict[str, list[Operation]] = {WHAT: [], ENDS: [], PINNED: []}
    for head in sorted(heads, key=_order):
        by_register[head.register].append(head)
    saying, ending, pinning = (by_register[name] for name in (WHAT, ENDS, PINNED))
    what, ends, pinned = (some[-1] if some else None for some in (saying, ending, pinning))
    if what is None or ends is None or ends.value is None:
        return Merged(what, ends, pinned)
    status, successor = ends.value["status"], ends.value["replaced_by"]
    if status in (GONE, Status.FORGOTTEN):
        return Merged(what, ends, pinned)
    if status != Status.REPLACED:
        others = [head for head in saying if head.says != what.says]
        return Merged(what, ends, pinned, _distinct(others))
    replaced = [value["replaced_by"] for head in ending if (value := _replacement(head))]
    unseen = [head for head in saying if head.past and _apart(head, ends)]
    rivals = tuple(dict.fromkeys(filter(None, reversed(replaced))))[::-1]
    return Merged(what, ends, pinned, _distinct(unseen), successor, rivals)


def _order(operation: Operation) -> tuple[int, int, str]:
    """What holds comes last: forgotten, then replaced, then the newest; ids decide what is left."""
    status = operation.value["status"] if operation.register == ENDS and operation.value else None
    rank = {Status.FORGOTTEN: 2, Status.REPLACED: 1}.get(status, 0) if status else 0
    return rank, operation.ms, operation.id


def _replacement(operation: Operation) -> Value | None:
    value = operation.value
    return value if value is not None and value["status"] == Status.REPLACED else None


def _apart(one: Operation, other: Operation) -> bool:
    """Whether neither home knew of the other's operation."""
    return one.id not in other.seen and other.id not in one.seen


def _distinct(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The last operation of each text."""
    return tuple({operation.says: operation for operation in operations}.values())
