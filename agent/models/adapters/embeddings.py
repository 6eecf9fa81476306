"""Sentence embeddings from a local sentence-transformers folder.

Never reaches a network: the hub libraries are told to be offline before they are imported.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agent.errors import ModelDamaged, ModelMissing
from agent.ports import Vectors

_BATCH = 32
"""Sentences encoded at a time."""


class SentenceEncoder:
    """A sentence encoder; fulfils ``agent.ports.Embedder``. Threads take turns on a lock.

    Importing sentence-transformers is most of the start-up time, so it happens here and not when
    this module is imported. ``name`` and ``sha256`` of the weights make up ``identity``.

    :raises ModelMissing: if there is no such folder.
    :raises ModelDamaged: if the folder cannot be loaded.
    """

    # Measured on 2 cores: importing sentence-transformers 4.5 s (torch alone 1.5 s), importing
    # tokenizers and safetensors 0.14 s. With those two, all-MiniLM-L6-v2 is some forty lines of
    # numpy (six BERT layers, mean pooling); it would need a test that it agrees to 1e-5. We keep
    # sentence-transformers because any of its folders works here; the resident process pays once.

    def __init__(self, folder: Path, *, sha256: str, name: str | None = None) -> None:
        if not folder.is_dir():
            raise ModelMissing(
                f"There is no embedding model at {folder}. "
                "List the models with: memlane models list"
            )
        _stay_offline_and_quiet()
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except Exception as error:
            # A damaged folder fails anywhere from JSON to tensor shapes.
            raise ModelDamaged(
                f"The embedding model at {folder} cannot be loaded ({type(error).__name__}). "
                "Install or copy it again, or choose another: memlane models list"
            ) from error
        self._lock = threading.Lock()
        self._identity = f"{name or folder.name}:{sha256[:12]}"
        self._dimension = int(self._model.encode("", show_progress_bar=False).shape[0])

    @property
    def identity(self) -> str:
        """Name and first 12 digits of the weights' SHA-256."""
        return self._identity

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), float32; longer texts are cut.

        How much of a text counts is up to the model: 256 tokens for all-MiniLM-L6-v2.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                _clean(texts),
                batch_size=_BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Of each text the embeddings of its tokens in their context: (tokens, dimension), float32.

        The two marks around a text count as tokens, so even an empty one has some.
        """
        if not texts:
            return []
        with self._lock:
            found = self._model.encode(
                _clean(texts),
                batch_size=_BATCH,
                show_progress_bar=False,
                output_value="token_embeddings",
            )
        return [np.ascontiguousarray(tokens.numpy(), dtype=np.float32) for tokens in found]

    def encode_names(self, names: Sequence[str]) -> Vectors:
        """Unit vectors of short names, one row each: the mean of their tokens' own embeddings.

        No attention over the words, so a name costs microseconds and not milliseconds. The mean of
        the whole vocabulary is taken off, else all names look alike (Mu and Viswanath, 2018). They
        compare with one another, not with those of ``encode``.
        """
        if self._names is None:
            return self.encode(names)
        tokenizer, table = self._names
        vectors = np.zeros((len(names), table.shape[1]), dtype=np.float32)
        counts = np.ones((len(names), 1), dtype=np.float32)
        found = tokenizer.encode_batch_fast(_clean(names), add_special_tokens=False)
        # Dozens of new names a question: numpy's mean would take half as long again.
        for row, ids in enumerate(read.ids for read in found):
            if ids:
                np.add.reduce(table.take(ids, axis=0), axis=0, out=vectors[row])
                counts[row] = len(ids)
        vectors /= counts
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        made: Vectors = vectors / np.maximum(lengths, 1e-9)
        return made

    @cached_property
    def _names(self) -> tuple[Any, Vectors] | None:
        """A tokenizer of its own, that cuts and pads nothing, and the embedding of each token.

        None for an encoder that is made otherwise; its ``encode`` is all there is.
        """
        from tokenizers import Tokenizer

        first: Any = self._model[0]
        if not hasattr(getattr(first, "auto_model", None), "get_input_embeddings"):
            return None
        tokenizer = Tokenizer.from_str(self._model.tokenizer.backend_tokenizer.to_str())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        weights = first.auto_model.get_input_embeddings().weight
        table = weights.detach().float().numpy()
        return tokenizer, np.ascontiguousarray(table - table.mean(axis=0), dtype=np.float32)


def _clean(texts: Sequence[str]) -> list[str]:
    """Lone surrogates (from file names, from cut emoji) are no text to a tokenizer."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def _stay_offline_and_quiet() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Threads that spin while they wait starve the language model beside them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    # Loading weights draws a bar of its own.
    with contextlib.suppress(ImportError):
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]  # the library has no types
