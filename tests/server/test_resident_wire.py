"""What is sent to the resident process and back: whole, checked, described, and light to load."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agent.codec import decode, encode
from agent.results import (
    Alternative,
    Doubt,
    FileReport,
    FilledField,
    Mark,
    Remembered,
    Reply,
    Route,
    Standing,
)
from agent.server.resident.client import Hello, Running
from agent.server.resident.openapi import description
from agent.server.resident.requests import CALLS, Remember
from policies.selection import Choice, Selection, Step
from store.errors import InvalidInput
from store.journal import Change, Entry
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import (
    EditKind,
    Memory,
    Source,
    SourceKind,
    Span,
    Triple,
    Trust,
)
from tests.conftest import NOW
from tests.support.residents import ROOT


def everything() -> list[tuple[type, object]]:
    """One value of each result, with every field that can be set."""
    memory = Memory(
        id="m1",
        text="Iß „quoted“ 猫\n",
        type="Event",
        subclass="event.travel",
        created=NOW,
        triples=(Triple("I", "likes", "tea"),),
        valid_from=NOW,
        valid_until=NOW,
        place="Oslo",
        source="s1",
        span=Span(0, 3),
        trust=Trust.SEEN,
    )
    entry = Entry(
        id="e1",
        at=NOW,
        kind=EditKind.INSERT,
        actor="user",
        source="s1",
        batch=1,
        undoes=None,
        changes=(Change("m1", None, memory),),
    )
    source = Source("s1", SourceKind.MANUAL, "text", "hash", NOW, None, None, expires=NOW)
    mark = Mark(Standing.HOLDS, NOW, NOW, None, True)
    step = Step("m1", 0.5, True, "near", state=(("cosine", 0.5),), probability=0.25)
    reply = Reply(
        Route.RETRIEVE,
        "text",
        memories=(Choice(memory, 0.5),),
        entries=(entry,),
        timing_ms={"select": 1.5},
        turn="t1",
        selection=Selection("top-k", (Choice(memory, 0.5),), (step,)),
        likely=0.75,
        open=(("m1", "m2"),),
        questions=("Which?",),
        suggested=(QuestionKind.MERGE, "m1", "m2"),
        marks={"m1": mark},
        doubts=(Doubt(memory, memory),),
    )
    filled = FilledField("n", "Name", True, 1, ("m1",), (Alternative(2.5, 0.5, ()),), "name", True)
    return [
        (Reply, reply),
        (Reply, Reply(Route.NEITHER, "")),
        (Remembered, Remembered(source, (entry,), ("m1",), ((memory, memory),), "note", True)),
        (tuple[FilledField, ...], (filled, FilledField("a", "b", None, 0.0))),
        (FileReport, FileReport("/a", "new", 1, None, "s1", (entry,), "r1")),
        (Hello, Hello(1, "0.1", "/code", {"llm": "x"})),
        (Running, Running(1, "/s", 1.5, 0, ("llm",), 80)),
        (Remember, Remember("text", NOW, "Oslo", NOW, True, True)),
    ]


@pytest.mark.parametrize(("kind", "value"), everything(), ids=lambda x: getattr(x, "__name__", ""))
def test_what_crosses_the_wire_comes_out_as_it_went_in(kind: type, value: object):
    assert decode(kind, json.loads(json.dumps(encode(value)))) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "body.text is missing"),
        ({"text": 1}, "body.text is not text"),
        ({"text": "a", "txet": "b"}, "body.txet is not a known field"),
        ({"text": "a", "at": "yesterday"}, "body.at is not a time with an offset"),
        ({"text": "a", "at": "2024-01-01"}, "not a time with an offset"),
        ([], "body.text is missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(body: object, said: str):
    with pytest.raises(InvalidInput, match=said):
        decode(Remember, body, "body")


def test_the_client_imports_nothing_heavy():
    code = (
        "import sys; import cli.main, agent.server.resident.client; "
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    heavy = {"numpy", "faiss", "torch", "sqlite3", "sqlite_utils", "typer", "pydantic", "rich"}
    assert not set(done.stdout.split()) & (heavy | {"networkx", "starlette", "uvicorn"})


def test_the_description_names_every_call_and_type():
    document = description()
    assert set(document["paths"]) == {f"/v1/{c.name}" for c in CALLS} | {"/v1/hello", "/v1/status"}
    schemas = document["components"]["schemas"]
    assert {"Reply", "Memory", "Entry", "Error"} <= set(schemas)
    said = json.dumps(document)
    for reference in said.split('"$ref": "#/components/schemas/')[1:]:
        assert reference.split('"')[0] in schemas
