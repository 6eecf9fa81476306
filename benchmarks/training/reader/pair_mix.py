"""Fits how much each sign of a change counts: ``python -m benchmarks.pair_mix``.

A new sentence is compared with the candidates of the product (``benchmarks.candidates``). Of each
pair there are the statement reader's probability of a change, how likely the other candidates are,
how much was told before, the cosine of the two, and for what the statement reader thinks possible
the score of the language model, which reads with its adapter. Logistic regression makes a
probability of them, with the language model (``mix``) and without (``alone``), with the cosine and
without (``of_words``: for other languages and other encoders), in homes of much and of little.

The weights of homes of much learn from people, each of whom told half a year of a life; those of
homes of little from episodes of two to six messages, without the cosine, which tells nothing there.
How much was told counts by what people told first and by homes of five episodes: of the former
hardly anything is a change, of the latter much. Only people of ``CALIBRATED``, from whom the
adapter did not learn, and writers held out. Measured are those held out, each by what was fitted
without that writer: *much* and *start* are pairs of people, with more and with no more than
``MANY`` older texts; *little* those of one episode, *five* those of five. *of_any_size*: without
how much was told. *precision*: average precision over all that was changed, candidates or not;
*right* and *wrong*: pairs that get a probability of at least 0.1 or 0.5. What ships keeps the
weights of words that it has (``adapter_fit``); how much was told is added, and weights with the
cosine are fitted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from agent.config import load_config
from agent.memory.changes import LEAST, WORTH_ASKING
from agent.memory.time.changed import CHANGED
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.readers.local_statement_reader import WEIGHTS as READER
from agent.models.readers.second_reader import (
    BEGIN,
    FEW,
    MANY,
    WEIGHTS,
    about_change,
    log_odds,
    logit,
    of_homes,
    size,
)
from agent.ports import ChatTurn, Vectors
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.people_data import HELD, PEOPLE
from benchmarks.quality.memory.candidates import (
    Home,
    candidates,
    judged,
    people_homes,
    voice_home,
)
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.training.reader.adapter.adapter_examples import CALIBRATED
from benchmarks.training.reader.reader_data import Episode, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder
from policies.weight_file import read_arrays

SCORES = ROOT / "build" / "pair_mix.npz"
"""The language model's scores by the texts of a pair: a quarter of an hour of reading."""
AT_ONCE = 64
FIRST, SECOND, RIVALS, THERE, NEAR = range(5)


Signs = tuple[int, ...]
WAYS: dict[str, Signs] = {
    "alone": (FIRST, RIVALS, THERE, NEAR),
    "alone_of_words": (FIRST, RIVALS, THERE),
    "mix": (FIRST, SECOND, RIVALS, THERE, NEAR),
    "mix_of_words": (FIRST, SECOND, RIVALS, THERE),
}
"""What ships knows of a pair, in the order of the weights."""
OF_ANY_SIZE: dict[str, Signs] = {
    "alone_of_any_size": (FIRST, RIVALS, NEAR),
    "mix_of_any_size": (FIRST, SECOND, RIVALS, NEAR),
}
SIZES = np.linspace(-2.0, 2.0, 401)
"""Weights among which that of how much was told is chosen."""


class Writer(NamedTuple):
    """A home of one writer."""

    home: Home
    held: bool
    group: str = ""
    """Of which figures its pairs are; of a person's, how much was told before says it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of a writer's, with what is known of it."""

    writer: str
    held: bool
    group: str
    """Of which figures it is."""
    texts: tuple[str, str]
    """The older and the newer one."""
    first: float
    rivals: float
    there: int
    near: float
    right: bool

    @property
    def asked(self) -> bool:
        """Whether the language model reads it."""
        return self.first >= WORTH_ASKING


@dataclass(frozen=True, slots=True)
class Told:
    """All pairs of some homes, and by group how many pairs of those held out are changes."""

    pairs: tuple[Pair, ...]
    changed: Mapping[str, int]


