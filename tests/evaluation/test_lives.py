"""The generator of simulated lives: repeatable, and its two banks have nothing in common."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np

from benchmarks.papers.emg_rag.emg_links import judged, over_fixed, scored
from benchmarks.shared.questions.qa_data import simulated
from benchmarks.shared.questions.qa_views import Put
from benchmarks.shared.simulated_lives.lives_links import BANK as LINKED
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.shared.simulated_lives.lives_world import write_life
from policies.base import Question
from policies.baselines.llm_and_oracle import Oracle
from policies.baselines.simple import TopK
from store.tables.taxonomy import SUBCLASSES


def texts(part: object) -> set[str]:
    if isinstance(part, str):
        return {part}
    if isinstance(part, tuple):
        return set().union(*(texts(one) for one in part)) if part else set()
    if is_dataclass(part):
        return set().union(*(texts(getattr(part, f.name)) for f in fields(part)))
    return set()


def test_the_same_seed_writes_the_same_life():
    assert write_life(TRAIN, 3) == write_life(TRAIN, 3)
    assert write_life(TRAIN, 3) != write_life(TRAIN, 4)


def test_the_banks_share_no_sentence():
    shared = texts(TRAIN) & texts(TEST)
    assert {text for text in shared if " " in text} == set()


def test_gold_evidence_was_told_before_it_is_asked_for():
    for bank in (TRAIN, TEST):
        for seed in range(5):
            life = write_life(bank, seed)
            told = {one.key: one.at for one in life.told}
            for asked in life.asked:
                if asked.kind != "chain":
                    assert all(told[key] < asked.at for key in asked.gold)
                assert not asked.right & asked.wrong


def test_at_least_half_of_the_linked_questions_need_two_to_four_memories():
    for seed in range(5):
        needs = [len(a.gold) for a in write_life(LINKED, seed).asked if a.gold and a.kind != "form"]
        several = [n for n in needs if n > 1]
        assert len(several) >= len(needs) / 2
        assert {2, 3, 4} == set(several)


def test_a_links_facts_are_told_before_it_is_asked_and_what_stands_beside_is_not_needed():
    known = {subclass.id for subclass in SUBCLASSES}
    life = write_life(LINKED, 1)
    told = {one.key: one for one in life.told}
    linked = [asked for asked in life.asked if ":" in asked.kind]
    assert {asked.kind.partition(":")[0] for asked in linked} == {
        "people", "event", "count", "comparison",
    }  # fmt: skip
    for asked in linked:
        assert asked.right and "{" not in asked.text
        assert all(told[key].at < asked.at for key in asked.gold)
        assert {told[key].subclass for key in asked.gold} <= known
    needed = {key for asked in life.asked for key in asked.gold}
    beside = [one for one in life.told if one.key not in needed]
    assert len(beside) >= len(LINKED.links)


def test_comparisons_and_counts_are_answered_by_their_facts():
    life = write_life(LINKED, 2)
    told = {one.key: one for one in life.told}
    for asked in life.asked:
        facts = [told[key] for key in asked.gold]
        if asked.kind == "comparison: older":
            (oldest,) = asked.right
            ages = {one.triples[0].head: int(one.triples[0].tail) for one in facts}
            assert ages[oldest] == max(ages.values())
        if asked.kind == "count: debts":
            owed = sum(int(one.triples[0].tail.split()[0]) for one in facts)
            assert asked.right == {str(owed)}


def test_figures_are_told_apart_by_how_many_memories_are_needed():
    life = simulated(LINKED, 0)
    vectors = np.full((len(life.memories), 4), 0.5, np.float32)
    puts = [
        Put(item, life.name, Question(item.text, vectors[0], item.asked),
            life.view(vectors, item.asked), item.required)
        for item in life.items if item.required
    ]  # fmt: skip
    gold = {put.question: put.required or frozenset() for put in puts}
    found = scored(judged(Oracle(lambda question: gold[question]), puts))
    assert [found[f"f1_{n}"] for n in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert found["all_found"] == 1 and found["f1_several"] == 1
    one = scored(judged(TopK(k=1, floor=-1.0), puts))
    assert (one["f1_4"] or 0) <= 0.4 and one["all_found"] == 0


def test_a_walk_is_held_against_the_best_fixed_way_over_several_memories():
    figures = {"top-k@1.f1": 0.8, "top-k@1.f1_several": 0.4, "bm25@3.f1": 0.6,
               "bm25@3.f1_several": 0.5, "walk.f1": 0.8, "walk.f1_several": 0.6}  # fmt: skip
    found = over_fixed(figures)
    assert round(found["walk.over_fixed_several"] or 0, 6) == 1.2
    assert round(found["walk.over_same_k"] or 0, 6) == 1.5
