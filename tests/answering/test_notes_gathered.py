"""Notes that are gathered for a question: what may have changed one comes along."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.answering.notes.candidates import candidates
from agent.answering.notes.gather import gather
from agent.config import Config
from agent.ports import Embedder
from agent.session.session import Session
from policies.selection import Choice, Selection
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, Status
from tests.conftest import ScriptedModel
from tests.memory.test_change_edges import NOW, insert
from tests.support.scripted_readers import ScriptedReader


def a_month_later(graph: MemoryGraph, settings: Config, embedder: Embedder, home: Path) -> Session:
    config = replace(settings, home=home, fixed_now=NOW + timedelta(days=30))
    return Session(config, graph, embedder=embedder, statements=ScriptedReader())


@pytest.mark.parametrize(
    ("question", "planned", "timeline"),
    [
        ("Where do I sing tomorrow?", False, False),
        ("Where did I sing yesterday?", False, True),
        # What is planned has times of its own, which the timeline knows.
        ("Where do I sing tomorrow?", True, True),
    ],
)
def test_what_probably_changed_is_no_answer_to_a_question_about_a_time_ahead(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path,
    question: str, planned: bool, timeline: bool,
):  # fmt: skip
    model = ScriptedModel(["You sing."])
    session = Session(
        replace(settings, home=own_home, fixed_now=NOW + timedelta(days=30)), graph,
        embedder=embedder, llm=model, statements=ScriptedReader(),
    )  # fmt: skip
    start = NOW + timedelta(days=40) if planned else None
    drafts = [
        Draft("I sing at Kindling.", "attribute.occupation", NOW),
        Draft("I sing at Redford.", "attribute.occupation", NOW, valid_from=start),
    ]
    old, new = [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.7)], NOW)
    session.ask(question)
    shown = model.asked[-1][-1].content
    assert shown.startswith("Notes:") is timeline
    assert timeline or "Kindling" not in shown


@pytest.mark.parametrize(("day", "changed"), [(35, False), (60, True)])
def test_a_plan_changes_what_holds_from_its_own_day_on(
    graph: MemoryGraph,
    settings: Config,
    embedder: Embedder,
    own_home: Path,
    day: int,
    changed: bool,
):
    model = ScriptedModel(["You sing."])
    config = replace(settings, home=own_home, fixed_now=NOW + timedelta(days=30))
    reader = ScriptedReader()
    session = Session(config, graph, embedder=embedder, llm=model, statements=reader)
    drafts = [
        Draft("I sing at Kindling.", "attribute.occupation", NOW),
        Draft(
            "I sing at Redford.", "attribute.occupation", NOW, valid_from=NOW + timedelta(days=40)
        ),
    ]
    old, new = [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.7)], NOW)
    session.ask(f"Where do I sing on {NOW + timedelta(days=day):%-d %B %Y}?")
    assert ("Kindling" not in model.asked[-1][-1].content) is changed


def test_a_newer_memory_comes_along_with_the_older_one_that_was_selected(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path
):
    config = replace(settings, home=own_home, fixed_now=NOW + timedelta(days=30))
    reader = ScriptedReader()
    session = Session(config, graph, embedder=embedder, statements=reader)
    old, *_, new = insert(
        graph,
        "I work at Kindling.",
        *(f"Fact {n} of many." for n in range(20)),
        "Week one at Redford.",
    )
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.7)], NOW)
    found = session.retrieve("Where do I work?", k=1, use_llm=False)
    taken = gather("Where do I work?", found, session, reader, use_llm=False)
    notes = {note.memory.id: note for note in taken}
    assert not notes[old].holds and notes[new].holds


def test_what_is_over_does_not_come_along(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path
):
    session = a_month_later(graph, settings, embedder, own_home)
    drafts = [
        Draft("The dinner is at Vela.", "attribute.occupation", NOW),
        Draft("The voucher is valid until 9 May.", "attribute.occupation", NOW,
              valid_until=NOW + timedelta(days=1)),
    ]  # fmt: skip
    old, over = [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]
    graph.change_edges.put([ChangeEdge(old, over, ChangeKind.ADDS, 0.7)], NOW)
    found = session.retrieve("Where is the dinner?", k=1, use_llm=False)
    notes = gather("Where is the dinner?", found, session, ScriptedReader(), use_llm=False)
    assert [note.memory.id for note in notes] == [old]


def test_a_line_of_a_note_brings_the_lines_of_its_section(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path, tmp_path: Path
):
    config = replace(settings, home=own_home, fixed_now=NOW)
    session = Session(config, graph, embedder=embedder, statements=ScriptedReader())
    note = tmp_path / "clinic.md"
    note.write_text(
        "# Blood test\n\nWhen: Thursday 23 May 2024, 08:50\nRoom: 14, second floor\n\n"
        "# Garden\n\nThe shed needs paint.\n"
    )
    list(session.ingest([note]))
    (line,) = (m for m in graph.memories.list() if "When" in m.text)
    found = replace(
        session.retrieve("When is my blood test?", use_llm=False),
        selection=Selection("top-k", (Choice(line, 0.9),), ()),
    )
    pool = candidates("When is my blood test?", found, session, past=False, ended=False)
    beside = [pool.memories[name].text for name in pool.around[line.id]]
    assert len(beside) == 1 and "14, second floor" in beside[0]


@pytest.mark.parametrize(("probability", "counts"), [(0.7, True), (0.3, False)])
def test_what_probably_changed_is_what_was_before(
    graph: MemoryGraph,
    settings: Config,
    embedder: Embedder,
    own_home: Path,
    probability: float,
    counts: bool,
):
    session = a_month_later(graph, settings, embedder, own_home)
    drafts = [
        Draft("I sing at Kindling.", "attribute.occupation", NOW),
        Draft("I sing at Redford.", "attribute.occupation", NOW + timedelta(days=9)),
    ]
    old, new = [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, probability)], NOW)

    found = session.retrieve("Where did I sing before?", use_llm=False).selection.chosen
    assert ({choice.memory.id for choice in found} == {old}) is counts
    assert graph.memories.get(old).status is Status.CURRENT
