"""Models on demand: what a session uses, loaded at the first call that needs it.

So a command that needs no model starts at once, and one whose model is missing fails with the
line that says how to install it, after the raw text is stored.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from agent.config import Config
from agent.errors import ModelError
from agent.models.catalog import BUILT_IN
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import REWARDS, RewardCache
from agent.models.timing import measured
from agent.models.weight_files import COPIES
from agent.models.worker.models import InWorker, WorkerLanguageModel, WorkerReader, WorkerRewards
from agent.models.worker.opening import GgufOpener, ReaderOpener
from agent.models.worker.settings import Finding
from agent.models.worker.worker import Worker
from agent.ports import ChatTurn, Decoding, Entropy, Prompt, Sampling, TextLine, Vectors, Words
from store.database.connection import is_encrypted
from store.erasure.secure_delete import CACHE_FOLDER

if TYPE_CHECKING:
    from agent.models.adapters.bert.embeddings import SentenceEncoder
    from agent.models.adapters.bert.foreign_embeddings import ForeignEncoder
    from agent.models.adapters.openai_client import ServerModel

Progress = Callable[[str, int, int], None]
"""Called with (what, done bytes, total bytes) while weights are put together."""


@cache
def _load_llm(
    path: Path, sha256: str, context: int, threads: int, models_dir: Path, idle_s: float, wait: int
) -> WorkerLanguageModel:
    """One copy of the weights for a process, however many sessions it opens."""
    options = {"context": context, "models_dir": str(models_dir)}
    opener = GgufOpener(
        "chat", path, sha256, threads=threads, models_dir=models_dir, options=options
    )
    worker = Worker("The language model", opener, idle_s=idle_s, timeout_s=wait)
    return WorkerLanguageModel(worker, opener)


@cache
def _connect(url: str, model: str) -> ServerModel:
    from agent.models.adapters.openai_client import ServerModel

    return ServerModel(url, model=model)


@cache
def _load_rewards(
    path: Path, sha256: str, context: int, threads: int, models_dir: Path, idle_s: float, wait: int,
    batch: int, megabytes: int, cache: Path | None,
) -> WorkerRewards:  # fmt: skip
    options = {
        "models_dir": str(models_dir),
        "context": context,
        "batch": batch,
        "cache": None if cache is None else str(cache),
        "megabytes": megabytes,
    }
    opener = GgufOpener(
        "rewards", path, sha256, threads=threads, models_dir=models_dir, options=options
    )
    worker = Worker("The reward model", opener, idle_s=idle_s, timeout_s=wait)
    return WorkerRewards(worker, opener)


@cache
def open_cache(home: Path, megabytes: int) -> RewardCache:
    """The rewards kept in a home, opened at their first use; one a process."""
    return RewardCache(_cache_of(home), megabytes=megabytes)


def _cache_of(home: Path) -> Path:
    return home / CACHE_FOLDER / REWARDS


@cache
def _load_encoder(folder: Path, sha256: str, threads: int) -> SentenceEncoder | ForeignEncoder:
    from agent.models.adapters.bert.embeddings import open_encoder

    # Known weights have one name wherever they lie, so vectors made with them are found again.
    name = next((spec.name for spec in BUILT_IN if spec.sha256 == sha256), folder.name)
    return open_encoder(folder, sha256=sha256, name=name, threads=threads)


def _path_of(name: str, config: Config, on_progress: Progress | None) -> tuple[Path, str]:
    """A language model's file and its SHA-256, put together if that has to be."""
    registry = ModelRegistry(config.models_dir)

    def progress(done: int, total: int) -> None:
        if on_progress:
            on_progress(f"preparing {name}", done, total)

    path = registry.resolve_llm(name, progress)
    return path, registry.sha256(path)


