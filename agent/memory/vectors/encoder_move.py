"""A home moves to another sentence encoder, while its old vectors stay in use.

The new vectors are stored beside the old ones, batch by batch, so a move that was interrupted goes
on where it stopped. The setting ``next_embedder`` names where a home is going; once every memory
has its vector, ``embedder`` takes its place. Spaces that lack some make theirs as they are asked.
"""

from __future__ import annotations

from agent.config_edit import set_in_file, unset_in_file
from agent.memory.vectors.waiting import Waiting
from agent.ports import Embedder
from store.graph import MemoryGraph

AT_A_TIME = 100
"""Memories that are encoded and stored together."""


class EncoderMove:
    """The way of one graph to the vectors of another encoder."""

    def __init__(self, graph: MemoryGraph, embedder: Embedder) -> None:
        self._graph = graph
        self._embedder = embedder
        self._waiting = Waiting()

    @property
    def left(self) -> int:
        """How many memories have no vector of the new encoder yet."""
        return len(self._graph.vectors.missing(self._embedder.identity))

    def step(self, count: int) -> int:
        """Make the vectors of the next ``count`` memories; 0 once none waits."""
        return self._waiting.encode(count, self._graph, self._embedder)

    def run(self) -> int:
        """Make all of them; returns how many were made."""
        done = 0
        while made := self.step(AT_A_TIME):
            done += made
        return done


def aim_at(encoder: str) -> None:
    """Write down where the home is going; what was made of another aim is kept."""
    set_in_file("next_embedder", encoder)


def arrive(encoder: str) -> None:
    """Search with the new encoder from now on."""
    set_in_file("embedder", encoder)
    unset_in_file("next_embedder")
