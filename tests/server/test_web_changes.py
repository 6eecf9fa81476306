"""The page of memlane web: what is changed on it is journaled as the person's, and undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.graph import MemoryGraph
from tests.support.web_work import FLIGHT, Opened, filled, id_of, page_of


@pytest.fixture
def sample(own_home: Path) -> Path:
    return filled(own_home)


@pytest.fixture
def own_page(sample: Path) -> Iterator[Opened]:
    yield from page_of(sample)


@pytest.fixture
def new(own_home: Path) -> Iterator[Opened]:
    yield from page_of(own_home)


def standing(home: Path, memory: str) -> tuple[str, str]:
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()
        return graph.memories.get(memory).text, graph.journal.list(1)[0].actor


def test_an_edit_is_journaled_as_the_persons_and_undone(own_page: Opened, sample: Path):
    memory = id_of(own_page, "Mia is afraid of thunder.")
    seen = own_page.ask("look", memory=memory)["seen"]
    text = "Mia is afraid of thunder and dogs."
    done = own_page.ask(
        "edit", memory=memory, seen=seen, text=text, place="Bergen", valid_until="2025-01-31"
    )
    assert standing(sample, memory) == (text, "user")
    changed = own_page.ask("look", memory=memory)["card"]["memory"]
    assert changed["place"] == "Bergen" and changed["valid_until"].startswith("2025-0")
    own_page.ask("edit", memory=memory, seen=done["entries"][-1], place="")
    assert own_page.ask("look", memory=memory)["card"]["memory"]["place"] is None
    own_page.ask("undo", entry=own_page.ask("journal")["lines"][0]["id"])
    undone = own_page.ask("undo", entry=done["entries"][0])
    assert standing(sample, memory) == ("Mia is afraid of thunder.", "user")
    own_page.ask("undo", entry=undone["entries"][0])
    assert standing(sample, memory)[0] == text


def test_what_changed_takes_the_place_of_the_old(own_page: Opened, sample: Path):
    memory = id_of(own_page, FLIGHT)
    seen = own_page.ask("look", memory=memory)["seen"]
    text = "The EK349 flight departs at 02:15 on 2024-05-12."
    done = own_page.ask("supersede", memory=memory, seen=seen, text=text)
    assert own_page.ask("look", memory=memory)["card"]["stand"] == "replaced"
    assert standing(sample, done["memory"]) == (text, "user")


def test_what_changed_meanwhile_is_not_overwritten(own_page: Opened, sample: Path):
    memory = id_of(own_page, FLIGHT)
    seen = own_page.ask("look", memory=memory)["seen"]
    own_page.ask("edit", memory=memory, seen=seen, text="First.")
    for name, more in (("edit", {"text": "Second."}), ("leave", {}), ("supersede", {"text": "S."})):
        answer = own_page.post(name, {"memory": memory, "seen": seen, **more})
        assert answer.status_code == 409
        assert "was changed after" in answer.json()["error"]["message"]
    assert standing(sample, memory)[0] == "First."


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "  "},
        {"subclass": "event.nonsense"},
        {"valid_from": "the day of reckoning"},
        {"valid_from": "2025-01-01", "valid_until": "2024-01-01"},
    ],
)
def test_an_edit_that_cannot_be_is_refused_and_changes_nothing(
    own_page: Opened, sample: Path, wrong: dict[str, str]
):
    memory = id_of(own_page, FLIGHT)
    seen = own_page.ask("look", memory=memory)["seen"]
    answer = own_page.post("edit", {"memory": memory, "seen": seen, **wrong})
    assert answer.status_code == 400, answer.text
    assert standing(sample, memory)[0] == FLIGHT


def test_the_first_memory_is_told_on_the_page(new: Opened, own_home: Path):
    assert new.ask("start")["memories"] == 0
    assert new.ask("around", entity="me")["neighbours"] == []
    assert new.ask("in_time")["cards"] == [] and new.ask("answers")["turns"] == []
    done = new.ask("tell", text="My sister Ada lives in Lisbon.")
    assert standing(own_home, done["memory"])[0] == "My sister Ada lives in Lisbon."
    assert new.ask("start")["memories"] == 1
