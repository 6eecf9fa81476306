"""What the agent asks of models, as narrow protocols.

Adapters in ``agent.adapters`` fulfil them with real models; tests script them where behaviour
does not depend on a model. Nothing else in memlane imports a model package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class LanguageModel(Protocol):
    """A local chat model."""

    @property
    def identity(self) -> str:
        """Name and hash of the weights, stored beside whatever was made with them."""
        ...

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
    ) -> str:
        """Complete the chat and return the assistant's text without its end token.

        ``grammar`` is GBNF with a ``root`` rule; ``temperature`` 0 is greedy; ``on_text``
        receives each new piece of text as it is decoded; generation ends before any of ``stop``.

        :raises PromptTooLong: if prompt and ``max_tokens`` exceed the context.
        """
        ...


class Embedder(Protocol):
    """A sentence encoder."""

    @property
    def identity(self) -> str:
        """Name and hash of the weights; vectors of different identities never mix."""
        ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), float32."""
        ...


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text found in a picture, with its box in pixels."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float


class TextReader(Protocol):
    """Reads the text in a picture (OCR)."""

    def read(self, image: Path) -> list[TextLine]:
        """Lines in reading order; empty when the picture shows no text.

        :raises UnreadableSource: if the file is missing, empty, truncated or no picture.
        """
        ...
