"""Opening of a home with its models, and erasures that are due.

``Home`` is what every function below the session takes; a ``Session`` is one.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agent.config import Config
from agent.models import reward_cache
from agent.ports import (
    Embedder,
    LanguageModel,
    RewardModel,
    SecretReader,
    StatementReader,
    TextReader,
)
from store.erasure.run import due
from store.erasure.secure_delete import register_cache
from store.errors import StoreError
from store.graph import MemoryGraph
from store.maintenance.left_overs import remove_left_overs

if TYPE_CHECKING:
    from agent.extraction.subclass_classifier import Placer


class Models(Protocol):
    """The models that make memories of a text."""

    @property
    def llm(self) -> LanguageModel: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def reader(self) -> TextReader: ...
    @property
    def placer(self) -> Placer: ...
    @property
    def statements(self) -> StatementReader | None:
        """None where no trained reader fits the encoder."""

    @property
    def secrets(self) -> SecretReader: ...


class Home(Models, Protocol):
    """One person's settings, graph and models."""

    @property
    def config(self) -> Config: ...
    @property
    def graph(self) -> MemoryGraph: ...
    @property
    def rewards(self) -> RewardModel: ...


# Rewards tell how much a memory helped. No text, but made of what is to be forgotten.
register_cache(reward_cache.REWARDS, reward_cache.empty)


def open_graph(config: Config) -> MemoryGraph:
    """Open the home of ``config``; what is due is forgotten for good on the way.

    What a killed backup, restore or import left behind is removed: it holds memories too.

    :raises StoreError: if the home or its database cannot be used.
    """
    remove_left_overs(config.home)
    remove_left_overs(config.home / "backups")
    graph = MemoryGraph.open(config.home)
    # A home that cannot be written now (busy, full, read-only) can still be read.
    with suppress(StoreError):
        forget_due(graph, config.now())
    return graph


def forget_due(graph: MemoryGraph, now: datetime) -> tuple[str, ...]:
    """Forget for good what the person softly forgot 30 days ago; returns the memories' ids."""
    # A clock set forward by --now must not destroy anything before its time.
    ids = due(graph.journal, min(now, datetime.now().astimezone()))
    if ids:
        graph.erase(ids, at=now, actor="auto")
    return ids
