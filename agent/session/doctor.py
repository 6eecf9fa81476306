"""Checks behind ``status`` and ``doctor``."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agent.config import Config
from agent.memory.home import open_graph
from agent.memory.uncertain.pending_questions import undecided
from agent.memory.vectors.waiting import ensure_vectors
from agent.models.catalog import BUILT_IN
from agent.models.lazy import (
    LocalEmbedder,
    LocalLanguageModel,
    LocalRewardModel,
    Progress,
    open_cache,
)
from agent.models.prompt_cache import FOLDER, PromptCache
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import MEGABYTE
from agent.ports import ChatTurn
from agent.server_address import is_loopback, parse_address
from policies.weight_file import read_arrays, read_json
from store.database.connection import is_encrypted
from store.erasure.run import softly_forgotten
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.spaces import MAIN, home_of, names
from store.types import SourceStatus


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; ``detail`` says what was found, and the remedy where it failed."""

    name: str
    ok: bool
    detail: str


def overview(graph: MemoryGraph, config: Config) -> dict[str, Any]:
    """What is stored and what waits, as if no resident process were running."""
    waiting = graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED)
    return {
        "running": False,
        "pid": None,
        "socket": None,
        "uptime_s": None,
        "queue": len(waiting),
        "models": {
            "llm": config.llm,
            "reward_llm": config.reward_model,
            "embedder": config.embedder,
        },
        "home": str(config.home),
        "encrypted": is_encrypted(config.home),
        "memories": graph.memories.counts(),
        "vectors_waiting": graph.vectors.count_bare(),
        "sources": graph.sources.counts(),
        "undecided": [
            {"memories": list(one.pair), "question": one.text}
            for one in undecided(graph, config.now())
        ],
        "failed": [
            {
                "source": source.id,
                "kind": source.kind.value,
                "path": source.locator,
                "status": source.status.value,
                "error": source.error or "stored and not read yet",
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
    reached = _NetworkWatch(parse_address(config.llm).host if config.llm_is_server else None)
    checks: list[Check] = []
    embedder = LocalEmbedder(config)
    llm = LocalLanguageModel(config, on_progress)
    rewards = LocalRewardModel(config, on_progress, cached=False)

    def run(name: str, look: Callable[[], str]) -> None:
        try:
            checks.append(Check(name, True, look()))
        except (MemlaneError, OSError) as error:
            checks.append(Check(name, False, str(error)))

    run("database", lambda: _database(config))
    run("permissions", lambda: _permissions(config))
    run("sources", lambda: _sources(config))
    run("encryption", lambda: _encryption(config))
    run("forgotten", lambda: _forgotten(config, search_forgotten))
    for name in names(config.root)[1:] if config.space == MAIN else ():
        one = replace(config, home=home_of(config.root, name), space=name)
        for what, look in (
            ("database", _database),
            ("permissions", _permissions),
            ("sources", _sources),
            ("encryption", _encryption),
        ):
            run(f"{what} of {name}", partial(look, one))
        run(f"forgotten in {name}", partial(_forgotten, one, search_forgotten))
    run("models", lambda: _models(config, read=try_models))
    run("weights", _weights)
    if try_models:
        run("encoder", lambda: f"{embedder.identity}, {len(embedder.encode(['hello'])[0])} numbers")
        run("vectors", lambda: _vectors(config, embedder))
        run("language model", lambda: _say_hello(llm))
        run("reward model", lambda: _score_hello(config, rewards))
        run("network", reached.report)
    run("learned", lambda: _learned(config))
    run("reward cache", lambda: _reward_cache(config))
    run("prompt cache", lambda: _prompt_cache(config))
    checks.append(Check("settings", True, _settings(config)))
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
    private = (
        "memlane.db*",
        "*.key",
        "encryption.json",
        "spaces",
        "spaces/*",
        "memlane.sock",
        "resident.lock",
        "token",
        "logs",
        "logs/*",
    )
    found = (path for pattern in private for path in config.home.glob(pattern))
    for path in (config.home, *found):
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            raise _Failed(f"{path} is accessible to others ({mode:o}). Fix it: chmod go= '{path}'")
    return f"{config.home} is accessible only to you"


def _sources(config: Config) -> str:
    with MemoryGraph.open(config.home) as graph:
        waiting = graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED)
        if waiting:
            raise _Failed(
                f"{len(waiting)} not extracted, the first is {waiting[0].id} "
                f"({waiting[0].error or 'interrupted'}). Try again: memlane ingest --retry"
            )
        return "all sources are extracted"


def _forgotten(config: Config, search: bool) -> str:
    with open_graph(config) as graph:
        waiting = softly_forgotten(graph.journal)
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
            f"{proof.forgotten} times something was forgotten for good{without}; no trace of it in "
            f"any byte of {looked}{soft}"
        )


def _encryption(config: Config) -> str:
    """In an encrypted home every byte is held against every word."""
    if not is_encrypted(config.home):
        return "off: whoever has the disk can read the home (to encrypt it: memlane lock)"
    with MemoryGraph.open(config.home) as graph:
        looked = graph.words_left()
    if looked.found:
        raise _Failed(
            f"words of your memories are in {', '.join(looked.found)}, readable without the key. "
            "Delete such files, or move them elsewhere."
        )
    return (
        "on: no words of a memory, a source or a message in any byte of "
        f"{looked.files} files, {looked.size / 1e6:.1f} MB"
    )


def _models(config: Config, *, read: bool) -> str:
    """With ``read`` every byte of the built-in ones is held against its SHA-256."""
    registry = ModelRegistry(config.models_dir)
    llm = () if config.llm_is_server else (config.llm,)
    names = tuple(dict.fromkeys((*llm, config.reward_model, config.embedder)))
    for model in names:
        registry.check_usable(model)
        if read and any(spec.name == model for spec in BUILT_IN):
            registry.verify(model, force=True)
    return f"{', '.join(names)}: installed and intact"


def _weights() -> str:
    """The small weights that memlane comes with."""
    root = Path(__file__).parents[2]
    paths = sorted(
        path for room in ("agent", "policies") for path in root.glob(f"{room}/**/data/*")
    )
    for path in paths:
        if path.suffix == ".npz":
            read_arrays(path)
        elif path.suffix == ".json":
            read_json(path)
    return f"the {len(paths)} files that memlane comes with are whole"


def _vectors(config: Config, embedder: LocalEmbedder) -> str:
    with MemoryGraph.open(config.home) as graph:
        made = ensure_vectors(graph, embedder)
        problems = graph.verify(embedder.identity)
        if problems:
            raise _Failed(problems[0])
        return f"every memory has one ({made} made now)"


def _say_hello(llm: LocalLanguageModel) -> str:
    said = llm.chat([ChatTurn("user", "Say hello.")], max_tokens=8)
    return f"{llm.identity} says {said!r}{_runs_with(llm)}"


def _score_hello(config: Config, rewards: LocalRewardModel) -> str:
    (entropy,) = rewards.entropy(["User: Say hello.\nAssistant:"], max_tokens=8)
    sizes = ", ".join(map(str, rewards.batches))
    chosen = "lowered by you" if config.origins["batch"] != "default" else "chosen on this machine"
    return (
        f"{rewards.identity}, entropy {entropy.mean:.2f} nats a token; "
        f"decodes {sizes} tokens at once ({chosen}){_runs_with(rewards)}"
    )


def _runs_with(model: LocalLanguageModel | LocalRewardModel) -> str:
    """The settings of a local model, and why they are not the fastest where they are not."""
    finding = model.finding
    return f"; runs with {finding}" if finding else ""


def _learned(config: Config) -> str:
    from agent.answering.selection.policy_weights import (
        due,  # the policies, which most checks do without
    )

    with MemoryGraph.open(config.home) as graph:
        pairs = len(graph.learned.pairs(config.now()))
        own = ", ".join(w.policy for w in graph.learned.history() if w.active) or "no policy"
        waits = "".join(
            f"; training of {policy} is due: {why} (memlane train --policy {policy})"
            for policy, why in due(graph).items()
        )
        return f"{pairs} questions to practise on; own weights of: {own}{waits}"


def _reward_cache(config: Config) -> str:
    cache = open_cache(config.home, config.reward_cache_mb)
    hits, misses = cache.totals()
    found = f"; {hits} of {hits + misses} were found there" if hits + misses else ""
    return (
        f"{cache.count()} rewards, {cache.size() / MEGABYTE:.1f} of at most "
        f"{config.reward_cache_mb} MB{found}"
    )


def _prompt_cache(config: Config) -> str:
    cache = PromptCache(config.models_dir / FOLDER)
    return (
        f"{cache.count()} fixed parts of prompts, {cache.size() / MEGABYTE:.1f} of at most "
        f"{cache.limit // MEGABYTE} MB; nothing that you told is in it"
    )


def _settings(config: Config) -> str:
    """What was chosen and by whom."""
    from_machine = {"threads": "from this machine"}
    told = []
    for key, words in (
        ("threads", f"threads: {config.threads}"),
        ("context", f"context: {config.context} tokens"),
        ("batch", f"batch: at most {config.batch} tokens"),
        ("reward_llm", f"reward model: {config.reward_model}"),
        ("reward_cache_mb", f"reward cache: at most {config.reward_cache_mb} MB"),
        ("k", f"k: {config.k}"),
    ):
        origin = config.origins[key]
        by = from_machine.get(key, "default") if origin == "default" else f"yours: {origin}"
        told.append(f"{words} ({by})")
    return ", ".join(told)


class _NetworkWatch:
    """Notes every attempt of this process to reach beyond this machine.

    ``named`` is the one host that the person's own configuration may send it to. An audit hook
    sees all sockets of Python code; it cannot be removed, and ends with the process.
    """

    def __init__(self, named: str | None) -> None:
        self.reached: list[str] = []
        self._named = None if named is None or is_loopback(named) else named
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        host = None
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        elif event == "socket.getaddrinfo":
            host = arguments[0]
        if isinstance(host, bytes):
            host = host.decode("utf-8", "replace")
        if isinstance(host, str) and not is_loopback(host):
            self.reached.append(host)

    def report(self) -> str:
        """:raises MemlaneError: if anything reached out to where it should not."""
        reached = sorted(set(self.reached) - self._meant())
        if reached:
            raise _Failed(f"something connected to {', '.join(reached)}.")
        if self._named:
            return (
                f"config.toml names {self._named} as the language model: what you tell memlane is "
                "sent there. Nothing else opened a connection out of this machine"
            )
        return (
            "loading and using the models opened no connection out of this machine; the processes "
            "of the models may open none"
        )

    def _meant(self) -> set[str]:
        """The host that was named, and its addresses if it was looked up."""
        meant = {self._named} if self._named else set()
        if self._named and self._named in self.reached:
            with suppress(OSError):
                meant |= {str(found[4][0]) for found in socket.getaddrinfo(self._named, None)}
        return meant
