"""A resident process to be attacked: ``python -m benchmarks.attack_server HOME``.

All of it is real but for the language model, which answers at once: what is attacked is the code
around it. With ``--hash`` the sentence encoder is a stand-in too, for tests.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from typer.core import TyperGroup
from typer.main import get_command

from agent.config import Config, load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import ChatTurn, Decoding, Vectors, Words
from agent.server.resident.service import Desk
from agent.server.serve import serve
from cli.app import app
from cli.forwarding.forwarded import work_out

SIZE = 64


class Answerer:
    """A language model that says the same thing at once."""

    identity = "answerer"
    loaded = True

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        if on_text := decoding.get("on_text"):
            on_text("NONE")
        return "NONE"

    def free(self) -> None:
        """Nothing is held."""


class Hashes:
    """A sentence encoder of which equal texts get equal vectors, and that is all."""

    identity = "hash:1"
    dimension = SIZE
    loaded = True

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [self._one(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, SIZE), np.float32)

    encode_names = encode

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [self.encode(text.split()) for text in texts]

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        return [Words(((0, len(text)),), self.encode([text])) for text in texts]

    def _one(self, text: str) -> Vectors:
        seed = abs(hash(text.encode("utf-8", "replace")))
        vector = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def free(self) -> None:
        """Nothing is held."""


def main() -> None:
    config = load_config({"home": sys.argv[1], "resident": "no"})
    parser = get_command(app)
    assert isinstance(parser, TyperGroup)

    def desk(config: Config) -> Desk:
        embedder = Hashes() if "--hash" in sys.argv else LocalEmbedder(config)
        return Desk(config, llm=Answerer(), embedder=embedder, why_wait=lambda: "an attack")

    serve(
        config,
        open_desk=desk,
        on_ready=lambda where: print(Path(where), flush=True),
        command=work_out(config, parser),
        debug="--debug" in sys.argv,
    )


if __name__ == "__main__":
    main()
