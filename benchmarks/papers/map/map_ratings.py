"""MAP Table 1 and 2: what a person gives the next film, after 5, 9, 13 and 17 ratings.

``python -m benchmarks.map_ratings --data DIR [--quick] [--models NAME ...]`` takes the first 19
ratings of each person of movielens100k in the order they were given (MAP 5.3) and foretells rating
n + 1 from the first n. The same model reads, in the same form of prompt,

- ``unfiltered``: the whole history,
- ``messages``: the whole history as the paper's baseline has it, a query and its answer a rating
  (5.2); 135M model and a part of the people only, it is long,
- ``ours, model alone``: the ratings nearest in genre and meaning,

each read as the expectation over its probabilities for 1 to 5 and as its single most likely answer.
``ours`` is the product's prediction: the model's expectation calibrated with what is certain
(``agent.applications.ratings.calibration``). ``without the model`` is the same without it, and
``unfiltered, calibrated`` gives the baseline the same help. Calibrations are fitted on 100 people
apart from those measured, by seed; whether whole stars or the exact expectation are read is decided
there too.

Floors: the person's mean, the film's mean among others, and three recommenders of scikit-surprise
that know all ratings of the 100 people and everybody's history so far; memlane, on one person's
machine, knows nobody else's. Errors are mean absolute errors. Tokens are those of a whole prompt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from agent.applications.ratings.calibration import SHOWN, ask
from agent.applications.ratings.similarity import nearness
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.reward_cache import RewardCache
from agent.ports import Vectors
from benchmarks.papers.map.map_data import HISTORY, Person, apart, movielens
from benchmarks.papers.map.map_floors import floors
from benchmarks.papers.map.map_measuring import (
    RIDGE,
    Case,
    Cases,
    guess,
    item_vectors,
    measured,
    opened,
    summed,
)
from benchmarks.shared.common import ROOT, parser, write_results

SIZES = (5, 9, 13, 17)
TUNED = 100
MESSAGES_PEOPLE = 40
"""People for the paper's long baseline, and for counting tokens."""
TIMED = 6


def main() -> None:
    options = parser("map_ratings", __doc__ or "")
    options.add_argument("--models", nargs="+", default=["smollm2-135m"], help="names or GGUFs")
    options.add_argument("--people", type=int, default=0, help="measure so many; 0: all")
    options.add_argument("--shown", type=int, default=SHOWN, help="ratings that the model reads")
    given = options.parse_args()
    everybody = [p for p in movielens(given.data) if len(p.items) > HISTORY]
    count = 12 if given.quick else given.people or len(everybody)
    sizes = SIZES[:2] if given.quick else SIZES
    chosen = np.sort(np.random.default_rng(0).permutation(len(everybody))[:count])
    people = [everybody[i] for i in chosen]
    tuned = min(TUNED, count // 3)
    seeds = range(1 if given.quick else given.seeds)
    vectors = item_vectors([r for p in people for r in p.ratings[: HISTORY + 1]])
    every = {(p.key, n): case(p, n, vectors) for p in people for n in range(1, HISTORY + 1)}
    cases = {key: one for key, one in every.items() if key[1] in sizes}
    figures: dict[str, float | int | None] = {"people": count, "tuned": tuned}
    for number, name in enumerate(given.models):
        cache = RewardCache(ROOT / "build" / "benchmarks" / "map.db")
        with opened(name, cache) as rewards:
            guesses = {
                "filtered": guess(rewards, cases, lambda c: c.filtered(given.shown), "filtered"),
                "unfiltered": guess(rewards, cases, Case.unfiltered, "unfiltered"),
            }
            if not number:
                few = {person.key for person in people[:MESSAGES_PEOPLE]}
                some = {key: one for key, one in cases.items() if key[0] in few}
                guesses["messages"] = guess(rewards, some, Case.messages, "messages")
            figures |= tokens(rewards, people[:MESSAGES_PEOPLE], vectors, given.shown, name)
        runs = []
        for seed in seeds:
            split = apart(people, tuned, seed)
            tuning, rest = ([person.key for person in side] for side in split)
            runs.append(measured(tuning, rest, sizes, every, guesses, "" if seed else name))
        figures |= summed(runs, name)
        with opened(name, None) as rewards:  # nothing was computed before
            figures |= seconds(rewards, people[:TIMED], sizes, cases, given.shown, name)
    figures |= summed([floors(people, tuned, seed, sizes) for seed in seeds], "floors")
    config = {
        "quick": given.quick, "data": given.data, "models": given.models, "shown": given.shown,
        "ridge": RIDGE, "messages_people": MESSAGES_PEOPLE,
        "tables": {
            "Table 1, mean absolute error by the size of the history":
                [c for n in SIZES for c in (f"mae_{n}", f"mae_{n}_sd")],
            "Table 2, prompt tokens of a prediction":
                [*(f"tokens_{n}" for n in SIZES), "tokens_mean", "per_10_more"],
            "Seconds of a prediction": [f"seconds_{n}" for n in SIZES],
            "Share of the unfiltered history's error that is saved":
                [f"gain_{n}" for n in SIZES],
        },
    }  # fmt: skip
    # What is measured of some people, for a slow model, leaves the whole table where it is.
    name = "map_ratings_some" if given.people else "map_ratings"
    write_results(name, config, list(seeds), figures)
    for key, value in figures.items():
        print(f"{key:60} {value:.4f}" if value is not None else key)


def case(person: Person, size: int, vectors: Mapping[str, Vectors]) -> Case:
    """The person after ``size`` ratings."""
    history, item = person.ratings[:size], person.ratings[size]
    rows = np.array([vectors[one.described] for one in history])
    near = nearness(item, history, vectors[item.described], rows)
    return Case(history, item, item.stars, near)


def tokens(
    rewards: LlamaRewards,
    people: Sequence[Person],
    vectors: Mapping[str, Vectors],
    shown: int,
    name: str,
) -> dict[str, float | int | None]:
    """Tokens of a prompt at each size, over all of 1 to 18, and for ten ratings more."""
    forms: dict[str, Callable[[Case], str]] = {
        "ours": lambda c: c.filtered(shown),
        "unfiltered": Case.unfiltered,
        "messages": Case.messages,
    }
    figures: dict[str, float | int | None] = {}
    for method, form in forms.items():
        mean = {
            n: float(np.mean([len(rewards.tokens(form(case(p, n, vectors)))) for p in people]))
            for n in range(1, HISTORY + 1)
        }
        figures |= {f"{name}.{method}.tokens_{n}": mean[n] for n in SIZES}
        figures[f"{name}.{method}.tokens_mean"] = float(np.mean(list(mean.values())))
        figures[f"{name}.{method}.per_10_more"] = mean[HISTORY] - mean[HISTORY - 10]
    return figures


def seconds(
    rewards: LlamaRewards,
    people: Sequence[Person],
    sizes: Sequence[int],
    cases: Cases,
    shown: int,
    name: str,
) -> dict[str, float | int | None]:
    """Seconds of one prediction, one at a time, nothing known before: the median."""
    figures: dict[str, float | int | None] = {}
    forms: dict[str, Callable[[Case], str]] = {
        "ours": lambda c: c.filtered(shown),
        "unfiltered": Case.unfiltered,
    }
    ask(rewards, ["warm ="])
    for method, form in forms.items():
        for size in sizes:
            took = []
            for person in people:
                began = time.perf_counter()
                ask(rewards, [form(cases[person.key, size])])
                took.append(time.perf_counter() - began)
            figures[f"{name}.{method}.seconds_{size}"] = float(np.median(took))
    return figures


if __name__ == "__main__":
    main()
