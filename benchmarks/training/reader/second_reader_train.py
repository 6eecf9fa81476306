"""Makes the weights of the second reader: ``python -m benchmarks.second_reader_train``.

The language model reads pairs of what people of ``samples/people`` told; a linear classifier learns
from its hidden states. How both readers' opinions are mixed is learned from people that the
classifier of that turn did not learn from. States are kept in ``build``, so a run goes on where it
stopped.

Measured are areas under the curve and average precision on ``samples/people_held``, of the
statement reader, of the second reader alone, and of both.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from agent.config import load_config
from agent.models.adapters.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.local_statement_reader import WEIGHTS as READER
from agent.models.second_reader import (
    BEGIN,
    WEIGHTS,
    about_change,
    logit,
    mixed,
    rivals,
)
from agent.ports import RELATIONS, ChatTurn, HiddenStateModel, Vectors
from benchmarks.quality.answers.people_data import HELD, PEOPLE, Pairs, pairs_of, read_people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.training.reader.reader_train import encoder_folder

LAYER = 17
"""Of 28; of those tried (11 to 27) the states of 17 to 23 were about as good."""
STRENGTH = 0.001
"""Inverse of the regularization."""
CHANGES = ("supersedes", "ends", "corrects", "refines")
CHANGED = [RELATIONS.index(name) for name in CHANGES]
NEAREST, BESIDE = 2, 1
"""Unrelated sentences learned from beside a new one: the nearest, and others drawn."""
TESTED = 9
"""Unrelated sentences, the nearest, that are measured with."""


@dataclass(frozen=True, slots=True)
class Example:
    """One pair, with the number of pairs that it stands for."""

    person: str
    prompt: str
    label: bool
    first: float
    """The statement reader's probability."""
    rival: float
    """How likely other sentences are (``agent.models.second_reader.rivals``)."""
    weight: float


def states_of(model: HiddenStateModel, groups: Sequence[Sequence[Example]]) -> dict[str, Vectors]:
    """The state of each prompt; those of a group begin alike and are read together."""
    known: dict[str, Vectors] = {}
    for number, group in enumerate(filter(None, groups), 1):
        prompts = [example.prompt for example in group]
        rows = model.states([(*BEGIN, ChatTurn("user", p)) for p in prompts], layer=LAYER)
        known |= dict(zip(prompts, rows, strict=True))
        if number % 50 == 0 or number == len(groups):
            progress(f"{number} of {len(groups)}")
    return known


def main() -> None:
    options = parser("second_reader_train", __doc__ or "")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    options.add_argument("--without", nargs="*", default=[], help="people not to learn from")
    given = options.parse_args()
    config = load_config()
    embedder, llm = LocalEmbedder(config), KeptAnswers(LocalLanguageModel(config))
    reader = TrainedReader(encoder_folder(), READER)
    people = [one for one in read_people(PEOPLE) if one.id not in given.without]
    people = people[: 2 if given.quick else None]
    english = {one.id for one in people if one.language == "en"}
    held = [one for one in read_people(HELD) if one.language == "en"]
    held = held[: 1 if given.quick else None]
    weights: dict[str, Any] = {
        "layer": np.float32(LAYER),
        "model": np.str_(llm.identity),
    }
    figures: dict[str, float] = {}
    learned = list(_examples([p for one in people for p in pairs_of(one, embedder)], reader))
    tested = list(
        _examples([p for one in held for p in pairs_of(one, embedder)], reader, whole=True)
    )
    if given.quick:
        learned, tested = learned[:30], tested[:10]
    vectors = states_of(llm, (*learned, *tested))
    rows = [example for group in learned for example in group]
    test = [example for group in tested for example in group]
    weight, bias = fit(rows, vectors)
    # The statement reader reads English alone.
    mix = fit_mix(rows, [unseen(rows, vectors)], english)
    by_reader = fit_mix(rows, [], english)
    own = np.stack([vectors[e.prompt] for e in test]) @ weight + bias
    labels = [e.label for e in test]
    figures["relation.learned"], figures["relation.tested"] = len(rows), len(test)
    figures["relation.true"] = sum(labels)
    scores = {
        "reader": logit([e.first for e in test]),
        "reader_weighed": mixed(_signs(test, []), by_reader),
        "second": own,
        "both": mixed(_signs(test, [own]), mix),
    }
    for name, score in scores.items():
        figures[f"relation.{name}.auc"] = float(roc_auc_score(labels, score))
        figures[f"relation.{name}.precision"] = float(average_precision_score(labels, score))
    weights |= {
        "relation.weight": weight,
        "relation.bias": np.float32(bias),
        "relation.mix": mix,
        "relation.alone": by_reader,
    }
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    settings = {"quick": given.quick, "layer": LAYER, "people": [p.id for p in people]}
    write_results("second_reader_train", settings, [0], figures)
    if not given.quick:
        np.savez_compressed(given.out, **weights)
        progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


