"""The language model as a reader of notes: what it is asked, and what comes of its states."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from agent.models.readers import note_reader as module
from agent.models.readers.note_reader import (
    LONGEST,
    NoteReader,
    about_notes,
    answered_of,
    note_reader,
    relevance_of,
    scores_of,
    signs,
)
from agent.models.readers.second_reader import mixed
from agent.ports import ChatTurn, Vectors
from tests.conftest import ScriptedModel

MAY = datetime(2024, 5, 1, 9, 0, tzinfo=UTC)
NOTES = [
    (MAY, "I work at Kindling."),
    (MAY + timedelta(days=9), "First week at Redford."),
    (MAY + timedelta(days=3), "The cat sleeps."),
]


class Inside(ScriptedModel):
    """Its state of a line says whether that is the newest note."""

    loaded = True
    identity = "inside:1"

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        raise AssertionError("the notes are read together")

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        self.layer = layer
        lines = turns[-1].content.splitlines()
        return np.array([[line.startswith("1. "), 1.0] for line in lines], np.float32)


def weights(model: str = "inside:1") -> dict[str, Any]:
    return {
        "layer": np.array(7),
        "model": np.str_(model),
        "weight": np.array([4.0, -2.0], np.float32),
        "around": np.zeros(2, np.float32),
        "bias": np.zeros(()),
        "answered": np.array([0.0, 1.0], np.float32),
        "answered_bias": np.zeros(()),
        "mix": np.array([1.0, 0.0, 0.0], np.float32),
        "answered_mix": np.array([1.0, 0.0, 1.0, 0.0], np.float32),
    }


def test_all_notes_are_read_together_the_newest_first():
    assert about_notes("Where do I work?", NOTES)[-1].content == (
        "Question: Where do I work?\nNotes:\n"
        "1. [2024-05-10] First week at Redford.\n"
        "2. [2024-05-04] The cat sleeps.\n"
        "3. [2024-05-01] I work at Kindling.\n"
    )


def test_what_was_asked_last_stands_beside_the_question():
    lines = about_notes("and the rear?", NOTES, "psi up front?")[-1].content.splitlines()
    assert lines[0] == 'Question: and the rear? (asked after "psi up front?")'
    assert len(lines) == 2 + len(NOTES)


def test_a_long_note_is_cut_and_lines_stay_lines():
    lines = about_notes("Where\nam I?", [(MAY, "word\n" * 200)])[-1].content.splitlines()
    assert len(lines) == 3
    assert len(lines[2]) <= LONGEST + 20


def test_probabilities_come_in_the_order_of_the_notes():
    model = Inside()
    read = NoteReader(model, weights()).read("Where do I work?", NOTES, [0.5, 0.2, 0.1])
    assert model.layer == 7
    assert read.relevance == pytest.approx([0.119, 0.881, 0.119], abs=0.001)
    assert len(NoteReader(model, weights()).read("Where do I work?", [], []).relevance) == 0


def test_whether_any_answers_is_a_question_to_both_readers():
    reader = NoteReader(Inside(), weights())
    doubted, sure = (reader.read("Where?", NOTES, [0.1, 0.1, one]).answered for one in (0.1, 0.9))
    assert doubted == pytest.approx(0.232, abs=0.001)
    assert sure == pytest.approx(0.961, abs=0.001)
    assert reader.read("Where?", [], []).answered == 0


def test_a_note_is_read_beside_the_others():
    states = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    own = weights() | {"weight": np.array([1.0, 0.0]), "around": np.array([0.0, 4.0])}
    assert scores_of(states, own) == pytest.approx([3, 2])
    assert relevance_of(states, own) == pytest.approx([0.953, 0.881], abs=0.001)
    assert answered_of(states, [0.5, 0.5], own) == pytest.approx(0.622, abs=0.001)


def test_notes_compete():
    mix = np.array([1.0, -1.0, 0.0], np.float32)
    alone = mixed(signs(np.array([2.0], np.float32)), mix)
    beside = mixed(signs(np.array([2.0, 2.0], np.float32)), mix)
    assert beside[0] < alone[0]


def test_there_is_none_without_states_or_fitting_weights(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_weights", lambda: None)
    assert note_reader(Inside()) is None
    monkeypatch.setattr(module, "_weights", weights)
    assert note_reader(ScriptedModel()) is None
    assert note_reader(Inside()) is not None
    monkeypatch.setattr(module, "_weights", lambda: weights("other:1"))
    assert note_reader(Inside()) is None
