"""Writes what the reading adapter learns from: ``python -m benchmarks.adapter_examples``.

Two tasks on the prompts that the product reads, as tokens, and beside them the model and the
script, so that the training (``adapter_train``) needs neither llama.cpp nor memlane on the machine
with the GPU:

- *lines*: a question and dated notes; of each note whether the question needs it (and whether a
  later one has changed it), and whether any note answers.
- *pairs*: an older and a newer text; what the newer one does to the older.

Writers are held out whole: those of ``CALIBRATED`` are kept for calibration, those of
``samples/people_held``, ``voices_held``, ``introductions_held``, ``months_held`` and
``follow_ups_held`` for measuring.
Of both kinds the statement reader's opinion is written too (``adapter_fit``).
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from agent.config import load_config
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.adapters.llama.gguf import Weights
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_statement_reader import WEIGHTS as READER
from agent.models.readers.note_reader import about_notes, newest_first
from agent.models.readers.second_reader import BEGIN, about_change, rivals
from agent.models.registry import ModelRegistry
from agent.ports import RELATIONS, ChatTurn, Embedder
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.introductions_data import (
    FOLLOW_UPS,
    FOLLOW_UPS_HELD,
    INTRODUCTIONS,
    INTRODUCTIONS_HELD,
    MONTHS,
    MONTHS_HELD,
)
from benchmarks.quality.answers.conversations.people_data import (
    HELD,
    PEOPLE,
    Person,
    pairs_of,
    read_people,
)
from benchmarks.shared.common import ROOT, parser, progress
from benchmarks.training.reader.adapter.adapter_network import write_parts
from benchmarks.training.reader.adapter.introduction_groups import (
    groups_of_follow_ups,
    groups_of_introductions,
)
from benchmarks.training.reader.note_groups import Group, groups_of_person, groups_of_voice
from benchmarks.training.reader.reader_data import VOICES, Episode, Pair, read_episodes, told_pairs
from benchmarks.training.reader.reader_train import encoder_folder

OUT = ROOT / "build" / "adapter"
CALIBRATED = frozenset(
    {"analyst", "dictated", "newcomer", "porter", "apprentice", "midwife", "official_de", "printer"}
)
"""Writers that the adapter does not learn from: probabilities are calibrated on them."""
LABELS = ("unrelated", "changed", "needed")
SEEDS = 10
"""Homes that are made of each episode to learn from."""
UNRELATED = 6
"""Most unrelated pairs of one person's sentence, the nearest first."""
CHANGED = [RELATIONS.index(name) for name in ("supersedes", "ends", "corrects", "refines")]


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, with what is true of it, by task."""

    writer: str
    home: str
    """"people", "voices", "introductions", "months", "follow_ups" or "languages"."""
    split: str
    """"learn", "calibrate" or "measure"."""
    turns: tuple[ChatTurn, ...]
    labels: tuple[int, ...] = ()
    """Of each line from the third on one of ``LABELS``, or the number of the relation."""
    first: tuple[float, ...] = ()
    """The statement reader's opinion of each; not of what is learned from."""
    rivals: float = 0.0
    """Of a pair how likely those are that compete with it (``second_reader.rivals``)."""
    compared: int = 0
    """Of a pair how many older texts the new one is compared with."""
    weight: float = 1.0
    """Of a pair how many it stands for."""


def main() -> None:
    options = parser("adapter_examples", __doc__ or "")
    options.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    given = options.parse_args()
    config = load_config()
    embedder = LocalEmbedder(config)
    path = ModelRegistry(config.models_dir).resolve_llm(config.llm)
    weights = Weights(path, repack=False)
    given.out.mkdir(parents=True, exist_ok=True)
    reader = TrainedReader(encoder_folder(), READER)
    for task, rows in (("lines", _lines(embedder, reader)), ("pairs", _pairs(embedder, reader))):
        made = list(rows)
        Random(0).shuffle(made)
        _write(given.out / f"{task}.npz", made[:40] if given.quick else made, weights)
        progress(f"{task}: {len(made)}")
    written = [np.load(given.out / f"{task}.npz")["tokens"] for task in ("lines", "pairs")]
    write_parts(path, np.unique(np.concatenate(written)), given.out)
    scripts = given.out / Path(__file__).parent.relative_to(ROOT)
    scripts.mkdir(parents=True, exist_ok=True)
    for name in ("adapter_network.py", "adapter_train.py"):
        shutil.copy(Path(__file__).with_name(name), scripts)


def _split(writer: str, held: bool) -> str:
    return "measure" if held else "calibrate" if writer in CALIBRATED else "learn"


def _people(folder: Path) -> Iterator[tuple[Person, str, str]]:
    for person in read_people(folder):
        home = "people" if person.language == "en" else "languages"
        yield person, home, _split(person.id, folder == HELD)


def _voices(folder: Path) -> Iterator[tuple[str, list[Episode], str]]:
    for voice, rows in groupby(read_episodes(folder), lambda episode: episode.voice):
        yield voice, list(rows), _split(voice, folder == HELD_VOICES)


