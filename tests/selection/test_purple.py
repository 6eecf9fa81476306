"""PURPLE: draws, the record encoder, the policy, and its training."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.answering.selection.policy_weights import network_of, numbers, shape, shipped_network
from agent.learning.training import Checkpoint, Plan, digest, train
from agent.models.adapters.torch_gradients import TorchGradients
from policies.base import Episode
from policies.baselines.fusion import activate
from policies.purple import plackett_luce
from policies.purple import purple as purple_module
from policies.purple.purple import Purple
from policies.purple.purple_encoder import SIGNS, Propensities, Records, named
from policies.purple.purple_training import policy_gradient, warm_start
from policies.registry import Tools, make_policy
from policies.training.reinforce import Progress
from store.derived.view import GraphView
from store.errors import InvalidInput, WeightsDamaged
from store.tables.side_tables.training_data import StoredWeights
from tests.conftest import NOW
from tests.selection.test_policies import TOOLS, question, view

WIDTH = 8


def small(
    *, layers: int = 2, cross: bool = True, signs: bool = True, seed: int = 0
) -> Propensities:
    """An encoder of tokens of 8 numbers whose every weight matters."""
    fresh = Propensities.fresh(8, WIDTH, layers, cross=cross, seed=seed)
    noise = np.random.default_rng(seed).normal(0, 0.3, len(fresh.flat))
    return replace(fresh, flat=fresh.flat + noise)


def listed(records: int = 6, tokens: int = 4, seed: int = 0) -> Records:
    rng = np.random.default_rng(seed)
    there = np.ones((records, tokens), np.float32)
    there[1, 2:] = there[2, 1:] = 0
    told = rng.standard_normal((records, tokens, 8)).astype(np.float32) * there[:, :, None]
    asked = rng.standard_normal((3, 8)).astype(np.float32)
    return Records(asked, told, there, rng.standard_normal((records, SIGNS)).astype(np.float32))


def tokens(texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """One token a word, the same for the same word."""
    return [
        np.stack([
            np.random.default_rng(sum(map(ord, word))).standard_normal(8).astype(np.float32)
            for word in (text.split() or [""])
        ])
        for text in texts
    ]  # fmt: skip


def purple(**kinds: bool) -> Purple:
    return Purple(Propensities.fresh(8, WIDTH, 1, **kinds), tokens, k=2, candidates=5)


# ---- draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_probabilities_of_all_profiles_sum_to_one(count: int):
    scores = np.array([0.3, -1.2, 2.0, 0.0, -40.0])
    profiles = itertools.permutations(range(5), count)
    total = sum(np.exp(plackett_luce.log_probability(scores, np.array(p))) for p in profiles)
    assert total == pytest.approx(1.0)


def test_a_profile_is_as_probable_as_the_equation_says_and_as_often_drawn():
    f = np.array([0.9, 0.2, 0.5, 0.05])
    scores = np.log(f)
    for profile in itertools.permutations(range(4), 2):
        one, two = profile
        by_hand = f[one] / f.sum() * f[two] / (f.sum() - f[one])
        found = plackett_luce.log_probability(scores, np.array(profile))
        assert np.exp(found) == pytest.approx(by_hand)
    drawn = plackett_luce.sample(scores, 2, 20_000, np.random.default_rng(0))
    share = (drawn == [2, 0]).all(axis=1).mean()
    assert share == pytest.approx(0.5 / 1.65 * 0.9 / 1.15, abs=0.01)
    assert all(len(set(profile)) == 2 for profile in drawn.tolist())


def test_a_draw_of_more_than_there_is_takes_all():
    assert plackett_luce.sample(np.zeros(3), 5, 4, np.random.default_rng(0)).shape == (4, 3)


def test_the_gradient_of_a_draw_is_that_of_finite_differences():
    scores, profile = np.array([0.3, -1.2, 2.0, 0.0]), np.array([2, 3, 0])
    found = plackett_luce.gradient(scores, profile)
    for place in range(4):
        step = np.eye(4)[place] * 1e-6
        up, down = (plackett_luce.log_probability(scores + s, profile) for s in (step, -step))
        assert found[place] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_rewards_that_are_all_alike_pull_nowhere():
    assert not plackett_luce.z_scores(np.full(4, 3.2)).any()
    assert plackett_luce.z_scores(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]


# ---- the encoder --------------------------------------------------------------------------------


def test_listing_records_in_another_order_only_reorders_their_propensities():
    network, read = small(), listed()
    scores = network.scores(read)
    order = np.random.default_rng(1).permutation(len(scores))
    moved = replace(
        read, tokens=read.tokens[order], there=read.there[order], signs=read.signs[order]
    )
    np.testing.assert_allclose(network.scores(moved), scores[order], atol=1e-5)
    assert (scores < 0).all()  # logarithms of propensities in (0, 1)


def test_what_is_padding_says_nothing():
    network, read = small(), listed()
    padded = replace(
        read,
        tokens=np.concatenate([read.tokens, np.ones_like(read.tokens)], axis=1),
        there=np.concatenate([read.there, np.zeros_like(read.there)], axis=1),
    )
    np.testing.assert_allclose(network.scores(padded), network.scores(read), atol=1e-5)


def test_a_record_is_seen_with_the_question_and_with_the_others_unless_left_out():
    read = listed()
    other_question = replace(read, question=-read.question)
    fewer = Records(read.question, read.tokens[:3], read.there[:3], read.signs[:3])
    whole, no_cross, no_layers = small(), small(cross=False), small(layers=0)
    assert not np.allclose(whole.scores(read), whole.scores(other_question), atol=1e-3)
    assert not np.allclose(whole.scores(read)[:3], whole.scores(fewer), atol=1e-3)
    np.testing.assert_allclose(no_cross.scores(read), no_cross.scores(other_question))
    np.testing.assert_allclose(no_layers.scores(read)[:3], no_layers.scores(fewer), atol=1e-6)


def test_gradients_are_those_of_finite_differences():
    network, read = small(), listed()
    pull = np.array([1.0, -2.0, 0.5, 0.0, 0.3, 0.1])
    found = TorchGradients()(network, read, pull)
    rng = np.random.default_rng(0)
    for _ in range(5):
        way = rng.standard_normal(len(network.flat))
        way /= np.linalg.norm(way)
        up, down = (
            replace(network, flat=network.flat + step * way).scores(read) @ pull
            for step in (1e-2, -1e-2)
        )
        assert found @ way == pytest.approx((up - down) / 2e-2, rel=0.02, abs=2e-3)


def test_an_encoder_of_another_size_is_refused_with_the_remedy(tmp_path: Path):
    with pytest.raises(InvalidInput, match="memlane train"):
        purple().with_network(Propensities.fresh(9, WIDTH, 1))
    with pytest.raises(InvalidInput, match="encoder of 8 numbers"):
        given = view(5)
        replace(purple(), tokens=lambda texts: [np.ones((2, 3), np.float32)] * len(texts)).select(
            question(given), given
        )
    path = tmp_path / "own.npz"
    small().save(path)
    back = Propensities.load(path)
    np.testing.assert_array_equal(back.flat, small().flat)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(WeightsDamaged, match="damaged"):
        Propensities.load(path)


# ---- the policy ---------------------------------------------------------------------------------


def test_untrained_it_ranks_as_the_retriever_does():
    given = view(30)
    asked = question(given)
    expected = [given.memories[c.row].id for c in activate(asked, given, 5)][:2]
    fresh = purple()
    flat = fresh.network.flat.copy()
    named(flat, fresh.network)["score.w"][:] = 0
    chosen = fresh.with_network(replace(fresh.network, flat=flat)).select(asked, given).chosen
    assert [choice.memory.id for choice in chosen] == expected


def test_a_memory_is_read_once_however_often_it_is_a_candidate(monkeypatch: pytest.MonkeyPatch):
    asked_for: list[int] = []

    def counting(texts: Sequence[str]) -> list[NDArray[np.float32]]:
        asked_for.append(len(texts))
        return tokens(texts)

    given = view(5)
    policy = replace(purple(), tokens=counting)
    first = policy.select(question(given), given)
    assert policy.select(question(given), given).chosen == first.chosen
    assert asked_for == [6, 1]
    edited = GraphView((*given.memories[1:], replace(given.memories[0], text="Another text.")),
                       given.vectors, cache=given.cache)  # fmt: skip
    policy.select(question(edited), edited)
    assert asked_for == [6, 1, 2]  # the question and what has changed
    monkeypatch.setattr(purple_module, "KEPT", 2)
    small_shelf = view(5)
    assert policy.select(question(small_shelf), small_shelf).chosen == first.chosen


def test_without_an_encoder_of_tokens_it_says_what_it_lacks():
    given = view(5)
    with pytest.raises(InvalidInput, match="single tokens"):
        make_policy("purple", Tools()).select(question(given), given)
    assert shipped_network("purple") is not None  # it learns all the same


def test_the_trace_tells_the_propensity_and_what_the_retriever_said():
    given = view(12)
    steps = make_policy("purple", TOOLS).select(question(given), given).trace
    assert all(step.probability is not None and 0 < step.probability < 1 for step in steps)
    assert [name for name, _ in steps[0].state] == list(purple_module.SIGN_NAMES)
    chances = [step.probability or 0.0 for step in steps]
    assert chances == sorted(chances, reverse=True)


# ---- training -----------------------------------------------------------------------------------


def episode(seed: int = 0, required: frozenset[str] | None = None) -> Episode:
    given = view(8)
    return Episode(f"e{seed}", question(given, f"Which thing {seed}?"), given, required)


def likes(*wanted: str):
    """Worth of a profile: how many of the wanted it holds, more where they stand first."""

    def value(asked: Episode, selections):
        return [
            sum((m in wanted) * (1.0 - 0.1 * place) for place, m in enumerate(ids))
            for ids in selections
        ]

    return value


def candidates_of(policy: Purple, asked: Episode) -> list[str]:
    return [asked.view.memories[row].id for row in policy.listed(asked.question, asked.view).rows]


def chosen(policy: Purple, asked: Episode) -> list[str]:
    return [c.memory.id for c in policy.select(asked.question, asked.view).chosen]


def test_policy_gradient_finds_the_best_set_of_a_small_bandit():
    policy, asked = purple(signs=False), episode()
    worst_first = candidates_of(policy, asked)[::-1]
    best = worst_first[:2]
    told: list[Progress] = []
    better = policy_gradient(
        policy, [asked], likes(*best), TorchGradients(), count=60, sets=16, rate=0.01,
        on_step=told.append,
    )  # fmt: skip
    assert set(chosen(better, asked)) == set(best)
    assert told[-1].running > told[0].running
    assert told[-1].of == 60


def test_the_warm_start_puts_first_what_is_required():
    policy = purple(signs=False)
    last = candidates_of(policy, episode())[-1]
    asked = episode(required=frozenset({last, "not a candidate"}))
    better = warm_start(policy, [asked], TorchGradients(), count=60, batch=1, rate=0.01)
    assert chosen(better, asked)[0] == last
    with pytest.raises(InvalidInput, match="require"):
        warm_start(policy, [episode()], TorchGradients(), count=1)


class Stop(Exception):
    """Stands for Ctrl-C."""


@pytest.mark.parametrize("stop_at", [("warm start", 3), ("policy gradient", 2)])
def test_a_training_goes_on_where_it_stopped_and_gives_the_same(
    tmp_path: Path, stop_at: tuple[str, int]
):
    policy = purple()
    wanted = candidates_of(policy, episode())[-1]
    episodes = [episode(n, frozenset({wanted})) for n in range(3)]
    plan = Plan("purple", warm_start=5, episodes=4, seed=1)
    keys = [one.key for one in episodes]
    whole = train(policy, episodes, likes(wanted), plan)

    def stop(phase: str, progress: Progress) -> None:
        if (phase, progress.step) == stop_at:
            raise Stop

    checkpoint = Checkpoint(tmp_path, "purple")
    with pytest.raises(Stop):
        train(policy, episodes, likes(wanted), plan, checkpoint=checkpoint, keys=keys, on_step=stop)
    assert checkpoint.keys(plan) == tuple(keys)
    steps: list[tuple[str, int]] = []
    resumed = train(
        policy, episodes, likes(wanted), plan, checkpoint=checkpoint, keys=keys,
        on_step=lambda phase, progress: steps.append((phase, progress.step)),
    )  # fmt: skip
    assert steps[0] == (stop_at[0], stop_at[1] + 1)
    assert digest(resumed) == digest(whole) != digest(policy)


def test_weights_come_back_from_a_home_as_they_were():
    network = small()
    kept = StoredWeights(
        "purple", 1, NOW, "train", shape(network), numbers(network), "kept", 0.0, 0.1, 0
    )
    np.testing.assert_array_equal(network_of(kept, small(seed=3)).flat, network.flat)
