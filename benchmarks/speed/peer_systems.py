"""Memory systems of others behind one interface; runs in the Python of each, with its standard
library alone: ``PYTHON peer_systems.py NAME FOLDER < work.json``.

The work is ``{"messages": [...], "questions": [...]}``. What is printed last is JSON: the system's
version, seconds to start (until the first thing can be stored), to add all messages, to ask all
questions, the texts found for each question and for each message as its own question (five at
most), peak memory of the system's processes, and bytes in ``FOLDER`` after the system was closed. A
system that cannot search by a question says so in ``cannot``.

``PEER_ENCODER`` is the folder of memlane's sentence encoder, for those that can use it;
``PEER_SCRIPT`` the script of a system that node runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

FIRST = 5
"""Results that are looked at."""


class Memlane:
    """memlane in this process, without a language model.

    Of each memory that is found the message is looked at that it was read from: an answer is
    written from that, and it is what the others find.
    """

    def __init__(self, folder: Path) -> None:
        from agent.config import load_config
        from agent.session.session import open_session

        self._session = open_session(load_config({"home": str(folder / "home")}))

    def add(self, number: int, text: str) -> None:
        self._session.remember(text)

    def ask(self, question: str) -> list[str]:
        found = self._session.ask(question, use_llm=False, private=True)
        sources = [choice.memory.source for choice in found.memories]
        told = [self._session.graph.sources.get(one).text for one in sources if one]
        return list(dict.fromkeys(told))[:FIRST]

    def close(self) -> None:
        self._session.close()


class Geny:
    """geny-memory-adaptor ('Synapse'): words and hashed vectors, no model."""

    def __init__(self, folder: Path) -> None:
        from geny_memory_adaptor import SynapseMemory  # type: ignore[import-not-found]

        self._memory = SynapseMemory.open(str(folder / "synapse.db"))

    def add(self, number: int, text: str) -> None:
        self._memory.index(str(number), text)

    def ask(self, question: str) -> list[str]:
        hits = self._memory.search(question, top_k=FIRST)
        return [self._memory.get_text(hit.id) or "" for hit in hits]

    def close(self) -> None:
        self._memory.close()


class Engraphis:
    """engraphis as its README shows it in Python: words and hashed vectors, no model."""

    def __init__(self, folder: Path, **options: str | bool) -> None:
        from engraphis.service import MemoryService  # type: ignore[import-not-found]

        self._memory = MemoryService.create(str(folder / "engraphis.db"), **options)

    def add(self, number: int, text: str) -> None:
        self._memory.remember(text, workspace="own")

    def ask(self, question: str) -> list[str]:
        found = self._memory.recall(question, workspace="own", k=FIRST)
        return [hit["content"] for hit in found["memories"]]

    def close(self) -> None:
        self._memory.close()


class EngraphisEncoder(Engraphis):
    """engraphis with all-MiniLM-L6-v2, which its dashboard and its MCP server use by default."""

    def __init__(self, folder: Path) -> None:
        encoder = f"local:{os.environ['PEER_ENCODER']}"
        # Without the second, hashed vectors would take its place unsaid where it cannot be loaded.
        super().__init__(folder, embed_model=encoder, require_exact_backends=True)


class Mem0:
    """mem0 without a language model: ``infer=False`` stores each message as it stands.

    By default a language model makes facts of a message first; here none is asked, and the one that
    has to be configured is at an address where nothing answers. Vectors are of memlane's encoder,
    in Qdrant's local files. As after a plain ``pip install mem0ai``, they alone are compared: to
    compare words as well it needs fastembed, which would have to download its list of them.
    """

    def __init__(self, folder: Path) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0")}
        from mem0 import Memory  # type: ignore[import-not-found]

        width = 384
        encoder = {"model": os.environ["PEER_ENCODER"], "embedding_dims": width}
        vectors = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": width}
        nobody = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
        settings = {
            "embedder": {"provider": "huggingface", "config": encoder},
            "vector_store": {"provider": "qdrant", "config": vectors},
            "llm": {"provider": "openai", "config": nobody},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = Memory.from_config(settings)

    def add(self, number: int, text: str) -> None:
        self._memory.add(text, user_id="me", infer=False)

    def ask(self, question: str) -> list[str]:
        found = self._memory.search(question, filters={"user_id": "me"}, top_k=FIRST)
        return [hit["memory"] for hit in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()
        self._memory.close()


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
        """End the server as the protocol says: by the end of what it reads."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
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
    """basic-memory: a Markdown note each, found by words (its vectors need a download).

    It looks for notes with all words of a question and, where there are none, for those with any.
    """

    def __init__(self, folder: Path) -> None:
        own = str(folder)
        settings = {
            "HOME": own,
            "BASIC_MEMORY_HOME": f"{own}/basic-memory",
            "BASIC_MEMORY_CONFIG_DIR": f"{own}/config",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_NO_PROMOS": "1",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
            "FASTMCP_CHECK_FOR_UPDATES": "off",
        }
        script = str(Path(sys.executable).with_name("basic-memory"))
        super().__init__([script, "mcp"], settings)

    def add(self, number: int, text: str) -> None:
        note = {"title": f"note {number}", "content": text, "directory": "notes"}
        self.call("write_note", note)

    def ask(self, question: str) -> list[str]:
        asked = {"query": question, "page_size": FIRST, "output_format": "json"}
        found = json.loads(self.call("search_notes", asked))
        return [hit["content"] for hit in found["results"]]


SYSTEMS: dict[str, Any] = {
    "memlane": Memlane,
    "geny": Geny,
    "engraphis": Engraphis,
    "engraphis_minilm": EngraphisEncoder,
    "mem0": Mem0,
    "mcp_memory": McpMemory,
    "basic_memory": BasicMemory,
}
PACKAGES = {
    "geny": "geny-memory-adaptor",
    "engraphis_minilm": "engraphis",
    "mem0": "mem0ai",
    "basic_memory": "basic-memory",
}
"""Python packages that are not named like the system."""


def version_of(name: str) -> str:
    if name != "mcp_memory":
        return version(PACKAGES.get(name, name))
    package = Path(os.environ["PEER_SCRIPT"]).resolve().parents[1] / "package.json"
    return str(json.loads(package.read_text("utf-8"))["version"])


def peak_mb(pid: int) -> float:
    """The peak memory of a process and of those that it started, added up."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    own = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    lists = Path(f"/proc/{pid}/task").glob("*/children")  # any thread may have started one
    children = [child for one in lists for child in one.read_text("utf-8").split()]
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
        "version": version_of(name),
        "start_s": marks[0] - begun,
        "add_s": marks[1] - marks[0],
        "ask_s": marks[2] - marks[1],
        "found": found,
        "kept": kept,
        "peak_mb": peak_mb(getattr(system, "pid", os.getpid())),
        "cannot": getattr(system, "cannot", None),
    }
    system.close()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {**result, "bytes": sum(path.stat().st_size for path in files)}


if __name__ == "__main__":
    print(json.dumps(worked(sys.argv[1], Path(sys.argv[2]), json.load(sys.stdin))))
