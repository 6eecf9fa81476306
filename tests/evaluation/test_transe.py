"""TransE learns true triples, never corrupts to a true one, and places by them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.emg_rag.transe import TransE, TransEConfig, _Run
from benchmarks.papers.emg_rag.transe_classifier import Translations
from store.tables.taxonomy import SUBCLASSES
from store.types import Triple

CITIES = ("Oslo", "Porto", "Ghent", "Turin")
TRUE = [
    *((f"person {i}", "lives_in", city) for i, city in enumerate(CITIES * 3)),
    *((city, "is_a", "city") for city in CITIES),
    *((f"person {i}", "is_a", "person") for i in range(12)),
]


@pytest.mark.parametrize("norm", [1, 2])
def test_true_tails_come_nearest(norm):
    model = TransE.train(TRUE, TransEConfig(norm=norm))
    names = list(model.entities)
    hits = [
        sum(model.distances(head, relation, names) < model.distances(head, relation, [tail])) == 0
        for head, relation, tail in TRUE
    ]
    assert sum(hits) >= 0.9 * len(TRUE)
    assert model.losses[-1] < 0.3 * model.losses[0]


def test_same_seed_same_vectors_and_entities_of_unit_length():
    one, two, other = (TransE.train(TRUE, TransEConfig(epochs=5, seed=s)) for s in (0, 0, 1))
    assert np.array_equal(one.entity_vectors, two.entity_vectors)
    assert not np.array_equal(one.entity_vectors, other.entity_vectors)
    assert np.allclose(np.linalg.norm(one.entity_vectors, axis=1), 1, atol=1e-5)


def test_negatives_are_never_true():
    # Four entities and one relation, where most triples are true.
    true = np.array([(h, 0, t) for h in range(4) for t in range(4) if (h, t) != (0, 3)])
    run = _Run(true, 4, 1, TransEConfig())
    told = {tuple(row) for row in true.tolist()}
    for _ in range(20):
        false, valid = run._corrupted(np.repeat(true, 4, axis=0))
        assert not any(tuple(row) in told for row in false[valid].tolist())
    assert not valid.all()  # where no false triple is in reach, none is made up


def test_nothing_to_learn_from_is_no_error():
    model = TransE.train([])
    assert model.entity_vectors.shape[0] == 0
    with pytest.raises(KeyError):
        model.distances("me", "likes", ["tea"])


def test_relations_place_unless_there_are_too_few_triples():
    placed = [
        ((Triple("me", "favourite_cuisine", food),), "preference.diet")
        for food in ("ramen", "paella", "goulash", "laksa")
    ] + [
        ((Triple("me", "works_as", job),), "attribute.occupation")
        for job in ("nurse", "baker", "pilot", "vet")
    ]
    known = {subclass.id for subclass in SUBCLASSES}
    placed = [(t, s if s in known else "preference.other") for t, s in placed]
    translations = Translations(SUBCLASSES, placed)
    scores = translations.scores(
        [
            (Triple("me", "works_as", "tailor"),),
            (Triple("me", "never heard of", "something"),),
            (),
        ]
    )
    ids = [subclass.id for subclass in SUBCLASSES]
    assert ids[int(scores[0].argmax())] == "attribute.occupation"
    assert np.isnan(scores[1:]).all()
