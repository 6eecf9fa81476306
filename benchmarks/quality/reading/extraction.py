"""How much of what a text says becomes memories, and how much else does (EMG-RAG 4.1 step 2).

Data: ``mempalace_extraction/memory_extraction`` (English; MIT) and two sets of ours with chat,
notes, screens and texts with nothing to keep: ``samples/extraction_own.jsonl`` (seen while the
rules were made) and ``samples/extraction_heldout.jsonl`` (written after). The paper's own prompt
(Table 9) on the same model is the yardstick; every figure is taken alike for both.

The measure. A memory states a labelled one where their sentence embeddings have a cosine of at
least ``STATES``, or where it holds ``RECALL`` of its content words, and no number of the label is
missing from the text's memories. ``coverage``: labelled memories that some memory states. ``junk``:
memories that state no labelled one, and hold less than ``RECALL`` of their own content words from
any (a part of a label is no junk). ``unsupported``: memories with less than half of their content
words in the source, or with a number that is not there. ``none_right``: texts labelled with nothing
that gave nothing. ``placing_*``: accuracy of ``agent.extraction.subclass_classifier`` on
``samples/placing_own.jsonl`` (ours).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.extraction.triples.read import triples_for
from agent.language.sentences import content, numbers
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.ports import ChatTurn, Embedder, LanguageModel
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.shared.memories_read import memories_read
from store.tables.taxonomy import SUBCLASSES
from store.types import SourceKind

STATES = 0.65
RECALL = 0.6
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)

PLAIN = """Please help me organize the following raw user data into standardized memory data.

Here is an example format:
1. My name is Zhang Zhenqiang.
2. My zodiac sign is Aquarius.
3. My company's address is Oriental International, Pudong New District, Shanghai.
4. My mother's birthday is April 8, 1982.
5. My father's favorite sport is basketball.
6. I watched the movie "Fast and Furious" at Orange Cinema in July 2023.
7. Next Saturday, I will attend a high school friend's wedding.

Note: Please use the above format to output and display all the data.
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with the memories it should give."""

    id: str
    kind: SourceKind
    text: str
    labels: tuple[str, ...]
    people: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts over the texts of one set under one method."""

    labels: int = 0
    covered: int = 0
    memories: int = 0
    junk: int = 0
    unsupported: int = 0
    none_texts: int = 0
    none_right: int = 0
    seconds: list[float] = field(default_factory=list)

    def figures(self, prefix: str) -> dict[str, float | int]:
        quiet = {f"{prefix}_none_right": self.none_right / max(self.none_texts, 1)}
        return {
            f"{prefix}_coverage": self.covered / max(self.labels, 1),
            f"{prefix}_junk": self.junk / max(self.memories, 1),
            f"{prefix}_unsupported": self.unsupported / max(self.memories, 1),
            f"{prefix}_labels": self.labels,
            f"{prefix}_memories": self.memories,
            f"{prefix}_seconds_mean": sum(self.seconds) / max(len(self.seconds), 1),
            f"{prefix}_seconds_median": median(self.seconds) if self.seconds else 0.0,
            **(quiet if self.none_texts else {}),
        }


Method = Callable[[Sample, LanguageModel], Sequence[str]]


def plain(sample: Sample, llm: LanguageModel) -> Sequence[str]:
    """The paper's prompt as it stands, its numbered list taken as it comes."""
    reply = llm.chat((ChatTurn("user", PLAIN + sample.text),), max_tokens=400)
    return re.findall(r"^\s*(?:\d{1,2}[.)]|[-*•])\s*(\S.*)", reply, re.M)


def ours(sample: Sample, llm: LanguageModel) -> Sequence[str]:
    del llm  # the person's own words
    return memories_read(sample.text, sample.kind, NOW)


def read_mempalace(folder: Path) -> list[Sample]:
    base = folder / "mempalace_extraction"
    texts = (base / "memory_extraction.dataset.jsonl").read_text("utf-8").splitlines()
    labels = (base / "memory_extraction.labels.jsonl").read_text("utf-8").splitlines()
    wanted = {
        row["id"]: tuple(memory["content"] for memory in row["memories"])
        for row in map(json.loads, labels)
    }
    return [
        Sample(row["id"], SourceKind.NOTE, row["text"], wanted[row["id"]])
        for row in map(json.loads, texts)
    ]


def read_own(name: str) -> list[Sample]:
    rows = (SAMPLES / name).read_text("utf-8").splitlines()
    return [
        Sample(r["id"], SourceKind(r["kind"]), r["text"], tuple(r["memories"]), tuple(r["people"]))
        for r in map(json.loads, rows)
    ]


