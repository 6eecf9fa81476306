"""What the MAP benchmarks share: cases, the model's guesses, calibrations, and errors by split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge

from agent.applications.ratings.calibration import (
    Calibration,
    Guess,
    Signs,
    ask,
    prompt_for,
    signs_of,
)
from agent.applications.ratings.similarity import Nearness
from agent.config import load_config
from agent.extraction.ratings.items import Item, Rated
from agent.models.adapters.bert.embeddings import open_encoder
from agent.models.adapters.llama.rewards.fingerprint import fingerprint
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import RewardCache
from agent.models.weight_files import BatchSizes
from agent.ports import Vectors
from benchmarks.papers.map.map_floors import Errors, whole
from benchmarks.shared.common import progress

RIDGE = 5.0
"""Of the calibration's fit: with a few hundred examples the weights stay near nothing else."""
_PLAIN = Calibration(0.0, (1.0, 0.0, 0.0, 0.0, 0.0))
Key = tuple[str, int]
"""A person, and the size of the history."""


@dataclass(frozen=True, slots=True)
class Case:
    """One rating to foretell: a history, and the next thing."""

    history: tuple[Rated, ...]
    item: Item
    truth: float
    near: Nearness

    def unfiltered(self) -> str:
        """The prompt with the whole history."""
        return prompt_for(self.item, self.history)

    def filtered(self, shown: int) -> str:
        """The product's prompt: the nearest ratings, the very nearest last."""
        rows = reversed(self.near.nearest(shown))
        return prompt_for(self.item, [self.history[i] for i in rows])

    def messages(self) -> str:
        """The paper's baseline (5.2): each rating as a query and what it was, the last one open."""
        asked = "Predict the client's rating of {}, from 1 (dislike) to 5 (like).\n"
        said = "The client's actual rating is"
        past = "".join(
            asked.format(one.described) + f"{said} {one.stars:.0f}.\n" for one in self.history
        )
        return past + asked.format(self.item.described) + said


Cases = Mapping[Key, Case]
Guesses = dict[Key, Guess]


def item_vectors(items: Sequence[Item]) -> dict[str, Vectors]:
    """The vector of every description."""
    registry = ModelRegistry(load_config().models_dir)
    folder = registry.resolve_embedder("all-minilm-l6-v2")
    encoder = open_encoder(folder, sha256=registry.sha256(folder), name="all-minilm-l6-v2")
    texts = sorted({item.described for item in items})
    return dict(zip(texts, encoder.encode(texts), strict=True))


def opened(name: str, cache: RewardCache | None) -> LlamaRewards:
    """The model of this name; which sizes of batches are exact on this machine is known already."""
    config = load_config()
    path, sha256 = reward_weights(name, config)
    known = BatchSizes(config.models_dir / "batches.json", fingerprint(sha256, config.threads))
    return LlamaRewards(
        path, identity=f"{path.name}@{sha256}", n_threads=config.threads, cache=cache, known=known
    )


def guess(rewards: LlamaRewards, cases: Cases, form: Callable[[Case], str], what: str) -> Guesses:
    """The model's word on each case, person by person: histories of one share their beginning."""
    found: Guesses = {}
    people = list(dict.fromkeys(key for key, _ in cases))
    for number, person in enumerate(people, 1):
        own = [key for key in cases if key[0] == person]
        found |= dict(zip(own, ask(rewards, [form(cases[key]) for key in own]), strict=True))
        if number % 25 == 0:
            progress(f"{what}: {number} of {len(people)} people")
    return found


def fitted(signs: Sequence[Signs], truths: Sequence[float], *, model: bool = True) -> Calibration:
    """The calibration by ridge regression; without the model its weight is 0."""
    rows = np.array([one.row() for one in signs])
    line = Ridge(alpha=RIDGE).fit(rows if model else rows[:, :-1], np.array(truths))
    mean, genre, meaning, recent, *rest = (float(weight) for weight in line.coef_)
    return Calibration(
        float(line.intercept_), (mean, genre, meaning, recent, rest[0] if rest else 0.0)
    )


