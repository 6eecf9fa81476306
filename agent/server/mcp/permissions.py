"""Permissions of other programs, from the configuration.

``agents`` in ``config.toml`` has a line for each program, ``NAME: search why remember``. A program
without a line may only read, unless a line for ``*`` says otherwise; ``NAME: none`` shuts it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from agent.errors import NotAllowed
from store.errors import InvalidInput

Action = Literal["search", "why", "remember", "edit", "forget"]
ACTIONS: tuple[Action, ...] = ("search", "why", "remember", "edit", "forget")
READING: frozenset[Action] = frozenset({"search", "why"})
"""What a program may do that nothing is said of."""
ANYBODY = "*"
LONGEST_NAME = 60


def read_permissions(lines: Sequence[str]) -> Mapping[str, frozenset[Action]]:
    """The permissions by the program's name, folded.

    :raises InvalidInput: if a line is no 'NAME: ACTION ...'.
    """
    found: dict[str, frozenset[Action]] = {}
    for line in lines:
        name, colon, said = line.partition(":")
        words = said.replace(",", " ").casefold().split()
        unknown = [word for word in words if word not in (*ACTIONS, "none")]
        if not colon or not name.strip() or not words or unknown:
            raise InvalidInput(
                f"agents in the configuration has {line!r}. Write such as "
                f"'claude-code: search why remember'; actions: {', '.join(ACTIONS)}, none."
            )
        found[name.strip().casefold()] = frozenset(a for a in ACTIONS if a in words)
    return found


def allowed(permissions: Mapping[str, frozenset[Action]], client: str) -> frozenset[Action]:
    """What the program of this name may do."""
    return permissions.get(client.casefold(), permissions.get(ANYBODY, READING))


def check(permissions: Mapping[str, frozenset[Action]], client: str, action: Action) -> None:
    """:raises NotAllowed: if the program may not do this."""
    if action in (may := allowed(permissions, client)):
        return
    # How to allow it is not told here: a program with a shell would only have to run it.
    given = ", ".join(one for one in ACTIONS if one in may) or "nothing"
    raise NotAllowed(
        f"{client!r} may not {action} here, only: {given}. The person can allow more in memlane's "
        "configuration (docs/agents.md)."
    )


def named(client: str | None) -> str:
    """A program's name for messages and the journal: one line, not too long."""
    name = " ".join((client or "").split())[:LONGEST_NAME]
    return name.replace(":", " ").replace(";", " ").strip() or "unknown"
