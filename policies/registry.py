"""Policy registry: one file and one line per policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from policies.base import Policy
from policies.baselines.bm25 import Bm25
from policies.baselines.fusion import Fused, FusedPlain, Rrf
from policies.baselines.llm_and_oracle import Gold, Oracle, Pick, Picked
from policies.baselines.query_decomposition import Decomposed, Split
from policies.baselines.simple import AllMemories, Chance, Partitioned, Recency, TopK
from policies.purple.purple import Purple, TokenVectors
from policies.purple.purple_encoder import Propensities
from policies.rums.selectors import Asking, RumsBinary, RumsDirect, RumsMulti, shipped_need
from policies.scoring.question_entities import NameVectors
from policies.training.mlp import FlatWeights, Mlp
from policies.training.reinforce import LearnedPolicy
from policies.walk.scout import Scout
from policies.walk.walk import Walk
from store.errors import InvalidInput

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Tools:
    """What policies are made with; each takes what it needs."""

    k: int = 5
    """How many memories to choose at most; 'all', the oracle and the walks decide themselves."""
    seed: int = 0
    """Of policies that choose by chance."""
    network: FlatWeights | None = None
    """The person's own, for a policy that learns; None for the one that memlane ships."""
    names: NameVectors | None = None
    """Encoder of short names."""
    tokens: TokenVectors | None = None
    """Encoder of single tokens."""
    split: Split | None = None
    """Takes a question apart by a language model; None where rules are to do it."""
    pick: Pick | None = None
    """Picks from a list by a language model."""
    entropies: Asking | None = None
    """How unsure a language model is of its answers, given memories."""
    gold: Gold | None = None
    """Knows what an answer needs, for measuring."""


def _learned(policy: LearnedPolicy, tools: Tools) -> Policy:
    """With the person's own weights, if there are any."""
    return policy.with_network(tools.network) if isinstance(tools.network, Mlp) else policy


def _purple(tools: Tools) -> Policy:
    policy = Purple.shipped(tools.tokens, k=tools.k)
    own = tools.network
    return policy.with_network(own) if isinstance(own, Propensities) else policy


POLICIES: dict[str, Callable[[Tools], Policy]] = {
    "top-k": lambda tools: TopK(k=tools.k),
    "bm25": lambda tools: Bm25(k=tools.k),
    "rrf": lambda tools: Rrf(k=tools.k),
    "fused-plain": lambda tools: FusedPlain(k=tools.k),
    "fused": lambda tools: Fused(k=tools.k),
    "recency": lambda tools: Recency(k=tools.k),
    "random": lambda tools: Chance(k=tools.k, seed=tools.seed),
    "partitioned": lambda tools: Partitioned(k=tools.k),
    "decomposed": lambda tools: Decomposed(k=tools.k, split=tools.split),
    "walk": lambda tools: _learned(Walk.shipped(tools.names), tools),
    "scout": lambda tools: _learned(Scout.shipped(tools.names), tools),
    "purple": _purple,
    "rums-binary": lambda tools: _learned(RumsBinary.shipped(tools.k), tools),
    "rums-multi": lambda tools: _learned(RumsMulti.shipped(tools.k), tools),
    "rums-direct": lambda tools: RumsDirect(
        _needed(tools.entropies, "rums-direct", "a language model"), shipped_need(), k=tools.k
    ),
    "all": lambda tools: AllMemories(),
    "picked": lambda tools: Picked(_needed(tools.pick, "picked", "a language model"), k=tools.k),
    "oracle": lambda tools: Oracle(_needed(tools.gold, "oracle", "the key of a data set")),
}


def make_policy(name: str, tools: Tools) -> Policy:
    """The policy of this name.

    :raises InvalidInput: if there is no such policy, or it lacks a tool.
    """
    if name not in POLICIES:
        raise InvalidInput(f"There is no policy {name!r}. Choose one of: {', '.join(POLICIES)}.")
    if tools.k < 1:
        raise InvalidInput(f"k must be at least 1, not {tools.k}.")
    return POLICIES[name](tools)


def _needed(tool: _T | None, policy: str, what: str) -> _T:
    if tool is None:
        raise InvalidInput(
            f"The policy {policy!r} needs {what} and was given none. Choose another."
        )
    return tool
