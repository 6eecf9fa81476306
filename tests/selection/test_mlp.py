"""The network: right gradients, Adam that descends, and files that say what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from policies.training.mlp import Adam, Mlp
from store.errors import InvalidInput, WeightsDamaged


@pytest.fixture
def network() -> Mlp:
    return Mlp.fresh(4, hidden=6, seed=3)


def batch(rng: np.random.Generator, network: Mlp, count: int = 9):
    states = rng.normal(size=(count, network.inputs))
    return states, rng.integers(0, network.outputs, count)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_agree_with_finite_differences(network: Mlp, weighted: bool):
    rng = np.random.default_rng(0)
    states, actions = batch(rng, network)
    weights = rng.normal(size=len(states)) if weighted else None
    _, gradient = network.loss_and_gradient(states, actions, weights)
    step = 1e-6
    for place in range(network.size):
        nudge = np.zeros(network.size)
        nudge[place] = step
        above, below = (
            Mlp(4, 6, 2, network.flat + sign * nudge).loss_and_gradient(states, actions, weights)[0]
            for sign in (1, -1)
        )
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-7)


def test_the_papers_network_has_20_units_and_two_outputs():
    network = Mlp.fresh(3)
    first, bias, second, out = network.layers
    assert (first.shape, bias.shape, second.shape, out.shape) == ((3, 20), (20,), (20, 2), (2,))
    assert network.size == len(network.flat) == 122


def test_probabilities_sum_to_one_even_where_logits_are_huge(network: Mlp):
    chances = network.probabilities(np.full((1, 4), 1e6))
    assert chances.sum() == pytest.approx(1.0)


def test_adam_learns_what_separates_two_classes(network: Mlp):
    rng = np.random.default_rng(1)
    states = rng.normal(size=(200, 4))
    actions = (states[:, 0] * states[:, 1] > 0).astype(np.int64)  # no line separates these
    adam = Adam.fresh(network)
    for _ in range(400):
        _, gradient = network.loss_and_gradient(states, actions)
        network, adam = adam.step(network, gradient, 0.02)
    hits = network.probabilities(states).argmax(axis=1) == actions
    assert hits.mean() > 0.95


def test_adams_first_step_is_the_rate_against_the_sign_of_the_gradient(network: Mlp):
    gradient = np.where(np.arange(network.size) % 2, 0.3, -7.0)
    moved, after = Adam.fresh(network).step(network, gradient, 0.001)
    np.testing.assert_allclose(moved.flat - network.flat, -0.001 * np.sign(gradient), atol=1e-9)
    assert after.count == 1


def test_nothing_to_learn_from_changes_nothing(network: Mlp):
    loss, gradient = network.loss_and_gradient(np.zeros((0, 4)), np.zeros(0, np.int64))
    assert loss == 0.0
    assert not gradient.any()


def test_a_saved_network_comes_back_bit_for_bit(network: Mlp, tmp_path: Path):
    path = tmp_path / "weights.npz"
    network.save(path)
    back = Mlp.load(path, inputs=4)
    assert (back.inputs, back.hidden, back.outputs) == (4, 6, 2)
    assert back.flat.tobytes() == network.flat.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["weights.npz"]


def test_missing_damaged_and_wrong_shaped_files_are_refused_in_one_line(
    network: Mlp, tmp_path: Path
):
    path = tmp_path / "weights.npz"
    with pytest.raises(WeightsDamaged, match="no weights at"):
        Mlp.load(path)
    network.save(path)
    with pytest.raises(InvalidInput, match=r"states of 4 numbers.*have 3.*memlane train"):
        Mlp.load(path, inputs=3)
    whole = path.read_bytes()
    np.savez(tmp_path / "short.npz", shape=np.array([4, 6, 2]), flat=np.zeros(5))
    np.savez(tmp_path / "nan.npz", shape=np.array([1, 1, 1]), flat=np.full(4, np.nan))
    np.savez(tmp_path / "two.npz", shape=np.array([4, 6]), flat=np.zeros(5))
    np.savez(tmp_path / "pickle.npz", shape=np.array([object()]), flat=np.zeros(5))
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_text("weights")
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "flipped.npz").write_bytes(whole.replace(b"NUMPY", b"NUMPX"))
    for name in ("short", "nan", "two", "pickle", "empty", "text", "cut", "flipped"):
        with pytest.raises(WeightsDamaged, match="damaged") as caught:
            Mlp.load(tmp_path / f"{name}.npz")
        assert "\n" not in str(caught.value)
