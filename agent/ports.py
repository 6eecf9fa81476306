"""Protocols (interfaces) for models.

Adapters in ``agent.models.adapters`` fulfil them with real models; tests script them where
behaviour does not depend on a model. Nothing else in memlane imports a model package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, Required, TypedDict, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


Prompt = str | Sequence[ChatTurn]
"""A text that is taken as it stands (base-style), or turns for the model's chat template."""


@dataclass(frozen=True, slots=True)
class Entropy:
    """How unsure a model is of its answer: RUMS equation (3)'s entropy term, in nats a token."""

    samples: tuple[float, ...]
    """Of each sampled answer, the mean over its tokens."""

    @property
    def mean(self) -> float:
        """The estimate."""
        return sum(self.samples) / len(self.samples)


class Sampling(TypedDict, total=False):
    """The options of ``RewardModel.entropy``, for what passes them on."""

    samples: int
    max_tokens: int
    temperature: float
    seed: int
    tempered: bool


class RewardModel(Protocol):
    """A local model that tells what an answer is worth by its own probabilities.

    Every method takes many prompts and shares their work; the result for a prompt is the same
    whatever it was asked together with.
    """

    @property
    def identity(self) -> str:
        """Name and hash of the weights."""
        ...

    def entropy(
        self,
        prompts: Sequence[Prompt],
        *,
        samples: int = 5,
        max_tokens: int = 20,
        temperature: float = 0.7,
        seed: int = 0,
        tempered: bool = False,
    ) -> list[Entropy]:
        """Mean entropy a token over sampled answers (RUMS section 3.3), one result a prompt.

        Answers are drawn at ``temperature`` (0: the one greedy answer), each until its end or
        ``max_tokens``; the end token counts. The entropy is that of the model's own distribution
        or, ``tempered``, of the sharpened one that the answers were drawn from. Sample number i
        of a seed is the same however many are asked for.

        :raises PromptTooLong: if a prompt and ``max_tokens`` exceed the context; nothing is cut.
        """
        ...

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        """Log-probability (nats) of each token of each continuation (PURPLE equation 4).

        A continuation is tokenized apart from its prompt, so a plain prompt ends without a space
        and its continuation begins with one. No end token is added.

        :raises EmptyContinuation: if there is nothing to score.
        :raises PromptTooLong: if a pair exceeds the context.
        """
        ...

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        """Probabilities over each prompt's options; they sum to 1.

        By *likelihood*, each option is scored as the continuation, and the mean log-probability a
        token (so that length does not decide) goes through a softmax. By *letter*, the options
        are put under the prompt as ``A. ...`` lines and the probabilities of the letters compared,
        averaged over every rotation of the options, because small models favour some letters.

        :raises EmptyContinuation: if there is an empty option, or none at all.
        """
        ...


class Decoding(TypedDict, total=False):
    """The options of ``LanguageModel.chat``, for what passes them on."""

    max_tokens: Required[int]
    grammar: str | None
    temperature: float
    seed: int
    stop: Sequence[str]
    on_text: Callable[[str], None] | None
    on_scores: Callable[[Sequence[float]], None] | None


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
        on_scores: Callable[[Sequence[float]], None] | None = None,
    ) -> str:
        """Complete the chat and return the assistant's text without its end token.

        ``grammar`` is GBNF with a ``root`` rule; ``temperature`` 0 is greedy; ``on_text``
        receives each new piece of text as it is decoded; generation ends before any of ``stop``.
        ``on_scores`` receives the log-probability (nats) of each token before the end, at the end;
        never from a server that does not tell probabilities.

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


@runtime_checkable
class NameEncoder(Protocol):
    """An encoder that also knows short names by themselves, cheaply."""

    def encode_names(self, names: Sequence[str]) -> Vectors:
        """Unit vectors, one row each, in microseconds; they compare with one another alone."""
        ...


@runtime_checkable
class TokenEncoder(Protocol):
    """An encoder that also tells of the single tokens of a text (late interaction)."""

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Of each text the embeddings of its tokens in their context, (tokens, dimension)."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """The words and marks of a text: where each stands, and its state in its context."""

    places: tuple[tuple[int, int], ...]
    states: Vectors
    """(words, dimension), float32."""


@runtime_checkable
class WordEncoder(Protocol):
    """A sentence encoder that also tells of the single words of a text."""

    @property
    def identity(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        """The words of each text; those beyond the longest text that counts are left out."""
        ...


KINDS = ("state", "preference", "event", "plan", "smalltalk", "question", "command")
"""What a statement is; the last three tell nothing to remember."""
RELATIONS = ("unrelated", "same", "adds", "refines", "corrects", "ends", "supersedes")
"""What a newer statement does to an older one."""
ORDERS = ("none", "forget", "undo", "other")
"""What a message orders to be done with memory."""
Probabilities = NDArray[np.float32]


class HiddenStateModel(LanguageModel, Protocol):
    """A language model whose hidden states can be read."""

    @property
    def loaded(self) -> bool:
        """Whether it is in memory."""
        ...

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        """Of each prompt the state of its last token behind a layer: (n, width).

        Prompts that begin alike are read once.

        :raises PromptTooLong: if a prompt exceeds the context.
        :raises ModelError: if the model has no such layer, or its states are out of reach.
        """
        ...

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        """Of each line of the last turn the state of its last token behind a layer: (n, width).

        A state knows what stands before it. Errors as those of ``states``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SecretsRead:
    """What of a text is a secret by what is said around it; all in order."""

    sure: tuple[tuple[int, int, str], ...] = ()
    """Start, end and kind ("password", "PIN", ...) of each."""
    perhaps: tuple[tuple[int, int], ...] = ()
    """Start and end of what may be one, the sure ones too; no two overlap."""


class SecretReader(Protocol):
    """Finds secrets by what is said around them, where no pattern would."""

    def secrets(self, text: str) -> SecretsRead | None:
        """What it finds in a text; None where it cannot read."""
        ...


class StatementReader(Protocol):
    """Reads statements and pairs of statements; all results are probabilities."""

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        """Of each statement the probability of each of ``KINDS``: (n, 7)."""
        ...

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        """Of each (older, newer) pair the probability of each of ``RELATIONS``: (n, 7)."""
        ...

    def orders(self, messages: Sequence[str]) -> Probabilities:
        """Of each message the probability of each of ``ORDERS``: (n, 4)."""
        ...

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        """Of each statement, how likely the answer to the question needs it: (n, 1)."""
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
