"""The shipped statement reader runs without PyTorch as it was trained with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.models.adapters.bert.statement_reader import HEADS, TrainedReader
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.models.registry import ModelRegistry
from agent.ports import Probabilities

OLDER = [
    "My sister Mei lives in Boston.",
    "Lunch with Priya on Friday at 13:00.",
    "word " * 300,
    "\ud800 lone",
]
NEWER = ["Mei is a Denver girl now.", "The plumber can only make it Saturday.", "Grüße 🙂", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_embedder("all-minilm-l6-v2")


@pytest.fixture(scope="module")
def reader(folder: Path) -> TrainedReader:
    return TrainedReader(folder, WEIGHTS)


def test_probabilities_are_those_of_the_trained_network(folder: Path, reader: TrainedReader):
    exact, ours = _probabilities(TrainedReader(folder, WEIGHTS, int8=False)), _probabilities(reader)

    import torch

    from benchmarks.training.reader.reader_network import tokenized

    second = {"relation": (OLDER, NEWER), "relevance": ([NEWER[0]] * len(OLDER), OLDER)}
    network, tokenizer = _network(folder)
    for task, found in exact.items():
        first, other = second.get(task, (OLDER, None))
        first = [text.encode(errors="replace").decode() for text in first]
        other = other and [text.encode(errors="replace").decode() for text in other]
        with torch.inference_mode():
            logits = network(task, tokenized(tokenizer, first, other))
        theirs = logits.sigmoid() if HEADS[task] == 1 else logits.softmax(1)
        np.testing.assert_allclose(found, theirs.numpy(), atol=2e-5, err_msg=task)
        np.testing.assert_allclose(ours[task], found, atol=0.1, err_msg=f"{task}, in integers")


def test_what_is_read_together_changes_nothing(reader: TrainedReader):
    among = reader.relevance(NEWER[0], [*OLDER, "A note. " * 60])[: len(OLDER)]
    alone = [reader.relevance(NEWER[0], [text])[0] for text in OLDER]
    np.testing.assert_allclose(among, alone, atol=1e-5)


def test_nothing_to_read_gives_no_rows(reader: TrainedReader):
    assert reader.kinds([]).shape == (0, HEADS["kind"])
    assert reader.relations([]).shape == (0, HEADS["relation"])


def _probabilities(reader: TrainedReader) -> dict[str, Probabilities]:
    return {
        "kind": reader.kinds(OLDER),
        "relation": reader.relations(list(zip(OLDER, NEWER, strict=True))),
        "order": reader.orders(OLDER),
        "relevance": reader.relevance(NEWER[0], OLDER),
    }


def _network(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from benchmarks.training.reader.reader_network import Network

    encoder = AutoModel.from_pretrained(str(folder), local_files_only=True, add_pooling_layer=False)
    network = Network(encoder, 0.0)
    with np.load(WEIGHTS) as stored:
        state = {n: torch.from_numpy(stored[n].astype(np.float32)) for n in stored if "." in n}
    network.load_state_dict(state, strict=False)
    return network.eval(), AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
