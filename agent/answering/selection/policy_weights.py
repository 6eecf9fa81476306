"""Conversion between stored weights and policy networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from policies.base import Policy
from policies.purple.purple import Purple
from policies.purple.purple_encoder import Propensities
from policies.registry import POLICIES, Tools
from policies.training.mlp import FlatWeights, Mlp
from policies.training.reinforce import LearnedPolicy
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.tables.side_tables.training_data import StoredWeights


def is_learned(policy: Policy) -> TypeGuard[LearnedPolicy]:
    """Whether the policy decides memory by memory by a network that can be trained."""
    return all(hasattr(policy, name) for name in ("network", "with_network", "lesson", "roll"))


def is_trainable(policy: Policy) -> TypeGuard[LearnedPolicy | Purple]:
    """Whether the policy has a network that ``agent.learning.training`` can train."""
    return isinstance(policy, Purple) or is_learned(policy)


def weights_of(graph: MemoryGraph, policy: str) -> FlatWeights | None:
    """The person's own network of a policy; None where the one that memlane ships is in use.

    One of another shape (an older memlane made it, with other states) counts as none.
    """
    kept = graph.learned.active(policy)
    if kept is None:
        return None
    shipped = shipped_network(policy)
    return None if shipped is None or shape(shipped) != kept.shape else network_of(kept, shipped)


def due(graph: MemoryGraph) -> dict[str, str]:
    """Policies that should be trained again, and why."""
    old = {
        kept.policy: "its weights are from an older memlane; the shipped weights are in use"
        for kept in graph.learned.history()
        if kept.active and weights_of(graph, kept.policy) is None
    }
    return old | graph.learned.due()


def shipped_network(policy: str) -> FlatWeights | None:
    """The start that memlane ships; None for a policy that does not learn."""
    try:
        made = POLICIES[policy](Tools()) if policy in POLICIES else None
    except InvalidInput:
        return None  # it lacks a tool, and no policy that learns needs one
    return made.network if made is not None and is_trainable(made) else None


def with_numbers(policy: LearnedPolicy | Purple, network: FlatWeights) -> LearnedPolicy | Purple:
    """The policy with these weights, which are of its own kind."""
    if isinstance(policy, Purple):
        assert isinstance(network, Propensities)
        return policy.with_network(network)
    assert isinstance(network, Mlp)
    return policy.with_network(network)


def network_of(weights: StoredWeights, like: FlatWeights) -> FlatWeights:
    """The network of a row whose numbers are there; ``like`` is one of the same kind and shape."""
    assert weights.flat is not None
    return replace(like, flat=np.frombuffer(weights.flat, "<f8").copy())


def shape(network: FlatWeights) -> tuple[int, int, int]:
    """Inputs, hidden units, outputs; of an encoder its inputs, its width, its layers."""
    return network.inputs, network.hidden, network.outputs


def numbers(network: FlatWeights) -> bytes:
    """The network's numbers as they are stored."""
    return np.ascontiguousarray(network.flat, "<f8").tobytes()
