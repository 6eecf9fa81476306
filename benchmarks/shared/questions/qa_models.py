"""The answering model with its answers and hidden states kept on disk, and the counting of tokens.

An answer is kept under a hash of the weights' identity, the prompt and the settings, so a run that
was interrupted goes on where it stopped and no prompt is ever paid for twice. The file holds texts
of the question sets: it lies in ``build``, which git ignores.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from agent.config import Config
from agent.errors import ModelError
from agent.models.adapters.llama.gguf import Weights
from agent.models.adapters.llama.reading_adapter import adapter_of, version_of
from agent.models.readers.second_reader import tells_states
from agent.models.registry import ModelRegistry
from agent.ports import ChatTurn, LanguageModel, Vectors
from benchmarks.shared.common import ROOT

ANSWERS = ROOT / "build" / "benchmarks" / "answers.sqlite"


class KeptAnswers:
    """A language model that never answers the same prompt twice; counts what it was asked."""

    def __init__(self, model: LanguageModel, path: Path = ANSWERS) -> None:
        self._model = model
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(path, isolation_level=None)
        self._rows.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, said TEXT)")
        self._rows.execute("CREATE TABLE IF NOT EXISTS states (key BLOB PRIMARY KEY, row BLOB)")
        self._rows.execute("CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, row TEXT)")
        self.asked = self.found = 0

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def loaded(self) -> bool:
        return True

    @cached_property
    def _reading(self) -> str:
        """What states depend on beside the prompt."""
        return f"{self.identity} {version_of(adapter_of(self.identity))}"

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        """As the model's, kept in half precision."""
        if not tells_states(self._model):
            raise ModelError(f"{self.identity} does not tell its hidden states.")
        keys = [_key(self._reading, layer, [turn.content for turn in turns]) for turns in prompts]
        missing = {
            key: turns for key, turns in zip(keys, prompts, strict=True) if self._state(key) is None
        }
        if missing:
            rows = self._model.states(list(missing.values()), layer=layer).astype(np.float16)
            kept = [(key, row.tobytes()) for key, row in zip(missing, rows, strict=True)]
            self._rows.executemany("INSERT OR REPLACE INTO states VALUES (?, ?)", kept)
        states = [self._state(key) or b"" for key in keys]
        return np.stack([np.frombuffer(row, np.float16) for row in states]).astype(np.float32)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        """As the model's, kept in half precision."""
        if not tells_states(self._model):
            raise ModelError(f"{self.identity} does not tell its hidden states.")
        key = _key(self._reading, "lines", layer, [turn.content for turn in turns])
        row = self._state(key)
        if row is None:
            row = self._model.line_states(turns, layer=layer).astype(np.float16).tobytes()
            self._rows.execute("INSERT OR REPLACE INTO states VALUES (?, ?)", [key, row])
        lines = turns[-1].content.count("\n")
        return np.frombuffer(row, np.float16).reshape(lines, -1).astype(np.float32)

    def _state(self, key: bytes) -> bytes | None:
        row = self._rows.execute("SELECT row FROM states WHERE key = ?", [key]).fetchone()
        return None if row is None else bytes(row[0])

    def chat(
        self,
        turns: Sequence[ChatTurn],
        *,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
        on_scores: Callable[[Sequence[float]], None] | None = None,
    ) -> str:
        """As the model's; ``on_text`` hears nothing of an answer that was kept."""
        prompt = [(turn.role, turn.content) for turn in turns]
        key = _key(self.identity, prompt, max_tokens, grammar, temperature, seed, list(stop))
        self.asked += 1
        row = self._rows.execute("SELECT said FROM answers WHERE key = ?", [key]).fetchone()
        scores = self._scores(key) if on_scores else []
        if row is not None and scores is not None:
            self.found += 1
            if on_scores:
                on_scores(scores)
            return str(row[0])
        told: list[Sequence[float]] = []
        said = self._model.chat(
            turns, max_tokens=max_tokens, grammar=grammar, temperature=temperature, seed=seed,
            stop=stop, on_text=on_text, on_scores=told.append if on_scores else None,
        )  # fmt: skip
        self._rows.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", [key, said])
        if on_scores and told:
            kept = [key, json.dumps([round(score, 4) for score in told[-1]])]
            self._rows.execute("INSERT OR REPLACE INTO scores VALUES (?, ?)", kept)
            on_scores(told[-1])
        return said

    def _scores(self, key: bytes) -> list[float] | None:
        row = self._rows.execute("SELECT row FROM scores WHERE key = ?", [key]).fetchone()
        return None if row is None else list(json.loads(row[0]))

    def close(self) -> None:
        self._rows.close()


def _key(*settings: object) -> bytes:
    return hashlib.sha256(json.dumps(settings).encode()).digest()


class TokenCount:
    """Tokens of texts by the vocabulary of the configured language model."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[str, int] = {}

    @cached_property
    def _weights(self) -> Weights:
        path = ModelRegistry(self._config.models_dir).resolve_llm(self._config.llm)
        return Weights(path, repack=False)  # mapped, not read: only its vocabulary is used

    def __call__(self, text: str) -> int:
        """Counted once for each text."""
        if text not in self._known:
            self._known[text] = len(self._weights.tokenize(text))
        return self._known[text]