def measured(
    tuning: Sequence[str],
    rest: Sequence[str],
    sizes: Sequence[int],
    cases: Cases,
    guesses: Mapping[str, Guesses],
    name: str = "",
) -> Errors:
    """Errors on the people of ``rest``, calibrated on those of ``tuning``; told where named.

    ``guesses`` has "filtered", "unfiltered" and perhaps "messages".
    """

    def signs(key: Key, by: str) -> Signs:
        return signs_of(cases[key].history, cases[key].near, guesses[by].get(key), _PLAIN)

    known_sizes = sorted({size for _, size in cases})
    errors: Errors = {}

    def note(label: str, predicted: Mapping[Key, float]) -> None:
        found = {
            size: np.array(
                [
                    abs(predicted[person, size] - cases[person, size].truth)
                    for person in rest
                    if (person, size) in predicted
                ]
            )
            for size in sizes
        }
        if all(len(of_size) for of_size in found.values()):
            errors[label] = found

    for method, by, model in (
        ("ours", "filtered", True),
        ("without the model", "filtered", False),
        ("unfiltered, calibrated", "unfiltered", True),
    ):
        # What needs no model is fitted on every size that there is.
        fit_on = sizes if model else known_sizes
        keys = [(person, size) for person in tuning for size in fit_on]
        truths = [cases[key].truth for key in keys]
        made = fitted([signs(key, by) for key in keys], truths, model=model)
        if name:
            weights = ", ".join(f"{weight:.3f}" for weight in made.weights)
            progress(f"{name} {method}: Calibration({made.intercept:.3f}, ({weights}))")

        def exact(key: Key, made: Calibration = made, by: str = by) -> float:
            return made.predict(signs(key, by))

        told = [exact(key) for key in keys]
        # Whole stars or the exact expectation: as it served the people of the fit better.
        by_whole = np.mean([abs(whole(e) - t) for e, t in zip(told, truths, strict=True)])
        by_exact = np.mean([abs(e - t) for e, t in zip(told, truths, strict=True)])
        read = whole if by_whole < by_exact else float
        predicted = {key: exact(key) for key in cases}
        note(method, {key: read(rating) for key, rating in predicted.items()})
        note(f"{method}, exact", predicted)
    for by, method in (
        ("filtered", "ours, model alone"), ("unfiltered", "unfiltered"), ("messages", "messages"),
    ):  # fmt: skip
        known = guesses.get(by, {})
        note(f"{method}, expectation", {key: guess.expected for key, guess in known.items()})
        note(f"{method}, most likely", {key: guess.most_likely for key, guess in known.items()})
    return errors


def summed(runs: Sequence[Errors], name: str) -> dict[str, float | int | None]:
    """Mean over the seeds with its spread, and what is saved of the unfiltered history's error.

    The unfiltered history is given the better of its two readings at each size.
    """
    figures: dict[str, float | int | None] = {}
    means: dict[tuple[str, int], float] = {}
    for method in runs[0]:
        for size in runs[0][method]:
            of_seeds = [float(run[method][size].mean()) for run in runs]
            means[method, size] = float(np.mean(of_seeds))
            figures[f"{name}.{method}.mae_{size}"] = means[method, size]
            figures[f"{name}.{method}.mae_{size}_sd"] = float(np.std(of_seeds))
    readings = [m for m in runs[0] if m in ("unfiltered, expectation", "unfiltered, most likely")]
    for method in ("ours", "ours, exact", "without the model", "unfiltered, calibrated"):
        for size in runs[0].get(method, ()):
            if readings:
                best = min(means[reading, size] for reading in readings)
                figures[f"{name}.{method}.gain_{size}"] = 1 - means[method, size] / best
    return figures
