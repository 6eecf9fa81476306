"""The networks of one person: from the home's rows to a policy, and back."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from policies.base import Policy
from policies.network import Network
from policies.registry import POLICIES, Tools
from policies.reinforce import Learned
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.learned import Weights


def is_learned(policy: Policy) -> TypeGuard[Learned]:
    """Whether the policy decides by a network that can be trained."""
    return all(hasattr(policy, name) for name in ("network", "with_network", "lesson", "roll"))


def weights_of(graph: MemoryGraph, policy: str) -> Network | None:
    """The person's own network of a policy; None where the one that memlane ships is in use.

    One of another shape (an older memlane made it, with other states) counts as none.
    """
    kept = graph.learned.active(policy)
    if kept is None:
        return None
    shipped = shipped_network(policy)
    return None if shipped is None or shape(shipped) != kept.shape else network_of(kept)


def shipped_network(policy: str) -> Network | None:
    """The start that memlane ships; None for a policy that does not learn."""
    try:
        made = POLICIES[policy](Tools()) if policy in POLICIES else None
    except InvalidInput:
        return None  # it lacks a tool, and no policy that learns needs one
    return made.network if made is not None and is_learned(made) else None


def network_of(weights: Weights) -> Network:
    """The network of a row whose numbers are there."""
    assert weights.flat is not None
    return Network(*weights.shape, np.frombuffer(weights.flat, "<f8").copy())


def shape(network: Network) -> tuple[int, int, int]:
    """Inputs, hidden units, outputs."""
    return network.inputs, network.hidden, network.outputs


def numbers(network: Network) -> bytes:
    """The network's numbers as they are stored."""
    return np.ascontiguousarray(network.flat, "<f8").tobytes()
