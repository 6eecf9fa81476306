"""Makes the weights of the form reader: ``python -m benchmarks.forms_train``.

Two small networks on the frozen encoder learn from the material of ``forms_data`` and
``forms_kinds``: what kind of thing a field asks for, and what kind each run of words of a statement
is. Every fourth wording of a field and every fifth statement, as it is worded, are never learned
from: the *held* figures are of fields and statements that are both new.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.models.readers.form_reader import PARTS, SHAPES, WEIGHTS, EncodedRuns, runs, seen
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.forms import forms_kinds
from benchmarks.training.forms.forms_data import ALIKE, Statement, Wording, statements, wordings

INNER, BATCH, RATE = 256, 8, 3e-3
NONE = 0.1
"""Weight of a run that is no value, beside one that is."""


@dataclass(frozen=True, slots=True)
class Row:
    """A statement as the network sees it: its runs, the whole, and the right run of each slot."""

    seen: EncodedRuns
    right: tuple[tuple[str, int], ...]
    held: bool


def main() -> None:
    options = parser("forms_train", __doc__ or "")
    options.add_argument("--epochs", type=int, default=8)
    options.add_argument("--rounds", type=int, default=2, help="times each statement is drawn")
    options.add_argument("--kinds", action="store_true", help="learn what fields ask for alone")
    options.add_argument("--out", type=Path, default=WEIGHTS)
    given = options.parse_args()
    encoder = LocalEmbedder(load_config())
    torch.set_num_threads(1)
    said_kinds = forms_kinds.material(given.data)
    progress(f"{len(said_kinds)} wordings")
    kinds = forms_kinds.fit_kinds(
        said_kinds, torch.from_numpy(encoder.encode([w.text for w in said_kinds]))
    )
    names, fields = kinds
    if given.kinds:
        with np.load(given.out) as stored:
            np.savez_compressed(given.out, **{**stored, **forms_kinds.state(*kinds)})
        return
    began = time.process_time()
    said = statements(0, 1 if given.quick else given.rounds)
    asked = wordings()
    rows = _rows(said, encoder)
    with torch.no_grad():
        chances = fields(torch.from_numpy(encoder.encode([w.text for w in asked]))).softmax(1)
    progress(f"{len(rows)} statements, {len(asked)} fields, {time.process_time() - began:.0f} s")
    network = fit([row for row in rows if not row.held], names, given.epochs)
    if not given.quick:
        kept: dict[str, Any] = {
            "encoder": np.str_(encoder.identity),
            **network.state(),
            **forms_kinds.state(*kinds),
        }
        np.savez_compressed(given.out, **kept)
        progress(f"wrote {given.out} ({given.out.stat().st_size / 1e6:.1f} MB)")
    figures: dict[str, float] = {}
    for name, new in (("learned", False), ("held", True)):
        some = [n for n, w in enumerate(asked) if w.held == new]
        there = [row for row in rows if row.held == new]
        figures |= _figures(
            name, network, there, [asked[n] for n in some], chances[some], names.index("")
        )
    for key, value in figures.items():
        progress(f"{key:28} {value:.4f}")
    progress(f"{time.process_time() - began:.0f} s of one core")
    config = {"quick": given.quick, "epochs": given.epochs, "rounds": given.rounds}
    write_results("forms_train", config, [0], figures)


def _rows(said: Sequence[Statement], encoder: LocalEmbedder) -> list[Row]:
    rows = []
    for statement, words in zip(said, encoder.encode_words([s.text for s in said]), strict=True):
        found = runs(statement.text, words)
        at = {(run.start, run.end): n for n, run in enumerate(found)}
        right = tuple(
            (slot, at[start, end]) for slot, start, end in statement.values if (start, end) in at
        )
        rows.append(Row(seen(statement.text, words, found), right, statement.held))
    return rows


@dataclass(frozen=True, slots=True)
class Batch:
    """Several texts, padded."""

    states: Tensor
    words: Tensor
    first: Tensor
    last: Tensor
    shape: Tensor
    runs: Tensor


def batched(rows: Sequence[Row]) -> Batch:
    """The texts side by side."""
    texts = [row.seen for row in rows]
    pad = nn.utils.rnn.pad_sequence
    counts = torch.tensor([len(text.first) for text in texts])
    return Batch(
        pad([torch.from_numpy(t.states) for t in texts], batch_first=True),
        torch.tensor([len(t.states) - 2.0 for t in texts]),
        pad([torch.from_numpy(t.first) for t in texts], batch_first=True, padding_value=1),
        pad([torch.from_numpy(t.last) for t in texts], batch_first=True, padding_value=1),
        pad([torch.from_numpy(t.shape) for t in texts], batch_first=True),
        torch.arange(int(counts.max()))[None] < counts[:, None],
    )


class Spans(nn.Module):
    """``agent.models.readers.form_reader`` runs the same without PyTorch."""

    def __init__(self, width: int, kinds: int) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.1)
        for name in PARTS:
            self.add_module(name, nn.Linear(width, INNER, bias=False))
        self.shape = nn.Linear(SHAPES, INNER)
        self.out = nn.Linear(INNER, kinds)

    def forward(self, batch: Batch) -> Tensor:
        """Logits of each run, (texts, runs, kinds)."""
        states = self.drop(batch.states)
        first, last = batch.first[:, :, None], batch.last[:, :, None]
        parts = {name: self.get_submodule(name)(states) for name in PARTS}
        sums = parts["mean"].cumsum(1)
        inner = self.shape(batch.shape)
        inner = inner + _at(parts["first"], first) + _at(parts["last"], last)
        inner = inner + _at(parts["before"], first - 1) + _at(parts["after"], last + 1)
        inner = inner + (_at(sums, last) - _at(sums, first - 1)) / (last + 1 - first)
        made: Tensor = self.out(torch.relu(inner))
        return made

    def state(self) -> dict[str, Any]:
        """What ships, in half precision."""
        return {f"span.{n}": t.numpy().astype(np.float16) for n, t in self.state_dict().items()}


def _at(states: Tensor, places: Tensor) -> Tensor:
    return states.gather(1, places.expand(-1, -1, states.shape[2]))


def fit(rows: Sequence[Row], kinds: Sequence[str], epochs: int) -> Spans:
    """A network that learned the kind of every run of the statements."""
    torch.manual_seed(0)
    chance = random.Random(0)
    network = Spans(rows[0].seen.states.shape[1], len(kinds))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.02)
    steps = epochs * (len(rows) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=RATE, total_steps=steps + 1, pct_start=0.1
    )
    place = {kind: n for n, kind in enumerate(kinds)}
    network.train()
    for epoch in range(epochs):
        order = list(rows)
        chance.shuffle(order)
        losses = []
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            batch = batched(some)
            loss = _loss(network(batch), batch, some, place)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch has no types here
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
        progress(f"epoch {epoch + 1}: {sum(losses) / len(losses):.3f}")
    network.eval()
    return network


def _loss(logits: Tensor, batch: Batch, rows: Sequence[Row], place: dict[str, int]) -> Tensor:
    """A value counts as much as many runs that are none; somebody else's counts as none."""
    goals = torch.full(logits.shape[:2], place[""], dtype=torch.long)
    weights = batch.runs * NONE
    for n, row in enumerate(rows):
        for slot, run in row.right:
            goals[n, run] = place.get(slot, place[""])
            weights[n, run] = 1.0
    each = nn.functional.cross_entropy(logits.flatten(0, 1), goals.flatten(), reduction="none")
    return (each * weights.flatten()).sum() / len(rows)


