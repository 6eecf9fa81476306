"""A resident process with scripted models: ``python -m tests.support.resident_work HOME``.

The process, its sockets, lanes and files are real; only the models are not, so that it starts in
a moment and its language model speaks as slowly as a test wants.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Unpack

from typer.core import TyperGroup
from typer.main import get_command

from agent.config import Config, load_config
from agent.ports import ChatTurn, Decoding, Vectors, Words
from agent.server.resident.service import Desk
from agent.server.serve import serve
from cli.app import app
from cli.forwarding.forwarded import work_out
from tests.support.crash_work import HashEncoder

WORDS = 200
WORD_S = 0.02


class Encoder(HashEncoder):
    """A hash for a sentence encoder, which takes ``delay`` seconds to load."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self.loaded = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        if not self.loaded:
            time.sleep(self._delay)
            self.loaded = True
        return super().encode(texts)

    def encode_names(self, names: Sequence[str]) -> Vectors:
        return self.encode(names)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [self.encode([text]) for text in texts]

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        return [Words(((0, len(text)),), self.encode([text])) for text in texts]

    def free(self) -> None:
        self.loaded = False


class Talker:
    """Says a number of words, one after the other."""

    identity = "talker"

    def __init__(self) -> None:
        self.loaded = False

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        self.loaded = True
        on_text = decoding.get("on_text")
        said = ""
        for number in range(1 if decoding["max_tokens"] == 1 else WORDS):
            time.sleep(WORD_S)
            said += f"word{number} "
            if on_text:
                on_text(f"word{number} ")
        return said

    def free(self) -> None:
        self.loaded = False


def main() -> None:
    home, *rest = sys.argv[1:]
    delay = float(rest[0]) if rest else 0.0
    port = int(rest[1]) if len(rest) > 1 else None

    def desk(config: Config) -> Desk:
        return Desk(config, llm=Talker(), embedder=Encoder(delay), why_wait=lambda: "")

    config = load_config({"home": home})
    parser = get_command(app)
    assert isinstance(parser, TyperGroup)
    serve(
        config,
        port=port,
        open_desk=desk,
        on_ready=lambda where: print(where, flush=True),
        command=work_out(config, parser),
    )


if __name__ == "__main__":
    main()
