"""Memory -> subclass, with the real sentence encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agent.extraction.subclass_classifier import Placer
from store.tables.taxonomy import SUBCLASSES, TYPES

SAMPLES = Path(__file__).parents[2] / "benchmarks" / "samples" / "placing_own.jsonl"


@pytest.fixture(scope="module")
def placer(embedder):
    return Placer(SUBCLASSES, embedder)


def test_the_taxonomy_is_whole():
    ids = [subclass.id for subclass in SUBCLASSES]
    assert len(ids) == len(set(ids))
    assert {subclass.type for subclass in SUBCLASSES} == set(TYPES)
    for subclass in SUBCLASSES:
        assert subclass.id.startswith(subclass.type.lower() + ".")
        assert len(subclass.examples) >= 6
        assert len(set(subclass.examples)) == len(subclass.examples)


def test_held_out_sentences_are_no_examples():
    examples = {example for subclass in SUBCLASSES for example in subclass.examples}
    rows = [json.loads(row) for row in SAMPLES.read_text("utf-8").splitlines()]
    assert not examples & {row["text"] for row in rows}
    assert {row["subclass"] for row in rows} == {subclass.id for subclass in SUBCLASSES}


@pytest.mark.parametrize(
    ("text", "subclass"),
    [
        ("My wife's name is Anna.", "relationship.spouse"),
        ("My boss is Mr Tan.", "relationship.colleague_friends"),
        ("I like spicy food.", "preference.diet"),
        ("The EK349 flight departs at 01:40 on 2024-05-12.", "event.arrangement"),
        ("I booked the Crowne Plaza near Central Station.", "event.arrangement"),
        ("The hotel voucher expires on 14 May 2024.", "event.arrangement"),
        ("My birthday is April 2nd.", "attribute.birthday"),
        ("I reside in Jurong West, Singapore.", "attribute.address"),
        ("My phone number is 0171 5550199.", "attribute.contact"),
        ("我叔叔叫刘宇轩。", "relationship.relatives"),
    ],
)
def test_plain_cases(placer, text, subclass):
    assert placer.place([text]) == [subclass]


def test_held_out_accuracy(placer):
    rows = [json.loads(row) for row in SAMPLES.read_text("utf-8").splitlines()]
    placed = placer.place([row["text"] for row in rows])
    right = sum(got == row["subclass"] for got, row in zip(placed, rows, strict=True))
    assert right / len(rows) >= 0.85


def test_no_text_is_no_work(placer):
    assert placer.place([]) == []


def test_an_update_lands_where_the_old_memory_is(placer):
    old = "The EK349 flight departs at 01:40 on 12 May 2024."
    new = "The EK349 departure has been moved to 01:30."
    assert len(set(placer.place([old, new]))) == 1


def test_a_subclass_without_examples_is_possible(embedder):
    from store.types import Subclass

    empty = Subclass("event.empty", "Event", "Empty", False)
    placer = Placer([*SUBCLASSES, empty], embedder)
    assert placer.place(["I like spicy food."]) == ["preference.diet"]
    assert np.isfinite(placer.scores(["x"], embedder.encode(["x"]))).all()
