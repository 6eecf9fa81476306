"""Makes the weights of the second reader: ``python -m benchmarks.second_reader_train``.

The language model reads pairs of what people of ``samples/people`` told, who told much, and what
the voices of ``samples/voices`` told in episodes of a few messages; linear classifiers learn from
its hidden states, one for each kind of home. How both readers' opinions are mixed is learned from
writers that they did not learn from. States are kept in ``build``, so a run goes on where it
stopped.

Measured are areas under the curve and average precision on ``samples/people_held`` and
``samples/voices_held``: of the statement reader, of its probability weighed, of the second reader
alone, and of both; and of what both call at least 0.2 or 0.5 likely how much is right.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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
from benchmarks.quality.answers.changes_data import HELD_VOICES
from benchmarks.quality.answers.people_data import HELD, PEOPLE, Pairs, pairs_of, read_people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.training.reader.reader_data import VOICES, Pair, read_episodes, told_pairs
from benchmarks.training.reader.reader_train import encoder_folder
from policies.weight_file import read_arrays

LAYER = 17
"""Of 28; of those tried (11 to 27) the states of 17 to 23 were about as good."""
STRENGTH = 0.001
"""Inverse of the regularization."""
CHANGES = ("supersedes", "ends", "corrects", "refines")
CHANGED = [RELATIONS.index(name) for name in CHANGES]
NEAREST, BESIDE = 2, 1
"""Unrelated sentences learned from beside a new one: the nearest, and others drawn."""
EPISODES = 15
"""Episodes of each voice."""
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
    options.add_argument("--voices", type=int, default=EPISODES, help="episodes of each voice")
    options.add_argument(
        "--little", action="store_true", help="keep the weights for homes of much as they are"
    )
    given = options.parse_args()
    config = load_config()
    embedder, llm = LocalEmbedder(config), KeptAnswers(LocalLanguageModel(config))
    reader = TrainedReader(encoder_folder(), READER)
    figures: dict[str, float] = {}
    people = [one for one in read_people(PEOPLE) if one.id not in given.without]
    if given.little:
        kept = read_arrays(WEIGHTS)
        much = {name: kept[name][0] for name in ("weight", "bias", "mix", "alone")}
    else:
        held = [one for one in read_people(HELD) if one.language == "en"]
        if given.quick:
            people, held = people[:2], held[:1]
        english = {one.id for one in people if one.language == "en"}
        pairs = [pair for one in people for pair in pairs_of(one, embedder)]
        learned = list(_examples(pairs, reader))
        pairs = [pair for one in held for pair in pairs_of(one, embedder)]
        tested = list(_examples(pairs, reader, whole=True))
        if given.quick:
            learned, tested = learned[:30], tested[:10]
        much = _of_much(learned, tested, english, llm, figures)
    count = 2 if given.quick else given.voices
    little = _of_little(
        list(_of_voices(VOICES, count, reader)),
        list(_of_voices(HELD_VOICES, 2 if given.quick else None, reader)),
        llm,
        figures,
    )
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    settings = {
        "quick": given.quick,
        "layer": LAYER,
        "people": "kept" if given.little else [p.id for p in people],
        "episodes": given.voices,
    }
    write_results("second_reader_train", settings, [0], figures)
    if not given.quick:
        saved: dict[str, Any] = {
            "layer": np.float32(LAYER),
            "model": np.str_(llm.identity),
            **{name: np.stack([much[name], little[name]]) for name in much},
        }
        np.savez_compressed(given.out, **saved)
        progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


def _of_much(
    learned: Sequence[Sequence[Example]],
    tested: Sequence[Sequence[Example]],
    english: Collection[str],
    llm: HiddenStateModel,
    figures: dict[str, float],
) -> dict[str, Vectors]:
    """Weights for homes of much: mixed by people that the classifier of that turn did not see."""
    vectors = states_of(llm, (*learned, *tested))
    rows = [example for group in learned for example in group]
    test = [example for group in tested for example in group]
    weight, bias = fit(rows, vectors)
    # The statement reader reads English alone.
    mix = fit_mix(rows, [unseen(rows, vectors)], english)
    alone = fit_mix(rows, [], english)
    own = _own(test, vectors, weight, bias)
    figures["relation.learned"] = len(rows)
    figures |= _measured(
        "relation", test, own, mixed(_signs(test, [own]), mix), mixed(_signs(test, []), alone)
    )
    return {"weight": weight, "bias": np.array(bias, np.float32), "mix": mix, "alone": alone}


def _of_little(
    learned: Sequence[Sequence[Example]],
    held: Sequence[Sequence[Example]],
    llm: HiddenStateModel,
    figures: dict[str, float],
) -> dict[str, Vectors]:
    """Weights for homes of little.

    The statement reader learned from the voices that the classifier learns from, so how both are
    mixed is learned from the others. Measured are these, each by a mix of the rest.
    """
    vectors = states_of(llm, (*learned, *held))
    rows = [example for group in learned for example in group]
    test = [example for group in held for example in group]
    weight, bias = fit(rows, vectors)
    own = _own(test, vectors, weight, bias)
    voices = sorted({row.person for row in test})
    both, first = np.zeros(len(test), np.float32), np.zeros(len(test), np.float32)
    for voice in voices:
        among = set(voices) - {voice} or {voice}
        part = np.array([row.person == voice for row in test])
        both[part] = mixed(_signs(test, [own]), fit_mix(test, [own], among))[part]
        first[part] = mixed(_signs(test, []), fit_mix(test, [], among))[part]
    figures["little.learned"] = len(rows)
    figures |= _measured("little", test, own, both, first)
    return {
        "weight": weight,
        "bias": np.array(bias, np.float32),
        "mix": fit_mix(test, [own], voices),
        "alone": fit_mix(test, [], voices),
    }


def _own(
    rows: Sequence[Example], vectors: dict[str, Vectors], weight: Vectors, bias: float
) -> Vectors:
    return np.asarray(np.stack([vectors[row.prompt] for row in rows]) @ weight + bias)


def _measured(
    name: str, rows: Sequence[Example], own: Vectors, both: Vectors, first: Vectors
) -> dict[str, float]:
    """Areas and average precision; of the probabilities also how often what they call likely is."""
    labels = np.array([row.label for row in rows])
    scores = {
        "reader": logit([row.first for row in rows]),
        "reader_weighed": first,
        "second": own,
        "both": both,
    }
    found = {f"{name}.tested": float(len(rows)), f"{name}.true": float(labels.sum())}
    for kind, score in scores.items():
        found[f"{name}.{kind}.auc"] = float(roc_auc_score(labels, score))
        found[f"{name}.{kind}.precision"] = float(average_precision_score(labels, score))
    for least in (0.2, 0.5):
        found[f"{name}.both.from_{least}.right"] = float(labels[both >= least].mean())
        found[f"{name}.both.from_{least}.found"] = float((both[labels] >= least).mean())
    return found


def _of_voices(folder: Path, count: int | None, reader: TrainedReader) -> Iterator[list[Example]]:
    """Of episodes of each voice each new sentence with all that was told before it."""
    for voice, episodes in groupby(read_episodes(folder), lambda episode: episode.voice):
        drawn = [*episodes]
        random.Random(1).shuffle(drawn)
        for episode in drawn[:count]:
            by_new: dict[str, list[Pair]] = defaultdict(list)
            for pair in told_pairs(episode):
                by_new[pair.new].append(pair)
            for own in by_new.values():
                rows = reader.relations([(pair.old_read, pair.new_read) for pair in own])
                first = rows[:, CHANGED].sum(axis=1).tolist()
                yield [
                    Example(
                        voice, about_change(pair.old, pair.new), pair.relation in CHANGES,
                        chance, rival, 1.0,
                    )
                    for pair, chance, rival in zip(own, first, rivals(first).tolist(), strict=True)
                ]  # fmt: skip


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
