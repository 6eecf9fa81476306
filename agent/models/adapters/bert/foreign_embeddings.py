"""Sentence encoders that only the sentence-transformers package can run.

Never reaches a network: the hub libraries are told to be offline before they are imported.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.errors import ModelMissing
from agent.models.adapters.bert.encoder import encodable
from agent.ports import Vectors, Words

_BATCH = 32
"""Sentences encoded at a time."""


class ForeignEncoder:
    """A sentence encoder of any make; fulfils ``agent.ports.Embedder``. Threads take turns.

    Importing sentence-transformers takes seconds, so it happens here and not when this module is
    imported.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        try:
            _stay_quiet()
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise ModelMissing(
                f"The encoder in {folder} needs sentence-transformers. Install it from the "
                "checkout: pip install -c constraints.txt sentence-transformers"
            ) from error

        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self._lock = threading.Lock()
        self._identity = identity
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
        """Unit vectors, shape (len(texts), dimension), float32; longer texts are cut."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                [encodable(text) for text in texts],
                batch_size=_BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Of each text the embeddings of its tokens in their context: (tokens, dimension)."""
        if not texts:
            return []
        with self._lock:
            found = self._model.encode(
                [encodable(text) for text in texts],
                batch_size=_BATCH,
                show_progress_bar=False,
                output_value="token_embeddings",
            )
        return [np.ascontiguousarray(tokens.numpy(), dtype=np.float32) for tokens in found]

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        """No words: which tokens make up a word differs from make to make."""
        return [Words((), np.zeros((0, self._dimension), np.float32)) for _ in texts]

    def encode_names(self, names: Sequence[str]) -> Vectors:
        """Unit vectors of short names, one row each: whole texts to an unknown encoder."""
        return self.encode(names)


def _stay_quiet() -> None:
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Threads that spin while they wait starve the language model beside them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    # Loading weights draws a bar of its own.
    with contextlib.suppress(ImportError):
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]  # the library has no types
