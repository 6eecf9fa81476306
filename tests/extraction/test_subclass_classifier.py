"""Memory -> subclass, with the real sentence encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agent.extraction import subclass_classifier
from agent.extraction.subclass_classifier import EXAMPLES, Placer
from agent.ports import Embedder, Vectors
from benchmarks.training.subclass_vectors import save_examples
from policies.weight_file import read_arrays
from store.tables.taxonomy import SUBCLASSES, TYPES
from store.types import Subclass

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
    empty = Subclass("event.empty", "Event", "Empty", False)
    placer = Placer([*SUBCLASSES, empty], embedder)
    assert placer.place(["I like spicy food."]) == ["preference.diet"]
    assert np.isfinite(placer.scores(["x"], embedder.encode(["x"]))).all()


def test_the_shipped_vectors_are_those_of_the_examples(embedder, tmp_path):
    made = tmp_path / "made.npz"
    save_examples(SUBCLASSES, embedder, made)
    new, shipped = read_arrays(made), read_arrays(EXAMPLES)
    again = "make them again: python -m benchmarks.subclass_vectors"
    assert shipped["hashes"].tolist() == new["hashes"].tolist(), again
    assert str(shipped["encoder"]) == embedder.identity, again
    np.testing.assert_allclose(shipped["vectors"], new["vectors"], atol=1e-4, err_msg=again)


class Counting:
    """The encoder, with what it is asked."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.identity, self.dimension = embedder.identity, embedder.dimension
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self._embedder.encode(texts)


def test_only_examples_of_the_users_own_are_encoded(embedder, monkeypatch, tmp_path):
    monkeypatch.setattr(subclass_classifier, "_known", {})
    own = Subclass("event.bees", "Event", "Bees", False, ("The bees swarmed.", "I fed the bees."))
    counting = Counting(embedder)
    assert Placer([*SUBCLASSES, own], counting).place(["My bees are calm."]) == ["event.bees"]
    assert counting.asked == ["The bees swarmed.", "I fed the bees.", "My bees are calm."]


def test_a_damaged_file_of_vectors_costs_time_only(embedder, monkeypatch, tmp_path):
    monkeypatch.setattr(subclass_classifier, "_known", {})
    cut = tmp_path / "cut.npz"
    cut.write_bytes(EXAMPLES.read_bytes()[:1000])
    monkeypatch.setattr(subclass_classifier, "EXAMPLES", cut)
    assert Placer(SUBCLASSES, embedder).place(["I like spicy food."]) == ["preference.diet"]
