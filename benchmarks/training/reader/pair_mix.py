"""Fits how much each opinion about a change counts: ``python -m benchmarks.pair_mix``.

A new sentence is compared with the candidates of the product (``benchmarks.candidates``). Of each
pair there are the statement reader's probability of a change, how likely the other candidates are,
the cosine of the two, and for what the statement reader thinks possible the score of the language
model, which reads with its adapter. Logistic regression makes a probability of them, with the
language model (``mix``) and without (``alone``), in homes of much (what a person told in half a
year) and of little (an episode). Of little the cosine tells nothing, so it counts in homes of much
alone.

Learned from the people of ``CALIBRATED``, from whom the adapter did not learn, and the writers held
out; measured on those held out, each by what was fitted without that writer. *of_words*: without
the cosine. *precision*: average precision over all that was changed, candidates or not; *right*
and *wrong*: pairs that get a probability of at least 0.1 or 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from agent.config import load_config
from agent.memory.changes import CHANGED, LEAST, WORTH_ASKING
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.readers.local_statement_reader import WEIGHTS as READER
from agent.models.readers.second_reader import BEGIN, WEIGHTS, about_change, logit, mixed
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
from benchmarks.training.reader.adapter_examples import CALIBRATED
from benchmarks.training.reader.reader_data import read_episodes
from benchmarks.training.reader.reader_train import encoder_folder
from policies.weight_file import read_arrays

LITTLE = 1
"""The row of weights of homes of little."""
SCORES = ROOT / "build" / "pair_mix.npz"
"""The language model's scores by the texts of a pair: a quarter of an hour of reading."""
AT_ONCE = 64
FIRST, SECOND, RIVALS, NEAR = range(4)
WAYS = {
    "alone_of_words": (FIRST, RIVALS),
    "alone": (FIRST, RIVALS, NEAR),
    "mix_of_words": (FIRST, SECOND, RIVALS),
    "mix": (FIRST, SECOND, RIVALS, NEAR),
}
"""What each way knows of a pair, in the order of the weights that ship. Those of words are measured
here, and ship as ``adapter_fit`` made them: they are for other languages and other encoders."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of a writer's, with what is known of it."""

    writer: str
    held: bool
    texts: tuple[str, str]
    """The older and the newer one."""
    first: float
    rivals: float
    near: float
    right: bool

    @property
    def asked(self) -> bool:
        """Whether the language model reads it."""
        return self.first >= WORTH_ASKING


def main() -> None:
    options = parser("pair_mix", __doc__ or "")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file of weights to write")
    given = options.parse_args()
    compared: dict[str, Told] = {}
    for name, homes in (("much", list(_people())), ("little", list(_episodes()))):
        compared[name] = _compared(homes[:1] + homes[-1:] if given.quick else homes)
    shipped = read_arrays(WEIGHTS)
    shipped["encoder"] = np.array(LocalEmbedder(load_config()).identity)
    asked = {one.texts for told in compared.values() for one in told.pairs if one.asked}
    scores = _scores(sorted(asked), shipped)
    figures: dict[str, float] = {}
    for name, told in compared.items():
        figures[f"{name}.n"] = sum(one.held for one in told.pairs)
        figures[f"{name}.changed"] = told.changed
        for way, signs in WAYS.items():
            figures |= _measured(f"{name}.{way}", told, signs, scores)
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    if not given.quick:
        for way in ("mix", "alone"):
            much = _fit(*_rows(compared["much"].pairs, WAYS[way], scores))
            little = shipped[f"{way}_of_words"][LITTLE]
            shipped[way] = np.stack([much, np.insert(little, len(little) - 1, 0.0)])
        np.savez_compressed(given.out, allow_pickle=False, **shipped)
    writers = sorted({one.writer for told in compared.values() for one in told.pairs})
    write_results("pair_mix", {"quick": given.quick, "writers": writers}, [0], figures)


@dataclass(frozen=True, slots=True)
class Told:
    """All pairs of some homes, and how many pairs of those held out are changes."""

    pairs: tuple[Pair, ...]
    changed: int


