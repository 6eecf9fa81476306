"""How well messages are routed, and what it costs (MAP, section 4.2: the detection module).

In one run, on intent3's development part: a language model with a prompt, logistic regression on
embeddings, and the committee that ships. Macro-F1 is the mean of the F1 of the routes that occur
in what is scored; "balanced" means up to 2,500 messages of each route, as in the yardstick,
"natural" the whole set, where nine in ten messages are neither. Messages that are equal but for
case and punctuation stay in one fold. The shipped weights have learned from clinc150, nlu_eval
and nq_open, so only their figures on the other sets, and on our own check set, say how they
generalise.

*people* is what people of voices held out tell and ask (``training.routing_people``), by the router
and the statement reader as the product asks both: of questions and of what is told, how many are
looked up in memory, and how many are tried as something told; ``without_people`` is a router that
learned from the same sets and sentences, but from nobody's messages.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedGroupKFold

from agent.answering.routing import ROUTES, WEIGHTS, Router
from agent.answering.told_or_asked import CHANCE, question_beside, tells_something
from agent.config import load_config
from agent.errors import ModelError
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.models.readers.local_statement_reader import statement_reader
from agent.ports import ChatTurn, Embedder, LanguageModel, StatementReader
from agent.results import Route
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.training.routing_people import of_people_held
from benchmarks.training.routing_train import (
    REDISTRIBUTABLE,
    Row,
    VectorCache,
    cap_neither,
    columns,
    fit,
    load_rows,
    own_rows,
    save,
    shipped_rows,
    vary,
)

Predictions = NDArray[np.int64]
Classifier = Callable[[Sequence[Row], Sequence[Row], VectorCache, int], Predictions]
"""(rows to learn from, rows to judge, vectors, seed) -> a column of ROUTES for each row judged."""

HELDOUT = SAMPLES / "routing_heldout.jsonl"
PER_ROUTE = 2500
LLM_PER_ROUTE = 50
GRAMMAR = 'root ::= "retrieve" | "update" | "neither"'
PROMPT = """You are the detection module of a personal memory agent. Say what a message is:
retrieve - answering it well needs what is remembered about the user, their people, plans, lists \
or tastes; a wish for a recommendation is one too
update - it tells something new about the user, their people, plans or tastes, or asks to \
remember, change or forget something
neither - anything else: general knowledge, calculations, small talk, thanks, commands to devices
Answer with one word."""
EXAMPLES = (
    ("My sister Eva now works in Prague", "update"),
    ("when is Eva's birthday?", "retrieve"),
    ("what is the capital of Chile", "neither"),
    ("put soap on my shopping list", "update"),
    ("suggest a film for tonight", "retrieve"),
    ("turn the lights off", "neither"),
)


def plain(
    learn: Sequence[Row], judge: Sequence[Row], vectors: VectorCache, seed: int
) -> Predictions:
    """Logistic regression on embeddings: the yardstick."""
    model = LogisticRegression(max_iter=1000, class_weight="balanced", random_state=seed)
    model.fit(vectors.encode([row.text for row in learn]), columns(learn))
    return np.asarray(model.predict(vectors.encode([row.text for row in judge])))


def committee(
    learn: Sequence[Row], judge: Sequence[Row], vectors: VectorCache, seed: int
) -> Predictions:
    """What ships, learning from the given rows and our own sentences."""
    rows = vary(cap_neither(learn, seed) + own_rows(), seed)
    return judged(fit(rows, vectors, seed).judge, judge, vectors)


def committee_without_own(
    learn: Sequence[Row], judge: Sequence[Row], vectors: VectorCache, seed: int
) -> Predictions:
    """The same committee on the given rows alone, to see what our own sentences do."""
    return judged(fit(cap_neither(learn, seed), vectors, seed).judge, judge, vectors)


def judged(
    judge: Callable[..., NDArray[np.float64]], rows: Sequence[Row], vectors: VectorCache
) -> Predictions:
    texts = [row.text for row in rows]
    return np.asarray(judge(vectors.encode(texts), texts).argmax(axis=1))


def cross_validated(
    rows: Sequence[Row], classifier: Classifier, vectors: VectorCache, seed: int, folds: int
) -> Predictions:
    """Every row judged by a classifier that saw neither it nor its near-duplicates."""
    routes, groups = columns(rows), [normalised(row.text) for row in rows]
    found = np.zeros(len(rows), dtype=np.int64)
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    for learn, judge in splitter.split(routes, routes, groups):
        found[judge] = classifier([rows[i] for i in learn], [rows[i] for i in judge], vectors, seed)
    return found


def normalised(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def balanced(rows: Sequence[Row], per_route: int, seed: int) -> list[Row]:
    """Up to ``per_route`` rows of each route, in an order the seed decides."""
    shuffled = random.Random(seed).sample(rows, len(rows))
    return [row for route in Route for row in [r for r in shuffled if r.route is route][:per_route]]


def macro_f1(rows: Sequence[Row], found: Predictions) -> float:
    """Mean F1 of the routes that occur in ``rows``."""
    routes = columns(rows)
    return float(
        f1_score(routes, found, labels=np.unique(routes), average="macro", zero_division=0)
    )


def by_set(name: str, rows: Sequence[Row], found: Predictions) -> dict[str, float]:
    """Macro-F1 over all rows and for each set."""
    figures = {f"{name}.macro_f1": macro_f1(rows, found)}
    sets = np.array([row.set for row in rows])
    for one in sorted(set(sets.tolist())):
        inside = np.flatnonzero(sets == one)
        figures[f"{name}.{one}.macro_f1"] = macro_f1([rows[int(i)] for i in inside], found[inside])
    return figures


def left_out(rows: Sequence[Row], classifier: Classifier, vectors: VectorCache) -> dict[str, float]:
    """Each set judged by a classifier that learned from the others only."""
    figures = {}
    for one in sorted({row.set for row in rows}):
        judge = [row for row in rows if row.set == one]
        found = classifier([row for row in rows if row.set != one], judge, vectors, 0)
        figures[f"{one}.macro_f1"] = macro_f1(judge, found)
        progress(f"  without {one}: {figures[f'{one}.macro_f1']:.3f}")
    return figures


def prompted(model: LanguageModel, rows: Sequence[Row]) -> tuple[Predictions, list[float]]:
    """The language model's routes, and the seconds each took."""
    found, seconds = [], []
    shots = [
        ChatTurn("user" if side == 0 else "assistant", pair[side])
        for pair in EXAMPLES
        for side in (0, 1)
    ]
    for number, row in enumerate(rows):
        started = time.perf_counter()
        turns = [ChatTurn("system", PROMPT), *shots, ChatTurn("user", row.text)]
        answer = model.chat(turns, max_tokens=4, grammar=GRAMMAR)
        seconds.append(time.perf_counter() - started)
        found.append(ROUTES.index(Route(answer.strip())))
        if number % 25 == 24:
            progress(f"  {number + 1} of {len(rows)} messages prompted")
    return np.array(found, dtype=np.int64), seconds