def reward_weights(
    name: str | Path, config: Config, on_progress: Progress | None = None
) -> tuple[Path, str]:
    """The file that rewards of a model are computed with, and its SHA-256.

    Of a small model that is its bfloat16 copy, which is several times as fast.
    """
    from agent.models.adapters.llama.bf16_weights import unpacked

    path, sha256 = _path_of(str(name), config, on_progress)
    copy = unpacked(path, config.models_dir / COPIES, sha256)
    return (path, sha256) if copy == path else (copy, ModelRegistry(config.models_dir).sha256(copy))


def _worker_settings(config: Config) -> tuple[int, int, Path, float, int]:
    """What of a configuration decides which worker serves a GGUF."""
    idle_s = 60.0 * config.idle_minutes
    return config.context, config.threads, config.models_dir, idle_s, config.model_timeout


class LocalLanguageModel:
    """The configured GGUF, or the configured server, at its first use."""

    def __init__(self, config: Config, on_progress: Progress | None = None) -> None:
        self._config = config
        self._on_progress = on_progress

    @cached_property
    def _model(self) -> WorkerLanguageModel | ServerModel:
        config = self._config
        if config.llm_is_server:
            return _connect(config.llm, config.server_model)
        path, sha256 = _path_of(config.llm, config, self._on_progress)
        return _load_llm(path, sha256, *_worker_settings(config))

    @property
    def loaded(self) -> bool:
        """Whether it is in memory, or a server that was asked before."""
        model = self.__dict__.get("_model")
        return model is not None and (
            not isinstance(model, WorkerLanguageModel) or model.worker.running
        )

    def free(self) -> None:
        """Give the weights' memory back; the next use loads them again. Not while it is in use."""
        if model := self.__dict__.pop("_model", None):
            model.close()
            if not isinstance(model, WorkerLanguageModel):
                _connect.cache_clear()

    @property
    def finding(self) -> Finding | None:
        """The settings that the model runs with; None before its first use, and for a server."""
        model = self.__dict__.get("_model")
        return model.finding if isinstance(model, WorkerLanguageModel) else None

    @property
    def pid(self) -> int | None:
        """The process that holds the weights; None while they are not in memory."""
        model = self.__dict__.get("_model")
        return model.worker.pid if isinstance(model, WorkerLanguageModel) else None

    def check(self) -> Finding | None:
        """Find the settings for this machine again; None for a server, which has its own.

        :raises ModelError: if the model cannot be loaded, or runs with none.
        """
        model = self._model
        return model.check() if isinstance(model, WorkerLanguageModel) else None

    @property
    def identity(self) -> str:
        return self._model.identity

    @measured("language model")
    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        return self._model.chat(turns, **decoding)

    @measured("language model")
    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        """See ``HiddenStateModel.states``; a server does not tell them."""
        return self._own.states(prompts, layer=layer)

    @measured("language model")
    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        """See ``HiddenStateModel.line_states``; a server does not tell them."""
        return self._own.line_states(turns, layer=layer)

    @property
    def _own(self) -> WorkerLanguageModel:
        model = self._model
        if not isinstance(model, WorkerLanguageModel):
            raise ModelError(f"{model.identity} does not tell its hidden states.")
        return model


class _Lazy(ABC):
    """A model in a worker, which is opened at the first use."""

    @cached_property
    @abstractmethod
    def _model(self) -> InWorker:
        """The model, opened."""

    @property
    def loaded(self) -> bool:
        """Whether it is in memory."""
        return "_model" in self.__dict__ and self._model.worker.running

    def free(self) -> None:
        """Give the weights' memory back; the next use loads them again. Not while it is in use."""
        if model := self.__dict__.pop("_model", None):
            model.close()


