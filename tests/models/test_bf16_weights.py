"""The bfloat16 copy of a small model: the same model, made once, and never in the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent.models.adapters.llama import bf16_weights
from agent.models.adapters.llama.bf16_weights import unpacked
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.registry import ModelRegistry

PROMPT = "User: Which is the capital of France?\nAssistant:"
SAID = " The capital of France is Paris."


@pytest.fixture
def helpful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bf16_weights, "helps", lambda: True)


def test_the_copy_is_the_same_model_to_within_rounding(helpful: None, tmp_path: Path) -> None:
    small_gguf = ModelRegistry(tmp_path).resolve_llm("smollm2-135m")
    copy = unpacked(small_gguf, tmp_path, "a" * 64)
    assert copy != small_gguf
    with LlamaRewards(small_gguf, identity="file", n_threads=2) as file:
        expected = file.log_likelihood([PROMPT], [SAID])[0]
    with LlamaRewards(copy, identity="copy", n_threads=2) as model:
        found = model.log_likelihood([PROMPT], [SAID])[0]
    # Activations beside quantized weights are rounded to 8 bits, which alone moves this much.
    assert np.abs(found - expected).mean() < 0.15
    made = copy.stat().st_mtime_ns
    assert unpacked(small_gguf, tmp_path, "a" * 64) == copy
    assert copy.stat().st_mtime_ns == made
    whole = copy.read_bytes()
    copy.write_bytes(whole[: len(whole) // 2])
    assert unpacked(small_gguf, tmp_path, "a" * 64) == copy
    assert copy.read_bytes() == whole  # made again


def test_what_cannot_be_converted_is_used_as_it_is(helpful: None, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    assert unpacked(broken, tmp_path / "copies", "b" * 64) == broken
    assert not list((tmp_path / "copies").glob("*.half"))


def test_a_file_that_is_not_there_is_left_to_the_loader(helpful: None, tmp_path: Path) -> None:
    missing = tmp_path / "missing.gguf"
    assert unpacked(missing, tmp_path / "copies", "c" * 64) == missing


def test_no_copy_where_there_is_no_room_for_one(helpful: None, tmp_path: Path) -> None:
    blocked = tmp_path / "copies"
    blocked.write_text("a file where the folder should be")
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    assert unpacked(model, blocked, "d" * 64) == model


def test_large_models_are_left_alone(
    helpful: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bf16_weights, "LARGEST", 3)
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    assert unpacked(model, tmp_path / "copies", "e" * 64) == model
