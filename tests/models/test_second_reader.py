"""The language model as a second reader: hidden states of the real 135M, and how both count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFReader, GGUFWriter

from agent.config import Config
from agent.errors import ModelDamaged, ModelError, PromptTooLong
from agent.models.adapters.llama import reading_adapter
from agent.models.adapters.llama.language_model import LlamaModel
from agent.models.adapters.llama.reading_adapter import adapter_of, widened
from agent.models.lazy import LocalLanguageModel
from agent.models.readers import second_reader as module
from agent.models.readers.second_reader import (
    FEW,
    MANY,
    TWO,
    Beside,
    SecondReader,
    alone,
    knows_nearness,
    logit,
    mixed,
    rivals,
    second_reader,
)
from agent.models.registry import ModelRegistry
from agent.ports import ChatTurn, Embedder, Vectors
from tests.conftest import ScriptedModel

LAYER = 12


def prompt(text: str) -> list[ChatTurn]:
    return [ChatTurn("system", "Is it about food? Answer yes or no."), ChatTurn("user", text)]


SHA256 = "0123456789abcdef"
ASKED = [ChatTurn("user", "What is soup made of?")]


@pytest.fixture(scope="module")
def weights_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_llm("smollm2-135m")


@pytest.fixture(scope="module")
def model(weights_file: Path) -> Iterator[LlamaModel]:
    with LlamaModel(weights_file, sha256=SHA256, n_ctx=512) as opened:
        yield opened


def adapter(path: Path, *, width: int = 576) -> Path:
    """An adapter that turns what layer 3 adds to the stream."""
    writer = GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 0.0)
    writer.add_tensor("blk.3.attn_output.weight.lora_a", np.ones((2, width), np.float16))
    writer.add_tensor("blk.3.attn_output.weight.lora_b", np.ones((width, 2), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.rename(path.with_stem(f"{path.stem}-{sha256(path.read_bytes()).hexdigest()[:12]}"))


def test_an_adapter_changes_what_is_read_and_nothing_that_is_written(
    model: LlamaModel, weights_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plain, said = model.states([prompt(TEXTS[0])], layer=LAYER), model.chat(ASKED, max_tokens=8)
    path = adapter(tmp_path / "reading-0123456789ab.gguf")
    monkeypatch.setattr(reading_adapter, "FOLDER", tmp_path)
    assert adapter_of(model.identity) == path
    with LlamaModel(weights_file, sha256=SHA256, n_ctx=512) as adapted:
        read = adapted.states([prompt(TEXTS[0])], layer=LAYER)
        assert adapted.chat(ASKED, max_tokens=8) == said
    assert np.abs(read - plain).mean() > 0.1 * np.abs(plain).mean()


def test_a_wider_copy_of_an_adapter_reads_the_same(
    weights_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = adapter(tmp_path / "reading-0123456789ab.gguf")
    monkeypatch.setattr(reading_adapter, "FOLDER", tmp_path)
    copies = tmp_path / "copies"
    with (
        LlamaModel(weights_file, sha256=SHA256, n_ctx=512) as shipped,
        LlamaModel(weights_file, sha256=SHA256, n_ctx=512, copies=copies) as wider,
    ):
        asked = [prompt(text) for text in TEXTS]
        read, expected = (model.states(asked, layer=LAYER) for model in (wider, shipped))
    copy = widened(path, copies)
    assert copy.parent == copies
    assert {tensor.data.shape for tensor in GGUFReader(copy).tensors} == {(16, 576), (576, 16)}
    assert np.abs(read - expected).mean() < 0.05 * np.abs(expected).mean()


def test_an_adapter_of_which_no_copy_can_be_made_is_used_as_it_is(tmp_path: Path):
    broken = tmp_path / "reading-broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    assert widened(broken, tmp_path / "copies") == broken
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    path = adapter(tmp_path / "reading-0123456789ab.gguf")
    assert widened(path, blocked) == path


def test_a_damaged_adapter_is_told(
    weights_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    adapter(tmp_path / "reading-0123456789ab.gguf", width=64)
    monkeypatch.setattr(reading_adapter, "FOLDER", tmp_path)
    with (
        LlamaModel(weights_file, sha256=SHA256, n_ctx=512) as adapted,
        pytest.raises(ModelDamaged, match="Install memlane again"),
    ):
        adapted.states([prompt(TEXTS[0])], layer=LAYER)


TEXTS = ("The soup was cold.", "The train was late again on Monday.", "Bread, butter, jam.")


def test_a_state_is_the_same_alone_and_among_others(model: LlamaModel):
    together = model.states([prompt(text) for text in TEXTS], layer=LAYER)
    alone = np.concatenate([model.states([prompt(text)], layer=LAYER) for text in TEXTS])
    assert together.shape == (3, 576)
    assert np.abs(together - alone).max() < 0.05 * np.abs(alone).max()
    apart = np.abs(together[0] - together[1]).mean()
    assert apart > 10 * np.abs(together - alone).mean()


def test_many_prompts_and_long_ones_are_read_in_parts(model: LlamaModel):
    long = "The soup was cold and the bread was old. " * 20
    texts = [*TEXTS, long, *(f"Lunch number {n}." for n in range(30))]
    states = model.states([prompt(text) for text in texts], layer=LAYER)
    again = model.states([prompt(long)], layer=LAYER)
    assert np.abs(states[3] - again[0]).max() < 0.05 * np.abs(again).max()
    assert np.isfinite(states).all()


def test_states_along_a_prompt_are_those_of_its_beginnings(model: LlamaModel):
    text = "".join(f"{line}\n" for line in TEXTS) + "word and " * 150 + "\n"
    states = model.line_states(prompt(text), layer=LAYER)
    again = model.line_states(prompt("".join(f"{line}\n" for line in TEXTS)), layer=LAYER)
    assert states.shape == (4, 576)
    assert np.abs(states[:3] - again).max() < 0.05 * np.abs(again).max()
    with pytest.raises(PromptTooLong):
        model.line_states(prompt("soup and " * 2000), layer=LAYER)


def test_reading_states_leaves_the_chat_as_it_is(model: LlamaModel):
    before = model.chat(prompt("Tomatoes."), max_tokens=8)
    model.states([prompt(text) for text in TEXTS], layer=LAYER)
    assert model.chat(prompt("Tomatoes."), max_tokens=8) == before


def test_nothing_asked_gives_nothing(model: LlamaModel):
    assert model.states([], layer=LAYER).shape == (0, 576)


def test_a_layer_that_is_not_there_and_a_text_that_is_too_long(model: LlamaModel):
    with pytest.raises(ModelError, match="no layer 99"):
        model.states([prompt("Soup.")], layer=99)
    with pytest.raises(PromptTooLong):
        model.states([prompt("soup and " * 2000)], layer=LAYER)


# ---- both opinions --------------------------------------------------------------------------


class Inside(ScriptedModel):
    """Its state says whether a text names a bakery."""

    loaded = True
    identity = "inside:1"

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        self.layer = layer
        return np.array([["bakery" in turns[-1].content, 1.0] for turns in prompts], np.float32)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        raise AssertionError("pairs are read one by one")


def weights() -> dict[str, Any]:
    return {
        "layer": np.array(7),
        "weight": np.array([4.0, -2.0], np.float32),
        "bias": np.zeros((), np.float32),
        "mix_of_words": np.array(
            [[1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 2.0]], np.float32
        ),
        "mix": np.array([[1.0, 1.0, 0.0, 0.0, 5.0, -2.0]] * 2, np.float32),
        "encoder": np.str_("minilm:1"),
    }


def beside(*rivals: float, there: int = MANY, near: float | None = None) -> list[Beside]:
    return [Beside(one, there, near) for one in rivals]


def test_both_opinions_count():
    model = Inside()
    reader = SecondReader(model, weights())
    pairs = [("I work at the bank.", "First day at the bakery."), ("A cat.", "A dog.")]
    both = reader.changes(pairs, [0.5, 0.5], beside(0.0, 0.0))
    assert model.layer == 7
    assert both == pytest.approx([0.881, 0.119], abs=0.001)
    first, second = reader.changes(pairs, [0.9, 0.9], beside(0.0, 0.0))
    assert first > 0.9 > second
    assert len(reader.changes([], [], [])) == 0


def test_where_little_was_told_the_same_opinions_mean_more():
    reader = SecondReader(Inside(), weights())
    pair = [("A cat.", "A dog.")]
    told = (1, TWO, 3, FEW)
    chances = [reader.changes(pair, [0.5], beside(0.0, there=n))[0] for n in told]
    assert chances == pytest.approx([0.5, 0.5, 0.339, 0.119], abs=0.001)


def test_the_more_was_told_the_less_likely_one_of_it_is_changed():
    known = weights()
    known["mix_of_words"][0, 3] = 1.0  # odds by MANY over the number of older texts
    reader = SecondReader(Inside(), known)
    pair = [("I work at the bank.", "First day at the bakery.")]
    told = (FEW, MANY // 2, MANY, 10 * MANY)
    odds = [logit(reader.changes(pair, [0.5], beside(0.0, there=n)))[0] for n in told]
    assert odds == pytest.approx([2 + np.log(MANY / FEW), 2 + np.log(2), 2.0, 2.0], abs=0.001)


def test_odds_of_what_is_certain_are_finite():
    assert np.isfinite(logit([0.0, 1.0])).all()
    assert mixed([logit([0.3])], np.array([1.0, 0.0])) == pytest.approx([0.3])


def test_rivals_are_all_the_others():
    assert rivals([0.5]) == pytest.approx([0.0])
    assert rivals([0.5, 0.75]) == pytest.approx(np.log([4.0, 2.0]))
    assert len(rivals([])) == 0


def test_the_statement_reader_alone_is_weighed_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_weights", lambda: None)
    assert alone([0.3, 0.6], beside(0.0, 0.0)) == pytest.approx([0.3, 0.6])
    weighed = {
        "alone_of_words": np.array([[1.0, -1.0, 0.0, 0.0]] * 2, np.float32),
        "alone": np.array([[1.0, -1.0, 0.0, 5.0, 0.0]] * 2, np.float32),
    }
    monkeypatch.setattr(module, "_weights", lambda: weighed)
    assert alone([0.5, 0.5], beside(0.0, np.log(3.0))) == pytest.approx([0.5, 0.25])
    near = Beside(0.0, MANY, np.log(3.0) / 5)
    assert alone([0.5, 0.5], [*beside(0.0), near]) == pytest.approx([0.5, 0.75])


def test_what_is_near_is_changed_more_likely():
    reader = SecondReader(Inside(), weights())
    pair = [("A cat.", "A dog.")] * 3
    far, close, unknown = reader.changes(
        pair, [0.5] * 3, [*beside(0.0, near=0.1), *beside(0.0, near=0.8), *beside(0.0)]
    )
    assert far < unknown < close


def test_a_cosine_counts_only_of_the_encoder_that_it_was_learned_from(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "_weights", weights)
    assert knows_nearness("minilm:1") and not knows_nearness("another:1")
    monkeypatch.setattr(module, "_weights", lambda: None)
    assert not knows_nearness("minilm:1")


def test_the_shipped_weights_know_the_built_in_encoder(embedder: Embedder):
    assert knows_nearness(embedder.identity)


def test_of_much_the_number_says_nothing_more():
    near = [alone([0.6], beside(0.0, there=n, near=0.5))[0] for n in (MANY, 100_000)]
    assert near[0] == near[1]


def test_among_the_first_things_told_little_is_a_change():
    """By the shipped weights: what sounds a little like one, alone and of a person's tenth."""
    assert alone([0.6], beside(0.0, there=1, near=0.3))[0] > 0.5
    assert alone([0.6], beside(0.0, there=10, near=0.3))[0] < 0.3


