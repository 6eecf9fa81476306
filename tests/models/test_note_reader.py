"""The language model as a reader of notes: what it is asked, and what comes of its states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from agent.models import note_reader as module
from agent.models.note_reader import (
    LONGEST,
    NoteReader,
    about_notes,
    answered_of,
    both,
    note_reader,
    relevance_of,
    scores_of,
    signs,
)
from agent.models.second_reader import mixed
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
        "weight": np.array([[4.0, -2.0], [0.0, 0.0], [0.0, 0.0]], np.float32),
        "around": np.zeros((3, 2), np.float32),
        "bias": np.zeros(3),
        "much": np.zeros(2, np.float32),
        "much_bias": np.array(50.0),
        "answered": np.array([0.0, 1.0], np.float32),
        "answered_bias": np.zeros(()),
        "mix": np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], np.float32),
        "answered_mix": np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 5.0]], np.float32),
    }


def test_all_notes_are_read_together_the_newest_first():
    assert about_notes("Where do I work?", NOTES)[-1].content == (
        "Question: Where do I work?\nNotes:\n"
        "1. [2024-05-10] First week at Redford.\n"
        "2. [2024-05-04] The cat sleeps.\n"
        "3. [2024-05-01] I work at Kindling.\n"
    )


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


MUCH, LITTLE, BETWEEN = ({"much_bias": np.array(bias)} for bias in (50.0, -50.0, 0.0))


def test_homes_of_much_and_of_little_are_read_by_weights_of_their_own():
    states = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    rows = np.array([[1.0, 0.0], [30.0, 1.0], [0.0, 2.0]], np.float32)
    own = weights() | {"weight": rows}
    assert scores_of(states, own | MUCH) == pytest.approx([1, 0])
    assert scores_of(states, own | LITTLE) == pytest.approx([0, both_of(1, 2)], abs=1e-5)
    assert scores_of(states, own | BETWEEN) == pytest.approx([0.5, both_of(1, 2) / 2], abs=1e-5)
    assert relevance_of(states, own | MUCH) == pytest.approx([0.731, 0.5], abs=0.001)
    assert relevance_of(states, own | LITTLE)[0] == pytest.approx(0.5)
    assert answered_of(states, [0.5, 0.5], own | LITTLE) == pytest.approx(0.993, abs=0.001)


def both_of(one: float, other: float) -> float:
    """The log-odds of two probabilities multiplied, written out."""
    chance = 1 / (1 + math.exp(-one)) / (1 + math.exp(-other))
    return math.log(chance / (1 - chance))


def test_what_is_about_it_and_holds_needs_both():
    one, other = np.array([3.0, 3.0, -3.0]), np.array([3.0, -3.0, -3.0])
    assert both(one, other) == pytest.approx(
        [both_of(*pair) for pair in zip(one, other, strict=True)]
    )


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
