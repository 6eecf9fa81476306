"""Makes the weights of the secret reader: ``python -m benchmarks.secrets_train``.

Trains low-rank adapters of the shipped encoder and a convolution over its tokens on texts by many
people (``samples/secrets``). With ``--held`` a quarter of the people is left out and measured on,
to choose the probability from which something is taken out; nothing is written then.
"""

from __future__ import annotations

import random
import re
import string
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerBase

from agent.config import load_config
from agent.models.adapters.bert.secret_reader import (
    KINDS,
    MAX_TOKENS,
    REACH,
    SCALE,
    SEEN,
    SHAPES,
    shapes,
    spans,
)
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_secret_reader import WEIGHTS
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.language.secrets_data import VOICES, Marked, made_up, ordinary, read_voices
from benchmarks.training.reader.reader_train import encoder_folder

RANK, WIDTH, DROPPED = 8, 64, 0.3
SWAPPED = 0.5
"""Share of the texts whose secret gets another value, or whose digits are drawn anew."""
EVERY = 4
"""Every fourth person is left out with ``--held``."""


class Adapted(nn.Module):
    """A frozen matrix with a low-rank adapter."""

    def __init__(self, frozen: nn.Linear) -> None:
        super().__init__()
        self.frozen = frozen
        self.down = nn.Linear(frozen.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, frozen.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.frozen(x) + SCALE * self.up(self.down(x))
        return made


class Network(nn.Module):
    """The encoder with adapters, and the convolutions; see ``secret_reader``."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            str(encoder_folder()), local_files_only=True, add_pooling_layer=False
        )
        for parameter in self.encoder.parameters():
            parameter.requires_grad = False
        for name, module in list(self.encoder.named_modules()):
            if isinstance(module, nn.Linear) and ".layer." in f".{name}":
                parent = self.encoder.get_submodule(name.rpartition(".")[0])
                setattr(parent, name.rpartition(".")[2], Adapted(module))
        width = int(self.encoder.config.hidden_size)
        self.head = nn.ModuleDict(
            {
                "first": nn.Linear(width + SHAPES, WIDTH),
                "last": nn.Linear(WIDTH * (1 + len(REACH)), len(KINDS)),
            }
        )
        for number, reach in enumerate(REACH):
            self.head[f"convolution{number}"] = nn.Conv1d(
                WIDTH, WIDTH, SEEN, padding=reach * (SEEN // 2), dilation=reach
            )
        self.drop = nn.Dropout(DROPPED)

    def forward(self, ids: Tensor, mask: Tensor, seen: Tensor) -> Tensor:
        """Logits, (batch, tokens, kinds)."""
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        there = mask.unsqueeze(-1).float()
        x = torch.relu(self.head["first"](torch.cat([self.drop(states), seen], -1))) * there
        layers = [x]
        for number in range(len(REACH)):
            made = self.head[f"convolution{number}"](self.drop(x).transpose(1, 2))
            x = (x + torch.relu(made).transpose(1, 2)) * there
            layers.append(x)
        logits: Tensor = self.head["last"](self.drop(torch.cat(layers, -1)))
        return logits

    def state(self) -> dict[str, np.ndarray]:
        """What ships, in half precision."""
        return {
            re.sub(r"\.(down|up)\.weight$", r".weight.\1", name).removeprefix("encoder."):
            tensor.numpy().astype(np.float16)
            for name, tensor in self.state_dict().items()
            if name.startswith("head.") or ".down." in name or ".up." in name
        }  # fmt: skip

    def load(self, path: Path) -> None:
        """Weights that ``state`` gave."""
        with np.load(path) as stored:
            state = {
                name if name.startswith("head.") else
                re.sub(r"\.weight\.(down|up)$", r".\1.weight", f"encoder.{name}"):
                torch.from_numpy(stored[name].astype(np.float32))
                for name in stored if name != "encoder"
            }  # fmt: skip
        lacking = self.load_state_dict(state, strict=False)
        assert not lacking.unexpected_keys


Rows = tuple[Tensor, Tensor, Tensor, Tensor]


def tensors(tokenizer: PreTrainedTokenizerBase, texts: Sequence[Marked]) -> Rows:
    """Token ids, mask, shapes and labels of a batch; -100 is no label."""
    read = tokenizer(
        [one.text for one in texts], padding=True, truncation=True, max_length=MAX_TOKENS,
        return_offsets_mapping=True, return_tensors="pt",
    )  # fmt: skip
    labels = torch.full(read["input_ids"].shape, -100)
    seen = torch.zeros(*labels.shape, SHAPES)
    for row, one in enumerate(texts):
        places = [tuple(place) for place in read["offset_mapping"][row].tolist()]
        count = int(read["attention_mask"][row].sum())
        seen[row, :count] = torch.from_numpy(shapes(one.text, places[:count]))
        for at, (start, end) in enumerate(places[:count]):
            if start < end:
                kinds = (kind for a, b, kind in one.secrets if start < b and end > a)
                labels[row, at] = KINDS.index(next(kinds, ""))
    return read["input_ids"], read["attention_mask"], seen, labels


def fit(
    texts: Sequence[Marked],
    epochs: int,
    rate: float,
    size: int = 32,
    start: Path | None = None,
) -> tuple[Network, PreTrainedTokenizerBase]:
    """A network trained on the texts."""
    torch.manual_seed(0)
    chance = random.Random(0)
    tokenizer = AutoTokenizer.from_pretrained(str(encoder_folder()), local_files_only=True)
    network = Network()
    if start:
        network.load(start)
    adapters = [p for p in network.encoder.parameters() if p.requires_grad]
    trained = [*adapters, *network.head.parameters()]
    progress(f"{sum(p.numel() for p in trained):,} parameters, {len(texts)} texts")
    groups: list[dict[str, Any]] = [
        {"params": adapters, "lr": rate / 2},
        {"params": list(network.head.parameters())},
    ]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01)
    total = epochs * -(-len(texts) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[rate / 2, rate], total_steps=total + 1, pct_start=0.2
    )
    values: dict[str, list[str]] = defaultdict(list)
    for one in texts:
        for first, last, kind in one.secrets:
            values[kind].append(one.text[first:last])
    network.train()
    began, done, losses = time.time(), 0, []
    for _ in range(epochs):
        for batch in _batches(texts, chance, size):
            changed = [_changed(one, values, chance) for one in batch]
            ids, mask, seen, labels = tensors(tokenizer, changed)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = network(ids, mask, seen)
            loss = nn.functional.cross_entropy(
                logits.float().flatten(0, 1), labels.flatten(), label_smoothing=0.02
            )
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            done += 1
            if done % 50 == 0:
                left = (time.time() - began) / done * (total - done)
                progress(f"{done}/{total} {np.mean(losses[-50:]):.3f} ({left:.0f} s left)")
    network.eval()
    return network, tokenizer


def _batches(
    texts: Sequence[Marked], chance: random.Random, size: int
) -> Iterator[Sequence[Marked]]:
    """An epoch: texts of like length, in random order."""
    rows = sorted(texts, key=lambda one: len(one.text) + chance.random() * 60)
    batches = [rows[at : at + size] for at in range(0, len(rows), size)]
    chance.shuffle(batches)
    yield from batches


def _changed(one: Marked, values: Mapping[str, Sequence[str]], chance: random.Random) -> Marked:
    """The text with another value of the kind, or other digits: no value is to be learned."""
    if chance.random() >= SWAPPED:
        return one
    if not one.secrets:
        digits = (chance.choice(string.digits) if s.isdigit() and chance.random() < 0.5 else s
                  for s in one.text)  # fmt: skip
        return replace(one, text="".join(digits))
    text, secrets, at = "", [], 0
    for start, end, kind in sorted(one.secrets):
        text += one.text[at:start]
        value = one.text[start:end]
        if kind == "password" and chance.random() < 0.5:
            value = chance.choice(values[kind])
        value = "".join(chance.choice(string.digits) if s.isdigit() else s for s in value)
        secrets.append((len(text), len(text) + len(value), kind))
        text, at = text + value, end
    return replace(one, text=text + one.text[at:], secrets=tuple(secrets))


@torch.no_grad()
def probabilities(
    network: Network, tokenizer: PreTrainedTokenizerBase, one: Marked
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Where the tokens of a text stand, and of each the probabilities of the kinds."""
    ids, mask, seen, _ = tensors(tokenizer, [one])
    read = tokenizer(one.text, truncation=True, max_length=MAX_TOKENS, return_offsets_mapping=True)
    chances = torch.softmax(network(ids, mask, seen)[0], -1).numpy()
    return [tuple(place) for place in read["offset_mapping"]], chances


def measure(
    network: Network, tokenizer: PreTrainedTokenizerBase, texts: Sequence[Marked]
) -> dict[str, float]:
    """At several thresholds: secrets that are gone, harmless texts that are touched."""
    read = [(one, *probabilities(network, tokenizer, one)) for one in texts]
    figures: dict[str, float] = {}
    for sure in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98):
        found = [(one, spans(one.text, places, chances, sure)) for one, places, chances in read]
        touched = [bool(cut) for one, cut in found if not one.secrets]
        gone = [
            (kind, sum(max(0, min(b, end) - max(a, start)) for a, b, _ in cut) > (end - start) / 2)
            for one, cut in found
            for start, end, kind in one.secrets
        ]
        figures[f"touched_{sure}"] = float(np.mean(touched))
        figures[f"gone_{sure}"] = float(np.mean([ok for _, ok in gone]))
        for kind in KINDS[1:]:
            figures[f"gone_{sure}.{kind}"] = float(np.mean([ok for k, ok in gone if k == kind]))
    return figures


