"""Statement reader: the sentence encoder with low-rank adapters and three small heads.

One set of adapters (LoRA, Hu et al. 2021) serves three tasks over the shipped encoder (22M
parameters): the kind of a statement, the relation of an older statement to a newer one, and the
relevance of a statement to a question. ``benchmarks.reader_train`` makes the weights. They hold the
adapters and heads alone, so they are small and fit one encoder only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agent.ports import KINDS, RELATIONS, Probabilities

WEIGHTS = Path(__file__).parent.parent / "data" / "reader.npz"
LAYERS = ("query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense")
MAX_TOKENS = 160
BATCH = 16
HEADS = {"kind": len(KINDS), "relation": len(RELATIONS), "relevance": 1}


class LowRank(nn.Module):
    """A linear layer plus a trained product of two thin matrices."""

    def __init__(self, base: nn.Linear, rank: int, dropout: float) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.drop = nn.Dropout(dropout)

    def forward(self, inputs: Tensor) -> Tensor:
        thin: Tensor = self.drop(inputs) @ self.down.T
        out: Tensor = self.base(inputs) + 2.0 * (thin @ self.up.T)
        return out


class Network(nn.Module):
    """Encoder with adapters; pooled is the first token beside the mean of all."""

    def __init__(self, encoder: nn.Module, rank: int, dropout: float = 0.1) -> None:
        super().__init__()
        for parameter in encoder.parameters():
            parameter.requires_grad = False
        self.adapters = nn.ModuleDict()
        for name, layer in list(encoder.named_modules()):
            if isinstance(layer, nn.Linear) and "layer." in name:
                wrapped = LowRank(layer, rank, dropout)
                parent = encoder.get_submodule(name.rpartition(".")[0])
                setattr(parent, name.rpartition(".")[2], wrapped)
                self.adapters[name.replace(".", "/")] = wrapped
        self.encoder = encoder
        width = 2 * int(encoder.config.hidden_size)  # type: ignore[union-attr, arg-type]
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
        """What ships: adapters and heads in half precision."""
        kept = {
            name: tensor
            for name, tensor in self.state_dict().items()
            if name.startswith(("adapters.", "heads.")) and ".base." not in name
        }
        return {name: tensor.numpy().astype(np.float16) for name, tensor in kept.items()}


class StatementReader:
    """The trained reader; fulfils ``agent.ports.Reader``. Threads take turns on a lock."""

    def __init__(self, folder: Path, weights: Path = WEIGHTS) -> None:
        from transformers import AutoModel, AutoTokenizer

        stored = np.load(weights)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        encoder = AutoModel.from_pretrained(
            str(folder), local_files_only=True, add_pooling_layer=False
        )
        self._network = Network(encoder, int(stored["rank"]), 0.0)
        state = {n: torch.from_numpy(stored[n].astype(np.float32)) for n in stored if n != "rank"}
        self._network.load_state_dict(state, strict=False)
        for wrapped in self._network.adapters.values():
            wrapped.base.weight.data += 2.0 * (wrapped.up.data @ wrapped.down.data)  # type: ignore
        _unwrap(encoder)
        self._network.eval()
        self._lock = threading.Lock()

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        """Of each statement, the probability of each of ``KINDS``."""
        return self._run("kind", list(statements), None)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        """Of each (older, newer) pair, the probability of each of ``RELATIONS``."""
        return self._run("relation", [old for old, _ in pairs], [new for _, new in pairs])

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        """Of each statement, how likely the answer needs it; shape (n, 1)."""
        return self._run("relevance", [question] * len(statements), list(statements))

    def _run(self, task: str, first: list[str], second: list[str] | None) -> Probabilities:
        if not first:
            return np.zeros((0, HEADS[task]), dtype=np.float32)
        order = sorted(range(len(first)), key=lambda n: len(first[n]) + len(second[n] if second else ""))
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


def _unwrap(encoder: nn.Module) -> None:
    """Put the plain layers back, their weights now with the adapters' products."""
    for name, layer in list(encoder.named_modules()):
        if isinstance(layer, LowRank):
            parent = encoder.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], layer.base)
