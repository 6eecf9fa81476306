"""Models on demand: what a session uses, loaded at the first call that needs it.

So a command that needs no model starts at once, and one whose model is missing fails with the
line that says how to install it, after the raw text is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path

from agent.config import Config
from agent.models import BUILT_IN, ModelRegistry
from agent.ports import ChatTurn, Embedder, LanguageModel, TextLine, TextReader, Vectors

Progress = Callable[[str, int, int], None]
"""Called with (what, done bytes, total bytes) while weights are put together."""


@cache
def _load_llm(path: Path, sha256: str, context: int, threads: int) -> LanguageModel:
    """One copy of the weights a process, however many sessions it opens."""
    from agent.adapters.llama import LlamaModel

    return LlamaModel(path, sha256=sha256, n_ctx=context, n_threads=threads)


@cache
def _load_encoder(folder: Path, sha256: str) -> Embedder:
    from agent.adapters.embeddings import SentenceEncoder

    # Known weights have one name wherever they lie, so vectors made with them are found again.
    name = next((spec.name for spec in BUILT_IN if spec.sha256 == sha256), folder.name)
    return SentenceEncoder(folder, sha256=sha256, name=name)


class LocalLanguageModel:
    """The configured GGUF, loaded at its first use."""

    def __init__(self, config: Config, on_progress: Progress | None = None) -> None:
        self._config = config
        self._on_progress = on_progress

    @cached_property
    def _model(self) -> LanguageModel:
        config = self._config
        registry = ModelRegistry(config.models_dir)

        def progress(done: int, total: int) -> None:
            if self._on_progress:
                self._on_progress(f"preparing {config.llm}", done, total)

        path = registry.resolve_llm(config.llm, progress)
        return _load_llm(path, registry.sha256(path), config.context, config.threads)

    @property
    def loaded(self) -> bool:
        return "_model" in self.__dict__

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


class LocalEmbedder:
    """The configured sentence encoder, loaded at its first use."""

    def __init__(self, config: Config) -> None:
        self._config = config

    @cached_property
    def _model(self) -> Embedder:
        registry = ModelRegistry(self._config.models_dir)
        folder = registry.resolve_embedder(self._config.embedder)
        return _load_encoder(folder, registry.sha256(folder))

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def dimension(self) -> int:
        return self._model.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._model.encode(texts)


class LocalReader:
    """OCR with the weights inside its package, loaded at its first use."""

    @cached_property
    def _model(self) -> TextReader:
        from agent.adapters.ocr import RapidReader

        return RapidReader()

    def read(self, image: Path) -> list[TextLine]:
        return self._model.read(image)
