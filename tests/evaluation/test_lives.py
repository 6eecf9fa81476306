"""The generator of simulated lives: repeatable, and its two banks have nothing in common."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.shared.simulated_lives.lives_world import write_life


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