def main() -> None:
    options = parser("pair_mix", __doc__ or "")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file of weights to write")
    given = options.parse_args()
    homes = [*_people(), *_episodes()]
    told = _compared(homes[:1] + homes[-2:] if given.quick else homes)
    shipped = read_arrays(WEIGHTS)
    shipped["encoder"] = np.array(LocalEmbedder(load_config()).identity)
    scores = _scores(sorted({one.texts for one in told.pairs if one.asked}), shipped)
    figures: dict[str, float] = {}
    for group, changed in told.changed.items():
        figures[f"{group}.n"] = sum(one.held and one.group == group for one in told.pairs)
        figures[f"{group}.changed"] = changed
    for name, signs in (WAYS | OF_ANY_SIZE).items():
        figures |= _measured(name, told, signs, scores)
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    if not given.quick:
        for name, signs in WAYS.items():
            stem = name.removesuffix("_of_words")
            of_words = shipped[f"{stem}_of_words"]
            words = of_words[0] if name != stem else None
            much = _of_much(told.pairs, signs, scores, words)
            shipped[name] = np.stack([much, _of_little(told.pairs, signs, scores, of_words[1])])
        np.savez_compressed(given.out, allow_pickle=False, **shipped)
    writers = sorted({one.writer for one in told.pairs})
    write_results("pair_mix", {"quick": given.quick, "writers": writers}, [0], figures)


def _compared(homes: Sequence[Writer]) -> Told:
    embedder, reader = LocalEmbedder(load_config()), TrainedReader(encoder_folder(), READER)
    pairs: list[Pair] = []
    changed = dict.fromkeys(GROUPS, 0)
    for home, held, group in homes:
        found = candidates(home, embedder)
        for _, new in found.changed if held else ():
            changed[group or _of_person(found.older[new])] += 1
        for (old, new), (first, beside) in judged(home, found, reader).items():
            pairs.append(
                Pair(
                    home.writer,
                    held,
                    group or _of_person(beside.there),
                    (home.told[old].text, home.told[new].text),
                    first,
                    beside.rivals,
                    beside.there,
                    beside.near or 0.0,
                    (old, new) in found.changed,
                )
            )
    return Told(tuple(pairs), changed)


GROUPS = MUCH, START, LITTLE, FIVE = "much", "start", "little", "five"
TOGETHER = 5
"""Episodes of a voice that make one home of ``FIVE``."""


def _of_person(there: int) -> str:
    return START if there <= MANY else MUCH


def _people() -> Iterator[Writer]:
    for folder in (PEOPLE, HELD):
        for home in people_homes(folder):
            if folder == HELD or home.writer in CALIBRATED:
                yield Writer(home, folder == HELD)


def _episodes() -> Iterator[Writer]:
    # The statement reader learned from the voices of ``CALIBRATED``.
    own: dict[str, list[Episode]] = {}
    for episode in read_episodes(HELD_VOICES):
        yield Writer(voice_home([episode]), held=True, group=LITTLE)
        own.setdefault(episode.voice, []).append(episode)
    for episodes in own.values():
        random.Random(0).shuffle(episodes)
        for start in range(0, len(episodes), TOGETHER):
            yield Writer(voice_home(episodes[start : start + TOGETHER]), held=True, group=FIVE)


Scores = Mapping[tuple[str, str], float]


def _scores(texts: Sequence[tuple[str, str]], weights: dict[str, Vectors]) -> Scores:
    """The language model's score of each pair of texts; those that were read before are kept."""
    known: dict[tuple[str, str], float] = {}
    if SCORES.exists():
        kept = np.load(SCORES)
        pairs, scores = kept["texts"].tolist(), kept["scores"].tolist()
        known = {(old, new): score for (old, new), score in zip(pairs, scores, strict=True)}
    missing = [pair for pair in texts if pair not in known]
    model, layer = LocalLanguageModel(load_config()), int(weights["layer"])
    for start in range(0, len(missing), AT_ONCE):
        batch = missing[start : start + AT_ONCE]
        asked = [(*BEGIN, ChatTurn("user", about_change(*pair))) for pair in batch]
        states = model.states(asked, layer=layer)
        read = (states @ weights["weight"] + weights["bias"]).tolist()
        known.update(zip(batch, read, strict=True))
        np.savez(SCORES, texts=np.array(list(known)), scores=np.array(list(known.values())))
        progress(f"{start + len(batch)} of {len(missing)} pairs read")
    return known


def _of_both(pairs: Sequence[Pair], signs: Signs, scores: Scores) -> Vectors:
    """The weights of homes of much and of little, with a bias each."""
    return np.stack([_of_much(pairs, signs, scores), _of_little(pairs, signs, scores)])


