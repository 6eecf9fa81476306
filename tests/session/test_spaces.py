"""Spaces: nothing of one is in anything that another gives, unless the person allows it."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import Client

from agent.config import Config
from agent.ports import Embedder
from agent.server.hooks.ended import EndedSessions
from agent.server.hooks.recall import answer
from agent.server.mcp.memory import AgentMemory
from agent.server.mcp.server import Desk, build_server
from agent.server.resident.client import connect
from agent.server.resident.paths import Place, holder
from agent.session.recall import recall
from agent.session.session import Session, open_session
from cli.arguments import settings
from cli.forwarding import hooked as hooked_entry
from cli.forwarding.hooked import hooked
from cli.forwarding.sockets import home_of as socket_home
from store.errors import InvalidInput
from store.spaces import FOLDER, MAIN, Space, as_seen, home_of, names, rules_file, seen_by
from store.types import Trust
from tests.conftest import ScriptedModel
from tests.support.agent_sessions import MESSAGES
from tests.support.residents import started
from tests.support.spaces import (
    ASKED,
    OWN,
    SECRET,
    TOLD,
    Memlane,
    asked_in,
    config_in,
    ids_in,
    told_in,
)

# ---- nothing crosses unasked ------------------------------------------------------------------

COMMANDS = (
    ("ask", "--no-llm", ASKED),
    ("ask", "--no-llm", "--json", "Tell me about the archive."),
    ("why",),
    ("list", "--all", "--json"),
    ("search", SECRET),
    ("search", "--all", "archive"),
    ("fill", "--no-llm", "--field", "Access code for the archive"),
    ("today", "--json"),
    ("remind",),
    ("travel", SECRET),
    ("status", "--json"),
    ("memories", "show", "m1", "--json"),
    ("memories", "show", "m2", "--json"),
    ("memories", "history", "m1"),
    ("memories", "tree"),
    ("memories", "graph", SECRET),
    ("entities", "list"),
    ("entities", "show", SECRET),
    ("types", "list"),
    ("persona", "show"),
    ("export", "-"),
    ("export", "--format", "markdown", "-"),
    ("export", "--format", "graphml", "-"),
    ("watch", "--list", "--json"),
    ("mcp", "--codes"),
    ("hook", "review"),
    ("consent", "list"),
    ("undo", "e2"),
    ("memories", "forget", "m2", "--yes"),
    ("spaces",),
    ("config",),
)


@pytest.mark.parametrize(("holder", "space"), [(MAIN, "work"), ("work", "club"), ("club", MAIN)])
def test_a_secret_of_one_space_is_in_nothing_that_another_gives(
    three: Memlane, holder: str, space: str
):
    told_in(three, holder)
    for words in COMMANDS:
        done = three("--space", space, *words)
        given = done.out + done.err
        typed = any(SECRET in word for word in words)
        assert typed or SECRET not in given, (words, given)
        assert "is kept by" not in given, (words, given)
    assert SECRET in asked_in(three, holder)


@pytest.mark.parametrize("holder", OWN)
def test_no_file_of_another_space_has_a_word_of_it(three: Memlane, own_home: Path, holder: str):
    told_in(three, holder)
    for space in OWN.keys() - {holder}:
        asked_in(three, space)
        home = home_of(own_home, space)
        for path in home.rglob("*"):
            ours = space != MAIN or FOLDER not in path.relative_to(home).parts
            if path.is_file() and ours:
                assert SECRET.encode() not in path.read_bytes(), path


def test_chat_hook_and_programs_of_another_space_get_nothing(
    three: Memlane, embedder: Embedder, scripted: ScriptedModel
):
    told_in(three, "work")
    for space in (MAIN, "club"):
        with open_session(config_in(space), llm=scripted, embedder=embedder) as session:
            reply = session.respond(ASKED)
            assert SECRET not in reply.text and reply.abstained
            assert not any(SECRET in c.memory.text for c in recall(session, ASKED, 5).memories)
    assert SECRET in _found_by_program("work", embedder, scripted)
    assert SECRET not in _found_by_program("club", embedder, scripted)
    message = {**MESSAGES["claude-code"]["start"], "cwd": "/home/omar/app"}
    assert SECRET in answer("claude-code", json.dumps(message), None, "work")
    assert answer("claude-code", json.dumps(message), None, "club") == ""
    assert answer("claude-code", json.dumps(message)) == ""


def _found_by_program(space: str, embedder: Embedder, llm: ScriptedModel) -> str:
    """All that a program gets that works in a space, by every tool that reads."""
    config = config_in(space)

    def own(config: Config) -> Session:
        return open_session(config, llm=llm, embedder=embedder)

    async def main() -> str:
        desk = Desk(config, "tester", AgentMemory(config, own))
        try:
            async with Client(build_server(desk)) as client:
                found = [
                    await client.call_tool("memory_search", {"query": ASKED}),
                    await client.call_tool("memory_recent", {"limit": 20}),
                    await client.call_tool("memory_open", {"memory": "m2"}),
                    # A program cannot choose another space.
                    await client.call_tool("memory_search", {"query": ASKED, "space": "work"}),
                    await client.call_tool("memory_open", {"memory": "work:m2"}),
                ]
                return " ".join(one.model_dump_json() for one in found)
        finally:
            desk.close()

    return anyio.run(main)


# ---- what is allowed --------------------------------------------------------------------------


def test_a_question_uses_what_its_space_may_see_and_says_where_it_is_from(three: Memlane):
    told_in(three, MAIN)
    assert three("spaces", "allow", "work", "--see", "main").code == 0
    found = three("--space", "work", "ask", "--no-llm", "--json", ASKED).json["memories"]
    assert found[0] | {"id": "main:m2", "text": TOLD} == found[0]
    assert SECRET not in asked_in(three, "club"), "one permission is not another"
    filled = three("--space", "work", "fill", "--no-llm", "--json", "--field", "Name of your cat")
    assert "main:m1" in filled.out
    why = three("--space", "work", "why").out
    assert "main:m2" in why and SECRET not in why
    error = three("--space", "work", "memories", "show", "main:m2")
    assert error.code != 0 and "--space main" in error.err and SECRET not in error.err


def test_seeing_is_one_way_and_not_handed_on(three: Memlane):
    told_in(three, "club")
    three("spaces", "allow", "work", "--see", "club")
    three("spaces", "allow", "main", "--see", "work")
    assert SECRET in asked_in(three, "work")
    assert SECRET not in asked_in(three, "main")
    assert SECRET not in asked_in(three, "club") or ids_in(three, "club")
    assert "Rosa" not in three("--space", "club", "ask", "--no-llm", "Who is my manager?").out


def test_lists_and_exports_stay_with_the_space(three: Memlane):
    told_in(three, MAIN)
    three("spaces", "allow", "work", "--see", "main")
    for words in (("list", "--all"), ("search", SECRET), ("export", "-"), ("today",), ("why",)):
        assert "is kept by" not in three("--space", "work", *words).out, words


def test_what_is_denied_is_gone_at_once_and_nothing_stays_behind(
    three: Memlane, own_home: Path, embedder: Embedder, scripted: ScriptedModel
):
    told_in(three, MAIN)
    three("spaces", "allow", "work", "--see", "main")
    with open_session(config_in("work"), llm=scripted, embedder=embedder) as session:
        assert any(c.memory.text == TOLD for c in session.ask(ASKED, use_llm=False).memories)
        three("spaces", "deny", "work", "--see", "main")
        assert not any(c.memory.text == TOLD for c in session.ask(ASKED, use_llm=False).memories), (
            "an open session reads the permission anew"
        )
    for path in home_of(own_home, "work").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_an_answer_from_another_space_is_not_stored_in_words(
    three: Memlane, embedder: Embedder, scripted: ScriptedModel
):
    told_in(three, MAIN)
    three("spaces", "allow", "work", "--see", "main")
    scripted.replies = [f"{SECRET} keeps it.", f"{SECRET} keeps it."]
    with open_session(config_in("work"), llm=scripted, embedder=embedder) as session:
        reply = session.ask(ASKED)
        assert SECRET in reply.text
        (turn,) = session.graph.turns.last(1)
    assert turn.reply == "" and SECRET not in json.dumps(turn.trace)
    assert turn.trace["memories"] == ["main:m2"]


def test_a_space_is_trusted_no_further_than_the_person_says(three: Memlane):
    told_in(three, "club")
    three("spaces", "allow", "main", "--see", "club")
    three("spaces", "trust", "club", "read")
    (found, *_) = three("ask", "--no-llm", "--json", ASKED).json["memories"]
    assert (found["id"], found["trust"]) == ("club:m2", "read")
    assert three("memories", "list", "--json").code == 0
    three("--space", "club", "memories", "copy", "m2", "--to", "main")
    (copied,) = [k for k, text in ids_in(three, MAIN).items() if text == TOLD]
    assert three("memories", "show", copied, "--json").json["trust"] == "read"


def test_a_damaged_file_of_permissions_allows_nothing(three: Memlane, own_home: Path):
    three("spaces", "allow", "work", "--see", "main")
    rules_file(own_home).write_text("{", encoding="utf-8")
    done = three("--space", "work", "ask", "--no-llm", "What is my cat called?")
    assert done.code != 0 and "spaces allow" in done.err and "Mia" not in done.out
    with pytest.raises(InvalidInput):
        seen_by(own_home, "work")


def test_programs_have_the_permissions_of_the_space(three: Memlane, own_home: Path):
    three("config", "set", "agents", "tester: search edit")
    assert config_in(MAIN).agents == ("tester: search edit",)
    assert config_in("work").agents == (), "what is allowed in main is not allowed in work"
    assert three("--space", "work", "config", "set", "agents", "tester: none").code == 0
    assert config_in("work").agents == ("tester: none",)
    assert config_in("club").agents == ()
    refused = three("--space", "work", "config", "set", "k", "3")
    assert refused.code == 2 and "all spaces" in refused.err
    assert three("--space", "work", "config", "unset", "agents").code == 0
    assert config_in("work").agents == ()


# ---- a home without spaces --------------------------------------------------------------------


def test_who_has_no_spaces_sees_nothing_of_them(memlane: Memlane, own_home: Path):
    memlane("remember", OWN[MAIN])
    said = ""
    for words in (("list",), ("ask", "--no-llm", "What is my cat called?"), ("status",),
                  ("memories", "forget", "m1", "--yes"), ("doctor", "--quick")):  # fmt: skip
        done = memlane(*words)
        said += done.out + done.err
    assert "space" not in said.replace(str(own_home), "")
    assert not (own_home / FOLDER).exists()


@pytest.mark.parametrize("name", ["..", "../main", "/tmp", "Work", "a b", "", "-x", "x" * 33, "é"])
def test_no_name_leads_out_of_the_home(name: str, three: Memlane, own_home: Path):
    assert three("spaces", "add", "--", name).code == 2
    if name:
        done = three(f"--space={name}", "list")
        assert done.code == 2 and "Mia" not in done.out
    assert names(own_home) == (MAIN, "club", "work")


def test_a_space_that_is_not_there_is_named_and_not_made(three: Memlane, own_home: Path):
    done = three("--space", "wrok", "remember", "x is y.")
    assert done.code == 2 and "memlane spaces add wrok" in done.err
    assert names(own_home) == (MAIN, "club", "work")


@pytest.mark.parametrize("words", [
    ("web",), ("lock",), ("unlock",), ("rescue", "/tmp/x"), ("browser", "list"),
    ("up", "--install"), ("persona", "join"),
])  # fmt: skip
def test_what_does_not_work_in_spaces_says_so(three: Memlane, words: tuple[str, ...]):
    done = three("--space", "work", *words)
    assert done.code == 2 and "spaces yet" in done.err


# ---- pure -------------------------------------------------------------------------------------


def test_ids_name_the_space_and_trust_is_capped(own_home: Path, session: Session, three: Memlane):
    (memory,) = session.graph.memories.list()
    seen = as_seen(memory, Space("main", own_home, trust=Trust.NOTED))
    assert (seen.id, seen.source, seen.trust) == ("main:m1", "main:s1", Trust.NOTED)
    seen = as_seen(replace(memory, trust=Trust.SEEN), Space("main", own_home, trust=Trust.NOTED))
    assert seen.trust is Trust.SEEN


# ---- hooks and the resident process -----------------------------------------------------------


def test_a_hook_works_in_the_space_that_it_was_installed_for(
    three: Memlane,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    told_in(three, "work")
    told = three("--space", "work", "hook", "install", "claude-code", "--dry-run", "--json").json
    assert "--space work hook run claude-code" in told["diff"]
    monkeypatch.setattr(hooked_entry, "_start", lambda options: None)
    message = {**MESSAGES["claude-code"]["start"], "cwd": "/home/omar/app"}
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("{}\n", encoding="utf-8")
    ended = {**MESSAGES["claude-code"]["end"], "transcript_path": str(transcript)}
    for space, knows in (("work", True), ("club", False)):
        for said in (message, ended):
            stream = io.TextIOWrapper(io.BytesIO(json.dumps(said).encode()), encoding="utf-8")
            monkeypatch.setattr(sys, "stdin", stream)
            words = ["--home", str(own_home), "--space", space, "hook", "run", "claude-code"]
            assert hooked(words) == 0
        assert (SECRET in capfd.readouterr().out) is knows
    for space, waiting in (("work", 1), ("club", 1), (MAIN, 0)):
        assert len(EndedSessions(home_of(own_home, space)).all()) == waiting, "offers stay apart"


def test_a_line_is_handed_to_the_process_of_its_space(three: Memlane, own_home: Path):
    assert socket_home(["--space", "work", "ask"]) == str(own_home / FOLDER / "work")
    assert socket_home(["ask", "--space=main"]) == str(own_home)
    for other in ("..", "../club", "nowhere", "Work", "/tmp"):
        assert socket_home(["--space", other, "ask"]) is None
    assert "--space" not in settings({"MEMLANE_SPACE": "work"})


def test_the_resident_process_of_a_space_answers_for_it_alone(three: Memlane, own_home: Path):
    told_in(three, "club")
    three("spaces", "allow", "work", "--see", "club")
    home = home_of(own_home, "work")
    with started(own_home, space="work") as child:
        client = connect(config_in("work"), pytest.fail)
        assert client is not None
        found = client.ask("Who keeps the access code?", policy="bm25", use_llm=False)
        assert "club:m2" in [c.memory.id for c in found.memories]
        three("spaces", "deny", "work", "--see", "club")
        found = client.ask("Who keeps the access code?", policy="bm25", use_llm=False)
        assert not any(SECRET in c.memory.text for c in found.memories)
        assert connect(config_in(MAIN), pytest.fail) is None
        assert holder(Place(home).lock) == child.pid
