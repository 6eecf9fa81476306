"""English glosses of what is told in other languages: made once, read by the reader alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.answering.notes.gather import gather
from agent.config import Config
from agent.memory.gloss import Glosses
from agent.ports import ChatTurn, Embedder
from agent.results import Route
from agent.session.session import Session
from store.graph import MemoryGraph
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Status
from tests.conftest import Result, ScriptedModel
from tests.support.scripted_readers import ScriptedReader

OLD, NEW = "Meine Schwester Anke wohnt in Kassel.", "Anke hat ihre Kisten nach Kiel gefahren."
GLOSSES = {OLD: "My sister Anke lives in Kassel.", NEW: "Anke drove her boxes to Kiel."}
ASKED, IN_ENGLISH = "In welcher Stadt wohnt Anke jetzt?", "In which city does Anke live now?"


class Translator(ScriptedModel):
    """Translates what these tests say, and finds no relations."""

    def reply_to(self, turns: Sequence[ChatTurn]) -> str | Exception:
        asked = turns[-1].content
        known = {**GLOSSES, ASKED: IN_ENGLISH}
        return known[asked] if turns[0].content.startswith("Translate") else "NONE"


class Reader(ScriptedReader):
    """Keeps what it was asked to read."""

    def __init__(self) -> None:
        super().__init__(["Kiel"])
        self.read: list[str] = []

    def relations(self, pairs: Sequence[tuple[str, str]]):
        self.read += [text for pair in pairs for text in pair]
        return super().relations(pairs)

    def relevance(self, question: str, statements: Sequence[str]):
        self.read += [question, *statements]
        return super().relevance(question, statements)


@pytest.fixture
def session(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path
) -> Callable[[ScriptedModel, Reader, int], Session]:
    def made(model: ScriptedModel, reader: Reader, day: int) -> Session:
        now = datetime(2026, 5, 8, 9, 0, tzinfo=UTC) + timedelta(days=day)
        config = replace(settings, home=own_home, fixed_now=now)
        return Session(config, graph, embedder=embedder, llm=model, statements=reader)

    return made


def test_a_change_in_german_is_kept_and_its_older_note_known_to_be_changed(
    session: Callable[..., Session],
):
    reader = Reader()
    for day, text in enumerate((OLD, NEW)):
        reply = session(Translator(), reader, day).respond(text)
        assert reply.route is Route.UPDATE
    later = session(Translator(), reader, 9)
    assert [m.text for m in later.graph.memories.list(Status.CURRENT)] == [OLD, NEW]
    (edge,) = later.graph.change_edges.of(["m1"])
    assert (edge.newer, edge.change) == ("m2", ChangeKind.SUPERSEDES)
    notes = gather(ASKED, later.retrieve(ASKED, use_llm=False), later, reader)
    assert {note.memory.id: note.holds for note in notes} == {"m1": False, "m2": True}
    assert set(reader.read) == {*GLOSSES.values(), IN_ENGLISH}


def test_a_question_without_the_model_makes_no_gloss(session: Callable[..., Session]):
    asking = session(ScriptedModel(), Reader(), 0)
    found = asking.retrieve(ASKED, use_llm=False)
    assert gather(ASKED, found, asking, Reader(), use_llm=False) == ()


def test_a_gloss_is_made_once_and_forgotten_with_everything_in_the_cache(
    session: Callable[..., Session], own_home: Path
):
    told = session(Translator(), Reader(), 0)
    told.respond(OLD)
    glosses = Glosses(told.graph.path.parent, ScriptedModel())
    assert glosses.known(OLD) == glosses.make(OLD) == GLOSSES[OLD]
    (file,) = (told.graph.path.parent / "cache" / "glosses").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    told.graph.erase(["m1"], at=told.config.now())
    assert not file.exists() and glosses.known(OLD) is None


def test_a_question_in_another_language_is_routed_by_its_mark(session: Callable[..., Session]):
    router = session(ScriptedModel(), Reader(), 0).router
    assert router.detect(ASKED).route is Route.RETRIEVE
    assert router.detect(OLD).route is Route.UPDATE
    assert router.detect(f"{OLD} Und wo wohnt ihre beste Freundin?").route is Route.RETRIEVE


@pytest.mark.llm
def test_the_real_model_answers_in_the_language_of_the_question(memlane: Callable[..., Result]):
    now = "2026-05-08T09:00:00+00:00"
    assert memlane("--now", now, "say", OLD).code == 0
    told = memlane("--now", now, "ask", "In welcher Stadt wohnt meine Schwester Anke?")
    assert "Kassel" in told.out and "lives" not in told.out
