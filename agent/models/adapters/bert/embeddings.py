"""Sentence embeddings from a local sentence-transformers folder.

Nearly all such folders hold a plain BERT encoder, which onnxruntime runs in a fraction of the
time; sentence-transformers, and PyTorch with it, is imported for the others alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agent.errors import ModelDamaged, ModelMissing
from agent.models.adapters.bert.encoder import Bert, Pooling, sentence_pooling
from agent.ports import Vectors, Words

if TYPE_CHECKING:
    from agent.models.adapters.bert.foreign_embeddings import ForeignEncoder


def open_encoder(
    folder: Path, *, sha256: str, name: str | None = None, threads: int = 0
) -> SentenceEncoder | ForeignEncoder:
    """The encoder in a folder; ``name`` and ``sha256`` of the weights make up its ``identity``.

    :param threads: Most threads of a plain BERT; 0 is one a processor.
    :raises ModelMissing: if there is no such folder, or a package that it needs is missing.
    :raises ModelDamaged: if the folder cannot be loaded.
    """
    if not folder.is_dir():
        raise ModelMissing(
            f"There is no embedding model at {folder}. List the models with: memlane models list"
        )
    identity = f"{name or folder.name}:{sha256[:12]}"
    try:
        if pooling := sentence_pooling(folder):
            return SentenceEncoder(folder, identity, *pooling, threads=threads)
        from agent.models.adapters.bert.foreign_embeddings import ForeignEncoder

        return ForeignEncoder(folder, identity)
    except ModelMissing:
        raise
    except Exception as error:
        # A damaged folder fails anywhere from JSON to tensor shapes.
        raise ModelDamaged(
            f"The embedding model at {folder} cannot be loaded ({type(error).__name__}). "
            "Install or copy it again, or choose another: memlane models list"
        ) from error


class SentenceEncoder:
    """A plain BERT encoder; fulfils ``agent.ports.Embedder``. Several threads may use it.

    :param pooling: How the states of the tokens become one vector.
    :param longest: Most tokens of a text that count; the rest is cut off.
    """

    def __init__(
        self, folder: Path, identity: str, pooling: Pooling, longest: int, *, threads: int
    ) -> None:
        self._bert = Bert(folder, threads=threads)
        self._identity = identity
        self._pooling = pooling
        self._longest = longest

    @property
    def identity(self) -> str:
        """Name and first 12 digits of the weights' SHA-256."""
        return self._identity

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._bert.width

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), float32; longer texts are cut.

        How much of a text counts is up to the model: 256 tokens for all-MiniLM-L6-v2.
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for batch in self._bert.hidden(texts, self._longest):
            vectors[batch.rows] = batch.mean() if self._pooling == "mean" else batch.first()
        return unit(vectors)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Of each text the embeddings of its tokens in their context: (tokens, dimension), float32.

        The two marks around a text count as tokens, so even an empty one has some.
        """
        found: dict[int, Vectors] = {}
        for batch in self._bert.hidden(texts, self._longest):
            for row, states, mask in zip(batch.rows, batch.states, batch.mask, strict=True):
                found[int(row)] = states[: int(mask.sum())].copy()
        return [found[row] for row in range(len(texts))]

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        """The words of each text, each as the mean of its tokens."""
        states = self.encode_tokens(texts)
        return [self._words(text, of) for text, of in zip(texts, states, strict=True)]

    def _words(self, text: str, states: Vectors) -> Words:
        places = word_places(text)
        counts = [len(ids) for ids in self._bert.token_ids([text[a:b] for a, b in places])]
        ends = np.cumsum(counts, dtype=np.intp) + 1  # after the mark that begins the text
        kept = [n for n, end in enumerate(ends) if counts[n] and end < len(states)]
        rows = [states[ends[n] - counts[n] : ends[n]].mean(axis=0) for n in kept]
        made = np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)
        return Words(tuple(places[n] for n in kept), made)

    def encode_names(self, names: Sequence[str]) -> Vectors:
        """Unit vectors of short names, one row each: the mean of their tokens' own embeddings.

        No attention over the words, so a name costs microseconds and not milliseconds. The mean of
        the whole vocabulary is taken off, else all names look alike (Mu and Viswanath, 2018). They
        compare with one another, not with those of ``encode``.
        """
        vectors = np.zeros((len(names), self.dimension), np.float32)
        for row, ids in enumerate(self._bert.token_ids(names)):
            if ids:
                # Dozens of new names a question: numpy's mean would take half as long again.
                np.add.reduce(self._bert.words.take(ids, axis=0), axis=0, out=vectors[row])
                vectors[row] /= len(ids)
                vectors[row] -= self._mean_word
        return unit(vectors)

    @cached_property
    def _mean_word(self) -> Vectors:
        mean: Vectors = self._bert.words.mean(axis=0, dtype=np.float32)
        return mean


def word_places(text: str) -> list[tuple[int, int]]:
    """Where runs of letters and digits stand, and each other mark: no token spans two of them."""
    places: list[tuple[int, int]] = []
    running = False
    for at, letter in enumerate(text):
        if letter.isalnum() and running:
            places[-1] = (places[-1][0], at + 1)
        elif not letter.isspace():
            places.append((at, at + 1))
        running = letter.isalnum()
    return places


def unit(vectors: Vectors) -> Vectors:
    """The vectors at length 1; what has none stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    made: Vectors = vectors / np.maximum(lengths, 1e-9)
    return made
