"""The sentence encoder on the real all-MiniLM-L6-v2."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from agent.errors import ModelDamaged, ModelMissing
from agent.models.adapters.embeddings import SentenceEncoder
from agent.models.registry import ModelRegistry

SENTENCES = ["I drink tea every morning.", "My sister lives in Berlin.", "我喜欢喝茶。", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_embedder("all-minilm-l6-v2")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceEncoder:
    return SentenceEncoder(folder, sha256="0123456789abcdef", name="all-minilm-l6-v2")


def test_vectors_are_unit_float32(encoder: SentenceEncoder):
    vectors = encoder.encode(SENTENCES)
    assert vectors.shape == (len(SENTENCES), encoder.dimension) == (4, 384)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(encoder: SentenceEncoder):
    empty = encoder.encode([])
    assert empty.shape == (0, 384)
    assert empty.dtype == np.float32


def test_like_meanings_lie_close(encoder: SentenceEncoder):
    tea, sister, question = encoder.encode([*SENTENCES[:2], "What do I drink at breakfast?"])
    assert question @ tea > question @ sister + 0.2


def test_order_and_company_do_not_matter(encoder: SentenceEncoder):
    together = encoder.encode([*SENTENCES, "A much longer sentence. " * 30])
    alone = np.concatenate([encoder.encode([text]) for text in SENTENCES])
    np.testing.assert_allclose(together[:4], alone, atol=1e-5)


def test_odd_text_is_encoded(encoder: SentenceEncoder):
    odd = ["\ud800 lone", "a\x00b", "x" * 5000, "word " * 5000, "<|im_end|>", "\n\n"]
    assert np.isfinite(encoder.encode(odd)).all()


def test_threads_take_turns(encoder: SentenceEncoder):
    texts = [f"Sentence {'very ' * n}long number {n}." for n in range(20)]
    expected = encoder.encode(texts)
    wrong: list[int] = []

    def work() -> None:
        for n, text in enumerate(texts):
            if not np.allclose(encoder.encode([text])[0], expected[n], atol=1e-5):
                wrong.append(n)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_identity_is_name_and_hash(encoder: SentenceEncoder):
    assert encoder.identity == "all-minilm-l6-v2:0123456789ab"


def test_the_hub_is_told_to_stay_offline(encoder: SentenceEncoder):
    assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"


def test_loading_and_encoding_print_nothing(folder: Path, capfd):
    SentenceEncoder(folder, sha256="").encode(SENTENCES)
    assert capfd.readouterr() == ("", "")


def test_a_damaged_folder_is_named(folder: Path, tmp_path: Path, capfd):
    with pytest.raises(ModelMissing):
        SentenceEncoder(tmp_path / "nothing", sha256="")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(ModelDamaged, match="memlane models list") as caught:
        SentenceEncoder(copy, sha256="")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_names_have_vectors_of_their_own_where_like_is_near_like(encoder: SentenceEncoder):
    names = ["doctor", "physician", "bicycle", "my boss", "", "\ud800"]
    vectors = encoder.encode_names(names)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors[:4], axis=1), 1.0, atol=1e-5)
    assert not vectors[4].any()
    assert vectors[0] @ vectors[1] > 0.3 > vectors[0] @ vectors[2]
    # A name is the same whatever it is asked with.
    np.testing.assert_array_equal(encoder.encode_names(["my boss"])[0], vectors[3])
    assert encoder.encode_names([]).shape[0] == 0
