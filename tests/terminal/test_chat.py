"""The chat as it is used: over a pipe, in a terminal, in private, with the resident process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from rich.console import Console

from agent.ports import ChatTurn
from agent.server.resident.client import Client
from agent.session.session import Session
from cli.commands.conversation.chat import COMMANDS, Conversation, _doing, show_last
from cli.context import Run
from cli.input.line_input import Terminal, said_before
from cli.output.streaming import WITHDRAWN, StreamedAnswer, show_withdrawn
from store.database.notices import notify
from store.types import SourceStatus, Status
from tests.conftest import NOW, Result, ScriptedModel
from tests.support.forgetting import bytes_of

SECRET = "Quetzalcoatl"
Memlane = Callable[..., Result]


def run_of(session: Session, *, as_json: bool = False) -> Run:
    run = Run(json=as_json)
    run.__dict__["config"] = session.config
    return run


@pytest.fixture
def talk(session: Session) -> Conversation:
    return Conversation(run_of(session), session)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


# ---- over a pipe ----------------------------------------------------------------------------


def test_over_a_pipe_each_line_is_a_message_and_each_reply_a_document(
    memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    pipe(monkeypatch, "My sister Mia lives in Porto.\n\n/undo\n/nonsense\n/quit\nnot read\n")
    done = memlane("--json", "chat")
    first, second = map(json.loads, done.out.splitlines())
    assert first["route"] == "update" and first["edits"][0]["after"].startswith("My sister Mia")
    assert second["edits"][0]["kind"] == "undo"
    assert "There is no command /nonsense" in done.err
    assert "\x1b" not in done.out + done.err


def test_a_pipe_gets_checked_answers_and_no_drafts(
    talk: Conversation, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
):
    talk.session.remember("My cat is called Zanzibar.")
    scripted.replies.append("Your cat is called Bartholomew.")  # no memory says so
    talk.take("What is my cat called?")
    said = capsys.readouterr().out
    assert "Zanzibar" in said and "Bartholomew" not in said


# ---- what a turn shows ----------------------------------------------------------------------


def test_what_was_remembered_is_shown_under_the_turn_with_its_undo(
    talk: Conversation, capsys: pytest.CaptureFixture[str]
):
    talk.take("My sister Mia lives in Porto.")
    assert "remembered: My sister Mia lives in Porto.   /undo e1" in capsys.readouterr().out
    talk.take("/undo e1")
    assert "Undone: e1" not in capsys.readouterr().err
    assert talk.session.graph.memories.list(Status.CURRENT) == ()


def test_what_a_model_got_over_is_told_under_the_answer(
    talk: Conversation, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    said = scripted.reply_to

    def crashing(turns: Sequence[ChatTurn]) -> str | Exception:
        notify("The language model crashed (SIGSEGV) and was restarted. Nothing is lost.")
        return said(turns)

    monkeypatch.setattr(scripted, "reply_to", crashing)
    talk.session.remember("My cat is called Zanzibar.")
    scripted.replies.append("Your cat is called Zanzibar.")
    talk.take("What is my cat called?")
    shown = capsys.readouterr()
    assert "Zanzibar" in shown.out and "SIGSEGV" not in shown.out
    assert shown.err.count("memlane: The language model crashed (SIGSEGV)") == 1


def test_what_a_message_was_read_as_is_shown(
    talk: Conversation, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
):
    talk.take("My sister Mia lives in Porto.")
    scripted.replies.append("Your sister Mia lives in Porto.")
    talk.take("Where does she live?")
    assert "(read as: Where does my sister Mia live?)" in capsys.readouterr().out


def test_an_answer_beside_what_was_told_is_shown_with_what_it_rests_on(
    talk: Conversation, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
):
    talk.take("My sister Mia lives in Porto.")
    scripted.replies += ["Mia lives in Porto.", "1. me | moved | desk"]
    capsys.readouterr()
    talk.take("Moved my desk to the window today. Where does Mia live?")
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "Mia lives in Porto."
    assert any(line.startswith("  m1 ") for line in told)
    assert told[-1].startswith("  remembered: Moved my desk") and "Noted." in told


def screen() -> Console:
    return Console(
        file=io.StringIO(), markup=False, force_terminal=True, width=80, color_system="standard"
    )


def test_a_draft_that_does_not_stand_the_check_stays_struck_through(
    session: Session, scripted: ScriptedModel
):
    session.remember("My cat is called Zanzibar.")
    scripted.replies += ["Your cat is called Bartholomew.", "I don't know.", "yes"]
    out = screen()
    with StreamedAnswer(out) as draft:
        reply = session.respond("What is my cat called?", draft.add)
    show_withdrawn(out, draft.text, reply)
    assert isinstance(out.file, io.StringIO)
    shown = out.file.getvalue()
    assert WITHDRAWN in shown
    assert "\x1b[2;9mYour cat is called Bartholomew.\x1b[0m" in shown
    with StreamedAnswer(out) as draft:
        reply = session.respond("What is my cat called?", draft.add)
    before = out.file.getvalue()
    show_withdrawn(out, draft.text, reply)
    assert out.file.getvalue() == before


def test_ctrl_c_stops_the_answer_and_not_the_chat(
    talk: Conversation, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    talk.session.remember("My cat is called Zanzibar.")

    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scripted, "chat", interrupted)
        talk.take("What is my cat called?")
    assert "Stopped." in capsys.readouterr().err
    scripted.replies.append("Your cat is called Zanzibar.")
    talk.take("What is my cat called?")
    assert "Zanzibar" in capsys.readouterr().out
    assert talk.session.graph.verify() == ()


def test_a_chat_begins_with_the_end_of_the_last_one(session: Session):
    session.respond("My sister Mia lives in Porto.")
    for days, shown in ((1, True), (3, False)):
        said = io.StringIO()
        out = Console(file=said, markup=False, width=120)
        config = replace(session.config, fixed_now=NOW + timedelta(days=days))
        show_last(out, Session(config, session.graph, llm=session.llm, embedder=session.embedder))
        assert ("Wed 09:00 > My sister Mia lives in Porto." in said.getvalue()) is shown


# ---- in private -----------------------------------------------------------------------------


def test_in_private_nothing_is_stored(
    talk: Conversation, scripted: ScriptedModel, own_home: Path, capsys: pytest.CaptureFixture[str]
):
    talk.take("My sister Mia lives in Porto.")
    before = bytes_of(own_home)
    scripted.replies += [f"{SECRET} is a god.", "You live with her."]
    talk.take("/private")
    talk.take(f"I secretly admire {SECRET} and pay him 500 euros a month.")
    talk.take(f"Who is {SECRET}?")
    talk.take(f"Where does my sister live, near {SECRET}?")
    talk.take("/good")
    assert "Nothing is stored or changed in private mode" in capsys.readouterr().err
    talk.take("/private")
    talk.take(f"/private My password of {SECRET} is 84213377.")
    assert talk.private is None
    graph = talk.session.graph
    assert len(graph.turns.last(-1)) == len(graph.sources.list()) == 1
    assert len(graph.journal.list(-1)) == 1
    graph.close()
    after = bytes_of(own_home)
    for secret in (SECRET, SECRET.lower(), "84213377", "500 euros"):
        assert secret.encode() not in after, secret
    assert before  # something was there to be searched


def test_what_was_said_in_private_is_context_there_and_nowhere_else(
    talk: Conversation, scripted: ScriptedModel
):
    scripted.replies += ["A fine town.", "Sunny.", "Sunny here."]
    talk.take("/private")
    talk.take(f"Let us talk about my trip to {SECRET}.")
    talk.take("How is the weather there?")
    assert SECRET in scripted.asked[-1][-1].content
    talk.take("/private")
    talk.take("How is the weather there?")
    assert SECRET not in str(scripted.asked[-1])


def test_what_was_told_in_private_answers_what_is_asked_in_private(
    talk: Conversation, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
):
    scripted.replies += [f"Your sister Mia moved to {SECRET}."]
    talk.take("/private")
    talk.take(f"My sister Mia moved to {SECRET}.")
    talk.take("Where did my sister Mia move to?")
    assert f"moved to {SECRET}." in capsys.readouterr().out
    assert SECRET in scripted.asked[-1][-1].content
    talk.take("/private")
    talk.take("Where did my sister Mia move to?")
    assert SECRET not in capsys.readouterr().out


# ---- stopped and waited for -----------------------------------------------------------------


def test_an_answer_that_is_stopped_leaves_nothing_that_waits(
    talk: Conversation,
    scripted: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    talk.take("My sister Mia lives in Porto.")

    def stop(turns: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(scripted, "reply_to", stop)
    talk.take("Where does my sister Mia live?")
    assert "Stopped. The answer was not stored." in capsys.readouterr().err
    assert talk.session.graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED) == ()
    assert len(talk.session.graph.turns.last(-1)) == 1


def test_a_long_text_says_what_is_done_with_it():
    assert _doing("I like tea.") == "…"
    assert _doing("\n".join("abcd")).startswith("reading 4 lines (Ctrl-C gives the prompt back")


def test_a_redacted_secret_says_so_where_it_is_asked_for(
    talk: Conversation, scripted: ScriptedModel
):
    talk.session.remember("The office wifi password is hunter22.")
    scripted.replies += ["The office wifi password is [password redacted]."]
    reply = talk.session.ask("What is the office wifi password?")
    assert "hunter22" not in reply.text
    assert "memlane remember --keep-secrets" in reply.text


# ---- in a terminal --------------------------------------------------------------------------


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe):
        yield pipe


def terminal(talk: Conversation) -> Terminal:
    return Terminal(COMMANDS, talk.offers, said_before(talk.session.graph))


def test_what_is_pasted_is_one_message(talk: Conversation, keyboard: PipeInput):
    keyboard.send_text("\x1b[200~one\ntwo\nthree\x1b[201~\r")
    assert terminal(talk).next(private=False) == "one\ntwo\nthree"


def test_alt_enter_begins_a_line_ctrl_c_and_ctrl_d_do_as_everywhere(
    talk: Conversation, keyboard: PipeInput
):
    lines = terminal(talk)
    keyboard.send_text("one\x1b\rtwo\r")
    assert lines.next(private=False) == "one\ntwo"
    keyboard.send_text("half\x03")
    with pytest.raises(KeyboardInterrupt):
        lines.next(private=False)
    keyboard.send_text("\x04")
    assert lines.next(private=False) is None


def test_the_arrows_go_back_over_earlier_chats_but_never_to_what_was_private(
    talk: Conversation, keyboard: PipeInput
):
    talk.session.respond("My sister Mia lives in Porto.")
    lines = terminal(talk)
    keyboard.send_text(f"/private {SECRET}\r")
    lines.next(private=False)
    keyboard.send_text(f"{SECRET}\r")
    lines.next(private=True)
    keyboard.send_text("\x1b[A\r")
    assert lines.next(private=False) == "My sister Mia lives in Porto."


def test_what_is_forgotten_is_in_no_history(talk: Conversation, own_home: Path):
    talk.session.respond(f"My gym is called {SECRET}.")
    talk.session.respond("I like tea.")
    talk.session.graph.erase(["m1"], at=NOW)
    assert said_before(talk.session.graph) == ["I like tea."]
    assert SECRET.encode() not in bytes_of(own_home)


def test_commands_and_their_ids_are_completed(talk: Conversation):
    talk.take("My sister Mia lives in Porto.")
    completer = terminal(talk)._open.completer
    assert completer is not None

    def offered(typed: str) -> list[str]:
        found = completer.get_completions(Document(typed), CompleteEvent())
        return [completion.text for completion in found]

    assert offered("/u") == ["/undo"]
    assert offered("/undo ") == ["e1"]
    assert offered("/forget m") == ["m1"]
    assert offered("/why ") == ["t1"]
    assert offered("Where is /") == []


# ---- with the resident process --------------------------------------------------------------


def test_it_speaks_with_the_resident_process_while_that_is_up(own_home: Path):
    from agent.config import load_config
    from agent.session.session import open_session
    from tests.support.residents import started

    with started(own_home) as child, open_session(load_config()) as session:
        talk = Conversation(run_of(session, as_json=True), session)
        assert isinstance(talk._answering(), Client)
        talk.take(f"/private Do you know {SECRET}?")
        assert session.graph.turns.last() == () and session.graph.sources.list() == ()
        child.terminate()
        child.wait(60)
        assert talk._answering() is session
        assert SECRET.encode() not in bytes_of(own_home)
