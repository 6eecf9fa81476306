"""The network of the statement reader, to train: the encoder's upper layers and four heads.

``agent.models.adapters.bert.statement_reader`` runs what comes out, without PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from agent.models.adapters.bert.statement_reader import HEADS, MAX_TOKENS

FROZEN = 1
"""Lowest layers that stay as they are: they change little, and training is faster."""


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


def tokenized(
    tokenizer: PreTrainedTokenizerBase, first: Sequence[str], second: Sequence[str] | None
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
