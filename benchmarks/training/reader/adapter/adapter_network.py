"""The lower layers of a Qwen2 model of quantised weights with low-rank adapters, for training.

Self-contained: the machine that trains has PyTorch, NumPy and ``gguf`` and neither llama.cpp nor
memlane. The residual stream is in 32 bit, as in llama.cpp; the rest is in ``bfloat16``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader
from gguf.quants import dequantize
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

EPS, THETA = 1e-6, 1e6
HEADS, KEYS = 12, 2
LAYERS = 18
"""Those behind which states are read; the others are not needed."""
RANKS = {
    "attn_q": 8, "attn_k": 8, "attn_v": 8, "attn_output": 8,
    "ffn_gate": 5, "ffn_up": 5, "ffn_down": 5,
}  # fmt: skip
SCALE = 2.0
DROPPED = 0.05
"""Share of the inputs of the low-rank layers that is left out in training, on a GPU: without one
that takes a fifth of the time."""


PART = 62_000_000
"""Bytes of a part of the model."""

Row = tuple[str, str, list[int], int]
"""Of a tensor its name, type, shape and bytes."""


class Adapted(nn.Module):
    """A frozen linear layer and a low-rank one beside it."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor | None, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight, persistent=False)
        self.register_buffer("bias", bias, persistent=False)
        self.a = nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.b = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x: Tensor) -> Tensor:
        kind = self.weight.dtype
        x = x.to(kind)
        low = F.dropout(x, DROPPED, self.training) if x.is_cuda else x
        low = F.linear(low, self.a.to(kind)).flatten(0, 1)
        own = F.linear(x, self.weight, self.bias)
        both = torch.addmm(own.flatten(0, 1), low, self.b.to(kind).T, alpha=SCALE)
        return both.view_as(own)


class Layer(nn.Module):
    """Attention and feed-forward, each with its norm."""

    attn_norm: Tensor
    ffn_norm: Tensor
    attn_q: Adapted
    attn_k: Adapted
    attn_v: Adapted
    attn_output: Adapted
    ffn_gate: Adapted
    ffn_up: Adapted
    ffn_down: Adapted

    def __init__(self, tensors: dict[str, Tensor], number: int) -> None:
        super().__init__()
        for name in ("attn_norm", "ffn_norm"):
            self.register_buffer(name, tensors[f"blk.{number}.{name}.weight"], persistent=False)
        for name, rank in RANKS.items():
            bias = tensors.get(f"blk.{number}.{name}.bias")
            setattr(self, name, Adapted(tensors[f"blk.{number}.{name}.weight"], bias, rank))

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        batch, length, _ = x.shape
        h = norm(x, self.attn_norm)
        q = self.attn_q(h).view(batch, length, HEADS, -1).transpose(1, 2)
        k = self.attn_k(h).view(batch, length, KEYS, -1).transpose(1, 2)
        v = self.attn_v(h).view(batch, length, KEYS, -1).transpose(1, 2)
        q, k = rotated(q, turn), rotated(k, turn)
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.attn_output(h.transpose(1, 2).reshape(batch, length, -1)).float()
        h = norm(x, self.ffn_norm)
        fed: Tensor = self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))
        return x + fed.float()


def norm(x: Tensor, weight: Tensor) -> Tensor:
    """RMS norm in 32 bit."""
    normed: Tensor = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weight.float()
    return normed


def rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position embedding, halves paired (NEOX)."""
    cos, sin = turn
    one, two = x.float().chunk(2, dim=-1)
    return torch.cat([one * cos - two * sin, two * cos + one * sin], dim=-1).to(x.dtype)


class Network(nn.Module):
    """The model; weights by ``read_tensors``."""

    embedding: Tensor

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        super().__init__()
        self.register_buffer("embedding", tensors["token_embd.weight"], persistent=False)
        self.own = [Layer(tensors, number) for number in range(LAYERS)]
        self.layers = nn.ModuleList(self.own)

    def forward(self, tokens: Tensor) -> Tensor:
        """The states behind the last layer: (batch, length, width)."""
        x = self.embedding[tokens].float()
        width = self.own[0].attn_q.weight.shape[0] // HEADS
        place = torch.arange(tokens.shape[1], device=tokens.device).float()
        speed = THETA ** (-torch.arange(0, width, 2, device=tokens.device).float() / width)
        angle = place[:, None] * speed
        turn = angle.cos(), angle.sin()
        for layer in self.own:
            x = layer(x, turn)
        return x

    def start(self, arrays: Mapping[str, NDArray[np.float16]], first: int) -> None:
        """Take up an adapter that is there already; layers below ``first`` stay as they are."""
        for number, layer in enumerate(self.own):
            for name in RANKS:
                own = getattr(layer, name)
                stem = f"blk.{number}.{name}.weight"
                with torch.no_grad():
                    own.a.copy_(torch.from_numpy(arrays[f"{stem}.a"]))
                    own.b.copy_(torch.from_numpy(arrays[f"{stem}.b"]) / SCALE)
                own.a.requires_grad_(number >= first)
                own.b.requires_grad_(number >= first)

    def adapters(self) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Name, A and B of each adapter; the scale is in B."""
        for number, layer in enumerate(self.own):
            for name in RANKS:
                own = getattr(layer, name)
                yield f"blk.{number}.{name}.weight", own.a.detach(), SCALE * own.b.detach()


def write_parts(model: Path, tokens: NDArray[np.int32], folder: Path) -> None:
    """The layers and the embeddings of these tokens, quantised as they are, in parts.

    A part fits through one call of a tool that carries 64 MiB.
    """
    index: list[Row] = []
    parts = []
    for tensor in GGUFReader(model).tensors:
        stem, _, rest = tensor.name.partition(".")
        if stem == "output" or (stem == "blk" and int(rest.partition(".")[0]) >= LAYERS):
            continue
        shape, data = [int(n) for n in reversed(tensor.shape)], tensor.data
        if stem == "token_embd":
            shape[0], data = len(tokens), data[tokens]
        parts.append(np.ascontiguousarray(data).view(np.uint8).reshape(-1))
        index.append((tensor.name, tensor.tensor_type.name, shape, parts[-1].nbytes))
    flat = np.concatenate(parts)
    for number, start in enumerate(range(0, len(flat), PART)):
        part = folder / f"p{number:02d}"
        part.mkdir(parents=True, exist_ok=True)
        flat[start : start + PART].tofile(part / "bytes")
    (folder / "index.json").write_text(json.dumps(index))
    np.save(folder / "used.npy", tokens)


def read_tensors(folder: Path, kind: torch.dtype, device: str) -> dict[str, Tensor]:
    """Dequantised tensors of the parts in a folder."""
    parts = sorted(folder.glob("p*/bytes"))
    flat = np.concatenate([np.fromfile(part, np.uint8) for part in parts])
    index = json.loads((folder / "index.json").read_text())

    def read(at: int, row: Row) -> Tensor:
        _, name, shape, size = row
        quantised = GGMLQuantizationType[name]
        data = flat[at : at + size]
        if quantised is GGMLQuantizationType.F32:
            array = data.view(np.float32).reshape(shape)
        else:
            array = dequantize(data.reshape(*shape[:-1], -1), quantised)
        return torch.from_numpy(np.ascontiguousarray(array)).to(kind).to(device)

    at = np.cumsum([0, *(row[3] for row in index)])[:-1].tolist()
    with ThreadPoolExecutor(12) as pool:
        tensors = list(pool.map(read, at, index))
    return {row[0]: tensor for row, tensor in zip(index, tensors, strict=True)}
