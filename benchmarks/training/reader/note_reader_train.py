"""Makes the weights of the reader of notes: ``python -m benchmarks.note_reader_train``.

The language model reads questions of ``samples/people`` and ``samples/voices``, each with the notes
that the product would look at; linear classifiers learn from its hidden states which of them the
answer needs, and whether it needs any. What a later note has changed counts as not needed. States
are kept in ``build``, so a run goes on where it stopped.

Measured on writers that it did not learn from (``samples/people_held``, ``samples/voices_held``),
of the statement reader and of the reader of notes: area under the curve and average precision over
all notes; *top*: the likeliest note is needed, of the questions for which one is among them;
*changed*: area of needed notes against those that were changed; *answered*: area of questions that
a note answers against the others. *silent*: questions without an answer at the threshold that
ships, of the writers learned from, by weights that did not know the writer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from agent.answering.notes import KNOWN
from agent.config import load_config
from agent.models.adapters.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.local_statement_reader import WEIGHTS as READER
from agent.models.note_reader import (
    WEIGHTS,
    answered_of,
    relevance_of,
    scores_of,
    signs,
    signs_of_all,
    states_of,
)
from agent.ports import Embedder, HiddenStateModel, Vectors
from benchmarks.quality.answers.changes_data import HELD_VOICES
from benchmarks.quality.answers.people_data import HELD, PEOPLE, read_people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.training.reader.note_groups import Group, groups_of_person, groups_of_voice
from benchmarks.training.reader.reader_data import VOICES, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder
from policies.weight_file import read_arrays

LAYER = 17
"""Of 28, as for the second reader."""
STRENGTH = 0.001
"""Inverse of the regularization."""
MEAN_STRENGTH = 0.01
"""The same, of the classifier of the mean."""
OF_ALL = ("much", "much_bias", "answered", "answered_bias")
"""What reads the mean of the states."""
PARTS = 5
"""Parts of the writers, for scores of writers that a classifier did not learn from."""
EPISODES = 32
"""Episodes of each voice."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the notes looked at, their states, and what is true of each."""

    group: Group
    set: str
    """Of "people" or "voices"; "languages" where they are not English."""
    states: Vectors
    read: tuple[float, ...]
    """What the statement reader says of each."""

    @property
    def writer(self) -> str:
        return self.group.writer

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(note.label for note in self.group.notes)

    @property
    def much(self) -> bool:
        """Whether it is asked in a home of much."""
        return self.set != "voices"

    @property
    def needed(self) -> list[bool]:
        return [label == "needed" for label in self.labels]

    @property
    def mean(self) -> Vectors:
        return np.asarray(self.states.mean(axis=0))

    @property
    def inputs(self) -> Vectors:
        """Of each note its state beside the mean, and the mean: (n, 2 x width)."""
        mean = np.broadcast_to(self.mean, self.states.shape)
        return np.concatenate([self.states - mean, mean], axis=1)