def _examples(
    groups: Sequence[Pairs], reader: TrainedReader, *, whole: bool = False
) -> Iterator[list[Example]]:
    """Of each text the related sentences and some others; ``whole``: all that are looked at."""
    chance = random.Random(0)
    for group in groups:
        if group.task != "relation":
            continue
        numbers = range(len(group.others))
        related = [n for n in numbers if group.labels[n] != "unrelated"]
        others = [n for n in numbers if group.labels[n] == "unrelated" and group.looked_at[n]]
        taken, rest = others[:TESTED], others[NEAREST:]
        if not whole:
            taken = others[:NEAREST] + chance.sample(rest, min(BESIDE, len(rest)))
        stands_for = len(others) / max(1, len(taken))
        first = _first(group, reader)
        beside = rivals(first).tolist()
        yield [
            Example(
                group.person,
                about_change(group.others[n].text, group.text),
                group.labels[n] in CHANGES,
                first[n],
                beside[n],
                stands_for if n in taken else 1.0,
            )
            for n in (*related, *taken)
        ]


def _first(group: Pairs, reader: TrainedReader) -> list[float]:
    """What the statement reader says of each."""
    read = [other.read for other in group.others]
    chances = reader.relations([(other, group.read) for other in read])
    return [float(row[CHANGED].sum()) for row in chances]


def fit(rows: Sequence[Example], vectors: dict[str, Vectors]) -> tuple[Vectors, float]:
    """Weight and bias of a classifier of states."""
    scaler = StandardScaler()
    inputs = scaler.fit_transform(np.stack([vectors[row.prompt] for row in rows]))
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit(inputs, [row.label for row in rows])
    weight = (model.coef_[0] / scaler.scale_).astype(np.float32)
    return weight, float(model.intercept_[0] - weight @ scaler.mean_)


def unseen(rows: Sequence[Example], vectors: dict[str, Vectors]) -> Vectors:
    """The score of each by a classifier that did not learn from that person."""
    people = sorted({row.person for row in rows})
    scores = np.zeros(len(rows), np.float32)
    for part in range(min(5, len(people))):
        left = set(people[part::5])
        weight, bias = fit([row for row in rows if row.person not in left], vectors)
        for n, row in enumerate(rows):
            if row.person in left:
                scores[n] = vectors[row.prompt] @ weight + bias
    return scores


def fit_mix(rows: Sequence[Example], own: Sequence[Vectors], among: Collection[str]) -> Vectors:
    """Weights of the signs and a bias, so that the sum is a calibrated log-odds of these people."""
    signs = np.stack(_signs(rows, own), axis=1)
    kept = [n for n, row in enumerate(rows) if row.person in among]
    model = LogisticRegression(C=100.0)
    model.fit(
        signs[kept],
        [rows[n].label for n in kept],
        sample_weight=[rows[n].weight for n in kept],
    )
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _signs(rows: Sequence[Example], own: Sequence[Vectors]) -> list[Vectors]:
    rival = np.array([row.rival for row in rows], np.float32)
    return [logit([row.first for row in rows]), *own, rival]


if __name__ == "__main__":
    main()