def test_a_change_is_nowhere_less_likely_than_where_much_was_told():
    """By the shipped weights: between homes of little and of much it was, once."""
    told = [alone([0.86], beside(0.0, there=n, near=0.42))[0] for n in (2, 5, 8, 12, 16)]
    assert min(told) > alone([0.86], beside(0.0, there=MANY, near=0.42))[0]


def test_there_is_none_without_states_weights_or_a_loaded_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_weights", lambda: None)
    assert second_reader(Inside()) is None
    monkeypatch.setattr(module, "_weights", weights)
    assert second_reader(ScriptedModel()) is None
    monkeypatch.setattr(module, "_weights", lambda: {**weights(), "model": np.str_("other:1")})
    assert second_reader(Inside()) is None
    monkeypatch.setattr(module, "_weights", lambda: {**weights(), "model": np.str_("inside:1")})
    assert second_reader(Inside()) is not None
    away = Inside()
    away.loaded = False
    assert second_reader(away) is None


@pytest.mark.parametrize("stored", [None, {**weights(), "model": np.str_("inside:1")}])
def test_a_model_whose_file_is_missing_stands_in_nobodys_way(
    monkeypatch: pytest.MonkeyPatch, settings: Config, tmp_path: Path, stored: Any
):
    monkeypatch.setattr(module, "_weights", lambda: stored)
    missing = LocalLanguageModel(replace(settings, llm=str(tmp_path / "none.gguf")))
    assert second_reader(missing) is None
