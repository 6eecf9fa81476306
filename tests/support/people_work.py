"""What the workers of ``tests/learning/test_many_homes.py`` run: importable, and quick to load."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.config import load_config
from agent.ports import Vectors
from agent.session.session import Session, open_session
from tests.conftest import NOW
from tests.support.learning import KnowingModel, KnowingRewards


class HashedWords:
    """A sentence encoder that knows only which words there are: each has a fixed direction."""

    identity, dimension = "hashed-words", 64

    def encode(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in sorted({"", *re.findall(r"\w+", text.casefold())}):
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "little")
                found[row] += np.random.default_rng(seed).normal(size=self.dimension)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def quick_session(home: Path) -> Session:
    """A home with models that know the small life by rule."""
    config = load_config({"home": str(home)}, now=NOW)
    return open_session(
        config, llm=KnowingModel(), embedder=HashedWords(), rewards=KnowingRewards()
    )


@dataclass(frozen=True, slots=True)
class DiesOnce:
    """Kills its own worker the first time that it is run for a home of this name."""

    name: str
    marker: Path

    def __call__(self, home: Path) -> int:
        if home.name == self.name and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return len(home.name)
