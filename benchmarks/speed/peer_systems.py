"""Memory systems of others behind one interface; runs in the Python of each, with its standard
library alone: ``PYTHON peer_systems.py NAME FOLDER < work.json``.

The work is ``{"messages": [...], "questions": [...]}``. What is printed last is JSON: seconds to
start (until the first thing can be stored), to add all messages, to ask all questions, the texts
found for each question and for each message as its own question (five at most), peak memory of the
system's processes and bytes in ``FOLDER``. A system that cannot search by a question says so in
``cannot``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FIRST = 5
"""Results that are looked at."""


class Memlane:
    """memlane in this process, without a language model."""

    def __init__(self, folder: Path) -> None:
        from agent.config import load_config
        from agent.session.session import open_session

        self._session = open_session(load_config({"home": str(folder / "home")}))

    def add(self, number: int, text: str) -> None:
        self._session.remember(text)

    def ask(self, question: str) -> list[str]:
        found = self._session.ask(question, use_llm=False, private=True)
        return [choice.memory.text for choice in found.memories][:FIRST]


class Geny:
    """geny-memory-adaptor ('Synapse'): words and hashed vectors, no model."""

    def __init__(self, folder: Path) -> None:
        from geny_memory_adaptor import SynapseMemory  # type: ignore[import-not-found]

        self._memory = SynapseMemory.open(str(folder / "synapse.db"))
        self._texts: dict[str, str] = {}

    def add(self, number: int, text: str) -> None:
        self._texts[str(number)] = text
        self._memory.index(str(number), text)

    def ask(self, question: str) -> list[str]:
        return [self._texts[hit.id] for hit in self._memory.search(question, top_k=FIRST)]


class Engraphis:
    """engraphis as its README shows it."""

    def __init__(self, folder: Path) -> None:
        from engraphis.service import MemoryService  # type: ignore[import-not-found]

        self._memory = MemoryService.create(str(folder / "engraphis.db"))

    def add(self, number: int, text: str) -> None:
        self._memory.remember_local_cli(text, workspace="own")

    def ask(self, question: str) -> list[str]:
        found = self._memory.recall(question, workspace="own", k=FIRST)
        hits = found.get("memories") or found.get("results") or found.get("hits") or []
        return [str(hit.get("content") or hit.get("text")) for hit in hits][:FIRST]


class Mem0:
    """mem0 without a language model (``infer=False``): messages as they are, found by vectors.

    The encoder is the one that memlane ships (its folder is in ``PEER_ENCODER``), the vector store
    a folder of Qdrant's. By default mem0 has a language model extract facts; that is not measured.
    """

    def __init__(self, folder: Path) -> None:
        # Before the import: it looks for these then.
        own = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "HF_HUB_OFFLINE": "1"}
        os.environ.update(own)
        from mem0 import Memory  # type: ignore[import-not-found]

        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        nowhere = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
        encoder = {"model": os.environ["PEER_ENCODER"], "embedding_dims": 384}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": nowhere},
                "embedder": {"provider": "huggingface", "config": encoder},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, number: int, text: str) -> None:
        self._memory.add(text, user_id="own", infer=False)

    def ask(self, question: str) -> list[str]:
        found = self._memory.search(question, top_k=FIRST, filters={"user_id": "own"})
        return [str(hit["memory"]) for hit in found["results"]]


class Mcp:
    """A server that speaks MCP over its standard streams."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **env},
        )
        self._number = 0
        client = {"name": "memlane-benchmark", "version": "1"}
        self._request(
            "initialize",
            {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        done = self._request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in done.get("content", ()))
        if done.get("isError"):
            raise RuntimeError(f"{tool}: {text[:300]}")
        return text

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._server.stdout is not None
        for line in self._server.stdout:
            said = json.loads(line)
            if said.get("id") == self._number:
                if "error" in said:
                    raise RuntimeError(str(said["error"])[:300])
                result: dict[str, Any] = said["result"]
                return result
        raise RuntimeError("the server ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message) + "\n")
        self._server.stdin.flush()

    @property
    def pid(self) -> int:
        return self._server.pid

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()


class McpMemory(Mcp):
    """The official memory server of MCP: entities with observations in one JSONL file."""

    cannot = "its search finds the whole question as a part of a text, so a question finds nothing"

    def __init__(self, folder: Path) -> None:
        path = str(folder / "memory.jsonl")
        super().__init__(["node", os.environ["PEER_SCRIPT"]], {"MEMORY_FILE_PATH": path})
        own = {"name": "me", "entityType": "person", "observations": []}
        self.call("create_entities", {"entities": [own]})

    def add(self, number: int, text: str) -> None:
        one = {"entityName": "me", "contents": [text]}
        self.call("add_observations", {"observations": [one]})

    def ask(self, question: str) -> list[str]:
        found = json.loads(self.call("search_nodes", {"query": question}))
        texts = [text for entity in found["entities"] for text in entity["observations"]]
        # It gives the whole entity; those that say what was asked for come first.
        return sorted(texts, key=lambda text: question not in text)[:FIRST]


class BasicMemory(Mcp):
    """basic-memory: a Markdown note each, found by words (its vectors need a download)."""

    def __init__(self, folder: Path) -> None:
        own = str(folder)
        settings = {
            "HOME": own,
            "BASIC_MEMORY_HOME": f"{own}/basic-memory",
            "BASIC_MEMORY_CONFIG_DIR": f"{own}/config",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_NO_PROMOS": "1",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
        }
        script = str(Path(sys.executable).with_name("basic-memory"))
        super().__init__([script, "mcp"], settings)

    def add(self, number: int, text: str) -> None:
        note = {"title": f"note {number}", "content": text, "directory": "notes"}
        self.call("write_note", note)

    def ask(self, question: str) -> list[str]:
        words = " OR ".join(
            word for raw in question.split() if (word := raw.strip(".,?!'\"()")).isalnum()
        )
        asked = {"query": words, "page_size": FIRST, "output_format": "json"}
        found = json.loads(self.call("search_notes", asked))
        hits = found.get("results", found) if isinstance(found, dict) else found
        return [str(hit.get("content") or hit.get("matched_chunk") or "") for hit in hits][:FIRST]


SYSTEMS: dict[str, Any] = {
    "memlane": Memlane,
    "geny": Geny,
    "engraphis": Engraphis,
    "mem0": Mem0,
    "mcp_memory": McpMemory,
    "basic_memory": BasicMemory,
}


def peak_mb(pid: int) -> float:
    """The peak memory of a process and of those that it started, added up."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    own = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    return own + sum(peak_mb(int(child)) for child in children)


def worked(name: str, folder: Path, work: dict[str, list[str]]) -> dict[str, Any]:
    """The work done by one system."""
    begun = time.perf_counter()
    system = SYSTEMS[name](folder)
    marks = [time.perf_counter()]
    for number, message in enumerate(work["messages"]):
        system.add(number, message)
    marks.append(time.perf_counter())
    found = [system.ask(question) for question in work["questions"]]
    marks.append(time.perf_counter())
    kept = [system.ask(message) for message in work["messages"]]
    result = {
        "start_s": marks[0] - begun,
        "add_s": marks[1] - marks[0],
        "ask_s": marks[2] - marks[1],
        "found": found,
        "kept": kept,
        "peak_mb": peak_mb(getattr(system, "pid", os.getpid())),
        "cannot": getattr(system, "cannot", None),
    }
    if isinstance(system, Mcp):
        system.close()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {**result, "bytes": sum(path.stat().st_size for path in files)}


if __name__ == "__main__":
    print(json.dumps(worked(sys.argv[1], Path(sys.argv[2]), json.load(sys.stdin))))