def latency(router: Router, texts: Sequence[str]) -> dict[str, float]:
    """Milliseconds of ``detect``, once loaded."""
    router.detect("warm up")
    taken = []
    for text in texts:
        started = time.perf_counter()
        router.detect(text)
        taken.append((time.perf_counter() - started) * 1000)
    started = time.perf_counter()
    router.detect("I like long stories. " * 50_000)
    long = (time.perf_counter() - started) * 1000
    return {
        "detect.median_ms": statistics.median(taken),
        "detect.p95_ms": float(np.percentile(taken, 95)),
        "detect.one_megabyte_ms": long,
    }


def heldout_rows() -> list[Row]:
    lines = HELDOUT.read_text("utf-8").splitlines()
    return [Row(r["text"], Route(r["route"]), "heldout") for r in map(json.loads, lines)]


def of_people(router: Router, reader: StatementReader | None) -> dict[str, float]:
    """What the product tries with what people of voices held out tell and ask."""
    tried: dict[str, list[bool]] = defaultdict(list)
    for text, route in of_people_held():
        if route is Route.NEITHER:
            continue
        likely = router.detect(text).probabilities
        told = tells_something(text, likely, router, reader)
        asks = likely[Route.RETRIEVE] >= min(CHANCE, likely[Route.NEITHER])
        asks = bool(question_beside(text, likely, router, reader)) if told else asks
        name = "asked" if route is Route.RETRIEVE else "told"
        tried[f"{name}.looked_up"].append(asks)
        tried[f"{name}.tried"].append(told)
    counts = {f"{name}.n": len(tried[f"{name}.tried"]) for name in ("asked", "told")}
    shares = {name: statistics.mean(map(float, found)) for name, found in tried.items()}
    return {f"people.{name}": value for name, value in {**counts, **shares}.items()}


def without_people(rows: Sequence[Row], vectors: VectorCache, embedder: Embedder) -> Router:
    """A router that learned from nobody's messages."""
    layers = fit(shipped_rows(rows, 0, people=False), vectors, 0)
    with tempfile.TemporaryDirectory() as folder:
        save(layers, embedder, Path(folder) / WEIGHTS.name)
        return Router(embedder, Path(folder) / WEIGHTS.name)


