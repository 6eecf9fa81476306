"""Forgetting by command, in chat and through a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Status
from tests.conftest import NOW, ScriptedModel
from tests.support.forgetting import OTHER, SECRET, bytes_of, draft, nothing_left

# ---- the command --------------------------------------------------------------------------


@pytest.fixture
def kept(memlane, own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        graph.apply([Insert(draft(SECRET)), Insert(draft(OTHER))], at=NOW)
    return memlane


def test_forget_asks_first_and_names_the_way_without(kept):
    result = kept("memories", "forget", "m1")
    assert result.code == 2
    assert "--yes" in result.err and "--soft" in result.err
    assert len(kept("memories", "list", "--json").json["memories"]) == 2


def test_forget_yes_reports_what_was_searched(kept, own_home: Path):
    result = kept("memories", "forget", "m1", "--yes", "--json")
    assert result.code == 0
    assert result.json["verified"] is True
    assert result.json["memories"] == ["m1"]
    assert result.json["edits"][0]["kind"] == "erase"
    assert result.json["searched"]["files"] >= 1
    assert SECRET not in result.out
    nothing_left(own_home, SECRET)
    checks = {c["name"]: c for c in kept("doctor", "--forgotten", "--json").json["checks"]}
    assert checks["forgotten"]["ok"]
    assert "no trace of it" in checks["forgotten"]["detail"]
    assert "language model" not in checks
    history = kept("memories", "history").out
    assert "forgotten for good" in history and SECRET not in history
    again = kept("memories", "forget", "m1", "--yes")
    assert (again.code, "no memory m1" in again.err) == (1, True)


def test_what_is_named_by_words_is_shown_and_asked_for(kept, monkeypatch: pytest.MonkeyPatch):
    words = SECRET.rstrip(".").split()[-2:]
    refused = kept("forget", *words, "--yes")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"m1: {SECRET} " in refused.err and "memlane forget m1" in refused.err
    monkeypatch.setattr("cli.context.Run.has_person", lambda _: True)
    asked: list[str] = []

    def refuse(question: str, **_: object) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("typer.confirm", refuse)
    assert kept("forget", *words).code == 1
    assert "m1?" in asked[0]
    monkeypatch.setattr("typer.confirm", lambda question, **_: True)
    assert kept("forget", *words).code == 0
    assert [m["id"] for m in kept("list", "--json").json["memories"]] == ["m2"]


def test_words_that_name_nothing(kept):
    result = kept("forget", "the", "unheard", "of")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "memlane search" in result.err


def test_doctor_fails_on_a_trace(kept, own_home: Path):
    kept("memories", "forget", "m1", "--yes")
    (own_home / "stray.bin").write_bytes(SECRET.encode())
    result = kept("doctor", "--forgotten", "--json")
    check = next(c for c in result.json["checks"] if c["name"] == "forgotten")
    assert result.code == 1
    assert "stray.bin" in check["detail"]


def test_forget_soft_says_until_when(kept):
    result = kept("--now", "2024-05-08T09:00:00+00:00", "memories", "forget", "--soft", "m1")
    assert "until 2024-06-07" in result.out
    assert "memories undo e3" in result.out
    assert kept("--now", "2024-05-09T09:00:00+00:00", "memories", "undo").code == 0


def test_forgotten_in_the_home_but_not_in_the_persons_own_file(kept, tmp_path: Path):
    note = tmp_path / "gym.md"
    note.write_text("My gym is called Fit24.\n")
    kept("ingest", str(note))
    result = kept("memories", "forget", "m3", "--yes")
    assert result.code == 0
    assert f"Your own file still contains it: {note}" in result.out
    assert kept("ingest", str(note), "--json").json["sources"][0]["status"] == "unchanged"


def test_in_chat_forget_is_soft(session: Session, scripted: ScriptedModel):
    from cli.commands.conversation.chat import Conversation
    from cli.context import Run

    session.remember(SECRET)
    Conversation(Run(), session).take("/forget m1")
    assert session.graph.memories.get("m1").status is Status.FORGOTTEN
    session.graph.undo(at=NOW)
    assert session.graph.memories.get("m1").status is Status.CURRENT


# ---- through a session --------------------------------------------------------------------


def test_told_answered_and_forgotten_nothing_of_it_is_left(
    session: Session, scripted: ScriptedModel, own_home: Path
):
    session.respond("My boss is Kenji Tan. My gym locker code is 84213377.")
    scripted.replies.append("Your gym locker code is 84213377.")
    session.ask("What is my gym locker code?")
    secret = next(m for m in session.graph.memories.list() if "84213377" in m.text)
    assert session.graph.erase([secret.id], at=NOW).verified
    assert b"84213377" not in bytes_of(own_home)
    assert session.graph.verify(session.embedder.identity) == ()
    assert session.ask("What is my gym locker code?", use_llm=False).memories == ()
