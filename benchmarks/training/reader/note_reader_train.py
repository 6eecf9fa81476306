"""Makes the weights of the reader of notes: ``python -m benchmarks.note_reader_train``.

The language model reads each question of ``samples/people`` together with the notes that the
product would look at; a linear classifier learns from its hidden states which of them the answer
needs. What a later note has changed counts as not needed. States are kept in ``build``, so a run
goes on where it stopped.

Measured on ``samples/people_held``, of the statement reader and of the reader of notes: area under
the curve and average precision over all notes looked at; *top*: the likeliest note is needed, of
the questions for which one is among them; *changed*: area under the curve of needed notes against
those that were changed. *silent*: questions without an answer at the thresholds that ship, of the
people learned from, by weights that did not know the person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from agent.answering.answer_from_notes import KNOWN
from agent.answering.notes import EITHER_READ
from agent.config import load_config
from agent.models.adapters.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.local_statement_reader import WEIGHTS as READER
from agent.models.note_reader import WEIGHTS, chances, signs, states_of
from agent.ports import HiddenStateModel, Vectors
from benchmarks.quality.answers.people_data import HELD, PEOPLE, Person, pairs_of, read_people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.training.reader.reader_train import encoder_folder

LAYER = 17
"""Of 28, as for the second reader."""
STRENGTH = 0.001
"""Inverse of the regularization."""
PARTS = 5
"""Parts of the people, for scores of people that a classifier did not learn from."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the notes looked at, their states, and what is true of each."""

    person: str
    labels: tuple[str, ...]
    states: Vectors
    read: tuple[float, ...]
    """What the statement reader says of each."""

    @property
    def needed(self) -> list[bool]:
        return [label == "needed" for label in self.labels]


def main() -> None:
    options = parser("note_reader_train", __doc__ or "")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    options.add_argument("--only", nargs="*", default=[], help="people to learn from")
    options.add_argument("--without", nargs="*", default=[], help="people not to learn from")
    options.add_argument("--held", nargs="*", default=[], help="people to measure with")
    given = options.parse_args()
    config = load_config()
    embedder, llm = LocalEmbedder(config), KeptAnswers(LocalLanguageModel(config))
    reader = TrainedReader(encoder_folder(), READER)
    people = [one for one in read_people(PEOPLE) if one.id not in given.without]
    people = [one for one in people if not given.only or one.id in given.only]
    held = [one for one in read_people(HELD) if not given.held or one.id in given.held]
    if given.quick:
        people, held = people[:2], held[:1]
    learned, tested = (
        [one for person in part for one in _asked(person, embedder, llm, reader, given.quick)]
        for part in (people, held)
    )
    weight, bias = fit(learned)
    own = unseen(learned)
    mix = fit_mix(learned, own)
    english = {one.id for one in held if one.language == "en"}
    figures: dict[str, float] = {"learned": len(learned)}
    figures |= _silent(learned, [chances(score, mix) for score in own])
    for name, part in (
        ("", [one for one in tested if one.person in english]),
        ("languages.", [one for one in tested if one.person not in english]),
    ):
        if part:
            figures |= _measured(f"{name}statement_reader", part, [np.array(o.read) for o in part])
            scores = [chances(one.states @ weight + bias, mix) for one in part]
            figures |= _measured(f"{name}note_reader", part, scores)
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    settings = {"quick": given.quick, "layer": LAYER, "people": [one.id for one in people]}
    write_results("note_reader_train", settings, [0], figures)
    if not given.quick:
        weights: dict[str, Any] = {
            "layer": np.float32(LAYER),
            "model": np.str_(llm.identity),
            "weight": weight,
            "bias": np.float32(bias),
            "mix": mix,
        }
        np.savez_compressed(given.out, **weights)
        progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


def _asked(
    person: Person,
    embedder: LocalEmbedder,
    model: HiddenStateModel,
    reader: TrainedReader,
    quick: bool,
) -> Iterator[Asked]:
    groups = [group for group in pairs_of(person, embedder) if group.task == "relevance"]
    for group in groups[: 3 if quick else None]:
        looked = [n for n, seen in enumerate(group.looked_at) if seen]
        notes = [(group.others[n].said, group.others[n].text) for n in looked]
        states = states_of(group.text, notes, model, layer=LAYER)
        read = reader.relevance(group.text, [group.others[n].read for n in looked])[:, 0]
        labels = tuple(group.labels[n] for n in looked)
        yield Asked(person.id, labels, states, tuple(map(float, read)))
    progress(f"{person.id}: {len(groups)} questions")


def fit(asked: Sequence[Asked]) -> tuple[Vectors, float]:
    """Weight and bias of a classifier of states."""
    scaler = StandardScaler()
    inputs = scaler.fit_transform(np.concatenate([one.states for one in asked]))
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit(inputs, [needed for one in asked for needed in one.needed])
    weight = (model.coef_[0] / scaler.scale_).astype(np.float32)
    return weight, float(model.intercept_[0] - weight @ scaler.mean_)


def unseen(asked: Sequence[Asked]) -> list[Vectors]:
    """Scores of the notes of each question, by a classifier that did not learn from the person."""
    people = sorted({one.person for one in asked})
    scores: dict[int, Vectors] = {}
    for part in range(min(PARTS, len(people))):
        left = set(people[part::PARTS])
        weight, bias = fit([one for one in asked if one.person not in left])
        scores |= {
            n: one.states @ weight + bias for n, one in enumerate(asked) if one.person in left
        }
    return [scores[n] for n in range(len(asked))]


def fit_mix(asked: Sequence[Asked], scores: Sequence[Vectors]) -> Vectors:
    """Weights of a note's score and of the others', and a bias, for a calibrated log-odds."""
    inputs = np.concatenate([np.stack(signs(one), axis=1) for one in scores])
    model = LogisticRegression(C=100.0)
    model.fit(inputs, [needed for one in asked for needed in one.needed])
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _silent(asked: Sequence[Asked], read: Sequence[Vectors]) -> dict[str, float]:
    """The shares of questions without an answer: those that a note answers, and the others.

    The thresholds that ship were chosen on these, of people learned from.
    """
    answered = np.array([any(one.needed) for one in asked])
    best = np.array([chance.max() for chance in read])
    either = np.maximum(best, [max(one.read) for one in asked])
    found: dict[str, float] = {"answered": int(answered.sum()), "others": int((~answered).sum())}
    for name, silent in (
        ("known", best < KNOWN),
        ("both", (best < KNOWN) | (either < EITHER_READ)),
    ):
        found[f"{name}.answered"] = float(silent[answered].mean())
        found[f"{name}.others"] = float(silent[~answered].mean())
    return {f"silent.{key}": value for key, value in found.items()}


def _measured(name: str, asked: Sequence[Asked], scores: Sequence[Vectors]) -> dict[str, float]:
    labels = np.array([label for one in asked for label in one.labels])
    own = np.concatenate(scores)
    needed, related = labels == "needed", labels != "unrelated"
    found: dict[str, list[bool]] = defaultdict(list)
    for one, score in zip(asked, scores, strict=True):
        if any(one.needed):
            found["top"].append(one.needed[int(score.argmax())])
    return {
        f"{name}.n": len(own),
        f"{name}.needed": int(needed.sum()),
        f"{name}.auc": float(roc_auc_score(needed, own)),
        f"{name}.precision": float(average_precision_score(needed, own)),
        f"{name}.top": float(np.mean(found["top"])),
        f"{name}.changed": float(roc_auc_score(needed[related], own[related])),
    }


if __name__ == "__main__":
    main()