def main() -> None:
    options = parser("note_reader_train", __doc__ or "")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    options.add_argument("--people", nargs="*", help="people to learn from (all)")
    options.add_argument("--held", nargs="*", help="people to measure with (all)")
    options.add_argument("--episodes", type=int, default=EPISODES, help="of each voice")
    options.add_argument(
        "--little", action="store_true", help="learn only how notes of homes of little are read"
    )
    given = options.parse_args()
    config = load_config()
    embedder, llm = LocalEmbedder(config), KeptAnswers(LocalLanguageModel(config))
    reader = TrainedReader(encoder_folder(), READER)
    count = 1 if given.quick else given.episodes

    def asked(people: Path, names: Sequence[str] | None, voices: Path) -> list[Asked]:
        groups = [
            *_of_people(people, names, embedder),
            *_of_voices(voices, count, embedder),
        ]
        groups = [one for one in groups if one[1].notes]
        taken = groups[:: max(1, len(groups) // 8)] if given.quick else groups
        return [_asked(name, group, llm, reader) for name, group in taken]

    names = [] if given.little else given.people
    learned, tested = asked(PEOPLE, names, VOICES), asked(HELD, given.held, HELD_VOICES)
    figures: dict[str, float] = {"learned": len(learned)}
    kept = read_arrays(WEIGHTS) if given.little else None
    apart = unseen(learned, kept)
    weights = fit(learned, apart, kept)
    figures |= _silent(apart, weights)
    for name in dict.fromkeys(one.set for one in tested):
        part = [one for one in tested if one.set == name]
        figures |= _measured(f"{name}.statement_reader", part, [np.array(o.read) for o in part])
        scores = [relevance_of(one.states, weights) for one in part]
        answered = [answered_of(one.states, one.read, weights) for one in part]
        figures |= _measured(f"{name}.note_reader", part, scores, answered)
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    settings = {
        "quick": given.quick,
        "layer": LAYER,
        "episodes": given.episodes,
        "writers": sorted({one.writer for one in learned}),
    }
    write_results("note_reader_train", settings, [0], figures)
    if not given.quick:
        saved: dict[str, Any] = {
            "layer": np.float32(LAYER), "model": np.str_(llm.identity), **weights,
        }  # fmt: skip
        np.savez_compressed(given.out, **saved)
        progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


def _of_people(
    folder: Path, names: Sequence[str] | None, embedder: Embedder
) -> Iterator[tuple[str, Group]]:
    for person in read_people(folder):
        if names is None or person.id in names:
            name = "people" if person.language == "en" else "languages"
            for group in groups_of_person(person, embedder):
                yield name, group


def _of_voices(folder: Path, count: int, embedder: Embedder) -> Iterator[tuple[str, Group]]:
    """Of each voice so many questions, of all kinds in turn."""
    for _, rows in groupby(read_episodes(folder), lambda episode: episode.voice):
        episodes = [*rows]
        Random(1).shuffle(episodes)
        by_kind: dict[str, list[Group]] = defaultdict(list)
        for group in groups_of_voice(episodes, embedder, 0):
            by_kind[group.kind].append(group)
        in_turn = filter(None, chain.from_iterable(zip_longest(*by_kind.values())))
        yield from (("voices", group) for group in islice(in_turn, count))


def _asked(name: str, group: Group, model: HiddenStateModel, reader: TrainedReader) -> Asked:
    states = states_of(group.question, group.dated, model, layer=LAYER)
    read = reader.relevance(group.question, [note.read for note in group.notes])[:, 0]
    progress(f"{group.writer}: {group.question[:60]}")
    return Asked(group, name, states, tuple(map(float, read)))


Weights = dict[str, Vectors]
"""What the reader of notes computes with, by the names of its file."""

Apart = Sequence[tuple[Weights, Asked]]
"""Questions, each with classifiers that did not learn from its writer."""


def unseen(asked: Sequence[Asked], kept: Weights | None) -> Apart:
    """Each question with classifiers that did not learn from its writer."""
    writers = sorted({one.writer for one in asked})
    found: list[tuple[Weights, Asked]] = []
    for part in range(min(PARTS, len(writers))):
        left = set(writers[part::PARTS])
        weights = _linear([one for one in asked if one.writer not in left], kept)
        found += [(weights, one) for one in asked if one.writer in left]
    return found


def fit(asked: Sequence[Asked], apart: Apart, kept: Weights | None) -> Weights:
    """The classifiers, and how their scores are mixed, by the scores of those ``apart``.

    What is ``kept`` for homes of much is not learned.
    """
    parts = [[(w, one) for w, one in apart if one.much is much] for much in (True, False)]
    mixes: dict[str, list[Vectors]] = {"mix": [], "answered_mix": []}
    for part in parts:
        if not part and kept:
            for name, rows in mixes.items():
                rows.append(kept[name][0])
            continue
        inputs = [np.stack(signs(scores_of(one.states, w)), axis=1) for w, one in part]
        needed = [is_needed for _, one in part for is_needed in one.needed]
        mixes["mix"].append(_mix(np.concatenate(inputs), needed))
        about = np.array([signs_of_all(one.states, one.read, w) for w, one in part])
        mixes["answered_mix"].append(_mix(about, [any(one.needed) for _, one in part]))
    return _linear(asked, kept) | {name: np.stack(rows) for name, rows in mixes.items()}


def _linear(asked: Sequence[Asked], kept: Weights | None) -> Weights:
    """The classifiers; with ``kept`` only those for notes of homes of little are learned."""
    little = [one for one in asked if not one.much]
    related = [np.array([label != "unrelated" for label in one.labels]) for one in little]
    needed = [np.array(one.needed) for one in little]
    heads = [
        _of_notes([one.inputs for one in little], related),
        _of_notes(
            [one.inputs[rows] for one, rows in zip(little, related, strict=True)],
            [own[rows] for own, rows in zip(needed, related, strict=True)],
        ),
    ]
    if kept is None:
        much = [one for one in asked if one.much]
        heads.insert(0, _of_notes([one.inputs for one in much], [np.array(o.needed) for o in much]))
    weight, around = np.split(np.stack([head for head, _ in heads]), 2, axis=1)
    notes = {
        "weight": weight,
        "around": around - weight,
        "bias": np.array([bias for _, bias in heads], np.float32),
    }
    if kept is not None:
        of_much = {name: np.concatenate([kept[name][:1], rows]) for name, rows in notes.items()}
        return {name: kept[name] for name in OF_ALL} | of_much
    means = np.stack([one.mean for one in asked])
    weights, bias = _classifier(means, [one.much for one in asked], STRENGTH, "balanced")
    answered, other = _classifier(means, [any(one.needed) for one in asked], MEAN_STRENGTH)
    of_all = (weights, np.array(bias, np.float32), answered, np.array(other, np.float32))
    return notes | dict(zip(OF_ALL, of_all, strict=True))


def _of_notes(inputs: Sequence[Vectors], labels: Sequence[Vectors]) -> tuple[Vectors, float]:
    """Weight and bias of a classifier of the notes of several questions."""
    return _classifier(np.concatenate(inputs), np.concatenate(labels).tolist(), STRENGTH)


def _classifier(
    inputs: Vectors, labels: Sequence[bool], strength: float, balance: str | None = None
) -> tuple[Vectors, float]:
    scaler = StandardScaler()
    model = LogisticRegression(C=strength, max_iter=1000, class_weight=balance)
    model.fit(scaler.fit_transform(inputs), labels)
    weight = (model.coef_[0] / scaler.scale_).astype(np.float32)
    return weight, float(model.intercept_[0] - weight @ scaler.mean_)


def _mix(inputs: Vectors, labels: Sequence[bool]) -> Vectors:
    model = LogisticRegression(C=100.0, max_iter=1000).fit(inputs, labels)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _silent(apart: Apart, weights: Weights) -> dict[str, float]:
    """The shares of questions without an answer: those that a note answers, and the others.

    The threshold that ships was chosen on these, of writers learned from.
    """
    found: dict[str, float] = {}
    mix = {"answered_mix": weights["answered_mix"]}
    chances = [(one, answered_of(one.states, one.read, own | mix)) for own, one in apart]
    for name in dict.fromkeys(one.set for one, _ in chances):
        for kind, answered in (("answered", True), ("others", False)):
            part = [
                chance for one, chance in chances if one.set == name and any(one.needed) is answered
            ]
            found[f"silent.{name}.{kind}"] = float(np.mean(np.array(part) < KNOWN))
            found[f"silent.{name}.{kind}.n"] = len(part)
    return found


def _measured(
    name: str, asked: Sequence[Asked], scores: Sequence[Vectors], whole: Sequence[float] = ()
) -> dict[str, float]:
    labels = np.array([label for one in asked for label in one.labels])
    own = np.concatenate(scores)
    needed, related = labels == "needed", labels != "unrelated"
    found: dict[str, list[bool]] = defaultdict(list)
    for one, score in zip(asked, scores, strict=True):
        if any(one.needed):
            found["top"].append(one.needed[int(score.argmax())])
    best = whole or [float(score.max()) for score in scores]
    return {
        f"{name}.n": len(own),
        f"{name}.needed": int(needed.sum()),
        f"{name}.auc": float(roc_auc_score(needed, own)),
        f"{name}.precision": float(average_precision_score(needed, own)),
        f"{name}.top": float(np.mean(found["top"])),
        f"{name}.changed": float(roc_auc_score(needed[related], own[related])),
        f"{name}.answered": float(roc_auc_score([any(one.needed) for one in asked], best)),
    }


if __name__ == "__main__":
    main()