def alike() -> dict[str, set[str]]:
    """Of each slot those that may stand in for it."""
    found: dict[str, set[str]] = {}
    for group in ALIKE:
        for slot in group:
            found.setdefault(slot, set()).update(group - {slot})
    return found


@torch.no_grad()
def _figures(
    name: str,
    network: Spans,
    rows: Sequence[Row],
    asked: Sequence[Wording],
    chances: Tensor,
    none: int,
) -> dict[str, float]:
    """Of fields that a statement fills: right; of the others: filled. By threshold."""
    same = alike()
    present: list[tuple[float, bool]] = []
    absent: list[float] = []
    chances = chances.clone()
    chances[:, none] = 0
    for row in rows:
        scores = chances @ network(batched([row]))[0].softmax(1).T
        best = scores.max(1)
        right = dict(row.right)
        for wording, value, place in zip(
            asked, best.values.tolist(), best.indices.tolist(), strict=True
        ):
            if wording.slot and wording.slot in right:
                present.append((value, place == right[wording.slot]))
            elif not same.get(wording.slot, set()) & right.keys():
                absent.append(value)
    found = {f"{name}_pairs": float(len(present))}
    for least in (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        over = [ok for value, ok in present if value >= least]
        found[f"{name}_right_{least}"] = sum(over) / len(present)
        found[f"{name}_other_run_{least}"] = (len(over) - sum(over)) / len(present)
        found[f"{name}_absent_filled_{least}"] = sum(v >= least for v in absent) / len(absent)
    return found


if __name__ == "__main__":
    main()
