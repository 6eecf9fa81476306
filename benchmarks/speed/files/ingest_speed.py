"""How long notes take to be ingested, and whose time it is.

Notes of about 200 words, each a page of a made-up life, so that nothing needs the language model
(one that says nothing stands in for it, and its time is none). What is not the encoder's is ours:
reading, redaction, extraction, dates, relations, placing, editing and the database.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar, Unpack

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import (
    ChatTurn,
    Decoding,
    Embedder,
    NameEncoder,
    Probabilities,
    StatementReader,
    Vectors,
)
from agent.session.session import Session
from benchmarks.shared.common import parser, progress, write_results
from store.graph import MemoryGraph

WORDS = 200
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
P = ParamSpec("P")
T = TypeVar("T")

GIVEN = "Mia Tom Lena Amir Sofia Jonas Priya Carlos Yuki Hanna Omar Greta Ines Viktor".split()
FAMILY = "Sun Kowalski Mbeki Larsen Ortega Haas Rossi Tanaka Novak Byrne Silva Okafor".split()
PEOPLE = [f"{given} {family}" for given in GIVEN for family in FAMILY]
PLACES = "Rome Lisbon Oslo Kyoto Berlin Lima Boston Cairo Dublin Prague Athens Seoul".split()
THINGS = (
    "bicycle,piano,tent,camera,kayak,sewing machine,telescope,espresso machine,lawn mower,drone,"
    "bookshelf,guitar,carpet,freezer,printer,sledge,toolbox,typewriter"
).split(",")
TOPICS = (
    "pottery,chess,rowing,calligraphy,gardening,astronomy,baking,fencing,birdwatching,knitting,"
    "photography,hiking,singing,fishing,sailing,woodwork"
).split(",")
FRAMES = (
    "I bought a {thing} from {person} in {place} for {number} euros.",
    "I met {person} at the {topic} fair in {place} on platform {number}.",
    "I keep the {thing} with the number {number} in the cellar of {person}.",
    "I like the {topic} lessons of {person} in {place}.",
    "My {topic} club has {number} members and meets in the {place} street.",
    "I lent my {thing} to {person} until the club in {place} opens again.",
    "I paid {number} euros for the {topic} course of {person} in {place}.",
    "I let {person} repair my {thing} in workshop {number} of {place}.",
    "I learned {topic} from {person} during {number} weeks in {place}.",
    "My locker {number} at the {topic} school in {place} holds my {thing}.",
)


class Quiet:
    """A language model that has nothing to add."""

    identity = "quiet"

    def __init__(self) -> None:
        self.calls = 0

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        self.calls += 1
        return "NONE"


class Timed:
    """An encoder that keeps the time it took."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.seconds = 0.0
        self.processor = 0.0
        self.texts = 0

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return self._timed(self._embedder.encode, texts)

    def encode_names(self, names: Sequence[str]) -> Vectors:
        assert isinstance(self._embedder, NameEncoder)
        return self._timed(self._embedder.encode_names, names)

    def _timed(self, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        begun, used = time.perf_counter(), time.process_time()
        try:
            return call(*args, **named)
        finally:
            self.seconds += time.perf_counter() - begun
            self.processor += time.process_time() - used


class TimedReader:
    """A statement reader that keeps the time it took to judge pairs, and how many."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        self.seconds = 0.0
        self.pairs = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._reader, name)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        begun = time.perf_counter()
        self.pairs += len(pairs)
        try:
            return self._reader.relations(pairs)
        finally:
            self.seconds += time.perf_counter() - begun


def note(random_: random.Random) -> str:
    """One note of ``WORDS`` words."""
    lines: list[str] = []
    while sum(len(line.split()) for line in lines) < WORDS:
        frame = random_.choice(FRAMES)
        lines.append(
            frame.format(
                thing=random_.choice(THINGS),
                person=random_.choice(PEOPLE),
                place=random_.choice(PLACES),
                topic=random_.choice(TOPICS),
                number=random_.randint(2, 9_999),
            )
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write ``ingest_speed.json``."""
    options = parser("ingest_speed", "notes a second, and whose time it is")
    options.add_argument("--notes", type=int, default=1_000)
    options.add_argument("--profile", action="store_true", help="print where our own time goes")
    given = options.parse_args()
    count = 60 if given.quick else given.notes
    random_ = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        home, folder = Path(name) / "home", Path(name) / "notes"
        folder.mkdir()
        for number in range(count):
            (folder / f"{number:04}.md").write_text(note(random_), encoding="utf-8")
        config = replace(load_config(), home=home, fixed_now=NOW)
        embedder, model = Timed(LocalEmbedder(config)), Quiet()
        with MemoryGraph.open(home) as graph:
            session = Session(config, graph, llm=model, embedder=embedder)
            session.remember("I like tea.")  # models, examples and grammars are loaded before
            assert session.statements is not None
            reader = session.__dict__["statements"] = TimedReader(session.statements)
            embedder.seconds, embedder.processor, embedder.texts = 0.0, 0.0, 0
            profile = cProfile.Profile()
            begun, used = time.perf_counter(), time.process_time()
            if given.profile:
                profile.enable()
            reports = []
            for report in session.ingest([folder]):
                reports.append(report)
                if len(reports) % 100 == 0:
                    share = embedder.seconds / (time.perf_counter() - begun)
                    progress(f"{len(reports)} notes, {share:.3f} of the time the encoder's")
            profile.disable()
            took, processor = time.perf_counter() - begun, time.process_time() - used
            memories = len(graph.memories.list())
            problems = graph.verify()
    if given.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(70)
    assert not problems and all(report.status == "new" for report in reports)
    figures: dict[str, float | int | None] = {
        "notes": count,
        "memories": memories,
        "seconds": took,
        "encoder_share": embedder.seconds / took,
        "encoder_processor_share": embedder.processor / processor,
        "judging_share": reader.seconds / took,
        "pairs_a_note": reader.pairs / count,
        "own_processor_ms_a_note": (processor - embedder.processor) / count * 1000,
        "encoded_texts": embedder.texts,
        "own_ms_a_note": (took - embedder.seconds) / count * 1000,
        "notes_a_second": count / took,
        "model_calls": model.calls,
    }
    progress(str(figures))
    write_results("ingest_speed", {"quick": given.quick, "words": WORDS}, (0,), figures)


if __name__ == "__main__":
    main()
