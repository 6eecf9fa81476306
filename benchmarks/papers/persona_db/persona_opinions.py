"""Whose opinion is it? Predicting survey answers from a persona (Persona-DB, Figure 3, Table 2).

Each of the 169 people of opinionqa_slice is a home that holds answers as memories: 20 of them
(*frequent*) or 3 to 5 (*lurkers*); what lies beyond the first 20 is predicted, the same answers for
both. All others are profiles that agreed to join, with everything they answered; a question is put
to 10 of them, by cache and by their views on the matter
(``agent.applications.personas.join.put_to``). Seeds draw which answers are told.

Every row is the share of answers predicted right. A row of one voice has nothing to fit; several
voices are weighted by logistic regression on people apart from those measured (5 folds by person).
*own* and *joined* are the votes of retrieved lines
(``agent.applications.personas.predict_option``), *model* the probabilities of the language model
with the same lines in its prompt (``choose`` by likelihood), *groups* the public distributions of
the question bank by party, weighted by how well each explains the person's own answers. That bank
is what the baselines *majority* and *demographics* read too; rows without it stand apart, because a
home has no such bank.

Rows with a language model are of ``--asked`` cases a kind; each is compared on the very same cases.
``tokens`` are those of the prompt by the model's vocabulary. ``refined`` rows are of ``--homes``
people whose distilled and induced lines the 1.5B model made by the product's own refresh.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from benchmarks.papers.persona_db.opinions_data import KeptVectors, cases, load
from benchmarks.papers.persona_db.opinions_model import ROWS, ask_model
from benchmarks.papers.persona_db.opinions_refined import measure_refined
from benchmarks.papers.persona_db.opinions_voices import FOLDS, Listener, Voices, predicted
from benchmarks.shared.common import parser, progress, write_results

KINDS = {"frequent": (20, 20), "lurkers": (3, 5)}
SIZES = (5, 10, 20)
SHARES = (0.0, 0.125, 0.25, 0.375, 0.5)
SIZE, SHARE = 20, 0.25
VOTES: Mapping[str, tuple[str, ...]] = {
    "majority": ("majority",),
    "demographics": ("demographics",),
    "own": ("own",),
    "joined": ("joined",),
    "own+joined": ("own", "joined"),
    "groups": ("groups",),
    "own+groups": ("own", "groups"),
    "own+joined+groups": ("own", "joined", "groups"),
    "own+majority": ("own", "majority"),
}


def main() -> None:
    options = parser("persona_opinions", __doc__ or "")
    options.add_argument("--asked", type=int, help="cases a kind for the model (100; quick: 0)")
    options.add_argument("--homes", type=int, help="people with refined layers (8; quick: 0)")
    options.add_argument("--model", default="smollm2-135m", help="the model that chooses")
    given = options.parse_args()
    given.asked = (0 if given.quick else 100) if given.asked is None else given.asked
    given.homes = (0 if given.quick else 8) if given.homes is None else given.homes
    config = load_config()
    seeds = range(1 if given.quick else given.seeds)
    people = load(given.data)[:: 4 if given.quick else 1]
    people = tuple(type(p)(n, p.topic, p.group, p.answers) for n, p in enumerate(people))
    encoder = KeptVectors(LocalEmbedder(config))
    listener = Listener(people, encoder)
    folds = np.random.default_rng(0).integers(0, FOLDS, len(people))
    figures: dict[str, float | int | None] = {"people": len(people)}
    for kind, history in KINDS.items():
        began = time.perf_counter()
        heard: list[Voices] = []
        of_seed: list[int] = []
        for seed in seeds:
            drawn = cases(people, seed, history)
            heard += [listener.hear(case) for case in drawn]
            of_seed += [seed] * len(drawn)
            progress(f"{kind}, seed {seed}: {len(drawn)} answers")
        encoder.keep()
        figures |= votes(kind, heard, np.array(of_seed), folds)
        figures[f"{kind}.n"] = len(heard)
        if given.asked:
            sample = _sample(heard, given.asked)
            figures |= ask_model(kind, sample, given.model, config, folds)
        progress(f"{kind}: {time.perf_counter() - began:.0f} s")
    if given.homes:
        figures |= measure_refined(people, encoder, given.homes, given.model, config)
    for key, (one, other) in {
        "above_majority": ("own+joined+groups", "majority"),
        "joined_above_unjoined": ("own+joined", "own"),
        "joined_above_unjoined_with_groups": ("own+joined+groups", "own+groups"),
    }.items():
        for kind in KINDS:
            figures[f"{kind}.{key}"] = _points(figures, kind, one, other)
    told = {
        "quick": given.quick, "size": SIZE, "share": SHARE, "asked": given.asked,
        "homes": given.homes, "model": given.model, "embedder": config.embedder,
        "tables": {
            "Votes": ["right", "right_sd"],
            "By size": [f"size {size}" for size in SIZES],
            "By share of the joined": [f"share {share:g}" for share in SHARES],
            "With the language model": ["chosen", "with_votes", "tokens"],
            "Refined layers": ["refined", "refined_votes", "refined_tokens", "refined_share"],
        },
        "rows": list(ROWS),
    }  # fmt: skip
    write_results("persona_opinions", told, list(seeds), figures)
    for key, value in figures.items():
        if value is not None:
            print(f"{key:60} {value:.3f}")


def votes(
    kind: str, heard: Sequence[Voices], seeds: np.ndarray, folds: np.ndarray
) -> dict[str, float | int | None]:
    """Everything that needs no language model."""
    figures: dict[str, float | int | None] = {}
    for row, names in VOTES.items():
        good, weights = predicted(heard, names, SIZE, SHARE, folds)
        each = [float(good[seeds == seed].mean()) for seed in np.unique(seeds)]
        figures[f"{kind}.{row}.right"] = float(np.mean(each))
        figures[f"{kind}.{row}.right_sd"] = float(np.std(each))
        if row == "own+joined":
            for name, weight in zip(names, weights, strict=True):
                figures[f"{kind}_weight_{name}"] = float(weight)
    for row in ("own", "own+joined", "own+joined+groups"):
        for size in SIZES:
            good, _ = predicted(heard, VOTES[row], size, SHARE, folds)
            figures[f"{kind}.{row}.size {size}"] = float(good.mean())
    for row in ("own+joined", "own+joined+groups"):
        for share in SHARES:
            good, _ = predicted(heard, VOTES[row], SIZE, share, folds)
            figures[f"{kind}.{row}.share {share:g}"] = float(good.mean())
    return figures


def _sample(heard: Sequence[Voices], count: int) -> list[Voices]:
    """Cases drawn for the model, as many people as there can be."""
    order = np.random.default_rng(0).permutation(len(heard))
    by_person: dict[int, list[int]] = {}
    for row in order:
        by_person.setdefault(heard[row].case.person.number, []).append(int(row))
    rounds = max(len(rows) for rows in by_person.values())
    drawn = [rows[n] for n in range(rounds) for rows in by_person.values() if n < len(rows)]
    return [heard[row] for row in drawn[:count]]


def _points(
    figures: Mapping[str, float | int | None], kind: str, one: str, other: str
) -> float | None:
    first, second = (figures.get(f"{kind}.{row}.right") for row in (one, other))
    return None if first is None or second is None else float(first - second)


if __name__ == "__main__":
    main()