def recall(whole: str, part: str) -> float:
    """The share of ``whole``'s content words that ``part`` holds."""
    wanted = content(whole)
    return len(wanted & content(part)) / len(wanted) if wanted else 0.0


def score(tally: Tally, sample: Sample, memories: Sequence[str], embedder: Embedder) -> None:
    """Add one text's outcome to the tally."""
    told = " ".join(memories).lower()
    source = f"{sample.text} {' '.join(sample.people)}"
    tally.labels += len(sample.labels)
    tally.memories += len(memories)
    if not sample.labels:
        tally.none_texts += 1
        tally.none_right += not memories
    cosine = (
        embedder.encode(memories) @ embedder.encode(sample.labels).T
        if memories and sample.labels
        else None
    )
    for column, label in enumerate(sample.labels):
        close = any(
            (cosine is not None and cosine[row, column] >= STATES)
            or recall(label, memory) >= RECALL
            for row, memory in enumerate(memories)
        )
        kept = all(number in told for number in numbers(label) if number in source.lower())
        tally.covered += close and kept
    for row, memory in enumerate(memories):
        fits = any(
            (cosine is not None and cosine[row, column] >= STATES)
            or recall(label, memory) >= RECALL
            or recall(memory, label) >= RECALL
            for column, label in enumerate(sample.labels)
        )
        tally.junk += not fits
        invented = any(number not in source.lower() for number in numbers(memory))
        tally.unsupported += invented or recall(memory, source) < 0.5


def measure(
    samples: Sequence[Sample], method: Method, llm: LanguageModel, embedder: Embedder, show: bool
) -> tuple[Tally, list[str]]:
    tally, found = Tally(), []
    for sample in samples:
        begun = time.perf_counter()
        memories = list(method(sample, llm))
        tally.seconds.append(time.perf_counter() - begun)
        score(tally, sample, memories, embedder)
        found += memories
        if show:
            progress(f"{sample.id} {method.__name__}: " + "\n    ".join(memories))
    return tally, found


def placing(embedder: Embedder) -> dict[str, float | int]:
    rows = [json.loads(r) for r in (SAMPLES / "placing_own.jsonl").read_text("utf-8").splitlines()]
    placer = Placer(SUBCLASSES, embedder)
    begun = time.perf_counter()
    placed = placer.place([row["text"] for row in rows])
    took = time.perf_counter() - begun
    same = [got == row["subclass"] for got, row in zip(placed, rows, strict=True)]
    types = [
        got.split(".")[0] == row["subclass"].split(".")[0]
        for got, row in zip(placed, rows, strict=True)
    ]
    return {
        "placing_subclass_accuracy": sum(same) / len(rows),
        "placing_type_accuracy": sum(types) / len(rows),
        "placing_sentences": len(rows),
        "placing_ms_per_sentence": 1000 * took / len(rows),
    }


def main() -> None:
    options = parser("extraction", __doc__ or "")
    options.add_argument("--show", action="store_true", help="print every memory")
    args = options.parse_args()
    config = load_config()
    llm, embedder = LocalLanguageModel(config), LocalEmbedder(config)
    sets = {
        "mempalace": read_mempalace(args.data),
        "own": read_own("extraction_own.jsonl"),
        "heldout": read_own("extraction_heldout.jsonl"),
    }
    if args.quick:
        sets = {name: samples[:2] for name, samples in sets.items()}
    figures: dict[str, float | int] = {}
    found: list[str] = []
    for name, samples in sets.items():
        for method in (plain, ours):
            tally, memories = measure(samples, method, llm, embedder, args.show)
            figures |= tally.figures(f"{name}_{method.__name__}")
            found = found + memories if method is ours else found
    by_shape = [bool(t) and t[0].relation != "noted" for t in triples_for(found, None)]
    begun = time.perf_counter()
    triples_for(found, llm)
    figures["triples_by_pattern"] = sum(by_shape) / max(len(by_shape), 1)
    figures["triples_seconds_per_memory"] = (time.perf_counter() - begun) / max(len(found), 1)
    figures |= placing(embedder)
    settings: dict[str, object] = {
        "quick": args.quick,
        "llm": llm.identity,
        "embedder": embedder.identity,
    }
    settings |= {"states": STATES, "recall": RECALL, "load_average": os.getloadavg()[2]}
    write_results("extraction", settings, [0], figures)


if __name__ == "__main__":
    main()