class LocalRewardModel(_Lazy):
    """The configured reward model with what it computed before, in a worker of its own.

    It reads the file beside a language model of the same file rather than through it: that one
    holds weights laid out anew for generation, which sum in another order. What it adds is a
    context; the file's own pages are in memory once.
    """

    def __init__(
        self, config: Config, on_progress: Progress | None = None, *, cached: bool = True
    ) -> None:
        self._config = config
        self._on_progress = on_progress
        self._cached = cached

    @cached_property
    def _model(self) -> WorkerRewards:
        config = self._config
        path, sha256 = _path_of(config.reward_model, config, self._on_progress)
        return _load_rewards(
            path, sha256, *_worker_settings(config), config.batch, config.reward_cache_mb,
            _cache_of(config.home) if self._cached and not is_encrypted(config.home) else None,
        )  # fmt: skip

    @property
    def finding(self) -> Finding | None:
        """The settings that the model runs with; None before its first use."""
        return self._model.finding if "_model" in self.__dict__ else None

    def check(self) -> Finding:
        """Find the settings for this machine again.

        :raises ModelError: if the model cannot be loaded, or runs with none.
        """
        return self._model.check()

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def batches(self) -> tuple[int, ...]:
        """Numbers of tokens that are decoded at once, as found exact on this machine."""
        return self._model.batches

    def entropy(self, prompts: Sequence[Prompt], **sampling: Unpack[Sampling]) -> list[Entropy]:
        return self._model.entropy(prompts, **sampling)

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        return self._model.log_likelihood(prompts, continuations)

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        return self._model.choose(prompts, options, by=by)


KEPT = 256
"""Most vectors of the last call that an encoder keeps, by hashes of their texts."""


class LocalEmbedder:
    """The configured sentence encoder, loaded at its first use."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._last: dict[bytes, Vectors] = {}

    @cached_property
    @measured("loading models")
    def _model(self) -> SentenceEncoder | ForeignEncoder:
        registry = ModelRegistry(self._config.models_dir)
        folder = registry.resolve_embedder(self._config.embedder)
        return _load_encoder(folder, registry.sha256(folder), self._config.threads)

    @property
    def loaded(self) -> bool:
        return "_model" in self.__dict__

    def free(self) -> None:
        """Give the weights' memory back; the next use loads them again. Not while it is in use."""
        if self.__dict__.pop("_model", None):
            _load_encoder.cache_clear()

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def dimension(self) -> int:
        return self._model.dimension

    @measured("encoder")
    def encode(self, texts: Sequence[str]) -> Vectors:
        """What the last call encoded is not encoded again: a sentence is placed, then stored."""
        keys = [blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        known = self._last
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if len(fresh) == len(texts):
            vectors = self._model.encode(texts)
        else:
            made = self._model.encode(list(fresh.values())) if fresh else ()
            known = known | dict(zip(fresh, made, strict=True))
            vectors = np.stack([known[key] for key in keys])
        if 0 < len(texts) <= KEPT:
            self._last = dict(zip(keys, vectors, strict=True))
        return vectors

    @measured("encoder")
    def encode_names(self, names: Sequence[str]) -> Vectors:
        return self._model.encode_names(names)

    @measured("encoder")
    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return self._model.encode_tokens(texts)

    def encode_words(self, texts: Sequence[str]) -> list[Words]:
        return self._model.encode_words(texts)


class LocalReader(_Lazy):
    """OCR with the weights inside its package, in a worker that starts at its first use.

    It decodes pictures of any origin in native code and takes hundreds of megabytes, which a
    process gives back only when it ends (``benchmarks.worker_speed``).
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    @cached_property
    def _model(self) -> WorkerReader:
        return _load_reader(60.0 * self._config.idle_minutes, self._config.model_timeout)

    @measured("text reader")
    def read(self, image: Path) -> list[TextLine]:
        return self._model.read(image)


@cache
def _load_reader(idle_s: float, timeout_s: float) -> WorkerReader:
    worker = Worker(
        "The text reader",
        ReaderOpener(),
        idle_s=idle_s,
        timeout_s=timeout_s,
        # A picture that it dies of says nothing about the next one.
        patience=sys.maxsize,
    )
    return WorkerReader(worker)
