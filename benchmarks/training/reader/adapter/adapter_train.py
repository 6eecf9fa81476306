"""Trains the reading adapter, on a machine with a GPU (an H100 takes five minutes).

In the folder that ``adapter_examples`` wrote, where PyTorch, NumPy and ``gguf`` are there:
``python -m benchmarks.training.reader.adapter.adapter_train . OUT``.

Without a GPU an adapter is trained further for an hour, on some of the prompts: ``--device cpu
--start START --epochs 1 --most 0 2000 0 35 215 500 --minutes 64 --budget 900 --rate 1e-4``.
``START`` has what ``python -m benchmarks.adapter_fit START --start`` wrote. What ships was trained
so, but its 250 prompts of people and voices were drawn from both at once.

``OUT`` gets the adapter (``adapter.npz``), the classifiers of the states (``heads.npz``) and, of an
adapter that began with nothing, the scores of the prompts that nothing was learned from
(``scores.npz``). ``adapter_fit`` makes of them what ships.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.training.reader.adapter.adapter_network import Network, read_tensors

CHANGES = (3, 4, 5, 6)
"""Of ``agent.ports.RELATIONS`` those after which the older text no longer holds."""
RELATIONS = 7
CHANGED, NEEDED = 1, 2
"""Labels of notes (``adapter_examples.LABELS``)."""
HOMES = ("follow_ups", "introductions", "months", "people", "voices")
WIDTH = 1536
BESIDE = 0.3
"""What the losses beside the main one count: of changed notes, of all notes, of relations."""
RATE, HEAD_RATE = 3e-4, 1e-3
WARM_UP = 40
SCALED, SCALED_FURTHER = 600, 40
"""Prompts by which the scale of the states is taken."""

Array = NDArray[np.int32]


@dataclass(frozen=True)
class Task:
    """Prompts as tokens, the places whose states are read, and a label of each place."""

    name: str
    homes: NDArray[np.str_]
    tokens: Sequence[Array]
    places: Sequence[Array]
    labels: Sequence[Array]
    learned: NDArray[np.bool_]


class Heads(nn.Module):
    """Linear classifiers of scaled states."""

    lines_mean: Tensor
    lines_std: Tensor
    pairs_mean: Tensor
    pairs_std: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.lines = nn.Linear(2 * WIDTH, 2)
        self.answered = nn.Linear(WIDTH, 1)
        self.pairs = nn.Linear(WIDTH, 1)
        self.relations = nn.Linear(WIDTH, RELATIONS)
        for name in ("lines", "pairs"):
            self.register_buffer(f"{name}_mean", torch.zeros(WIDTH))
            self.register_buffer(f"{name}_std", torch.ones(WIDTH))
        for parameter in self.parameters():
            nn.init.zeros_(parameter)

    def scale(self, name: str, states: Tensor) -> None:
        """Take the scale of a task's states."""
        getattr(self, f"{name}_mean").copy_(states.mean(0))
        getattr(self, f"{name}_std").copy_(states.std(0) + 1e-4)

    def start(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Take up linear classifiers of plain states, at the scale taken."""
        with torch.no_grad():
            own, around, answered, pair = (
                torch.from_numpy(arrays[name]) for name in ("weight", "around", "answered", "pair")
            )
            self.lines.weight[0] = torch.cat([own * self.lines_std, around * self.lines_std])
            self.lines.bias[0] = float(arrays["bias"]) + (own + around) @ self.lines_mean
            self.answered.weight[0] = answered * self.lines_std
            self.answered.bias[0] = float(arrays["answered_bias"]) + answered @ self.lines_mean
            self.pairs.weight[0] = pair * self.pairs_std
            self.pairs.bias[0] = float(arrays["pair_bias"]) + pair @ self.pairs_mean

    def plain(self) -> dict[str, NDArray[np.float32]]:
        """The classifiers that ship, of plain states: the scale is in their weights."""
        with torch.no_grad():
            own, around = self.lines.weight[0].view(2, WIDTH) / self.lines_std
            answered = self.answered.weight[0] / self.lines_std
            pair = self.pairs.weight[0] / self.pairs_std
            made = {
                "weight": own,
                "around": around,
                "bias": self.lines.bias[0] - (own + around) @ self.lines_mean,
                "answered": answered,
                "answered_bias": self.answered.bias[0] - answered @ self.lines_mean,
                "pair": pair,
                "pair_bias": self.pairs.bias[0] - pair @ self.pairs_mean,
            }
            return {name: tensor.float().cpu().numpy() for name, tensor in made.items()}

    def scaled(self, name: str, states: Tensor) -> Tensor:
        mean: Tensor = getattr(self, f"{name}_mean")
        std: Tensor = getattr(self, f"{name}_std")
        return (states - mean) / std

    def of_lines(self, states: Tensor, prompt: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Of each line whether it is needed and whether it was changed (n, 2), and of each of
        ``count`` prompts whether any line answers; ``prompt`` is that of each line."""
        x = self.scaled("lines", states)
        sums = torch.zeros(count, WIDTH, device=x.device).index_add(0, prompt, x)
        mean = sums / torch.bincount(prompt, minlength=count)[:, None]
        return self.lines(torch.cat([x, mean[prompt]], -1)), self.answered(mean)[:, 0]

    def of_pairs(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Of each pair whether the older text no longer holds (n,), and the relation (n, 7)."""
        x = self.scaled("pairs", states)
        return self.pairs(x)[:, 0], self.relations(x)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--epochs", type=int, default=2)
    options.add_argument("--minutes", type=float, default=4.6, help="most that training takes")
    options.add_argument("--budget", type=int, default=12_000, help="tokens of a batch")
    options.add_argument("--start", type=Path, help="folder of an adapter to train further")
    options.add_argument("--first", type=int, default=6, help="lowest layer trained further")
    options.add_argument("--rate", type=float, default=RATE, help="of the adapter")
    options.add_argument(
        "--most",
        type=int,
        nargs=6,
        metavar=("FOLLOW_UPS", "INTRODUCTIONS", "MONTHS", "PEOPLE", "VOICES", "PAIRS"),
        help="most prompts of each kind: of lines by home, and of pairs",
    )
    options.add_argument("--seed", type=int, default=0, help="of which prompts, in which order")
    options.add_argument("--device", default="cuda")
    options.add_argument("--limit", type=int, help="prompts of each task, to try it out")
    given = options.parse_args()
    torch.manual_seed(given.seed)
    kind = torch.bfloat16 if given.device == "cuda" else torch.float32
    net = Network(read_tensors(given.folder, kind, given.device)).to(given.device)
    heads = Heads().to(given.device)
    if given.start:
        net.start(np.load(given.start / "adapter.npz"), given.first)
    known = np.load(given.folder / "used.npy")
    number = np.zeros(known.max() + 1, np.int32)
    number[known] = np.arange(len(known))
    tasks = [_read(given.folder / f"{name}.npz", number) for name in ("lines", "pairs")]
    for task in tasks:
        scaled = SCALED_FURTHER if given.start else SCALED
        rows = np.flatnonzero(task.learned)[: given.limit or scaled].tolist()
        with torch.no_grad():
            states = [_states(task, own, net)[0] for own in _batches(task, rows, given.budget)]
        heads.scale(task.name, torch.cat(states))
    if given.start:
        heads.start(np.load(given.start / "heads.npz"))
    _train(tasks, net, heads, given)
    net.eval()
    given.out.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for name, a, b in net.adapters():
        arrays |= {f"{name}.a": a.half().cpu().numpy(), f"{name}.b": b.half().cpu().numpy()}
    np.savez(given.out / "adapter.npz", **arrays)
    plain: dict[str, Any] = {**heads.plain()}
    np.savez(given.out / "heads.npz", **plain)
    if given.start:
        return  # the prompts to calibrate by take too long without a GPU (``adapter_fit``)
    scores: dict[str, Any] = {}
    for task in tasks:
        rows = np.flatnonzero(~task.learned)[: given.limit].tolist()
        for own in _batches(task, rows, 2 * given.budget):
            for row, score in zip(own, _scores(task, own, net, heads), strict=True):
                scores[f"{task.name}.{row}"] = score
    np.savez_compressed(given.out / "scores.npz", **scores)


def _read(path: Path, number: Array) -> Task:
    data = np.load(path)

    def cut(values: Array, counts: str) -> list[Array]:
        return np.split(values, np.cumsum(data[counts])[:-1])

    return Task(
        path.stem,
        data["home"],
        cut(number[data["tokens"]], "token_counts"),
        cut(data["places"], "place_counts"),
        cut(data["labels"], "place_counts"),
        data["split"] == "learn",
    )


def _train(tasks: Sequence[Task], net: Network, heads: Heads, given: argparse.Namespace) -> None:
    """Batches of both tasks in turn; the rate falls with the cosine of the time or work done."""
    low = [parameter for parameter in net.parameters() if parameter.requires_grad]
    own = [*heads.parameters()]
    optimizer = torch.optim.AdamW(
        [
            {"params": low, "first": given.rate},
            {"params": own, "first": given.rate * HEAD_RATE / RATE},
        ],
        weight_decay=0.01,
    )
    chance = random.Random(given.seed)
    plan = [*_plan(tasks, given, chance)]
    losses: dict[str, list[float]] = defaultdict(list)
    begun = time.monotonic()
    for step, (task, rows) in enumerate(plan):
        minutes = (time.monotonic() - begun) / 60
        done = max(step / len(plan), minutes / given.minutes)
        if done >= 1:
            break
        rate = min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * done)) / 2
        for group in optimizer.param_groups:
            group["lr"] = rate * group["first"]
        loss = _loss(task, rows, net, heads, further=given.start is not None)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_([*low, *own], 1.0)
        optimizer.step()
        losses[task.name].append(float(loss.detach()))
        if step % 25 == 24:
            means = {name: f"{np.mean(values):.3f}" for name, values in losses.items()}
            print(f"{step + 1} of {len(plan)}, {minutes:.1f} min: {means}", flush=True)
            losses.clear()


def _plan(
    tasks: Sequence[Task], given: argparse.Namespace, chance: random.Random
) -> Iterator[tuple[Task, list[int]]]:
    for _ in range(given.epochs):
        batches = []
        for task in tasks:
            rows = np.flatnonzero(task.learned)[: given.limit].tolist()
            chance.shuffle(rows)
            if given.most and task.name == "pairs":
                rows = rows[: given.most[-1]]
            elif given.most:
                each = [[r for r in rows if task.homes[r] == home] for home in HOMES]
                most = zip(each, given.most[:-1], strict=True)
                rows = [row for own, count in most for row in own[:count]]
            batches += [(task, own) for own in _batches(task, rows, given.budget)]
        chance.shuffle(batches)
        yield from batches


def _batches(task: Task, rows: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Prompts of about the same length, at most so many tokens with the padding."""
    own: list[int] = []
    for row in sorted(rows, key=lambda row: len(task.tokens[row]) // 8):
        longest = max(len(task.tokens[one]) for one in (*own, row))
        if own and longest * (len(own) + 1) > budget:
            yield own
            own = []
        own.append(row)
    if own:
        yield own


def _states(task: Task, rows: Sequence[int], net: Network) -> tuple[Tensor, Tensor]:
    """The states at all places of these prompts (n, width), and the prompt of each."""
    device = net.embedding.device
    longest = max(len(task.tokens[row]) for row in rows)
    tokens = np.zeros((len(rows), longest), np.int64)
    for place, row in enumerate(rows):
        tokens[place, : len(task.tokens[row])] = task.tokens[row]
    counts = [len(task.places[row]) for row in rows]
    prompt = torch.from_numpy(np.repeat(np.arange(len(rows)), counts)).to(device)
    places = torch.from_numpy(np.concatenate([task.places[row] for row in rows])).to(device)
    return net(torch.from_numpy(tokens).to(device))[prompt, places], prompt


def _loss(task: Task, rows: Sequence[int], net: Network, heads: Heads, *, further: bool) -> Tensor:
    """``further``: without the classifiers that do not ship, so are new."""
    states, prompt = _states(task, rows, net)
    labels = torch.from_numpy(np.concatenate([task.labels[row] for row in rows])).to(states.device)
    odds = F.binary_cross_entropy_with_logits
    if task.name == "pairs":
        change, relation = heads.of_pairs(states)
        changed = torch.isin(labels, torch.tensor(CHANGES, device=labels.device))
        if further:
            return odds(change, changed.float())
        return odds(change, changed.float()) + BESIDE * F.cross_entropy(relation, labels.long())
    lines, answered = heads.of_lines(states, prompt, len(rows))
    needed = (labels == NEEDED).float()
    known = torch.zeros_like(answered).index_add(0, prompt, needed).clamp(max=1)
    changed = (labels == CHANGED).float()
    beside = odds(answered, known)
    if not further:
        beside = beside + odds(lines[:, 1], changed)
    return odds(lines[:, 0], needed) + BESIDE * beside


@torch.no_grad()
def _scores(
    task: Task, rows: Sequence[int], net: Network, heads: Heads
) -> list[NDArray[np.float32]]:
    """Of each prompt the score of each place; of lines also that any of them answers."""
    states, prompt = _states(task, rows, net)
    if task.name == "pairs":
        return list(heads.of_pairs(states)[0][:, None].cpu().numpy())
    lines, answered = heads.of_lines(states, prompt, len(rows))
    ends = np.cumsum([len(task.places[row]) for row in rows])[:-1]
    own = np.split(lines[:, 0].cpu().numpy(), ends)
    return [np.append(*both) for both in zip(own, answered.cpu().numpy(), strict=True)]


if __name__ == "__main__":
    main()
