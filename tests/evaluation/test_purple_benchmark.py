"""How PURPLE is measured: who is learned from is never measured; baselines are what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers.purple.purple_learning import Lesson, learn, pool, wins
from benchmarks.papers.purple.purple_outcomes import (
    Measured,
    Outcome,
    chosen,
    outcome,
    summary,
    verdicts,
)
from benchmarks.papers.purple.purple_selectors import ORDERS, STRIDE, averaged, switched
from benchmarks.papers.purple.purple_tasks import Case, cases, folds
from policies.purple.purple_encoder import Propensities
from policies.scoring.ranking import best
from tests.selection.test_purple import episode, purple


def case(key: str, group: str, *, options: int = 4, right: int = 1) -> Case:
    asked = replace(episode(), key=key)
    texts = tuple(f" option {n}" for n in range(options))
    return Case(key, "prefer", group, asked, "About me:", "User: What?\nAssistant:", texts, right)


def scores(*means: float) -> list[np.ndarray]:
    return [np.full(2, mean) for mean in means]


def test_every_question_is_measured_once_and_never_by_who_saw_its_group():
    asked = [case(f"{group}{n}", group) for group in "abcdefg" for n in range(3)]
    measured: list[str] = []
    for learned, held in folds(asked, 3):
        assert not {c.group for c in learned} & {c.group for c in held}
        assert len(learned) + len(held) == len(asked)
        measured += [c.key for c in held]
    assert sorted(measured) == sorted(c.key for c in asked)


def test_further_questions_are_learned_from_but_where_their_group_is_measured():
    asked = [case(group, group) for group in "abcdef"]
    more = [case("a2", "a"), case("z", "z")]
    seen = {held[0].group: {c.key for c in learned} for learned, held in folds(asked, 6, more)}
    assert all("z" in keys for keys in seen.values())
    assert {group for group, keys in seen.items() if "a2" in keys} == set("bcdef")
    assert [len(held) for _, held in folds(asked, 6, more)] == [1] * 6


def test_a_question_with_one_answer_to_choose_is_not_asked(tmp_path: Path):
    """Such a row came as free text: its log-probability was taken for an accuracy."""
    folder = tmp_path / "opinionqa_slice"
    folder.mkdir()
    bank = [{"qid": f"q{n}", "question": f"Is it {n}?", "choice": ["yes", "no"][: 1 + (n > 2)]}
            for n in range(30)]  # fmt: skip
    (folder / "question_bank_with_distributions.json").write_text(json.dumps(bank))
    people = [{"user_id": n, "answers": [[row["qid"], 0] for row in bank]} for n in range(9)]
    (folder / "user_answers.jsonl").write_text("".join(json.dumps(p) + "\n" for p in people))

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 4), np.float32) / 2

    asked = cases("survey", tmp_path, 9, encode, 0)
    assert len(asked) == 9 and {len(c.options) for c in asked} == {2}


def test_the_prompt_keeps_the_order_of_the_chosen_and_without_any_only_asks():
    asked = case("a", "g")
    ids = [asked.episode.view.memories[row].id for row in (3, 1)]
    lines = asked.prompt(ids).splitlines()
    assert lines[0] == "About me:"
    assert [line.rstrip(".").split()[-1] for line in lines[1:3]] == ["3", "1"]
    assert asked.prompt([]) == "User: What?\nAssistant:"


def test_quality_is_accuracy_or_minus_the_error_or_the_likelihood_of_free_text():
    choice = case("a", "g")
    assert outcome(choice, scores(-2, -1, -3, -3)) == Outcome(1.0, -2.0)
    assert outcome(choice, scores(-1, -2, -3, -3)).quality == 0.0
    rating = replace(choice, values=(1.0, 2.0, 3.0, 4.0))
    assert outcome(rating, scores(0, 0, 0, 0)).quality == pytest.approx(-0.5)
    free = replace(choice, options=(" Oslo",), right=0)
    assert outcome(free, scores(-1.5)) == Outcome(-1.5, -3.0)
    assert chosen(choice, scores(0, 0, 0, 0)) == pytest.approx(np.log(0.25))


def test_one_record_at_a_time_is_switched_or_mixed_token_by_token():
    alone = [np.log(np.full(6, p)) for p in (0.2, 0.4)]
    assert np.exp(switched(alone)).round(3).tolist() == [0.2] * STRIDE + [0.4] * 2
    even = averaged(alone, np.array([0.5, 0.5]))
    assert np.exp(even).round(3).tolist() == [0.3] * 6
    nearer = averaged(alone, np.array([0.9, 0.1]))
    assert np.exp(nearer[0]) == pytest.approx(0.2, abs=0.01)


def test_baselines_order_the_same_candidates():
    asked = case("a", "g")
    listed = purple().listed(asked.episode.question, asked.episode.view)
    for order in ORDERS.values():
        assert sorted(order(asked, listed)) == list(range(len(listed.rows)))
    nearest = ORDERS["dense"](asked, listed)[0]
    assert listed.records.signs[nearest, 1] == listed.records.signs[:, 1].max()


def test_a_pool_teaches_what_its_rewards_say():
    policy = purple(signs=False)
    episodes = [episode(n) for n in range(4)]
    lists = [policy.listed(e.question, e.view) for e in episodes]
    pools = [pool(one, policy.network, 2, 12, seed) for seed, one in enumerate(lists)]
    assert all(len({tuple(p) for p in own.profiles.tolist()}) == 12 for own in pools)
    row = lists[0].rows[-1]
    worth = [
        np.array([float(row in [one.rows[p] for p in profile]) for profile in own.profiles])
        for one, own in zip(lists, pools, strict=True)
    ]
    better = learn(Lesson(policy.network, pools, worth, epochs=60))

    def share(network: Propensities) -> float:
        firsts = [one.rows[best(network.scores(one.records), 1)[0]] for one in lists]
        return float(np.mean([first == row for first in firsts]))

    assert share(better) == 1.0 > share(policy.network)
    # What pays is kept, and what costs is not.
    assert wins(policy.network, better, pools, worth)
    assert not wins(policy.network, better, pools, [-own for own in worth])


def test_verdicts_count_tasks_that_beat_every_baseline():
    def fold(purple_quality: float, dense: float) -> Measured:
        by_name = {"purple": purple_quality, "dense": dense, "bm25": 0.1}
        return Measured(
            {n: {"q": Outcome(q, 0.0), "p": Outcome(q, 0.0)} for n, q in by_name.items()}
        )

    won = {f"survey.{k}": v for k, v in summary([fold(0.6, 0.5), fold(0.7, 0.5)]).items()}
    lost = {f"rating.{k}": v for k, v in summary([fold(0.3, 0.5), fold(0.3, 0.5)]).items()}
    assert won["survey.dense.gap"] == pytest.approx(0.15)
    found = verdicts(won | lost, ["survey", "rating"])
    assert (found["tasks_won"], found["tasks"]) == (1, 2)
    assert found["sets_below_dense_by_more_than_the_spread"] == 1
