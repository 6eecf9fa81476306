"""What ``status`` and ``doctor`` look at."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.config import Config
from agent.forgetting import open_graph
from agent.loading import LocalEmbedder, LocalLanguageModel, Progress
from agent.models import ModelRegistry
from agent.ports import ChatTurn
from agent.retrieval import ensure_vectors
from store.errors import MemlaneError
from store.forgetting import softly_forgotten
from store.graph import MemoryGraph
from store.types import SourceStatus


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; ``detail`` says what was found, and the remedy where it failed."""

    name: str
    ok: bool
    detail: str


def overview(graph: MemoryGraph, config: Config) -> dict[str, Any]:
    """What is stored and what waits. There is no resident process in this version."""
    waiting = graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED)
    return {
        "running": False,
        "pid": None,
        "socket": None,
        "uptime_s": None,
        "queue": len(waiting),
        "models": {"llm": config.llm, "embedder": config.embedder},
        "home": str(config.home),
        "memories": graph.memories.counts(),
        "sources": graph.sources.counts(),
        "failed": [
            {
                "source": source.id,
                "kind": source.kind.value,
                "path": source.locator,
                "error": source.error or "interrupted before it was extracted",
            }
            for source in waiting
        ],
    }


def examine(
    config: Config,
    *,
    try_models: bool = True,
    search_forgotten: bool = False,
    on_progress: Progress | None = None,
) -> list[Check]:
    """Every check in turn; one that fails does not stop the others.

    ``search_forgotten`` reads every byte of the home, for traces of what was forgotten for good.
    """
    reached = _NetworkWatch()
    checks: list[Check] = []
    embedder = LocalEmbedder(config)
    llm = LocalLanguageModel(config, on_progress)

    def run(name: str, look: Callable[[], str]) -> None:
        try:
            checks.append(Check(name, True, look()))
        except (MemlaneError, OSError) as error:
            checks.append(Check(name, False, str(error)))

    run("database", lambda: _database(config))
    run("permissions", lambda: _permissions(config))
    run("sources", lambda: _sources(config))
    run("forgotten", lambda: _forgotten(config, search_forgotten))
    run("models", lambda: _models(config))
    if try_models:
        run("encoder", lambda: f"{embedder.identity}, {len(embedder.encode(['hello'])[0])} numbers")
        run("vectors", lambda: _vectors(config, embedder))
        run("language model", lambda: _say_hello(llm))
        run("network", reached.report)
    settings = f"{config.threads} threads, context of {config.context} tokens, k = {config.k}"
    checks.append(Check("settings", True, settings))
    return checks


class _Failed(MemlaneError):
    """A check found something wrong."""


def _database(config: Config) -> str:
    with MemoryGraph.open(config.home) as graph:
        problems = graph.verify()
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise _Failed(
                f"{problems[0]}{more}. Keep a copy of {graph.path}, then restore a backup."
            )
        counts = graph.memories.counts()
        return f"{sum(counts.values())} memories; rows, journal, full text and vectors agree"


def _permissions(config: Config) -> str:
    for path in (config.home, *config.home.glob("memlane.db*")):
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            raise _Failed(f"{path} is open to others ({mode:o}). Close it: chmod go= '{path}'")
    return f"{config.home} is yours alone"


def _sources(config: Config) -> str:
    with MemoryGraph.open(config.home) as graph:
        waiting = graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED)
        if waiting:
            raise _Failed(
                f"{len(waiting)} not extracted, the first is {waiting[0].id} "
                f"({waiting[0].error or 'interrupted'}). Try again: memlane ingest --retry"
            )
        return "everything that came in is extracted"


def _forgotten(config: Config, search: bool) -> str:
    with open_graph(config) as graph:
        waiting = softly_forgotten(graph)
        soft = f"; {len(waiting)} softly, undoable for 30 days" if waiting else ""
        if not search:
            count = graph.count_forgotten()
            how = " (search for traces: memlane doctor --forgotten)" if count else ""
            return f"{count} times something was forgotten for good{soft}{how}"
        proof = graph.prove_forgotten()
        looked = f"{proof.searched.files} files, {proof.searched.size / 1e6:.1f} MB"
        if proof.left:
            raise _Failed(
                f"traces of {', '.join(proof.left)} are in {', '.join(proof.searched.found)}. "
                "Delete such files, or for the database close other memlane processes and run "
                "this again."
            )
        if proof.unswept:
            raise _Failed(
                "old bytes could not be overwritten, because another process uses the database. "
                "Close it and run this again."
            )
        without = f" ({proof.unproven} without a proof to check by)" if proof.unproven else ""
        return (
            f"{proof.forgotten} times something was forgotten for good{without}; nothing of it in "
            f"any byte of {looked}{soft}"
        )


def _models(config: Config) -> str:
    registry = ModelRegistry(config.models_dir)
    for model in (config.llm, config.embedder):
        registry.check_usable(model)
    return f"{config.llm} and {config.embedder} are installed and whole"


def _vectors(config: Config, embedder: LocalEmbedder) -> str:
    with MemoryGraph.open(config.home) as graph:
        made = ensure_vectors(graph, embedder)
        problems = graph.verify(embedder.identity)
        if problems:
            raise _Failed(problems[0])
        return f"every memory has one ({made} made now)"


def _say_hello(llm: LocalLanguageModel) -> str:
    said = llm.chat([ChatTurn("user", "Say hello.")], max_tokens=8)
    return f"{llm.identity} says {said!r}"


class _NetworkWatch:
    """Notes every attempt of this process to reach beyond this machine.

    An audit hook sees all sockets of Python code; it cannot be removed, and ends with the process.
    """

    def __init__(self) -> None:
        self.reached: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            host = str(arguments[1][0])
            if not host.startswith("127.") and host not in ("::1", "localhost"):
                self.reached.append(host)
        elif event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost"):
            self.reached.append(str(arguments[0]))

    def report(self) -> str:
        """:raises MemlaneError: if anything reached out."""
        if self.reached:
            raise _Failed(f"something reached out to {', '.join(sorted(set(self.reached)))}.")
        return "loading and using the models opened no connection out of this machine"
