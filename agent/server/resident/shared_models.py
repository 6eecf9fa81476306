"""Models shared by all requests, freed when idle."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar, Unpack

from agent.errors import ModelError
from agent.models.lazy import LocalReader
from agent.models.readers.second_reader import tells_states
from agent.ports import (
    ChatTurn,
    Decoding,
    Embedder,
    HiddenStateModel,
    LanguageModel,
    NameEncoder,
    TextLine,
    TokenEncoder,
    Vectors,
    WordEncoder,
    Words,
)


def memory_mb() -> int:
    """Memory of this process and of its models' processes."""
    import psutil

    own = psutil.Process()
    taken = 0
    for one in (own, *own.children()):
        with suppress(psutil.Error):  # it has just ended
            taken += one.memory_info().rss
    return taken // 1_000_000


class Freeable(Protocol):
    """A model of ``agent.models.lazy``: loaded at its first use, and again after it was freed."""

    @property
    def loaded(self) -> bool: ...
    def free(self) -> None: ...


class FreeableEmbedder(Freeable, Embedder, NameEncoder, TokenEncoder, WordEncoder, Protocol):
    """A sentence encoder that can be freed."""


class FreeableModel(Freeable, LanguageModel, Protocol):
    """A language model that can be freed."""


M = TypeVar("M", bound=Freeable)


class Keeper(Generic[M]):
    """Lends a model to one at a time, and knows when that was last."""

    def __init__(self, model: M) -> None:
        self._model = model
        self._lock = threading.RLock()
        self._used = time.monotonic()

    @property
    def loaded(self) -> bool:
        return self._model.loaded

    @property
    def at_hand(self) -> bool:
        """Whether it is loaded and lent to nobody."""
        if not self._lock.acquire(blocking=False):
            return False
        self._lock.release()
        return self.loaded

    @contextmanager
    def lent(self) -> Iterator[M]:
        with self._lock:
            try:
                yield self._model
            finally:
                self._used = time.monotonic()

    def free(self, idle_s: float) -> bool:
        """Give its memory back if nobody has used it for so long; whether that was done."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._model.loaded or time.monotonic() - self._used < idle_s:
                return False
            self._model.free()
        finally:
            self._lock.release()
        gc.collect()
        give_back_freed()
        return True


def give_back_freed() -> None:
    """Give freed memory back to the system: glibc keeps it to itself until it is asked for it."""
    with suppress(AttributeError, OSError):  # another C library has no such function
        ctypes.CDLL(None).malloc_trim(0)


class SharedEmbedder:
    """A kept encoder; fulfils ``Embedder``. Its name is known while its weights are freed."""

    def __init__(self, keeper: Keeper[FreeableEmbedder]) -> None:
        self._keeper = keeper

    @cached_property
    def identity(self) -> str:
        with self._keeper.lent() as model:
            return model.identity

    @cached_property
    def dimension(self) -> int:
        with self._keeper.lent() as model:
            return model.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._keeper.lent() as model:
            return model.encode(texts)

    def encode_names(self, names: Sequence[str]) -> Vectors:
        with self._keeper.lent() as model:
            return model.encode_names(names)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        with self._keeper.lent() as model:
            return model.encode_tokens(texts)

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        with self._keeper.lent() as model:
            return model.encode_words(texts)


class SharedModel:
    """A kept language model; fulfils ``HiddenStateModel``. ``check`` is called before every word.

    What a session does without the resident process it does here too, so whatever readers ask of a
    language model has to be here: one that finds no hidden states goes without them and says
    nothing.
    """

    def __init__(
        self, keeper: Keeper[FreeableModel], check: Callable[[], None], *, waits: bool = True
    ) -> None:
        self._keeper = keeper
        self._check = check
        self._waits = waits

    @cached_property
    def identity(self) -> str:
        with self._keeper.lent() as model:
            return model.identity

    @property
    def loaded(self) -> bool:
        """Where one does not wait for another: whether it is free, too."""
        return self._keeper.loaded if self._waits else self._keeper.at_hand

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        on_text = decoding.get("on_text")

        def watched(piece: str) -> None:
            self._check()
            if on_text:
                on_text(piece)

        self._check()
        with self._keeper.lent() as model:
            decoding["on_text"] = watched
            return model.chat(turns, **decoding)

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        with self._telling_states() as model:
            return model.states(prompts, layer=layer)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        with self._telling_states() as model:
            return model.line_states(turns, layer=layer)

    @contextmanager
    def _telling_states(self) -> Iterator[HiddenStateModel]:
        self._check()
        with self._keeper.lent() as model:
            if not tells_states(model):
                raise ModelError(f"{model.identity} does not tell its hidden states.")
            yield model


class SharedReader:
    """A kept text reader; fulfils ``TextReader``."""

    def __init__(self, keeper: Keeper[LocalReader]) -> None:
        self._keeper = keeper

    def read(self, image: Path) -> list[TextLine]:
        with self._keeper.lent() as model:
            return model.read(image)
