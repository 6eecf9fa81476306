"""Makes the weights of the statement reader: ``python -m benchmarks.reader_train``.

Trains the upper layers of the shipped encoder and four heads on the episodes of
``samples/voices``.
``--held`` first trains without three voices and a quarter of the topics and measures on both, then
stops; without it, everything is learned from and the weights are written.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerBase

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.models.registry import ModelRegistry
from agent.ports import ORDERS, RELATIONS
from agent.session.orders import SURE
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.training.reader.reader_contrast import contrast_examples
from benchmarks.training.reader.reader_data import (
    Example,
    examples,
    kind_examples,
    life_examples,
    order_examples,
    read_episodes,
    slot_examples,
)
from benchmarks.training.reader.reader_negatives import negatives
from benchmarks.training.reader.reader_network import Network, tokenized

CHANGES = [RELATIONS.index(name) for name in ("refines", "corrects", "ends", "supersedes")]
HELD_VOICES = ("household", "elder", "slang")
HELD_KINDS = ("elderly", "emoji_teen")
"""Voices of single messages that are held out."""
HELD = ROOT / "build" / "reader_held.npz"
"""Where ``--held`` writes: weights that are measured and never shipped."""
TOPICS_HELD = 4
"""Every fourth topic, in the order of the alphabet, is held out."""
FRAMED = 4000
"""Pairs written from frames."""
OTHERS = 0.3
"""Share of the examples by other voices that is repeated where some are new (``--new``)."""
SHARES = {"relation": 1.0, "kind": 0.3, "relevance": 0.8, "order": 1.0}
"""Of the examples of a task, how many an epoch takes."""


def main() -> None:
    options = parser("reader_train", __doc__ or "")
    options.add_argument("--held", action="store_true", help="measure on held-out voices, topics")
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--rate", type=float, default=1.5e-4)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--out", type=Path, default=WEIGHTS)
    options.add_argument("--start", type=Path, help="weights to go on from, instead of the encoder")
    options.add_argument("--new", nargs="*", help="voices to learn whole, a third of all others")
    given = options.parse_args()
    episodes = list(read_episodes())
    if given.quick:
        episodes, given.epochs = episodes[::40], 1
    topics = sorted({episode.topic for episode in episodes})[::TOPICS_HELD]
    made = examples(episodes) + kind_examples() + order_examples()
    made += contrast_examples(episodes, 40 if given.quick else FRAMED)
    made += negatives(episodes, LocalEmbedder(load_config()))
    learned = [
        row
        for row in made
        if not given.held
        or (row.voice not in (*HELD_VOICES, *HELD_KINDS) and row.topic not in topics)
    ]
    learned += slot_examples(40 if given.quick else 1000) + life_examples(1 if given.quick else 14)
    if given.new:
        chance = random.Random(1)
        learned = [row for row in learned if row.voice in given.new or chance.random() < OTHERS]
    progress(f"{len(episodes)} episodes, {len(made)} examples, {len(learned)} to learn from")
    network, tokenizer = fit(learned, given.epochs, given.rate, given.batch, given.start)
    if given.held:
        figures: dict[str, float] = {"examples": len(learned)}
        for name, rows in (
            ("voice", [r for r in made if r.voice in HELD_VOICES]),
            ("topic", [r for r in made if r.voice not in HELD_VOICES and r.topic in topics]),
            ("single", [r for r in made if r.voice in HELD_KINDS]),
        ):
            figures |= {f"{name}.{k}": v for k, v in measure(network, tokenizer, rows).items()}
        for key, value in figures.items():
            progress(f"{key} {value:.3f}")
        config = {
            "quick": given.quick, "epochs": given.epochs, "rate": given.rate,
            "voices": HELD_VOICES, "topics": topics,
        }  # fmt: skip
        write_results("reader_train", config, [0], figures)
    if not given.quick:
        out = HELD if given.held else given.out
        out.parent.mkdir(parents=True, exist_ok=True)
        encoder = LocalEmbedder(load_config()).identity
        kept: dict[str, Any] = {"encoder": np.str_(encoder), **network.state()}
        np.savez_compressed(out, **kept)
        progress(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")


def fit(
    rows: Sequence[Example], epochs: int, rate: float, batch: int, start: Path | None = None
) -> tuple[Network, PreTrainedTokenizerBase]:
    """A network trained on the rows, tasks in turns."""
    torch.manual_seed(0)
    chance = random.Random(0)
    folder = encoder_folder()
    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    encoder = AutoModel.from_pretrained(str(folder), local_files_only=True, add_pooling_layer=False)
    network = Network(encoder)
    if start:
        with np.load(start) as stored:
            state = {n: torch.from_numpy(stored[n].astype(np.float32)) for n in stored if "." in n}
        network.load_state_dict(state, strict=False)
    trained = [p for p in network.parameters() if p.requires_grad]
    progress(f"{sum(p.numel() for p in trained):,} parameters")
    groups = [
        {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": rate},
        {"params": list(network.heads.parameters()), "lr": 5 * rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    by_task: dict[str, list[Example]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    plan = [_batches(by_task, chance, batch) for _ in range(epochs)]
    total = sum(map(len, plan))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[rate, 5 * rate], total_steps=total + 1, pct_start=0.1
    )
    began, done = time.time(), 0
    network.train()
    for epoch, batches in enumerate(plan):
        losses: dict[str, list[float]] = defaultdict(list)
        for taken in batches:
            task = taken[0].task
            inputs = tokenized(
                tokenizer,
                [row.first for row in taken],
                None if taken[0].second is None else [row.second or "" for row in taken],
            )
            with torch.autocast("cpu", dtype=torch.bfloat16):  # half the time where it is native
                logits = network(task, inputs)
            logits = logits.float()
            labels = torch.tensor([row.label for row in taken])
            weights = torch.tensor([row.weight for row in taken])
            if task == "relevance":
                each = nn.functional.binary_cross_entropy_with_logits(
                    logits[:, 0], labels.float(), reduction="none"
                )
            else:
                each = nn.functional.cross_entropy(
                    logits, labels, reduction="none", label_smoothing=0.02
                )
            loss = (each * weights).mean()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            losses[task].append(loss.item())
            done += 1
            if done % 100 == 0:
                left = (time.time() - began) / done * (total - done)
                told = " ".join(f"{k} {np.mean(v[-100:]):.3f}" for k, v in losses.items())
                progress(f"epoch {epoch} {done}/{total} {told} ({left:.0f} s left)")
    network.eval()
    return network, tokenizer


def _batches(
    by_task: dict[str, list[Example]], chance: random.Random, size: int
) -> list[list[Example]]:
    """One epoch: batches of one task each, of texts of like length, in random order."""
    batches = []
    for task, rows in by_task.items():
        taken = chance.sample(rows, int(len(rows) * SHARES[task]))
        taken.sort(key=lambda row: len(row.first) + len(row.second or "") + chance.random() * 40)
        batches += [taken[n : n + size] for n in range(0, len(taken), size)]
    chance.shuffle(batches)
    return batches


def measure(
    network: Network, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Example]
) -> dict[str, float]:
    """By task: area under the curve of what counts most, and macro F1."""
    figures: dict[str, float] = {}
    for task in SHARES:
        own = [row for row in rows if row.task == task]
        if not own:
            continue
        chances = _predict(network, tokenizer, own)
        labels = np.array([row.label for row in own])
        figures[f"{task}.n"] = len(own)
        if task == "relevance":
            figures["relevance.auc"] = float(roc_auc_score(labels, chances[:, 0]))
            continue
        figures[f"{task}.macro_f1"] = float(f1_score(labels, chances.argmax(1), average="macro"))
        if task == "order":
            figures |= _sure_orders(labels, chances)
            continue
        if task == "kind":
            told, likely = labels < 4, chances[:, :4].sum(1)
            figures["kind.told_auc"] = float(roc_auc_score(told, likely))
            figures["kind.told_recall"] = float((likely[told] >= 0.5).mean())
            figures["kind.told_specificity"] = float((likely[~told] < 0.5).mean())
            continue
        changed, likely = np.isin(labels, CHANGES), chances[:, CHANGES].sum(1)
        figures["relation.changes"] = int(changed.sum())
        figures["relation.change_auc"] = float(roc_auc_score(changed, likely))
        figures["relation.change_ap"] = float(average_precision_score(changed, likely))
        for least in (0.5, 0.8, 0.9, 0.95, 0.99):
            taken = likely >= least
            figures[f"relation.precision_{least}"] = (
                float(changed[taken].mean()) if taken.any() else 1.0
            )
            figures[f"relation.recall_{least}"] = float(taken[changed].mean())
    return figures


def _sure_orders(labels: NDArray[np.int64], chances: NDArray[np.float32]) -> dict[str, float]:
    """Of messages taken for an order to forget or undo, how many are; and how many are found."""
    acted = [ORDERS.index(name) for name in ("forget", "undo")]
    taken = (chances.max(1) >= SURE) & np.isin(chances.argmax(1), acted)
    right = taken & (chances.argmax(1) == labels)
    meant = np.isin(labels, acted)
    return {
        "order.n": len(labels),
        "order.precision": float(right.sum() / max(1, taken.sum())),
        "order.recall": float(right.sum() / max(1, meant.sum())),
    }


def _predict(
    network: Network, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Example]
) -> NDArray[np.float32]:
    order = sorted(range(len(rows)), key=lambda n: len(rows[n].first) + len(rows[n].second or ""))
    out: dict[int, NDArray[np.float32]] = {}
    task = rows[0].task
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), 64):
            taken = order[start : start + 64]
            second = [rows[n].second or "" for n in taken]
            inputs = tokenized(
                tokenizer,
                [rows[n].first for n in taken],
                None if rows[taken[0]].second is None else second,
            )
            logits = network(task, inputs)
            chances = logits.sigmoid() if task == "relevance" else logits.softmax(1)
            out.update(zip(taken, chances.float().numpy(), strict=True))
    return np.stack([out[n] for n in range(len(rows))])


def encoder_folder() -> Path:
    """Where the shipped encoder lies."""
    config = load_config()
    return ModelRegistry(config.models_dir).resolve_embedder(config.embedder)


if __name__ == "__main__":
    main()