def _lines(embedder: Embedder, reader: TrainedReader) -> Iterator[Row]:
    for folder in (PEOPLE, HELD):
        for person, home, split in _people(folder):
            for group in groups_of_person(person, embedder):
                chance = Random(f"{person.id} {group.question}")
                own = [group]
                if split == "learn":
                    own += [_thinned(group, chance) for _ in range(3)]
                    own += [_without_answer(group, chance) for _ in range(2)]
                yield from (_of_group(one, home, split, reader) for one in own if one.notes)
    for folder in (VOICES, HELD_VOICES):
        for _, episodes, split in _voices(folder):
            for seed in range(SEEDS if split == "learn" else 1):
                chance = Random(seed)
                for group in groups_of_voice(episodes, embedder, seed):
                    thin = split == "learn" and chance.random() < 0.5
                    own = [_thinned(group, chance) if thin else group]
                    yield from (_of_group(one, "voices", split, reader) for one in own if one.notes)
        progress(f"lines of {folder.name}")
    for folder in (INTRODUCTIONS, INTRODUCTIONS_HELD, MONTHS, MONTHS_HELD):
        home, _, held = folder.name.partition("_")
        for group in groups_of_introductions(folder, embedder):
            yield _of_group(group, home, "measure" if held else "learn", reader)
    for folder in (FOLLOW_UPS, FOLLOW_UPS_HELD):
        split = "measure" if folder == FOLLOW_UPS_HELD else "learn"
        for group in groups_of_follow_ups(folder, embedder):
            yield _of_group(group, "follow_ups", split, reader)


def _thinned(group: Group, chance: Random) -> Group:
    """The group without some of the notes that the question does not need."""
    share = chance.random()
    kept = [n for n in group.notes if n.label != "unrelated" or chance.random() < share]
    return replace(group, notes=tuple(kept))


def _without_answer(group: Group, chance: Random) -> Group:
    """The group without what answers, or what that took the place of."""
    share = chance.uniform(0.3, 1)
    kept = [n for n in group.notes if n.label == "unrelated" and chance.random() < share]
    return replace(group, notes=tuple(kept))


def _of_group(group: Group, home: str, split: str, reader: TrainedReader) -> Row:
    notes = [group.notes[n] for n in newest_first(group.dated)]
    labels = tuple(LABELS.index(note.label) for note in notes)
    first: tuple[float, ...] = ()
    if split != "learn":
        asked = f"{group.last} {group.question}".strip()
        read = reader.relevance(asked, [note.read for note in notes])
        first = tuple(map(float, read[:, 0]))
    turns = about_notes(group.question, group.dated, group.last)
    return Row(group.writer, home, split, turns, labels, first)


def _pairs(embedder: Embedder, reader: TrainedReader) -> Iterator[Row]:
    for folder in (PEOPLE, HELD):
        for person, home, split in _people(folder):
            for one in pairs_of(person, embedder):
                if one.task == "relation":
                    looked = [n for n, seen in enumerate(one.looked_at) if seen]
                    pairs = [
                        Pair(
                            one.others[n].text,
                            one.text,
                            one.others[n].read,
                            one.read,
                            one.labels[n],
                        )
                        for n in looked
                    ]
                    yield from _of_pairs(pairs, person.id, home, split, reader)
    for folder in (VOICES, HELD_VOICES):
        for voice, episodes, split in _voices(folder):
            for episode in episodes:
                by_new: dict[str, list[Pair]] = defaultdict(list)
                for pair in told_pairs(episode):
                    by_new[pair.new].append(pair)
                for own in by_new.values():
                    yield from _of_pairs(own, voice, "voices", split, reader)


def _of_pairs(
    pairs: Sequence[Pair], writer: str, home: str, split: str, reader: TrainedReader
) -> Iterator[Row]:
    """A new sentence with older ones; of unrelated ones in a home of much only the nearest."""
    first = np.zeros(len(pairs), np.float32)
    if split != "learn" and pairs:
        rows = reader.relations([(pair.old_read, pair.new_read) for pair in pairs])
        first = rows[:, CHANGED].sum(axis=1)
    beside = rivals(first.tolist())
    apart = [n for n, pair in enumerate(pairs) if pair.relation == "unrelated"]
    kept = apart if home == "voices" else apart[:UNRELATED]
    for n, pair in enumerate(pairs):
        if n in kept or pair.relation != "unrelated":
            yield Row(
                writer, home, split, (*BEGIN, ChatTurn("user", about_change(pair.old, pair.new))),
                (RELATIONS.index(pair.relation),), (float(first[n]),), float(beside[n]), len(pairs),
                len(apart) / len(kept) if n in kept else 1.0,
            )  # fmt: skip


def _write(path: Path, rows: Sequence[Row], weights: Weights) -> None:
    kept: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if path.stem == "lines":
            tokens, ends, _ = weights.lines(row.turns)
            places = ends[2:]
        else:
            tokens, _ = weights.prompt(row.turns)
            places = [len(tokens) - 1]
        if len(places) != len(row.labels):
            raise ValueError(f"{len(places)} lines of {len(row.labels)} notes: {row.turns[-1]}")
        kept["tokens"] += tokens
        kept["token_counts"].append(len(tokens))
        kept["places"] += places
        kept["place_counts"].append(len(places))
        kept["labels"] += row.labels
    names = ("writer", "home", "split", "rivals", "compared", "weight")
    columns: dict[str, Any] = {
        name: np.array([getattr(row, name) for row in rows]) for name in names
    }
    arrays: dict[str, Any] = {name: np.array(values, np.int32) for name, values in kept.items()}
    first = np.array([one for row in rows if row.split != "learn" for one in row.first], np.float32)
    np.savez_compressed(path, **arrays, **columns, first=first)


if __name__ == "__main__":
    main()