def _compared(homes: Sequence[tuple[Home, bool]]) -> Told:
    embedder, reader = LocalEmbedder(load_config()), TrainedReader(encoder_folder(), READER)
    pairs: list[Pair] = []
    changed = 0
    for home, held in homes:
        found = candidates(home, embedder)
        changed += len(found.changed) if held else 0
        for (old, new), (first, beside) in judged(home, found, reader).items():
            texts = home.told[old].text, home.told[new].text
            right = (old, new) in found.changed
            near = beside.near or 0.0
            pairs.append(Pair(home.writer, held, texts, first, beside.rivals, near, right))
    return Told(tuple(pairs), changed)


def _people() -> Iterator[tuple[Home, bool]]:
    for folder in (PEOPLE, HELD):
        for home in people_homes(folder):
            if folder == HELD or home.writer in CALIBRATED:
                yield home, folder == HELD


def _episodes() -> Iterator[tuple[Home, bool]]:
    # The statement reader learned from the voices of ``CALIBRATED``.
    return ((voice_home([episode]), True) for episode in read_episodes(HELD_VOICES))


Scores = Mapping[tuple[str, str], float]


def _scores(texts: Sequence[tuple[str, str]], weights: dict[str, Vectors]) -> Scores:
    """The language model's score of each pair of texts."""
    if SCORES.exists():
        kept = np.load(SCORES)
        if kept["texts"].tolist() == [list(pair) for pair in texts]:
            return dict(zip(texts, kept["scores"].tolist(), strict=True))
    model, layer = LocalLanguageModel(load_config()), int(weights["layer"])
    scores: list[float] = []
    for start in range(0, len(texts), AT_ONCE):
        asked = [
            (*BEGIN, ChatTurn("user", about_change(*pair)))
            for pair in texts[start : start + AT_ONCE]
        ]
        states = model.states(asked, layer=layer)
        scores += (states @ weights["weight"] + weights["bias"]).tolist()
        progress(f"{len(scores)} of {len(texts)} pairs read")
    np.savez(SCORES, texts=np.array(texts), scores=np.array(scores))
    return dict(zip(texts, scores, strict=True))


def _rows(pairs: Sequence[Pair], signs: Sequence[int], scores: Scores) -> tuple[Vectors, Vectors]:
    """What a way knows of each pair, (pairs, signs), and 1 where it is a change."""
    first = logit([one.first for one in pairs]).tolist()
    known = [
        (odds, scores.get(one.texts, 0.0), one.rivals, one.near)
        for odds, one in zip(first, pairs, strict=True)
        if one.asked or SECOND not in signs
    ]
    right = [one.right for one in pairs if one.asked or SECOND not in signs]
    return np.array(known, np.float32)[:, list(signs)], np.array(right, np.float32)


def _fit(rows: Vectors, right: Vectors) -> Vectors:
    """Weights of the signs and a bias, so that the sum is a calibrated log-odds."""
    model = LogisticRegression(C=100.0, max_iter=1000).fit(rows, right)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _measured(name: str, told: Told, signs: Sequence[int], scores: Scores) -> dict[str, float]:
    chances: list[Vectors] = []
    truth: list[Vectors] = []
    for writer in sorted({one.writer for one in told.pairs if one.held}):
        mix = _fit(*_rows([one for one in told.pairs if one.writer != writer], signs, scores))
        rows, right = _rows([one for one in told.pairs if one.writer == writer], signs, scores)
        chances.append(mixed(list(rows.T), mix))
        truth.append(right)
    chance, right = np.concatenate(chances), np.concatenate(truth)
    precision = average_precision_score(right, chance) * right.sum() / told.changed
    figures = {f"{name}.precision": float(precision)}
    for least in (LEAST, CHANGED):
        found = right[chance >= least]
        figures[f"{name}.from_{least}.right"] = int(found.sum())
        figures[f"{name}.from_{least}.wrong"] = int((1 - found).sum())
    return figures


if __name__ == "__main__":
    main()
