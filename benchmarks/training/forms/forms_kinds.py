"""What forms ask for, as classes: the material of the form reader's other half.

The phrases of the form vocabulary, the wordings of ``forms_slots.toml`` and the fields of real
forms (``ddg_autofill_forms``, but for those that ``benchmarks.autofill`` calls unseen). The class
"" is what stays empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agent.applications.forms.fields import worded
from agent.applications.forms.matching.match import match_fields
from agent.applications.forms.matching.vocabulary import Policy, vocabulary
from benchmarks.quality.uses.autofill import CLOSED, KEYS_OF_GOLD, fields_of, is_unseen
from benchmarks.shared.common import progress
from benchmarks.training.forms.forms_data import Wording, table, wordings

STEPS, RATE = 900, 3e-3
_FRAMES = (
    "Your {0}", "{1} *", "What is your {0}?", "Please enter your {0}", "{1} (optional)",
    "{1}, Personal details", "{1}, Application", "Current {0}",
)  # fmt: skip


def material(data: Path) -> list[Wording]:
    """Wordings with their class; the held ones are measured with."""
    keys = vocabulary().keys
    found = [
        Wording(phrase, "" if key.policy is Policy.NOT_PERSONAL else key.id)
        for key in keys.values()
        for phrase in key.phrases
    ]
    path = data / "ddg_autofill_forms" / "forms.jsonl"
    framed = [
        Wording(frame.format(w.text[:1].lower() + w.text[1:], w.text), w.slot)
        for n, w in enumerate(wordings())
        if not w.held and "?" not in w.text
        for frame in (_FRAMES[n % len(_FRAMES)],)
    ]
    return [*found, *wordings(), *framed, *(_real(path) if path.exists() else ())]


def _real(path: Path) -> Iterator[Wording]:
    for line in path.read_text("utf-8").splitlines():
        form = json.loads(line)
        if is_unseen(form["form"]):
            continue
        fields = fields_of(form["fields"])
        for row, field, ask in zip(form["fields"], fields, match_fields(fields), strict=True):
            gold = row.get("gold")
            if gold is None or gold in CLOSED:
                continue
            if ask.question:
                yield Wording(worded(field, ask), KEYS_OF_GOLD.get(gold, ("",))[0])


def key_of(kind: str) -> str:
    """The key of the vocabulary that a class stands for; empty where it has none."""
    if ":" in kind:
        return kind.partition(":")[2]
    named = str(table()["keys"].get(kind, kind))
    return named if named in vocabulary().keys else ""


def fit_kinds(said: list[Wording], vectors: Tensor) -> tuple[list[str], nn.Sequential]:
    """The classes and a network that tells a field's class from its vector."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kinds = sorted({w.slot for w in said})
    goals = torch.tensor([kinds.index(w.slot) for w in said])
    learned = torch.tensor([not w.held for w in said])
    network = nn.Sequential(nn.Linear(vectors.shape[1], 256), nn.ReLU(), nn.Linear(256, len(kinds)))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.02)
    x, y = vectors[learned], goals[learned]
    for _ in range(STEPS):
        taken = torch.randint(len(x), (128,))
        noisy = nn.functional.dropout(x[taken], 0.15)
        loss = nn.functional.cross_entropy(network(noisy), y[taken], label_smoothing=0.03)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no types here
        optimizer.step()
    with torch.no_grad():
        chances = network(vectors[~learned]).softmax(1)
        best = chances.max(1)
        right = best.indices == goals[~learned]
        for least in (0.0, 0.5, 0.7, 0.9):
            sure = best.values >= least
            shares = float(sure.float().mean()), float(right[sure].float().mean())
            progress(f"held wordings, at {least}: {shares[0]:.3f} sure, {shares[1]:.3f} right")
    return kinds, network


def state(kinds: list[str], network: nn.Sequential) -> dict[str, NDArray[Any]]:
    """What ships."""
    kept = {f"kind.{n}": t.numpy().astype(np.float16) for n, t in network.state_dict().items()}
    names = {"kinds": np.array(kinds), "keys": np.array([key_of(kind) for kind in kinds])}
    return {**kept, **names}
