"""No secret reaches a byte of the home, whichever way it comes; what is wanted does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from agent.applications.forms.formats.open_form import fields_from_labels
from agent.config import load_config
from agent.io.markdown_edit import difference, read_blocks, written
from agent.io.transfer.import_ import import_file
from agent.memory.remember import without_secrets
from agent.ports import TextLine
from agent.server.web.edits import edit as web_edit
from agent.server.web.requests import Edit
from agent.session.session import Session
from store.graph import MemoryGraph
from tests.conftest import NOW
from tests.support.crash_work import HashEncoder, SilentModel

SECRETS = ("hunter2x9", "4111 1111 1111 1111", "4111111111111111", "482913")


class Screen:
    """A reader that sees a card in pieces, as it is printed."""

    def read(self, image: Path) -> list[TextLine]:
        pieces = ("4111 1111", "1111 1111", "Gate D12")
        return [
            TextLine(
                text, 10 + 90 * (at % 2), 20 * (at // 2), 90 + 90 * (at % 2), 20 * (at // 2) + 15, 1
            )
            for at, text in enumerate(pieces)
        ]


@pytest.fixture
def silent(own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        yield Session(
            load_config(now=NOW),
            graph,
            llm=SilentModel(),
            embedder=HashEncoder(),
            reader=Screen(),
        )


def left_in(home: Path) -> list[str]:
    whole = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    return [secret for secret in SECRETS if secret.encode() in whole]


def test_files_leave_no_secret_anywhere(silent: Session, own_home: Path, tmp_path: Path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.md").write_text("My wifi password is hunter2x9.\nMy cat is called Miso.")
    (folder / "b.png").write_bytes(b"x")
    (folder / "c.ics").write_text(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20240601T100000Z\nDTEND:20240601T110000Z\n"
        "SUMMARY:Call bank\\, card 4111111111\n 111111\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    (folder / "d.vcf").write_text(
        "BEGIN:VCARD\nVERSION:3.0\nFN:Mia\nNOTE:password: hunter2x9\nEND:VCARD\n"
    )
    reports = {Path(r.path).name: r for r in silent.ingest([folder])}
    assert all(report.status == "new" for report in reports.values()), reports
    assert reports["a.md"].reason == "Not stored: password."
    assert reports["b.png"].reason == "Not stored: card number."
    assert not left_in(own_home)
    texts = [memory.text for memory in silent.graph.memories.list()]
    assert "My cat is called Miso." in texts
    assert any("[card number redacted]" in text for text in texts)
    picture = next(s for s in silent.graph.sources.list() if s.kind == "screenshot")
    pieces = [box.span.of(picture.text) for box in silent.graph.sources.layout(picture.id)]
    assert pieces[0].startswith("[card number redacted]")
    assert pieces[-1] == "Gate D12"
    assert not silent.graph.verify()


def test_what_is_said_and_typed_leaves_no_secret(session: Session, own_home: Path):
    session.remember("My wifi password is hunter2x9.")
    done = session.remember("My card is 4111 1111 1111 1111.")
    assert done.note == "Not stored: card number."
    assert done.entries[0].after == "My card is [card number redacted]."
    session.respond("My name is Tan Wei. My password is hunter2x9.")
    session.ask("Your code is 482913, whose is it?", use_llm=False)
    assert not left_in(own_home)
    turn = session.graph.turns.last(1)[0]
    assert "[one-time code redacted]" in turn.text


def test_a_number_can_be_kept_on_purpose(session: Session):
    done = session.remember("My card is 4111 1111 1111 1111.", keep_secrets=True)
    assert done.entries[0].after == "My card is 4111 1111 1111 1111."


def test_the_setting_keeps_everything(own_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_KEEP_SECRETS", "yes")
    with MemoryGraph.open(own_home) as graph:
        session = Session(load_config(now=NOW), graph, llm=SilentModel(), embedder=HashEncoder())
        done = session.remember("My wifi password is hunter2x9.")
    assert done.entries[0].after == "My wifi password is hunter2x9."


def test_what_names_somebody_is_no_secret_and_fills_forms(session: Session):
    session.remember("My passport number is C01X0006H.")
    session.graph.form_consents.put("passport-number", "", given=True, at=NOW)
    (field,) = session.fill(fields_from_labels(["Passport number"]), use_llm=False)
    assert field.value == "C01X0006H"


def test_what_other_programs_wrote_is_cleaned(own_home: Path, tmp_path: Path):
    chats = tmp_path / "conversations.json"
    message = {"author": {"role": "user"}, "content": {"content_type": "text",
               "parts": ["My wifi password is hunter2x9."]}}  # fmt: skip
    chats.write_text(
        json.dumps(
            [{"title": "x", "conversation_id": "c", "current_node": "n", "create_time": 1.7e9,
              "mapping": {"n": {"message": message, "parent": None}}}]
        )
    )  # fmt: skip
    memory = tmp_path / "memory.json"
    memory.write_text(
        json.dumps(
            {"type": "entity", "name": "Mia", "entityType": "person",
             "observations": ["wifi password: hunter2x9", "likes tea"]}
        )
        + "\n"
    )  # fmt: skip

    def place(texts: Sequence[str]) -> list[str]:
        return ["relationship.relatives"] * len(texts)

    for path, form in ((chats, "chatgpt"), (memory, "mcp")):
        done = import_file(path, form, own_home, NOW, place)
        assert done.complete
    assert not left_in(own_home)
    with MemoryGraph.open(own_home) as graph:
        assert any("likes tea" in memory.text for memory in graph.memories.list())


def test_what_is_edited_in_leaves_no_secret(session: Session, own_home: Path):
    session.remember("My wifi is slow.")
    (memory,) = session.graph.memories.list()
    seen = session.graph.journal.of_memory(memory.id)[-1].id
    web_edit(session, Edit(memory.id, seen, "My wifi password is hunter2x9.", None, "PIN: 4821"))
    assert not left_in(own_home)
    assert session.graph.memories.get(memory.id).place == "PIN: [PIN redacted]"


def test_an_edit_keeps_what_was_kept_on_purpose(session: Session):
    session.remember("My card is 4111 1111 1111 1111.", keep_secrets=True)
    (memory,) = session.graph.memories.list()
    edited = written([memory]).replace("My card is", "My Visa card is")
    changed = difference(
        {memory.id: memory},
        read_blocks(edited),
        subclasses=[s.id for s in session.graph.subclasses()],
        now=NOW,
        clean=partial(without_secrets, session),
    )
    (amend,) = changed.edits
    assert amend.text == "My Visa card is 4111 1111 1111 1111."


def test_the_name_of_a_file_leaves_no_secret(silent: Session, own_home: Path, tmp_path: Path):
    named = [tmp_path / f"wifi password {secret}.md" for secret in ("hunter2x9", "hunter3x9")]
    for path in named:
        path.write_text(f"My cat is called Miso{path.stem[-3]}.")
    assert [report.status for report in silent.ingest(named)] == ["new", "new"]
    assert [report.status for report in silent.ingest(named)] == ["unchanged", "unchanged"]
    assert len({source.locator for source in silent.graph.sources.list()}) == 2
    assert not left_in(own_home)
