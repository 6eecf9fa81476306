"""What the shipped policies learn from hangs together as it says."""

from __future__ import annotations

import random

import pytest

from benchmarks.training.selection.pretrain_bundles import STORIES, write_bundles
from benchmarks.training.selection.pretrain_crowd import write_crowd
from benchmarks.training.selection.pretrain_ledger import MOST_LISTED, write_ledger
from benchmarks.training.selection.pretrain_worlds import write_worlds

SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_links_of_a_bundle_lead_from_the_question_to_its_answer(seed: int):
    facts, queries = write_bundles(random.Random(seed))
    assert queries
    for query in queries:
        edges = [facts[number].edge for number in sorted(query.needs)]
        assert edges[-1][2] == query.answer
        ends = {end for head, _, tail in edges[:-1] for end in (head, tail)}
        assert not ends or {edges[-1][0], edges[-1][2]} & ends


def test_every_story_needs_what_it_tells():
    for story in STORIES:
        needed = {link for _, needs in story.ask for link in needs}
        assert needed == set(range(len(story.links)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_of_a_ledger_is_the_only_one_that_is_asked_for(seed: int):
    facts, queries = write_ledger(random.Random(seed))
    assert len({fact.text for fact in facts}) == len(facts)
    for query in queries:
        assert 1 <= len(query.needs) <= MOST_LISTED
        if query.answer:
            (number,) = query.needs
            assert query.answer in facts[number].text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_of_a_crowd_is_the_only_one_that_is_asked_for(seed: int):
    facts, queries = write_crowd(random.Random(seed))
    assert len({fact.text for fact in facts}) == len(facts) >= 100
    assert queries
    assert len({query.text for query in queries}) == len(queries)
    for query in queries:
        (number,) = query.needs
        assert query.answer == facts[number].edge[2]


def test_the_same_seed_writes_the_same_worlds():
    assert write_worlds(3, 11) == write_worlds(3, 11)
    assert write_worlds(3, 11) != write_worlds(4, 11)
