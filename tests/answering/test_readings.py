"""Of what a question says and what it may mean in its conversation, memory decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.config import Config
from agent.models.readers.note_reader import DatedNote, NoteProbabilities
from agent.models.timing import Stopwatch
from agent.ports import Embedder
from agent.results import Exchange, Route
from agent.session.respond import answer_message
from agent.session.session import Session
from store.graph import MemoryGraph
from tests.conftest import NOW, ScriptedModel
from tests.support.scripted_readers import ScriptedReader

SAID = "When is it that the library opens?"
MEANT = "When is the kayak that the library opens?"


class ByQuestion:
    """A reader of notes that finds the answer to some questions only."""

    def __init__(self, answered: Mapping[str, float]) -> None:
        self.answered = answered

    def read(
        self, question: str, notes: Sequence[DatedNote], first: Sequence[float]
    ) -> NoteProbabilities:
        likely = self.answered[question]
        return NoteProbabilities(np.full(len(notes), likely, np.float32), likely)


@pytest.mark.parametrize(
    ("said", "meant", "read_as"),
    [
        (0.9, 0.6, ""),  # memory answers it as it was said
        (0.6, 0.9, MEANT),
        (0.0, 0.0, MEANT),
    ],
)
def test_the_reading_that_memory_answers_more_surely_is_taken(
    said: float,
    meant: float,
    read_as: str,
    graph: MemoryGraph,
    settings: Config,
    embedder: Embedder,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    config = replace(settings, home=own_home, fixed_now=NOW)
    model = ScriptedModel(["It opens at nine."])
    session = Session(config, graph, embedder=embedder, llm=model, statements=ScriptedReader())
    session.remember("The library opens at nine.")
    reader = ByQuestion({SAID: said, MEANT: meant})
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    context = [Exchange("I bought the kayak.", "I bought the kayak.")]
    reply = answer_message(session, SAID, Route.RETRIEVE, Stopwatch(), context=context)
    assert reply.read_as == read_as
    assert not reply.memories or (read_as or SAID) in model.asked[-1][-1].content
