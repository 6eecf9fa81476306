"""Statement reader: the upper layers of the sentence encoder, trained anew, with four heads.

One network serves four tasks: the kind of a statement, the relation of an older statement to a
newer one, and the relevance of a statement to a question. ``benchmarks.reader_train`` makes the
weights: the trained layers and the heads alone, so they fit one encoder only.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel

from agent.ports import KINDS, ORDERS, RELATIONS, Probabilities

MAX_TOKENS = 160
BATCH = 16
FROZEN = 1
"""Lowest layers that stay as they are: they change little, and training is faster."""
HEADS = {"kind": len(KINDS), "relation": len(RELATIONS), "relevance": 1, "order": len(ORDERS)}


class Network(nn.Module):
    """Encoder and heads; pooled is the first token beside the mean of all."""

    def __init__(self, encoder: PreTrainedModel, dropout: float = 0.1) -> None:
        super().__init__()
        for name, parameter in encoder.named_parameters():
            parameter.requires_grad = trained(name)
        self.encoder = encoder
        width = 2 * int(encoder.config.hidden_size)
        self.heads = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, size))
                for name, size in HEADS.items()
            }
        )
        self.drop = nn.Dropout(dropout)

    def forward(self, task: str, inputs: dict[str, Tensor]) -> Tensor:
        """Logits of a head, (batch, classes)."""
        hidden = self.encoder(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        out: Tensor = self.heads[task](self.drop(torch.cat([hidden[:, 0], mean], 1)))
        return out

    def state(self) -> dict[str, NDArray[np.float16]]:
        """What ships, in half precision: the layers that were trained, and the heads."""
        return {
            name: tensor.numpy().astype(np.float16)
            for name, tensor in self.state_dict().items()
            if name.startswith("heads.") or trained(name)
        }


def trained(parameter: str) -> bool:
    """Whether a parameter of the encoder is trained: not the vocabulary, not the lowest layers."""
    layer = re.search(r"layer\.(\d+)\.", parameter)
    return layer is not None and int(layer[1]) >= FROZEN


class TrainedReader:
    """The trained reader; fulfils ``agent.ports.StatementReader``. Threads take turns on a lock."""

    def __init__(self, folder: Path, weights: Path) -> None:
        stored = np.load(weights)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        encoder = AutoModel.from_pretrained(
            str(folder), local_files_only=True, add_pooling_layer=False
        )
        self._network = Network(encoder, 0.0)
        state = {n: torch.from_numpy(stored[n].astype(np.float32)) for n in stored if "." in n}
        self._network.load_state_dict(state, strict=False)
        self._network.eval()
        self._lock = threading.Lock()

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        """Of each statement, the probability of each of ``KINDS``."""
        return self._run("kind", list(statements), None)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        """Of each (older, newer) pair, the probability of each of ``RELATIONS``."""
        return self._run("relation", [old for old, _ in pairs], [new for _, new in pairs])

    def orders(self, messages: Sequence[str]) -> Probabilities:
        """Of each message, the probability of each of ``ORDERS``."""
        return self._run("order", list(messages), None)

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        """Of each statement, how likely the answer needs it; shape (n, 1)."""
        return self._run("relevance", [question] * len(statements), list(statements))

    def _run(self, task: str, first: list[str], second: list[str] | None) -> Probabilities:
        if not first:
            return np.zeros((0, HEADS[task]), dtype=np.float32)
        pairs = list(zip(first, second or [""] * len(first), strict=True))
        order = sorted(range(len(pairs)), key=lambda n: sum(map(len, pairs[n])))
        out = np.zeros((len(first), HEADS[task]), dtype=np.float32)
        with self._lock, torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                inputs = tokenized(
                    self._tokenizer,
                    [first[n] for n in rows],
                    None if second is None else [second[n] for n in rows],
                )
                logits = self._network(task, inputs)
                chances = logits.sigmoid() if HEADS[task] == 1 else logits.softmax(1)
                out[rows] = chances.numpy()
        return out


def tokenized(
    tokenizer: Any, first: Sequence[str], second: Sequence[str] | None
) -> dict[str, Tensor]:
    """Token ids of texts or of pairs of texts, padded to the longest."""
    made = tokenizer(
        list(first),
        None if second is None else list(second),
        padding=True,
        truncation=True,
        max_length=MAX_TOKENS,
        return_tensors="pt",
    )
    return dict(made)
