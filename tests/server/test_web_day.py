"""The page as it is used for a day: where it opens, each fact once, what is ahead, one undo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.extraction.triples.read import ME
from agent.language.relation_names import worded
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Draft, SourceKind, Status, Triple, Trust
from tests.conftest import NOW
from tests.support.web_work import Opened, page_of


def tell(graph: MemoryGraph, text: str, *triples: Triple, **more: Any) -> None:
    draft = Draft(text, "attribute.belongings", NOW, triples, **more)
    graph.apply([Insert(draft)], at=NOW, actor="user")


@pytest.fixture
def home(own_home: Path) -> Iterator[MemoryGraph]:
    with MemoryGraph.open(own_home) as graph:
        yield graph


@pytest.fixture
def page(home: MemoryGraph, own_home: Path) -> Iterator[Opened]:
    """A page that is opened after the test has told something: see ``opened``."""
    yield from page_of(own_home)


# ---- where it opens -------------------------------------------------------------------------


def test_it_opens_at_the_best_connected_thing(home: MemoryGraph, page: Opened):
    assert page.ask("start")["first"] is None
    tell(home, "Mia lives in Porto.", Triple("Mia", "lives_in", "Porto"))
    tell(home, "Mia bakes bread.", Triple("Mia", "bake", "bread"))
    assert page.ask("start")["first"] == "Mia"


def test_each_fact_is_once_in_the_graph(home: MemoryGraph, page: Opened):
    tell(home, "I live in Bologna.", Triple(ME, "lives_in", "Bologna"))
    tell(home, "Living in Bologna", Triple(ME, "noted", "Living in Bologna"))
    names = [one["name"] for one in page.ask("around", entity=ME)["neighbours"]]
    assert names == ["Bologna"]
    assert page.ask("at", entity=ME)["total"] == 2  # nothing is hidden: the list has both


def test_where_there_is_nothing_else_whole_sentences_are_shown(home: MemoryGraph, page: Opened):
    tell(home, "Ugh, third coffee", Triple(ME, "noted", "Ugh, third coffee"))
    assert page.ask("around", entity=ME)["total"] == 1


@pytest.mark.parametrize(
    ("relation", "text", "said"),
    [
        ("be_boss_of", "Ana is the boss of Tom.", "is the boss of"),
        ("use_postgre", "The team uses Postgres.", "uses Postgres"),
        ("lives_in", "I reside in Porto.", "lives in"),
        ("teach_at", "Nothing of that is in here.", "teach at"),
    ],
)
def test_relations_are_told_in_the_words_of_the_memory(relation: str, text: str, said: str):
    assert worded(relation, text) == said


def test_the_graph_shows_those_words(home: MemoryGraph, page: Opened):
    tell(home, "Ana is the boss of Tom.", Triple("Ana", "be_boss_of", "Tom"))
    (tom,) = page.ask("around", entity="Ana")["neighbours"]
    assert tom["relations"] == ["is the boss of"]


# ---- time -----------------------------------------------------------------------------------


def test_the_timeline_is_of_when_things_happen(home: MemoryGraph, page: Opened):
    midnight = NOW.replace(hour=0)
    flight = midnight.replace(year=2027, month=3, day=28)
    tell(home, "My flight leaves on 2027-03-27.", valid_until=flight)
    tell(home, "The concert is on 2024-06-07.", valid_until=midnight.replace(month=6, day=8))
    tell(home, "I start at Acme on 2024-07-01.", valid_from=midnight.replace(month=7, day=1))
    tell(home, "I like tea.")
    ahead = page.ask("in_time", ahead=True)
    assert [card["day"] for card in ahead["cards"]] == ["2024-06-07", "2024-07-01", "2027-03-27"]
    past = page.ask("in_time")
    assert [card["memory"]["text"] for card in past["cards"]] == ["I like tea."]
    assert past["months"][-1]["month"] == "2027-03"
    assert [c["day"] for c in page.ask("in_time", before="2024-07-01")["cards"]] == [
        "2024-06-07", "2024-05-08",
    ]  # fmt: skip


# ---- changes and answers --------------------------------------------------------------------


def test_an_import_is_one_line_with_one_undo(home: MemoryGraph, page: Opened):
    tell(home, "I like tea.")
    run = home.runs.start(NOW, "the folder notes")
    for number in range(30):
        source = home.sources.add(SourceKind.NOTE, f"Fact {number}.", NOW)
        home.runs.add(run, source.id)
        draft = Draft(f"Fact {number}.", "attribute.belongings", NOW, source=source.id)
        home.apply([Insert(draft)], at=NOW, source=source.id)
    tell(home, "I like coffee.")
    lines = page.ask("journal")["lines"]
    assert [(line["run"], line["edits"]) for line in lines] == [(None, 1), (run, 30), (None, 1)]
    assert lines[1]["what"] == "the folder notes"
    rest = page.ask("journal", before=lines[1]["id"])["lines"]
    assert [line["after"] for line in rest] == ["I like tea."]
    assert len(page.ask("journal", grouped=False, limit=3)["lines"]) == 3
    assert "30 changes undone" in page.ask("undo_run", run=run)["note"]
    assert [m.text for m in home.memories.list()] == ["I like tea.", "I like coffee."]
    assert "left to undo" in page.ask("undo_run", run=run)["note"]


def test_answers_are_questions_alone(home: MemoryGraph, page: Opened):
    home.turns.log(NOW, "Where do I live?", "retrieve", "In Bergen.", {})
    for number in range(5):
        home.turns.log(NOW, f"Fact {number}.", "update", "Noted.", {})
    assert [turn["question"] for turn in page.ask("answers", limit=2)["turns"]] == [
        "Where do I live?"
    ]
    assert page.ask("why", turn="t1")["words"] == "No memory was needed for this."


# ---- what contradicts -----------------------------------------------------------------------


@pytest.fixture
def numbers(home: MemoryGraph) -> MemoryGraph:
    tell(home, "My phone number is 1111.", trust=Trust.TOLD)
    tell(home, "My phone number is 2222.", trust=Trust.RELAYED)
    home.questions.put(QuestionKind.HOLDS, ("m1", "m2"), NOW)
    return home


@pytest.mark.parametrize(
    ("holds", "left"), [("old", ["m1"]), ("new", ["m2"]), ("both", ["m1", "m2"])]
)
def test_a_contradiction_is_decided_on_the_page(
    numbers: MemoryGraph, page: Opened, holds: str, left: list[str]
):
    (pair,) = page.ask("start")["undecided"]
    assert [pair[side]["id"] for side in ("older", "newer")] == ["m1", "m2"]
    page.ask("decide", older="m1", newer="m2", holds=holds)
    assert page.ask("start")["undecided"] == []
    later = NOW + timedelta(seconds=1)
    assert [m.id for m in numbers.memories.list(Status.CURRENT) if m.holds_at(later)] == left
    again = page.post("decide", {"older": "m1", "newer": "m2", "holds": holds})
    assert again.status_code == 409
