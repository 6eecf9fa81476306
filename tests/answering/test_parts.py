"""A change of one fact of a line says nothing of the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.answering.notes.parts import chances_of_changed_part
from agent.config import Config
from agent.ports import Embedder
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft
from tests.answering.test_notes_read_together import ScriptedNoteReader
from tests.conftest import NOW, ScriptedModel
from tests.support.scripted_readers import ScriptedReader

LINE = "I work at gate two of the hospital, my car is an old grey Skoda, I swim on Tuesdays."
NEWS = "They put me on gate five from Monday, the ambulance side."


def test_the_part_that_changed_is_told_from_the_others(embedder: Embedder):
    pairs = [(LINE, NEWS), ("A grey Skoda.", NEWS)]
    of_gate, single = chances_of_changed_part("Which gate do I work at?", pairs, embedder)
    of_car, _ = chances_of_changed_part("What car do I have?", pairs, embedder)
    assert of_gate > 0.8 and of_car < 0.3 and single == 1


@pytest.mark.parametrize(
    ("question", "said", "told"),
    [
        ("What car do I have?", "You have an old grey Skoda.", "Skoda"),
        ("Which gate do I work at?", "You work at gate five.", "gate five"),
    ],
)
def test_news_about_one_fact_hides_no_other_of_the_line(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path,
    monkeypatch: pytest.MonkeyPatch, question: str, said: str, told: str,
):  # fmt: skip
    later = NOW + timedelta(days=3)
    drafts = [Draft(LINE, "attribute.occupation", NOW), Draft(NEWS, "attribute.occupation", later)]
    graph.apply([Insert(draft) for draft in drafts], at=NOW)
    graph.change_edges.put([ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, 0.9)], later)
    config = replace(settings, home=own_home, fixed_now=later)
    model = ScriptedModel([said])
    session = Session(config, graph, embedder=embedder, llm=model, statements=ScriptedReader())
    reader = ScriptedNoteReader(answered=0.9, Skoda=0.6, ambulance=0.3)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    assert told in session.ask(question).text
    shown = model.asked[-1][-1].content
    assert ("Skoda" in shown) == ("car" in question)
