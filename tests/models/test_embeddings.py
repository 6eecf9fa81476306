"""The sentence encoder on the real all-MiniLM-L6-v2."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from agent.errors import ModelDamaged, ModelMissing
from agent.models.adapters.bert.embeddings import SentenceEncoder, open_encoder
from agent.models.adapters.bert.foreign_embeddings import ForeignEncoder
from agent.models.adapters.torch_gradients import TorchGradients
from agent.models.registry import ModelRegistry

SENTENCES = ["I drink tea every morning.", "My sister lives in Berlin.", "我喜欢喝茶。", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_embedder("all-minilm-l6-v2")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceEncoder:
    opened = open_encoder(folder, sha256="0123456789abcdef", name="all-minilm-l6-v2")
    assert isinstance(opened, SentenceEncoder)
    return opened


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


def test_loading_and_encoding_print_nothing(folder: Path, capfd):
    open_encoder(folder, sha256="").encode(SENTENCES)
    ForeignEncoder(folder, "").encode(SENTENCES)
    assert capfd.readouterr() == ("", "")


def test_a_damaged_folder_is_named(folder: Path, tmp_path: Path, capfd):
    with pytest.raises(ModelMissing):
        open_encoder(tmp_path / "nothing", sha256="")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(ModelDamaged, match="memlane models list") as caught:
        open_encoder(copy, sha256="")
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


LONG = [
    *SENTENCES,
    "Grüße aus Köln: 3 € für Müsli 🙂",
    "¿Dónde está el café?",
    "a " * 700,
    *(f"Sentence {'very ' * n}long number {n}, about the harbour." for n in range(0, 400, 7)),
]


@pytest.fixture(scope="module")
def reference(folder: Path) -> ForeignEncoder:
    """The same folder by sentence-transformers, which we hold to be right."""
    return ForeignEncoder(folder, "reference")


def test_vectors_are_those_of_sentence_transformers(
    encoder: SentenceEncoder, reference: ForeignEncoder
):
    np.testing.assert_allclose(encoder.encode(LONG), reference.encode(LONG), atol=1e-6)


def test_token_vectors_are_those_of_sentence_transformers(
    encoder: SentenceEncoder, reference: ForeignEncoder
):
    texts = LONG[:12]
    for ours, theirs in zip(
        encoder.encode_tokens(texts), reference.encode_tokens(texts), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_hub_is_told_to_stay_offline(reference: ForeignEncoder):
    assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"


def test_a_folder_that_pools_the_first_token_and_holds_half_precision(folder: Path, tmp_path: Path):
    save_file(
        {name: array.astype(np.float16) for name, array in _weights(folder).items()},
        _changed(folder, tmp_path, "1_Pooling/config.json", CLS) / "model.safetensors",
    )
    ours = open_encoder(tmp_path, sha256="")
    assert isinstance(ours, SentenceEncoder)
    theirs = ForeignEncoder(tmp_path, "").encode(LONG[:8])  # in half precision throughout
    np.testing.assert_allclose(ours.encode(LONG[:8]), theirs, atol=1e-3)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config_sentence_transformers.json", {"default_prompt_name": "q", "prompts": {"q": "q:"}}),
        ("config.json", {"hidden_act": "relu"}),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
    ],
)
def test_a_folder_that_is_no_plain_bert_is_left_to_sentence_transformers(
    folder: Path, tmp_path: Path, file: str, change: dict[str, object]
):
    _changed(folder, tmp_path, file, change)
    encoder = open_encoder(tmp_path, sha256="")
    assert isinstance(encoder, ForeignEncoder)
    vectors = encoder.encode(SENTENCES)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder.encode_names(["my boss"]).shape == (1, vectors.shape[1])
    assert encoder.encode([]).shape == (0, vectors.shape[1])
    assert encoder.encode_tokens([]) == []


CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


def _weights(folder: Path) -> dict[str, np.ndarray]:
    return dict(load_file(folder / "model.safetensors"))


def _changed(folder: Path, copy: Path, file: str, change: Mapping[str, object]) -> Path:
    """A copy of the folder with a JSON file that says something else."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    (copy / file).write_text(json.dumps(json.loads((copy / file).read_text()) | change))
    return copy


@pytest.mark.parametrize("package", ["sentence_transformers", "torch"])
def test_a_missing_package_is_one_line_with_its_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelMissing, match=f"pip install .*{package.replace('_', '-')}"):
        if package == "torch":
            TorchGradients()
        else:
            ForeignEncoder(folder, "x")


LONG_TEXTS = """
import sys
from pathlib import Path
from agent.models.adapters.bert.embeddings import open_encoder
from agent.server.resident.shared_models import give_back_freed

def taken():
    give_back_freed()
    (line,) = [line for line in open("/proc/self/status") if line.startswith("RssAnon")]
    return int(line.split()[1])

encoder = open_encoder(Path(sys.argv[1]), sha256="0123456789abcdef", name="all-minilm-l6-v2")
encoder.encode(["I drink tea."] * 100)  # on every thread
before = taken()
encoder.encode([" ".join(["tea"] * words) for words in range(5, 250, 5)] * 2)
print(taken() - before)
"""


LAST_JOB = """
import sys, threading
from pathlib import Path
from agent.models.adapters.bert.embeddings import open_encoder

encoder = open_encoder(Path(sys.argv[1]), sha256="0123456789abcdef", name="all-minilm-l6-v2")

def job():
    threading.main_thread().join()
    print(encoder.encode(["I drink tea."] * 100).shape)

threading.Thread(target=job).start()
"""


def test_a_job_that_outlives_the_main_thread_is_still_done(folder: Path):
    run = subprocess.run(
        [sys.executable, "-c", LAST_JOB, str(folder)], capture_output=True, text=True, check=True
    )
    assert (run.stdout, run.stderr) == ("(100, 384)\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; glibc gives memory back")
def test_what_long_texts_took_is_given_back(folder: Path):
    run = subprocess.run(
        [sys.executable, "-c", LONG_TEXTS, str(folder)], capture_output=True, text=True, check=True
    )
    # With an arena of onnxruntime 17,000 stay; a thread's own heap keeps a little.
    assert int(run.stdout) < 12_000, "kB that stay taken"
