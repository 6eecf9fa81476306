"""Possible changes: edges between memories, what they bring into an answer, what they forbid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from agent.answering.notes.gather import gather
from agent.config import Config
from agent.language.units import units
from agent.memory import remember
from agent.memory.changes import Judgements, judge_ahead
from agent.memory.editing.judges.by_reader import judged
from agent.memory.editing.plan import EditPlan
from agent.memory.editing.replacing import allows, changeable, sure_replacements
from agent.memory.time.changed import Newer, possibly_newer
from agent.ports import Embedder, Probabilities
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Forget, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, SourceKind, Trust
from tests.conftest import Result
from tests.support.scripted_readers import ScriptedReader, ScriptedSecond

Memlane = Callable[..., Result]

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def insert(graph: MemoryGraph, *texts: str) -> list[str]:
    drafts = [
        Draft(text, "attribute.occupation", NOW + timedelta(days=n)) for n, text in enumerate(texts)
    ]
    return [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]


def noted(text: str, source: str) -> Draft:
    return Draft(text, "attribute.occupation", NOW, source=source, trust=Trust.NOTED)


# ---- the store ------------------------------------------------------------------------------


def test_an_edge_is_found_from_both_of_its_ends_and_kept_once(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
    for probability in (0.3, 0.8):
        edge = ChangeEdge(old, new, ChangeKind.SUPERSEDES, probability)
        graph.change_edges.put([edge], NOW)
    assert graph.change_edges.of([old]) == graph.change_edges.of([new]) == (edge,)


def test_an_edge_of_a_forgotten_memory_counts_no_longer(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.ENDS, 0.9)], NOW)
    graph.apply([Forget(new)], at=NOW)
    assert graph.change_edges.of([old]) == ()


def test_a_dismissed_edge_stays_dismissed(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Bo works at Redford.")
    edge = ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.4)
    graph.change_edges.put([edge], NOW)
    assert graph.change_edges.dismiss(old, new, NOW)
    graph.change_edges.put([edge], NOW)
    assert graph.change_edges.of([old]) == ()
    assert not graph.change_edges.dismiss(old, new, NOW)


def test_a_plan_has_changed_nothing_before_its_day(graph: MemoryGraph):
    (old,) = insert(graph, "I work at Kindling.")
    plan = Draft("I start at Redford on 19 May.", "attribute.occupation", NOW)
    plan = replace(plan, valid_from=NOW + timedelta(days=11))
    (entry,) = graph.apply([Insert(plan)], at=NOW)
    graph.change_edges.put([ChangeEdge(old, entry.memory, ChangeKind.SUPERSEDES, 0.8)], NOW)
    old_one, new_one = memories = graph.memories.of([old, entry.memory])
    assert possibly_newer(memories, graph, least=0.3, by=NOW) == {}
    found = possibly_newer(memories, graph, least=0.3, by=NOW + timedelta(days=11))
    assert found == {old_one.id: (Newer(new_one, ChangeKind.SUPERSEDES, 0.8),)}


# ---- the second reader ----------------------------------------------------------------------


class Doubting:
    """A second reader that gives every change one probability."""

    def __init__(self, chance: float) -> None:
        self.chance = chance
        self.pairs: list[tuple[str, str]] = []

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[float]
    ) -> Probabilities:
        self.pairs += pairs
        return np.full(len(pairs), self.chance, np.float32)


@pytest.mark.parametrize(("chance", "edges"), [(0.05, 0), (0.6, 1)])
def test_the_second_reader_may_take_a_change_away(
    session: Session, monkeypatch: pytest.MonkeyPatch, chance: float, edges: int
):
    second = Doubting(chance)
    monkeypatch.setattr(remember, "second_reader", lambda llm: second)
    old, new = "I work at Kindling.", "I bake at Redford in the mornings."
    session._statements = ScriptedReader(["Redford"])
    remember_all(session, old, new)
    found = session.graph.change_edges.of([m.id for m in session.graph.memories.list()])
    assert [round(edge.probability, 2) for edge in found] == [chance] * edges
    assert second.pairs == [(old, new)]


@pytest.mark.parametrize(
    ("minutes", "relation", "alone", "chance"),
    [
        (3, "corrects", 0.2, 0.67),
        (61, "corrects", 0.2, 0.2),
        (3, "supersedes", 0.2, 0.2),
        (3, "corrects", 0.04, None),  # unlikely even there: no edge
    ],
)
def test_a_correction_is_likelier_in_the_same_conversation(
    session: Session, monkeypatch: pytest.MonkeyPatch,
    minutes: int, relation: str, alone: float, chance: float | None,
):  # fmt: skip
    monkeypatch.setattr(remember, "second_reader", lambda llm: Doubting(alone))
    session._statements = ScriptedReader(["16:40"], relation)
    texts = ("The dentist is on Thursday at 16:20.", "Oh no, I read it wrong, it's 16:40.")
    remember_all(session, *texts, apart=timedelta(minutes=minutes))
    found = session.graph.change_edges.of([m.id for m in session.graph.memories.list()])
    # 8 times the odds of one to four are two to one.
    expected = [] if chance is None else [pytest.approx(chance, abs=0.011)]
    assert [round(edge.probability, 2) for edge in found] == expected


def remember_all(session: Session, *texts: str, apart: timedelta = timedelta(days=1)) -> None:
    """Store each text as a chat message gives it, in its own words."""
    for number, text in enumerate(texts):
        said = NOW + number * apart
        source = session.graph.sources.add(SourceKind.CHAT, text, said)
        draft = Draft(text, "attribute.occupation", said, source=source.id, trust=Trust.TOLD)
        remember.store_drafts([draft], source, session.graph, session, said)


# ---- the command line -----------------------------------------------------------------------


def test_show_tells_possible_changes_and_unlink_takes_them_back(memlane: Memlane, own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
        graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.42)], NOW)
    assert f"{new} may supersede {old} (0.42)" in memlane("memories", "show", old).out
    shown = memlane("memories", "show", new, "--json").json
    assert shown["possible_changes"] == [
        {"older": old, "newer": new, "change": "may_supersede", "probability": 0.42}
    ]
    assert f"{new} does not change {old}" in memlane("memories", "unlink", old, new).out
    assert memlane("memories", "show", old, "--json").json["possible_changes"] == []
    assert "no possible change" in memlane("memories", "unlink", old, new).out
    assert memlane("memories", "unlink", old, "m99").code == 1


# ---- replacements ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old", "allowed"),
    [
        (Trust.TOLD, Trust.TOLD, True),
        (None, None, True),
        (Trust.NOTED, Trust.NOTED, True),
        (Trust.NOTED, Trust.TOLD, False),
        (Trust.SEEN, Trust.TOLD, False),
    ],
)
def test_what_is_read_in_files_replaces_nothing_that_was_told(
    new: Trust | None, old: Trust | None, allowed: bool
):
    (sure,) = judged(ScriptedReader(["Redford"]), [("I work at Kindling.", "I work at Redford.")])
    assert allows(sure, new, old) is allowed


def test_a_replacement_that_the_reader_is_not_sure_of_is_an_insert(graph: MemoryGraph):
    (old,) = insert(graph, "Ruth lives in Flat 3.")
    draft = Draft("Ruth Adeyemi lives in Hackney.", "attribute.occupation", NOW)
    plan = EditPlan((Replace(old, draft),), ())
    assert sure_replacements(plan, graph, ScriptedReader()).edits == (Insert(draft),)
    assert sure_replacements(plan, graph, ScriptedReader(["Hackney"])).edits == plan.edits


def test_what_the_second_reader_takes_for_no_change_replaces_nothing(
    graph: MemoryGraph, settings: Config, embedder: Embedder
):
    models = Session(settings, graph, embedder=embedder, statements=ScriptedReader(["Redford"]))
    (old,) = insert(graph, "I work at Kindling.")
    draft = Draft("I work at Redford.", "attribute.occupation", NOW)
    plan = EditPlan((Replace(old, draft),), ())
    vectors = {draft.text: embedder.encode([draft.text])[0]}

    def judged_by(chance: float) -> EditPlan:
        second = ScriptedSecond(chance)
        return judge_ahead(plan, vectors, graph, models, NOW, Judgements(), second)

    assert judged_by(0.9).edits == plan.edits
    assert judged_by(0.1).edits == (Insert(draft),)


@pytest.mark.parametrize(
    ("locator", "text", "sure", "allowed"),
    [
        ("/Otto.md", "Otto works at Redford.", "", True),  # a newer version of the same file
        ("/b.md", "# Otto\nOtto works at Redford.", "", False),
        ("/b.md", "# Otto\nOtto works at Redford.", "Redford", True),
        ("/Ida.md", "Otto works at Redford.", "Redford", False),
    ],
)
def test_a_file_changes_what_it_said_and_of_others_what_is_sure(
    graph: MemoryGraph, locator: str, text: str, sure: str, allowed: bool
):
    before = graph.sources.add(SourceKind.NOTE, "Otto bakes.", NOW, locator="/Otto.md")
    source = graph.sources.add(SourceKind.NOTE, text, NOW, locator=locator)
    old = noted("Otto bakes.", before.id)
    draft = noted("Otto works at Redford.", source.id)
    (entry,) = graph.apply([Insert(old)], at=NOW)
    may = changeable(graph, ScriptedReader([sure] if sure else []))
    assert may(draft, graph.memories.get(entry.memory)) is allowed


def test_a_note_changes_nothing_that_was_told(graph: MemoryGraph):
    (told,) = insert(graph, "I work at Kindling.")
    source = graph.sources.add(SourceKind.NOTE, "I work at Redford.", NOW, locator="/me.md")
    draft = noted("I work at Redford.", source.id)
    may = changeable(graph, ScriptedReader(["Redford"]))
    assert not may(draft, graph.memories.get(told))


# ---- units ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("ok", ["ok"]),
        (
            "I live in Lyon, by the river. Bo lives in Nice, by the sea.",
            ["I live in Lyon, by the river.", "Bo lives in Nice, by the sea."],
        ),
        ("Finally. I live in Lyon, by the river.", ["Finally. I live in Lyon, by the river."]),
    ],
)
def test_units_are_sentences_and_short_ones_stand_with_their_neighbour(
    text: str, expected: list[str]
):
    found = units(text)
    assert [unit.text for unit in found] == expected
    assert all(unit.text == text[unit.start : unit.end] for unit in found)


@pytest.mark.parametrize(
    ("trust", "holds"), [(Trust.RELAYED, "m1"), (Trust.SEEN, "m1"), (Trust.TOLD, "m2")]
)
def test_what_is_trusted_less_changes_nothing_that_was_told(
    session: Session, trust: Trust, holds: str
):
    for text, origin in (("My number is 1111.", Trust.TOLD), ("My number is 2222.", trust)):
        session.graph.apply([Insert(Draft(text, "attribute.contact", NOW, trust=origin))], at=NOW)
    session.graph.change_edges.put(
        [ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, 0.98)], session.config.now()
    )
    found = session.retrieve("What is my number?")
    notes = gather("What is my number?", found, session, ScriptedReader())
    assert [note.memory.id for note in notes if note.holds] == [holds]


class OutsideTransactions:
    """The real reader, which may not be asked while the write lock is held."""

    def __init__(self, session: Session) -> None:
        assert session.statements is not None
        self._reader, self._graph = session.statements, session.graph
        self.asked = 0

    def __getattr__(self, name: str) -> Callable[..., Probabilities]:
        read: Callable[..., Probabilities] = getattr(self._reader, name)

        def checked(*given: object) -> Probabilities:
            assert not self._graph._rows.db.conn.in_transaction
            self.asked += 1
            return read(*given)

        return checked


def test_no_model_works_while_others_wait_to_write(session: Session, monkeypatch):
    told = [
        "My dentist is Dr Adams.",
        "I live in Utrecht.",
        "My dentist is Dr Brown now, no longer Dr Adams.",
        "I moved to Oslo.",
    ]
    plain = [session.remember(text) for text in told[:2]]
    reader = OutsideTransactions(session)
    monkeypatch.setitem(session.__dict__, "statements", reader)
    for text in told[2:]:
        session.remember(text)
    assert plain and reader.asked
    edges = session.graph.change_edges.of([m.id for m in session.graph.memories.list()])
    assert {edge.older for edge in edges} >= {"m1", "m2"}
