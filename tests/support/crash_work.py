"""The work that ``test_crash`` kills: an ingest of many notes, each acknowledged when it is done.

Models are scripted, because what is tested is the store and the order of its writes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

import numpy as np

from agent.config import load_config
from agent.ports import ChatTurn, Decoding, Vectors
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, SourceKind

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


class HashEncoder:
    """Unit vectors that depend on the text alone."""

    identity = "hash:1"
    dimension = 16

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = []
        for text in texts:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            row = np.random.default_rng(seed).standard_normal(self.dimension)
            rows.append(row / np.linalg.norm(row))
        return np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dimension)


class SilentModel:
    """Finds nothing to add to what exact rules find."""

    identity = "silent"

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        return "NONE"


def open_here(home: Path) -> Session:
    config = replace(load_config(), home=home, fixed_now=NOW)
    return Session(config, MemoryGraph.open(home), llm=SilentModel(), embedder=HashEncoder())


def ingest_and_acknowledge(home: Path, notes: Path, acknowledged: Path) -> None:
    """Ingest a folder; each finished file is one line of ``acknowledged``."""
    file = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with open_here(home) as session:
        os.write(file, b"#begun\n")
        for report in session.ingest([notes]):
            os.write(file, f"{report.path}\n".encode())
    os.close(file)


def say_many(home: Path, name: str, count: int) -> None:
    """Remember ``count`` facts one by one, as one of two processes that write at once."""
    with open_here(home) as session:
        for number in range(count):
            session.remember(f"My {name} number {number} is {number}{name}.")


def forget_and_acknowledge(home: Path, acknowledged: Path, secret: str) -> None:
    """Store some memories, acknowledge, and forget one of them for good."""
    with open_here(home) as session:
        graph = session.graph
        source = graph.sources.add(SourceKind.CHAT, f"Well. {secret} Bye.", NOW)
        drafts = [Draft(secret, "attribute.belongings", NOW, source=source.id)]
        drafts += [
            Draft(f"My shelf {number} holds {number} books.", "attribute.belongings", NOW)
            for number in range(200)
        ]
        graph.apply([Insert(draft) for draft in drafts], at=NOW)
        acknowledged.touch()
        graph.erase(["m1"], at=NOW)