def main() -> None:
    options = parser("routing", "Macro-F1 and latency of the detection module.")
    options.add_argument("--no-llm", action="store_true", help="leave the language model out")
    given = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    seeds = list(range(1 if given.quick else given.seeds))
    per_route = 150 if given.quick else PER_ROUTE
    folds = 2 if given.quick else 5
    embedder = LocalEmbedder(load_config())
    vectors = VectorCache(embedder)
    rows = load_rows(given.data)
    router = Router(embedder)
    figures: dict[str, float] = {}

    unseen = [row for row in rows if row.set not in REDISTRIBUTABLE]
    if given.quick:
        unseen = random.Random(0).sample(unseen, 200)
    check = heldout_rows()
    for name, part in (("shipped.unseen_sets", unseen), ("shipped.heldout", check)):
        found = np.array([ROUTES.index(router.detect(row.text).route) for row in part])
        figures |= by_set(name, part, found)
    figures["shipped.heldout.accuracy"] = float((found == columns(check)).mean())
    for column, route in enumerate(ROUTES):
        here = columns(check) == column
        figures[f"shipped.heldout.{route}.recall"] = float((found[here] == column).mean())
    figures["shipped.kilobytes"] = WEIGHTS.stat().st_size / 1024
    reader = statement_reader(load_config(), embedder.identity)
    routers = {"shipped": router}
    if not given.quick:
        routers["without_people"] = without_people(rows, vectors, embedder)
    for name, one in routers.items():
        figures |= {f"{name}.{key}": value for key, value in of_people(one, reader).items()}
    sample = balanced(rows, 10 if given.quick else 70, seed=0)
    figures |= latency(router, [row.text for row in sample])

    classifiers: dict[str, Classifier] = {
        "plain": plain,
        "committee_without_own": committee_without_own,
    }
    if not given.quick:
        classifiers["committee"] = committee
    for name, classifier in classifiers.items():
        runs = []
        for seed in seeds:
            part = balanced(rows, per_route, seed)
            found = cross_validated(part, classifier, vectors, seed, folds)
            runs.append(by_set(f"{name}.balanced", part, found))
            progress(f"{name}, seed {seed}: {runs[-1][f'{name}.balanced.macro_f1']:.3f}")
        for key in runs[0]:
            figures[key] = statistics.mean(run[key] for run in runs)
        if len(runs) > 1:
            spread = statistics.stdev(run[f"{name}.balanced.macro_f1"] for run in runs)
            figures[f"{name}.balanced.macro_f1_sd"] = spread
    if not given.quick:
        for name, classifier in (("plain", plain), ("committee", committee)):
            found = cross_validated(rows, classifier, vectors, 0, folds)
            figures |= by_set(f"{name}.natural", rows, found)
            part = balanced(rows, per_route, 0)
            for key, value in left_out(part, classifier, vectors).items():
                figures[f"{name}.left_out.{key}"] = value
        # The weights' own recipe, with a fifth of the redistributable sets kept from it.
        found = cross_validated(rows, as_shipped, vectors, 0, folds)
        figures |= by_set("recipe.natural", rows, found)
        part = balanced(rows, per_route, 0)
        place = {id(row): i for i, row in enumerate(rows)}
        figures |= by_set("recipe.balanced", part, found[[place[id(row)] for row in part]])
    if not (given.quick or given.no_llm):
        part = balanced(rows, LLM_PER_ROUTE, 0)
        try:
            found, seconds = prompted(LocalLanguageModel(load_config()), part)
        except ModelError as error:
            progress(f"no language model: {error}")
        else:
            figures |= by_set("llm", part, found)
            figures["llm.n"] = len(part)
            figures["llm.median_ms"] = statistics.median(seconds) * 1000
            asked = set_of(part)
            learn = [row for row in rows if normalised(row.text) not in asked]
            for name, classifier in classifiers.items():
                found = classifier(balanced(learn, per_route, 0), part, vectors, 0)
                figures[f"same_sample.{name}.macro_f1"] = macro_f1(part, found)
            found = as_shipped(learn, part, vectors, 0)
            figures["same_sample.recipe.macro_f1"] = macro_f1(part, found)
    config = {
        "quick": given.quick,
        "per_route": per_route,
        "folds": folds,
        "messages": len(rows),
        "own_sentences": len(own_rows()),
        "encoder": embedder.identity,
        "language_model": None if given.quick or given.no_llm else load_config().llm,
    }
    write_results("routing", config, seeds, figures)
    for key, value in figures.items():
        print(f"{key:48} {value:.3f}")


def as_shipped(
    learn: Sequence[Row], judge: Sequence[Row], vectors: VectorCache, seed: int
) -> Predictions:
    """The committee that learns only what the shipped weights may learn from."""
    return judged(fit(shipped_rows(learn, seed), vectors, seed).judge, judge, vectors)


def set_of(rows: Sequence[Row]) -> frozenset[str]:
    return frozenset(normalised(row.text) for row in rows)


if __name__ == "__main__":
    main()