def main() -> None:
    options = parser("secrets_train", __doc__ or "")
    options.add_argument("--held", action="store_true", help="leave people out, and measure")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--start", type=Path, help="go on from weights, with half of the texts")
    given = options.parse_args()
    texts = list(read_voices(VOICES))
    held = sorted({one.voice for one in texts})[1::EVERY] if given.held or given.quick else []
    learned = [one for one in texts if one.voice not in held] + list(made_up())
    if given.start:
        learned = random.Random(0).sample(learned, len(learned) // 2)
    learned += ordinary()
    if given.quick:
        learned, given.epochs = learned[::60], 1
    network, tokenizer = fit(learned, given.epochs, given.rate, start=given.start)
    if held:
        others = [one for one in texts if one.voice in held]
        figures = measure(network, tokenizer, others[:: 10 if given.quick else 1])
        for name, value in figures.items():
            progress(f"{name}: {value:.3f}")
        config = {"quick": given.quick, "epochs": given.epochs, "rate": given.rate, "held": held}
        write_results("secrets_train", config, [0], figures)
    else:
        encoder = LocalEmbedder(load_config()).identity
        kept: dict[str, Any] = {"encoder": np.str_(encoder), **network.state()}
        np.savez_compressed(WEIGHTS, **kept)
        progress(f"wrote {WEIGHTS} ({WEIGHTS.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
