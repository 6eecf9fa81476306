"""Models on demand: what a session uses, loaded at the first call that needs it.

So a command that needs no model starts at once, and one whose model is missing fails with the
line that says how to install it, after the raw text is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from agent.config import Config
from agent.models import BUILT_IN, ModelRegistry
from agent.models.files import BatchSizes
from agent.ports import (
    ChatTurn,
    Entropy,
    Prompt,
    TextLine,
    TextReader,
    Vectors,
)
from agent.reward_cache import REWARDS, RewardCache
from store.sweeping import CACHE_FOLDER

if TYPE_CHECKING:
    from agent.adapters.embeddings import SentenceEncoder
    from agent.adapters.llama import LlamaModel
    from agent.adapters.rewards import LlamaRewards
    from agent.adapters.server import ServerModel

Progress = Callable[[str, int, int], None]
"""Called with (what, done bytes, total bytes) while weights are put together."""


@cache
def _load_llm(path: Path, sha256: str, context: int, threads: int) -> LlamaModel:
    """One copy of the weights a process, however many sessions it opens."""
    from agent.adapters.llama import LlamaModel

    return LlamaModel(path, sha256=sha256, n_ctx=context, n_threads=threads)


@cache
def _connect(url: str, model: str) -> ServerModel:
    from agent.adapters.server import ServerModel

    return ServerModel(url, model=model)


@cache
def _load_rewards(
    path: Path,
    sha256: str,
    context: int,
    threads: int,
    batch: int,
    sizes: Path,
    cache: RewardCache | None,
) -> LlamaRewards:
    from agent.adapters.machine import fingerprint
    from agent.adapters.rewards import LlamaRewards

    return LlamaRewards(
        path,
        identity=f"{path.name}:{sha256[:12]}",
        n_ctx=context,
        n_threads=threads,
        cache=cache,
        batch=batch,
        known=BatchSizes(sizes, fingerprint(sha256, threads)),
    )


@cache
def open_cache(home: Path, megabytes: int) -> RewardCache:
    """The rewards kept in a home, opened at their first use; one a process."""
    return RewardCache(home / CACHE_FOLDER / REWARDS, megabytes=megabytes)


@cache
def _load_encoder(folder: Path, sha256: str) -> SentenceEncoder:
    from agent.adapters.embeddings import SentenceEncoder

    # Known weights have one name wherever they lie, so vectors made with them are found again.
    name = next((spec.name for spec in BUILT_IN if spec.sha256 == sha256), folder.name)
    return SentenceEncoder(folder, sha256=sha256, name=name)


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
    from agent.adapters.unpacking import unpacked

    path, sha256 = _path_of(str(name), config, on_progress)
    copy = unpacked(path, config.models_dir / "unpacked", sha256)
    return (path, sha256) if copy == path else (copy, ModelRegistry(config.models_dir).sha256(copy))


class LocalLanguageModel:
    """The configured GGUF, or the configured server, at its first use."""

    def __init__(self, config: Config, on_progress: Progress | None = None) -> None:
        self._config = config
        self._on_progress = on_progress

    @cached_property
    def _model(self) -> LlamaModel | ServerModel:
        config = self._config
        if config.llm_is_server:
            return _connect(config.llm, config.server_model)
        path, sha256 = _path_of(config.llm, config, self._on_progress)
        return _load_llm(path, sha256, config.context, config.threads)

    @property
    def loaded(self) -> bool:
        return "_model" in self.__dict__

    def free(self) -> None:
        """Give the weights' memory back; the next use loads them again. Not while it is in use."""
        if self.loaded:
            self.__dict__.pop("_model").close()
            _load_llm.cache_clear()
            _connect.cache_clear()

    @property
    def identity(self) -> str:
        return self._model.identity

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
        return self._model.chat(
            turns,
            max_tokens=max_tokens,
            grammar=grammar,
            temperature=temperature,
            seed=seed,
            stop=stop,
            on_text=on_text,
        )


class LocalRewardModel:
    """The configured reward model with what it computed before, loaded at its first use.

    It reads the file beside a language model of the same file rather than through it: that one
    holds weights laid out anew for generation, which sum in another order. What it adds is a
    context; the file's own pages are there once.
    """

    def __init__(
        self, config: Config, on_progress: Progress | None = None, *, cached: bool = True
    ) -> None:
        self._config = config
        self._on_progress = on_progress
        self._cached = cached

    @cached_property
    def _model(self) -> LlamaRewards:
        config = self._config
        path, sha256 = reward_weights(config.reward_model, config, self._on_progress)
        return _load_rewards(
            path,
            sha256,
            config.context,
            config.threads,
            config.batch,
            config.models_dir / "batches.json",
            open_cache(config.home, config.reward_cache_mb) if self._cached else None,
        )

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def batches(self) -> tuple[int, ...]:
        """Numbers of tokens that are decoded at once, as found exact on this machine."""
        return self._model.engine.sizes

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
        return self._model.entropy(
            prompts,
            samples=samples,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            tempered=tempered,
        )

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
    def _model(self) -> SentenceEncoder:
        registry = ModelRegistry(self._config.models_dir)
        folder = registry.resolve_embedder(self._config.embedder)
        return _load_encoder(folder, registry.sha256(folder))

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

    def encode_names(self, names: Sequence[str]) -> Vectors:
        return self._model.encode_names(names)

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return self._model.encode_tokens(texts)


class LocalReader:
    """OCR with the weights inside its package, loaded at its first use."""

    @cached_property
    def _model(self) -> TextReader:
        from agent.adapters.ocr import RapidReader

        return RapidReader()

    @property
    def loaded(self) -> bool:
        return "_model" in self.__dict__

    def free(self) -> None:
        """Give the weights' memory back; the next use loads them again. Not while it is in use."""
        self.__dict__.pop("_model", None)

    def read(self, image: Path) -> list[TextLine]:
        return self._model.read(image)
