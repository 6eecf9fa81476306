"""The digest of a day is complete, and nothing that was told is at risk."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.applications.services.desktop_notifications import TODAY, show_today
from agent.applications.services.today import digest
from agent.memory.time.decay import half_life
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Draft, Trust
from tests.applications.test_services import draft

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)  # a Wednesday
LONG_AGO = NOW - timedelta(days=3 * 365)


def put(graph: MemoryGraph, *drafts: Draft, at: datetime = NOW) -> list[str]:
    return [entry.memory for entry in graph.apply([Insert(one) for one in drafts], at=at)]


def read(text: str, subclass: str = "preference.diet", trust: Trust = Trust.READ) -> Draft:
    return Draft(text, subclass, LONG_AGO, trust=trust)


def test_what_comes_is_of_the_week_with_what_recurs(graph: MemoryGraph):
    put(
        graph,
        draft("I have a dentist appointment on 2024-05-14 at 10:00."),
        draft("I play tennis every Thursday at 18:00."),
        draft("The concert is on 2024-06-20 at 20:00."),
    )
    assert [one.memory.id for one in digest(graph, NOW).coming] == ["m2", "m1"]
    assert [one.memory.id for one in digest(graph, NOW, days=60).coming] == ["m2", "m1", "m3"]


def test_what_changed_since_yesterday_has_its_edit_and_its_reason(graph: MemoryGraph):
    put(graph, draft("I live in Bergen."), draft("I own a car."), at=NOW - timedelta(days=9))
    sale = Draft("The sale is on.", "event.arrangement", NOW - timedelta(days=9),
                 valid_until=NOW - timedelta(hours=3))  # fmt: skip
    put(graph, sale, at=NOW - timedelta(days=9))
    graph.change_edges.put([ChangeEdge("m1", "m4", ChangeKind.SUPERSEDES, 0.9)], NOW)
    graph.apply([Replace("m1", draft("I live in Leeds."))], at=NOW - timedelta(hours=20))
    graph.apply([Expire("m2", NOW)], at=NOW, actor="user")
    found = digest(graph, NOW)
    kinds = [(one.entry.kind.value, one.entry.memory) for one in found.changed]
    assert kinds == [("replace", "m4"), ("expire", "m2")]
    assert "90%" in found.changed[0].why
    assert [memory.id for memory in found.ended] == ["m3"]
    assert len(digest(graph, NOW, since=NOW - timedelta(days=30)).changed) == 5
    assert digest(graph, NOW, since=NOW + timedelta(hours=1)).changed == ()


def test_doubts_stay_until_they_are_decided(graph: MemoryGraph):
    texts = ("I live in Bergen.", "I live in Leeds.", "I eat meat.", "I eat no meat.", "I ski.")
    put(graph, *map(draft, texts))
    graph.change_edges.put(
        [
            ChangeEdge("m3", "m4", ChangeKind.ENDS, 0.6),
            ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, 0.4),
            ChangeEdge("m3", "m5", ChangeKind.ADDS, 0.9),
            ChangeEdge("m2", "m5", ChangeKind.ENDS, 0.3),
        ],
        NOW,
    )
    graph.questions.put(QuestionKind.HOLDS, ("m1", "m2"), NOW)
    first, second = digest(graph, NOW).doubts
    assert first.question and first.edge and first.edge.probability == 0.4
    assert (second.older.id, second.newer.id, second.question) == ("m3", "m4", None)
    assert digest(graph, NOW).unlikely == 1
    assert [one.probability for one in digest(graph, NOW, least=0.0).doubts] == [0.4, 0.6, 0.3]
    graph.change_edges.dismiss("m3", "m4", NOW)
    graph.apply([Expire("m1", NOW)], at=NOW)
    assert digest(graph, NOW).doubts == ()


def test_only_what_nobody_told_fades_and_nothing_is_deleted(graph: MemoryGraph):
    put(
        graph,
        read("I like ramen."),
        read("I like tea.", trust=Trust.TOLD),
        read("I like rye bread.", trust=Trust.NOTED),
        read("I am allergic to nuts.", "attribute.health"),
        read("My sister's birthday is on 1 March.", "relationship.relatives"),
        replace(read("My pass is valid.", "attribute.belongings"), valid_until=NOW),
        at=LONG_AGO,
    )
    (only,) = digest(graph, NOW).faded
    assert (only.memory.id, only.since) == ("m1", LONG_AGO)
    assert only.left == pytest.approx(0.125)
    assert graph.memories.counts() == {"current": 6}


def test_use_a_pin_and_a_correction_keep_a_memory(graph: MemoryGraph):
    put(graph, *(read(f"I like dish {number}.") for number in range(4)), at=LONG_AGO)
    graph.turns.log(NOW, "What do I like?", "retrieve", "Dish 0.", {"memories": ["m1", 3]})
    graph.turns.log(NOW, "Hello", "neither", "Hello.", {"memories": "m2"})
    graph.apply([Amend("m3", pinned=True), Amend("m4", text="I like dish four.")], at=NOW,
                actor="user")  # fmt: skip
    # The second turn holds no list: a trace that was imported may hold anything.
    assert digest(graph, NOW).faded == ()
    assert half_life(graph.memories.get("m3")) is None


def test_what_the_person_hid_is_listed_with_the_command_that_keeps_it(graph: MemoryGraph):
    put(graph, draft("I ski."))
    graph.apply([Forget("m1")], at=NOW, actor="user")
    (hidden,) = digest(graph, NOW).hidden
    assert (hidden.waiting.memory, hidden.keep) == ("m1", "memlane undo e2")
    graph.undo("e2", at=NOW)
    assert digest(graph, NOW).hidden == ()


def test_a_folder_of_thousands_is_counted(graph: MemoryGraph):
    put(graph, *(draft(f"Shelf {number} is full.") for number in range(203)))
    found = digest(graph, NOW)
    assert (len(found.changed), found.earlier) == (200, 3)
    assert found.summary == "203 changed"


def test_the_counts_are_shown_once_a_day_without_a_word_of_a_memory(graph: MemoryGraph):
    put(graph, draft("I have a dentist appointment on 2024-05-14 at 10:00."))
    shown: list[tuple[str, str]] = []

    def show(title: str, text: str) -> bool:
        shown.append((title, text))
        return True

    assert not show_today(graph, NOW.replace(hour=7), show)
    assert not show_today(graph, NOW, lambda title, text: False)
    assert show_today(graph, NOW, show) and not show_today(graph, NOW, show)
    assert show_today(graph, NOW + timedelta(days=1), show)
    assert shown[0] == (TODAY, "1 coming, 1 changed")
