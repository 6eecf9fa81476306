"""Policies by the name that ``--policy`` takes. A new policy is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from policies.base import Policy
from policies.baselines import AllMemories, TopK
from store.errors import InvalidInput

POLICIES: dict[str, Callable[[int], Policy]] = {
    "top-k": lambda k: TopK(k=k),
    "all": lambda k: AllMemories(),
}
DEFAULT_POLICY = "top-k"


def make_policy(name: str, k: int) -> Policy:
    """The policy of this name, choosing about ``k`` memories where it has such a bound.

    :raises InvalidInput: if there is no such policy.
    """
    if name not in POLICIES:
        raise InvalidInput(f"There is no policy {name!r}. Choose one of: {', '.join(POLICIES)}.")
    if k < 1:
        raise InvalidInput(f"k must be at least 1, not {k}.")
    return POLICIES[name](k)
