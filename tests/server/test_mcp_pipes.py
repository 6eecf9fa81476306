"""memlane mcp as a process: whole conversations, rubbish and broken pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation

from agent.config_edit import set_in_file
from store.graph import MemoryGraph
from store.types import Status
from tests.conftest import Result
from tests.support.mcp_client import CAT, Person
from tests.support.residents import started

ROOT = Path(__file__).parents[2]


def program(home: Path) -> StdioServerParameters:
    """The server as a client starts it, with the environment that it would have."""
    kept = ("MEMLANE_CONFIG", "MEMLANE_MODELS_DIR")
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.support.mcp_work", str(home)],
        cwd=ROOT,
        env={name: os.environ[name] for name in kept},
    )


def test_a_whole_conversation_over_pipes(own_home: Path, tmp_path: Path):
    set_in_file("agents", "tester: search remember forget")
    log = tmp_path / "stderr.txt"

    async def main() -> None:
        with log.open("w") as stderr:
            async with Client(
                stdio_client(program(own_home), errlog=stderr),
                client_info=Implementation(name="tester", version="1"),
                elicitation_callback=Person("accept", agreed=True),
                read_timeout_seconds=120,
            ) as client:
                assert {t.name for t in (await client.list_tools()).tools} >= {"memory_search"}
                assert not (await client.call_tool("memory_remember", {"text": CAT})).is_error
                found = await client.call_tool("memory_search", {"query": "What is my cat called?"})
                assert found.structured_content["memories"][0]["text"] == CAT
                assert not (await client.call_tool("memory_forget", {"memory": "m1"})).is_error

    anyio.run(main)
    with MemoryGraph.open(own_home) as graph:
        assert graph.memories.get("m1").status is Status.FORGOTTEN
        assert graph.verify() == ()
    assert CAT not in log.read_text()


class Raw:
    """The server with our own hands on its pipes."""

    def __init__(self, home: Path) -> None:
        given = program(home)
        self.child = subprocess.Popen(
            [given.command, *given.args], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.child.stdin and self.child.stdout
        self.stdin, self.stdout = self.child.stdin, self.child.stdout

    def send(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        while True:
            line: dict[str, Any] = json.loads(self.stdout.readline())
            if line.get("id") == number:
                return line

    def greet(self) -> None:
        info = {"name": "raw", "version": "1"}
        greeted = self.ask(1, "initialize", protocolVersion="2025-06-18", capabilities={},
                           clientInfo=info)  # fmt: skip
        assert greeted["result"]["serverInfo"]["name"] == "memlane"
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def end(self) -> tuple[bytes, bytes, int]:
        """What else it said on both pipes, and its exit code."""
        if not self.stdin.closed:
            self.stdin.close()
        out, err = self.stdout.read(), self.child.stderr.read() if self.child.stderr else b""
        code = self.child.wait(60)
        for stream in (self.stdout, self.child.stderr):
            if stream:
                stream.close()
        return out, err, code


RUBBISH = (
    b"not json at all",
    b"\xff\xfe\x00\x80",
    b"{",
    b"[]",
    b"null",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 5, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 6, "method": "no/such"}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 5}}',
    b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": "x"}',
    b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b"x" * 300_000,
)


def test_rubbish_is_answered_or_left_aside_and_the_next_request_is_served(cat, own_home: Path):
    server = Raw(own_home)
    server.greet()
    for line in RUBBISH:
        server.send(line)
    listed = server.ask(99, "tools/list")
    assert len(listed["result"]["tools"]) == 5
    found = server.ask(100, "tools/call", name="memory_search", arguments={"query": "cat"})
    assert found["result"]["structuredContent"]["memories"][0]["text"] == CAT
    out, err, code = server.end()
    for line in out.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"  # nothing but the protocol on stdout
    assert code == 0
    assert b"this line must not reach the client" in err
    assert CAT.encode() not in err


@pytest.mark.parametrize("at_once", [True, False])
def test_a_client_that_closes_in_the_middle_ends_the_server_in_order(
    cat, own_home: Path, at_once: bool
):
    server = Raw(own_home)
    server.greet()
    for number in range(2, 6):
        call = {"name": "memory_search", "arguments": {"query": f"cat {number}"}}
        server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                                "params": call}).encode())  # fmt: skip
    if at_once:
        server.stdout.close()  # nobody reads the answers any more
        server.stdin.close()
        began = time.monotonic()
        err = server.child.stderr.read() if server.child.stderr else b""
        code = server.child.wait(60)
        assert time.monotonic() - began < 60
        if server.child.stderr:
            server.child.stderr.close()
    else:
        _, err, code = server.end()
    assert code == 0, err.decode()
    assert b"Traceback" not in err
    with MemoryGraph.open(own_home) as graph:
        assert [m.text for m in graph.memories.list()] == [CAT]
        assert graph.verify() == ()


def test_it_works_beside_the_resident_process(cat, own_home: Path):
    with started(own_home):
        server = Raw(own_home)
        server.greet()
        found = server.ask(2, "tools/call", name="memory_search", arguments={"query": "cat"})
        assert found["result"]["structuredContent"]["memories"][0]["text"] == CAT
        _, err, code = server.end()
    assert code == 0
    # The session of its own, which says so when it opens, was not needed.
    assert b"this line must not reach the client" not in err


def test_the_command_says_what_is_wrong_in_one_line(memlane):
    set_in_file("agents", "tester: fly")
    done: Result = memlane("mcp")
    assert done.code == 2 and done.out == ""
    assert "agents in the configuration" in done.err and done.err.count("\n") == 1
