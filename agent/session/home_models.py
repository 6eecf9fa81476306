"""The models that work on a home, loaded when first needed."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict, Unpack

from agent.answering.notes.prompt import read_beginnings
from agent.answering.routing import Router
from agent.config import BUILT_IN_ENCODER, Config
from agent.extraction.subclass_classifier import Placer
from agent.language.identify import is_foreign
from agent.models.lazy import (
    LocalEmbedder,
    LocalLanguageModel,
    LocalReader,
    LocalRewardModel,
    Progress,
)
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.models.readers.local_statement_reader import statement_reader
from agent.ports import (
    Embedder,
    LanguageModel,
    RewardModel,
    SecretReader,
    StatementReader,
    TextReader,
)
from store.graph import MemoryGraph

if TYPE_CHECKING:
    from agent.applications.forms.candidates.field_notes import FieldReader


class Models(TypedDict, total=False):
    """Models in place of the configured ones."""

    llm: LanguageModel | None
    embedder: Embedder | None
    reader: TextReader | None
    rewards: RewardModel | None
    statements: StatementReader | None
    secrets: SecretReader | None
    on_progress: Progress | None


class HomeModels:
    """One home's settings, its graph and the models that work on it."""

    def __init__(self, config: Config, graph: MemoryGraph, **models: Unpack[Models]) -> None:
        self.config = config
        self.graph = graph
        shown = models.get("on_progress")
        self.llm: LanguageModel = models.get("llm") or LocalLanguageModel(config, shown)
        self.embedder: Embedder = models.get("embedder") or LocalEmbedder(config)
        self.reader: TextReader = models.get("reader") or LocalReader(config)
        self.rewards: RewardModel = models.get("rewards") or LocalRewardModel(config, shown)
        self._statements = models.get("statements")
        self.secrets: SecretReader = models.get("secrets") or LocalSecretReader(config)

    @cached_property
    def router(self) -> Router:
        return Router(self.trained)

    @cached_property
    def trained(self) -> Embedder:
        """The encoder of the shipped weights: beside another one that searches, the built-in."""
        if self.config.embedder == BUILT_IN_ENCODER:
            return self.embedder
        built_in = LocalEmbedder(replace(self.config, embedder=BUILT_IN_ENCODER))
        return self.embedder if self.embedder.identity == built_in.identity else built_in

    @cached_property
    def placer(self) -> Placer:
        return Placer(self.graph.subclasses(), self.embedder)

    @cached_property
    def statements(self) -> StatementReader | None:
        if self._statements:
            return self._statements
        own = replace(self.config, embedder=BUILT_IN_ENCODER)
        same = self.trained is self.embedder
        return statement_reader(self.config if same else own, self.trained.identity)

    @property
    def loaded(self) -> bool:
        """Whether the sentence encoder is in memory: nearly all work needs it first."""
        return isinstance(self.embedder, LocalEmbedder) and self.embedder.loaded

    def warm_up(self) -> None:
        """Load what nearly every message needs, but for the language model."""
        question = "What do I have to do tomorrow at ten?"
        self.router.detect(question)
        if self.statements:
            self.statements.kinds([question])
        self.secrets.secrets(question)
        is_foreign(question)
        _ = self.placer  # it encodes the examples of all subclasses

    def get_ready(self) -> None:
        """Load the language model for a question that is about to come; a server has its own."""
        if not self.config.llm_is_server:
            read_beginnings(self.llm, self.config.now())

    @cached_property
    def field_reader(self) -> FieldReader | None:
        """What reads memories for the fields of forms; None where no weights fit the models."""
        from agent.applications.forms.candidates.field_notes import field_reader

        return field_reader(self.llm, self.statements)
