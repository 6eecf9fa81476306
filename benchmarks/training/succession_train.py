"""The weights of ``judges.successor``: ``python -m benchmarks.succession_train``.

Learns which memory a told change puts an end to, from wordings that we wrote: the topics of the
banks of simulated lives, the bank ``test`` excepted. Each change is put beside two memories of the
same topic in random wordings and the six nearest of other topics. The figures are of whole banks
held back, so no wording or topic of what is measured was learned: ``right`` and ``wrong`` of the
memories taken to be succeeded at ``SURE``, and ``wrong_untold`` where the right one was never told.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from agent.config import load_config
from agent.extraction.triples.read import triples_for
from agent.memory.editing.judges.successor import (
    SIGNS,
    SURE,
    WEIGHTS,
    NameVectors,
    may_succeed,
    signs,
)
from agent.ports import NameEncoder, Vectors
from agent.session.session import open_session
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.shared.simulated_lives.lives_more import FIRST, SECOND
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from policies.weight_file import write_json

BANKS = {"train": TRAIN, "first": FIRST, "second": SECOND}
DAYS = ("2024-05-03", "May 09, 2024", "12 March 2024")
CHANGES = 900
"""Of a set of banks, drawn by seed."""
RIGHT, OTHERS = 2, 6
"""Memories of the same topic, and of the nearest other ones, beside each change."""
STRENGTH = 0.3
"""scikit-learn's C."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Change:
    """A told change, the topic it is about, and the value it ends."""

    topic: str
    text: str
    old: str


def main() -> None:
    options = parser("succession_train", __doc__ or "")
    given = options.parse_args()
    count = 60 if given.quick else CHANGES
    figures: dict[str, float | int | None] = {}
    with open_session(load_config()) as models:
        assert isinstance(models.embedder, NameEncoder)
        pairs = Pairs(remembering(models.embedder), models.embedder.encode_names, count)
        for held in BANKS:
            learned = pairs.of([name for name in BANKS if name != held], 0)
            fitted = fit(learned)
            for key, value in rates(fitted, pairs.of([held], 1)).items():
                figures[f"{held}.{key}"] = value
            progress(f"without {held}: {figures}")
        final = fit(pairs.of(list(BANKS), 0))
    bias, weights = final
    if not given.quick:
        write_json(WEIGHTS, {"bias": bias, "weights": dict(zip(SIGNS, weights, strict=True))})
    config = {"quick": given.quick, "banks": list(BANKS), "changes": count, "sure": SURE,
              "strength": STRENGTH}  # fmt: skip
    write_results("succession_train", config, [0], figures)
    for name, figure in figures.items():
        print(f"{name:30} {figure:.3f}")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Changes beside memories, as signs."""

    encode: object
    names: NameVectors
    count: int

    def of(self, banks: Sequence[str], seed: int) -> list[tuple[Floats, NDArray[np.bool_]]]:
        """For each change the signs of its candidates, and which of them it ends."""
        rng = random.Random(seed)
        memories, changes = told(banks, rng)
        rng.shuffle(changes)
        changes = changes[: self.count]
        every = [(topic, text) for topic, texts in memories.items() for text, _ in texts]
        texts = [text for _, text in every]
        vectors = self._encoded(texts)
        asked = self._encoded([change.text for change in changes])
        both = list(dict.fromkeys([*texts, *(change.text for change in changes)]))
        triples = dict(zip(both, triples_for(both, None), strict=True))
        row = {text: at for at, text in enumerate(texts)}
        made = []
        for change, vector in zip(changes, asked, strict=True):
            near = vectors @ vector
            ended = [text for text, value in memories[change.topic] if value == change.old]
            right = rng.sample(ended, min(RIGHT, len(ended)))
            others: dict[str, str] = {}
            for at in np.argsort(-near):
                topic, text = every[int(at)]
                if topic != change.topic and topic not in others:
                    others[topic] = text
                if len(others) >= OTHERS:
                    break
            candidates = [
                text
                for text in (*right, *others.values())
                if may_succeed(change.text, triples[change.text], text, triples[text])
            ]
            if not candidates:
                continue
            inputs = [
                signs(text, triples[text], change.text, triples[change.text],
                      float(near[row[text]]), self.names)
                for text in candidates
            ]  # fmt: skip
            made.append((np.array(inputs), np.array([text in right for text in candidates])))
        return made

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        encode = self.encode
        assert callable(encode)
        vectors: Vectors = encode(texts)
        return vectors


def told(
    banks: Sequence[str], rng: random.Random
) -> tuple[dict[str, list[tuple[str, str]]], list[Change]]:
    """The memories of each topic with the value they give, and the changes."""
    memories: dict[str, list[tuple[str, str]]] = {}
    changes: list[Change] = []
    for name in banks:
        bank: Bank = BANKS[name]
        for topic in bank.topics:
            key = f"{name} {topic.name}"
            for old, new in itertools.islice(itertools.permutations(topic.values, 2), 6):
                others = [value for value in topic.values if value not in (old, new)]
                for wording in (*topic.tell, *topic.dated, *topic.change):
                    text = _filled(wording, old, rng.choice(others or [new]), rng.choice(DAYS))
                    memories.setdefault(key, []).append((text, old))
                for wording in (*topic.change, *topic.dated, *topic.planned):
                    text = _filled(wording, new, old, rng.choice(DAYS))
                    changes.append(Change(key, text, old))
        memories |= {key: [(text, "")] for key, text in _beside(name, bank)}
    return memories, changes


def _beside(name: str, bank: Bank) -> Iterator[tuple[str, str]]:
    """What no change is about: tastes and facts that stay."""
    for taste in bank.tastes:
        for value in taste.values:
            yield f"{name} {value}", _filled(taste.tell[0], value, "", "")
    for chain in bank.chains:
        a, b, c = (values[0] for values in chain.values)
        for at, (wording, _, _) in enumerate(chain.tell):
            yield f"{name} {chain.name} {at}", wording.format(a=a, b=b, c=c)


def _filled(wording: str, value: str, old: str, day: str) -> str:
    text = wording.format(v=value, o=old, d=day)
    return text[:1].upper() + text[1:]


def fit(rows: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> tuple[float, list[float]]:
    """Bias and weights of the plain signs; they are standardised only while fitting."""
    inputs = np.concatenate([found for found, _ in rows])
    labels = np.concatenate([right for _, right in rows])
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((inputs - mean) / scale, labels)
    weights = model.coef_[0] / scale
    return round(float(model.intercept_[0] - weights @ mean), 4), [
        round(float(w), 4) for w in weights
    ]


def rates(
    fitted: tuple[float, Sequence[float]], rows: Sequence[tuple[Floats, NDArray[np.bool_]]]
) -> dict[str, float]:
    """How often the likeliest candidate is taken and right; see this module."""
    bias, weights = fitted
    right = wrong = untold = 0
    for found, ends in rows:
        chances = 1 / (1 + np.exp(-(found @ np.array(weights) + bias)))
        best = int(np.argmax(chances))
        right += bool(chances[best] >= SURE and ends[best])
        wrong += bool(chances[best] >= SURE and not ends[best])
        untold += bool((chances[~ends] >= SURE).any())
    count = len(rows)
    return {"right": right / count, "wrong": wrong / count, "wrong_untold": untold / count,
            "n": count}  # fmt: skip


if __name__ == "__main__":
    main()
