"""Transcripts of coding agents: only what the person typed is imported, and it can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.errors import UnreadableSource
from agent.io.transfer.formats.agent_transcripts import read_transcripts
from agent.io.transfer.formats.chat_exports import OwnTurn
from agent.io.transfer.read import detect_format
from agent.io.transfer.records import Rejected
from store.graph import MemoryGraph
from store.types import SourceStatus
from tests.conftest import NOW, Result
from tests.support.agent_sessions import KEY, OTHERS, PROMPTS, codex, write

Memlane = Callable[..., Result]
TOOLS = ("claude-code", "codex", "gemini-cli")
PROJECT = "/home/omar/app"


def turns(path: Path, form: str) -> list[OwnTurn]:
    found = list(read_transcripts(path, form, NOW))
    assert not [one for one in found if isinstance(one, Rejected)]
    return [one for one in found if isinstance(one, OwnTurn)]


@pytest.mark.parametrize("tool", TOOLS)
def test_only_what_the_person_typed_is_read(tool: str, tmp_path: Path):
    path = write(tmp_path, PROJECT)[tool]
    assert detect_format(path) == detect_format(tmp_path / tool) == tool
    found = turns(path, tool)
    assert tuple(turn.text for turn in found) == PROMPTS
    assert {turn.place for turn in found} == {None if tool == "gemini-cli" else PROJECT}
    assert all(turn.locator.startswith(f"{tool}:") for turn in found)
    assert len({turn.locator for turn in found}) == len(PROMPTS)
    assert {turn.said.date() for turn in found} == {datetime(2026, 11, 24, tzinfo=UTC).date()}
    assert turns(tmp_path / tool, tool) == turns(tmp_path, tool) == found


@pytest.mark.parametrize(
    "source", [{"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}, "cli"]
)
def test_what_an_agent_told_another_is_not_the_person_s(source: object, tmp_path: Path):
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(codex(PROJECT, source))
    assert bool(turns(path, "codex")) is (source == "cli")


def test_a_rollout_without_events_is_read_by_what_was_sent(tmp_path: Path):
    path = tmp_path / "rollout-1.jsonl"
    lines = [line for line in codex(PROJECT).splitlines() if '"event_msg"' not in line]
    path.write_text("\n".join(lines))
    assert tuple(turn.text for turn in turns(path, "codex")) == PROMPTS


def test_files_of_an_editor_before_a_request_are_left_out(tmp_path: Path):
    path = tmp_path / "rollout-1.jsonl"
    asked = (
        f"# Files mentioned by the user:\\n{OTHERS}\\n\\n## My request for Codex:\\n{PROMPTS[1]}"
    )
    path.write_text(codex(PROJECT).replace(PROMPTS[1], asked))
    assert turns(path, "codex")[1].text == PROMPTS[1]


def test_an_older_session_of_gemini_is_one_document(tmp_path: Path):
    path = tmp_path / "session-2025-12-01T10-00-1.json"
    message = {"id": "a", "timestamp": "2025-12-01T10:00:00Z", "type": "user", "content": "Hello."}
    session = {"sessionId": "s", "projectHash": "h", "messages": [message]}
    path.write_text(json.dumps(session, indent=2))
    assert detect_format(path) == "gemini-cli"
    (turn,) = turns(path, "gemini-cli")
    assert (turn.text, turn.locator) == ("Hello.", "gemini-cli:s/a")


@pytest.mark.parametrize("tool", TOOLS)
def test_an_import_is_redacted_and_undone_as_a_whole(
    tool: str, memlane: Memlane, own_home: Path, tmp_path: Path
):
    path = write(tmp_path, PROJECT)[tool]
    done = memlane("import", str(path), "--json").json
    assert (done["format"], done["new"], done["rejected"]["count"]) == (tool, {"turn": 3}, 0)
    with MemoryGraph.open(own_home) as graph:
        sources = graph.sources.list()
    said = " ".join(source.text for source in sources)
    assert KEY not in said and OTHERS not in said
    assert all(source.locator and source.locator.startswith(f"{tool}:") for source in sources)
    assert memlane("import", str(path), "--json").json["unchanged"] == {"turn": 3}
    undone = memlane("memories", "undo", "--run", done["run"])
    assert undone.code == 0 and "3 texts that waited" in undone.out
    with MemoryGraph.open(own_home) as graph:
        assert not graph.sources.list(SourceStatus.PENDING)
    assert memlane("memories", "undo", "--run", done["run"]).code == 1


def test_a_broken_line_is_told_and_the_rest_is_read(memlane: Memlane, tmp_path: Path):
    path = write(tmp_path, PROJECT)["claude-code"]
    path.write_text(path.read_text() + '{"type": "user", "mess')
    done = memlane("import", str(path), "--json")
    assert done.code == 1
    assert (done.json["new"], done.json["rejected"]["count"]) == ({"turn": 3}, 1)


def test_a_folder_of_other_json_is_no_transcript(tmp_path: Path):
    (tmp_path / "package.jsonl").write_text('{"name": "x"}\n')
    with pytest.raises(UnreadableSource, match="no transcripts"):
        detect_format(tmp_path)
    (tmp_path / "note.md").write_text("# Note\n")
    assert detect_format(tmp_path) == "markdown"
