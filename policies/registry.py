"""Policies by the name that ``--policy`` takes. A new policy is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policies.base import Policy
from policies.baselines import AllMemories, TopK
from store.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Tools:
    """What policies are made with. All have a bound on how many memories to choose, or ignore it."""

    k: int = 5
    seed: int = 0
    """Of policies that choose by chance."""


POLICIES: dict[str, Callable[[Tools], Policy]] = {
    "top-k": lambda tools: TopK(k=tools.k),
    "all": lambda tools: AllMemories(),
}
DEFAULT_POLICY = "top-k"


def make_policy(name: str, tools: Tools) -> Policy:
    """The policy of this name.

    :raises InvalidInput: if there is no such policy, or it lacks a tool.
    """
    if name not in POLICIES:
        raise InvalidInput(f"There is no policy {name!r}. Choose one of: {', '.join(POLICIES)}.")
    if tools.k < 1:
        raise InvalidInput(f"k must be at least 1, not {tools.k}.")
    return POLICIES[name](tools)
