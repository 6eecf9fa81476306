"""Automatic replacements: how many are right.

The gold sentences of episodes by held-out voices are stored one after another; each automatic
replacement is looked up in what the writer marked. It is right where they marked that the newer
statement changes or repeats the older one. *read* are those of which the reader is sure enough for
what is read in files. The reader that ships did not learn from these voices.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from agent.config import load_config
from agent.extraction.drafts import make_drafts
from agent.memory.editing.judges.by_reader import judged
from agent.memory.editing.replacing import SURE_READ, SURE_TOLD
from agent.memory.remember import store_drafts
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.ports import StatementReader
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh
from benchmarks.training.reader.reader_data import Episode, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder
from store.journal import Entry
from store.types import EditKind, SourceKind

RIGHT = frozenset(("supersedes", "corrects", "ends", "refines", "same"))


@dataclass(frozen=True, slots=True)
class Replacement:
    """An automatic replacement, what the reader gives it, and whether it is right."""

    score: float
    right: bool


def main() -> None:
    options = parser("replacements", __doc__ or "")
    options.add_argument("--reader", type=Path, default=WEIGHTS, help="weights")
    given = options.parse_args()
    episodes = list(read_episodes(HELD_VOICES))
    if given.quick:
        episodes = episodes[:6]
    reader = TrainedReader(encoder_folder(), given.reader)
    made: list[Replacement] = []
    with open_session(load_config()) as models:
        for number, episode in enumerate(episodes, 1):
            made += _planned(episode, models, reader)
            if number % 20 == 0:
                progress(f"{number} of {len(episodes)} episodes, {len(made)} replacements")
    figures: dict[str, float] = {}
    for name, least in (("told", SURE_TOLD), ("read", SURE_READ)):
        kept = [one.right for one in made if one.score >= least]
        figures[f"{name}.n"] = len(kept)
        figures[f"{name}.right"] = sum(kept) / max(1, len(kept))
    voices = sorted({episode.voice for episode in episodes})
    config = {"quick": given.quick, "voices": voices, "episodes": len(episodes)}
    write_results("replacements", config, [0], figures)


def _planned(episode: Episode, models: Session, reader: StatementReader) -> Iterator[Replacement]:
    """The replacements that are made of an episode's gold sentences."""
    ids: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        session.__dict__["statements"] = reader
        for number, (moment, text) in enumerate(episode.messages):
            told = [s for s in episode.statements if s.message == number and s.memory]
            if not told:
                continue
            there = at(session, moment.replace(tzinfo=UTC))
            source = session.graph.sources.add(SourceKind.CHAT, text, there.config.now())
            sentences = [statement.memory for statement in told]
            drafts = make_drafts(sentences, session.placer.place(sentences), source, llm=None)
            ids |= {d.text: s.id for d, s in zip(drafts, told, strict=True)}
            done = store_drafts(drafts, source, session.graph, there, there.config.now())
            for entry in done.entries:
                if entry.kind is EditKind.REPLACE and (pair := _texts(entry)):
                    (one,) = judged(reader, [pair])
                    old, new = (ids.get(text, "") for text in pair)
                    relation = episode.relations.get((old, new), "unrelated")
                    yield Replacement(one.changed + one.same, relation in RIGHT)


def _texts(entry: Entry) -> tuple[str, str] | None:
    return (entry.before, entry.after) if entry.before and entry.after else None


if __name__ == "__main__":
    main()
