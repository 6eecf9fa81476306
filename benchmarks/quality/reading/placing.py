"""What places memories in subclasses better: ``python -m benchmarks.placing --data DIR [--quick]``.

The sentence embedding as it ships (``agent.extraction.subclass_classifier``), TransE over the
graph, both joined at several weights, and the largest subclass of the training part.
``sentence_and_seen`` is the sentence embedding with the training part as further examples: it knows
what TransE knows. Every set is split in halves by the seed, one is placed already and one is to be
placed:

* ``own``: sentences of ours under memlane's taxonomy, with its examples (``placing_own.jsonl``);
* ``carmem``: preferences of 33 drivers, CarMem's subcategories as subclasses of its main
  categories; TransE gets the relations from the data set's own fields, its best case;
* ``rooms``: mempalace's session summaries and their topic folders, each among its own candidates.

TransE alone falls back to the largest subclass where it knows too few triples (``covered`` is where
it does not); joined, it falls back to the sentence.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.extraction.triples.read import triples_for
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder
from benchmarks.papers.emg_rag.transe import TransEConfig
from benchmarks.papers.emg_rag.transe_classifier import Translations
from benchmarks.quality.memory.editing import load_users
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from store.tables.taxonomy import SUBCLASSES
from store.types import Subclass, Triple

OWN = SAMPLES / "placing_own.jsonl"
WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text and the subclass it belongs to; ``among`` are its candidates, all where empty."""

    text: str
    subclass: str
    among: tuple[str, ...] = ()
    triples: tuple[Triple, ...] | None = None
    """Its relations where they are known; None where they are read from the text."""


@dataclass(frozen=True, slots=True)
class Set:
    """A taxonomy with texts; ``known`` are placed in every split."""

    subclasses: tuple[Subclass, ...]
    texts: tuple[Labelled, ...]
    known: tuple[Labelled, ...] = ()


def own() -> Set:
    rows = map(json.loads, OWN.read_text("utf-8").splitlines())
    texts = tuple(Labelled(row["text"], row["subclass"]) for row in rows)
    examples = tuple(Labelled(text, s.id) for s in SUBCLASSES for text in s.examples)
    return Set(SUBCLASSES, texts, examples)


def carmem(data: Path, seed: int) -> Set:
    """The preferences in sentences whose shape the seed draws; the name is each one's example."""
    with (data / "carmem" / "dataset.jsonl").open(encoding="utf-8") as lines:
        preferences = [p for line in lines for p in json.loads(line)["user_preferences"]]
    sentences = [memory for user in load_users(data, seed) for memory in user.memories]
    texts = {
        Labelled(
            sentence,
            _id(p["Main Category"], p["Subcategory"]),
            triples=(Triple("me", p["Detail Category"].casefold(), p["Attributes"]),),
        )
        for sentence, p in zip(sentences, preferences, strict=True)
    }
    named = {(p["Main Category"], p["Subcategory"]) for p in preferences}
    subclasses = tuple(
        Subclass(_id(main, sub), main, sub, False, (sub,)) for main, sub in sorted(named)
    )
    return Set(subclasses, tuple(sorted(texts, key=lambda row: row.text)))


def _id(main: str, sub: str) -> str:
    return f"{main}.{sub}".casefold().replace(" ", "_")