def _of_much(
    pairs: Sequence[Pair], signs: Signs, scores: Scores, of_words: Vectors | None = None
) -> Vectors:
    """Weights learned from people, and that of how much was told, also by homes of five episodes.

    Once much was told, all is as people say: as ``of_words`` has it, where that is known.
    """
    counted = [sign for sign in signs if sign != THERE]
    if of_words is None:
        people = [one for one in pairs if one.group in (MUCH, START)]
        *own, bias = _fit(*_rows(people, counted, scores)).tolist()
        weights = dict(zip(counted, own, strict=True))
    else:
        *own, bias = of_words.tolist()
        weights = dict(zip(signs, own, strict=True)) | {THERE: 0.0}
    row = _in_order(signs, weights, bias)
    if THERE not in signs:
        return row
    small = [one for one in pairs if one.group in (START, FIVE) and one.there >= FEW]
    rows, right = _rows(small, signs, scores)
    odds = log_odds(list(rows.T), row)
    sums = [odds + weight * rows[:, signs.index(THERE)] for weight in SIZES]
    losses = [float((np.logaddexp(0, one) - right * one).sum()) for one in sums]
    return _in_order(signs, weights | {THERE: float(SIZES[int(np.argmin(losses))])}, bias)


def _of_little(
    pairs: Sequence[Pair], signs: Signs, scores: Scores, of_words: Vectors | None = None
) -> Vectors:
    """Weights learned from episodes, or as ``of_words`` has them, where that is known."""
    words = [sign for sign in signs if sign not in (THERE, NEAR)]
    if of_words is None:
        episodes = [one for one in pairs if one.group == LITTLE]
        *own, bias = _fit(*_rows(episodes, words, scores)).tolist()
    else:
        *own, _, bias = of_words.tolist()
    return _in_order(signs, dict(zip(words, own, strict=True)), bias)


def _in_order(signs: Signs, weights: Mapping[int, float], bias: float) -> Vectors:
    """The weight of each sign, zero where it does not count, and the bias."""
    return np.array([*(weights.get(sign, 0.0) for sign in signs), bias], np.float32)


def _rows(pairs: Sequence[Pair], signs: Sequence[int], scores: Scores) -> tuple[Vectors, Vectors]:
    """What a way knows of each pair, (pairs, signs), and 1 where it is a change."""
    seen = [one for one in pairs if one.asked or SECOND not in signs]
    known = np.array(
        [
            logit([one.first for one in seen]),
            [scores.get(one.texts, 0.0) for one in seen],
            [one.rivals for one in seen],
            size([one.there for one in seen]),
            [one.near for one in seen],
        ],
        np.float32,
    )
    return known[list(signs)].T, np.array([one.right for one in seen], np.float32)


def _fit(rows: Vectors, right: Vectors) -> Vectors:
    """Weights of the signs and a bias, so that the sum is a calibrated log-odds."""
    model = LogisticRegression(C=100.0, max_iter=1000).fit(rows, right)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _measured(name: str, told: Told, signs: Signs, scores: Scores) -> dict[str, float]:
    figures: dict[str, float] = {}
    held = [one for one in told.pairs if one.held and (one.asked or SECOND not in signs)]
    found: dict[str, list[tuple[float, bool]]] = {group: [] for group in GROUPS}
    for writer in sorted({one.writer for one in held}):
        both = _of_both([one for one in told.pairs if one.writer != writer], signs, scores)
        own = [one for one in held if one.writer == writer]
        there = np.array([one.there for one in own], np.float32)
        odds = of_homes(there, list(_rows(own, signs, scores)[0].T), both)
        for one, chance in zip(own, (1 / (1 + np.exp(-odds))).tolist(), strict=True):
            found[one.group].append((chance, one.right))
    for group, rows in found.items():
        chances, right = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        if told.changed[group]:
            share = right.sum() / told.changed[group]
            precision = average_precision_score(right, chances) * share
            figures[f"{group}.{name}.precision"] = float(precision)
        for least in (LEAST, CHANGED):
            kept = right[chances >= least]
            figures[f"{group}.{name}.from_{least}.right"] = int(kept.sum())
            figures[f"{group}.{name}.from_{least}.wrong"] = int((~kept).sum())
    return figures


if __name__ == "__main__":
    main()