def rooms(data: Path) -> Set:
    """Session summaries; a folder's own words are its example."""

    def read(name: str) -> dict[str, dict[str, object]]:
        path = data / "mempalace_extraction" / f"{name}.jsonl"
        return {row["id"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}

    texts, labels = read("room_classification.dataset"), read("room_classification.labels")
    found = []
    for key, row in read("room_lists").items():
        label, among = str(labels[key]["closed_set_label"]), row["rooms"]
        if isinstance(among, list) and label in among:
            found.append(Labelled(str(texts[key]["session_summary"]), label, tuple(among)))
    names = sorted({name for row in found for name in row.among})
    subclasses = tuple(
        Subclass(n, n.split("/")[0], n, False, (n.split("/")[-1].replace("-", " "),)) for n in names
    )
    return Set(subclasses, tuple(found))


# ---- one split ---------------------------------------------------------------------------------


def measure(
    chosen: Set, embedder: Embedder, seed: int, config: TransEConfig, tally: dict[str, list[float]]
) -> None:
    """Split the set by the seed and place one half by every method."""
    texts = list(chosen.texts)
    random.Random(seed).shuffle(texts)
    half = len(texts) // 2
    seen, held = texts[:half], texts[half:]
    placed = [*chosen.known, *seen]
    begun = time.perf_counter()
    translations = Translations(
        chosen.subclasses,
        [(triples, row.subclass) for triples, row in zip(_triples(placed), placed, strict=True)],
        replace(config, seed=seed),
    )
    tally["train_s"].append(time.perf_counter() - begun)
    said = [row.text for row in held]
    vectors = embedder.encode(said)
    sentence = Placer(chosen.subclasses, embedder).scores(said, vectors)
    further = _with_examples(chosen.subclasses, seen)
    sentence_and_seen = Placer(further, embedder).scores(said, vectors)
    graph = translations.scores(_triples(held))
    knows = np.asarray((~np.isnan(graph)).any(axis=1))
    ids = [subclass.id for subclass in chosen.subclasses]
    counts = Counter(row.subclass for row in seen)
    majority = np.tile([float(counts[id_]) for id_ in ids], (len(held), 1))
    alone = np.where(knows[:, None], graph, -1 + majority / len(seen))
    tally["covered"].append(float(knows.mean()))
    methods = {
        "majority": majority,
        "sentence": sentence,
        "sentence_and_seen": sentence_and_seen,
        "transe": alone,
    }
    for weight in WEIGHTS:
        part = weight * np.nan_to_num(graph)
        methods[f"joined_{weight}"] = sentence + part
        methods[f"joined_and_seen_{weight}"] = sentence_and_seen + part
    types = {subclass.id: subclass.type for subclass in chosen.subclasses}
    for name, scores in methods.items():
        found = _best(scores, ids, held)
        right = [got == row.subclass for got, row in zip(found, held, strict=True)]
        kind = [types[got] == types[row.subclass] for got, row in zip(found, held, strict=True)]
        tally[f"{name}.subclass"].append(statistics.fmean(right))
        tally[f"{name}.type"].append(statistics.fmean(kind))


def _triples(rows: Sequence[Labelled]) -> list[tuple[Triple, ...]]:
    read = triples_for([row.text for row in rows], None)
    return [
        found if row.triples is None else row.triples for found, row in zip(read, rows, strict=True)
    ]


def _with_examples(subclasses: Sequence[Subclass], rows: Sequence[Labelled]) -> list[Subclass]:
    more: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        more[row.subclass].append(row.text)
    return [replace(s, examples=(*s.examples, *more[s.id])) for s in subclasses]


def _best(scores: NDArray[np.floating], ids: Sequence[str], rows: Sequence[Labelled]) -> list[str]:
    found = []
    for own_scores, row in zip(scores, rows, strict=True):
        allowed = [i for i, id_ in enumerate(ids) if not row.among or id_ in row.among]
        found.append(ids[max(allowed, key=lambda i: own_scores[i])])
    return found


def main() -> None:
    options = parser("placing", __doc__ or "")
    options.set_defaults(seeds=5)
    args = options.parse_args()
    seeds = range(1 if args.quick else args.seeds)
    embedder = LocalEmbedder(load_config())
    config = TransEConfig()
    tallies: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in seeds:
        for name, chosen in (
            ("own", own()),
            ("carmem", carmem(args.data, seed)),
            ("rooms", rooms(args.data)),
        ):
            measure(chosen, embedder, seed, config, tallies[name])
            tallies[name]["texts"].append(len(chosen.texts))
            progress(f"seed {seed}, {name} done")
    figures: dict[str, float | int | None] = {}
    for name, tally in tallies.items():
        for figure, values in tally.items():
            figures[f"{name}.{figure}"] = statistics.fmean(values)
            if figure.endswith(".subclass") and len(values) > 1:
                figures[f"{name}.{figure}.spread"] = statistics.stdev(values)
    settings = {
        "quick": args.quick,
        "embedder": embedder.identity,
        "transe": repr(config),
    }
    write_results("placing", settings, seeds, figures)


if __name__ == "__main__":
    main()
