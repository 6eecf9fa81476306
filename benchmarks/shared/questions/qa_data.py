"""Question sets in one shape: what was told, and what is asked with its answer and its evidence.

``locomo`` (known errors of its key corrected), ``memdaily_zh`` and the two banks of simulated
lives. A file of the same layout is read whatever its name, size or people. Nothing here judges or
selects.

- *required* are the ids of the memories that the answer needs; empty where it is right to choose
  nothing (the question cannot be answered), None where nobody knows.
- *answers* are references of which any is right; none where the right answer is 'I don't know'.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.language.dates import resolve_text
from agent.ports import Vectors
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.shared.simulated_lives.lives_world import write_life
from store.derived.view import GraphView
from store.tables.taxonomy import SUBCLASSES
from store.types import Memory

_ADVERSARIAL = 5
"""The category of locomo's questions whose right answer is that nobody knows."""
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
_TURN = re.compile(r"D:?(\d+):0*(\d+)")
_UNPLACED = SUBCLASSES[-1]
_TYPES = {subclass.id: subclass.type for subclass in SUBCLASSES}


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a set."""

    key: str
    """Names it within the set, the same in every run."""
    text: str
    asked: datetime
    answers: tuple[str, ...]
    required: frozenset[str] | None
    kind: str
    """Its category: 'temporal', 'aggregative', 'chain' ..."""
    choices: tuple[str, ...] = ()
    right: int | None = None
    """Index of the right one of ``choices``."""
    of_a_value: bool = False
    """Whether ``answers`` are values to be named rather than free text (simulated lives)."""
    wrong: tuple[str, ...] = ()
    """Other values of that fact, which do not hold at the time asked about."""

    @property
    def answerable(self) -> bool:
        return bool(self.answers)


@dataclass(frozen=True, slots=True)
class Collection:
    """What one person (or one conversation) told, oldest first, and what is asked of it."""

    name: str
    memories: tuple[Memory, ...]
    """Their ids are the gold ids."""
    speakers: tuple[str, ...]
    """Who said each memory; '' for the person whose memory it is."""
    items: tuple[Item, ...]

    def told_by(self, moment: datetime) -> tuple[int, ...]:
        """Rows of what was told up to ``moment``."""
        return tuple(row for row, one in enumerate(self.memories) if one.created <= moment)

    def view(self, vectors: Vectors, moment: datetime | None = None) -> GraphView:
        """What a policy walks, never edited: ``vectors`` are those of ``memories``, in order.

        With ``moment``, only what was told by then.
        """
        whole = GraphView(self.memories, vectors, frozenset(m.id for m in self.memories))
        return whole if moment is None else whole.narrowed(self.told_by(moment))


def load(name: str, data: Path, *, lives: int = 8) -> list[Collection]:
    """The set of this name, one of ``SETS``; ``lives`` is how many of a bank of simulated lives.

    :raises SystemExit: with one line, if there is no such set, or its files are missing or of
        another layout.
    """
    if name in _BANKS:
        return [simulated(_BANKS[name], seed) for seed in range(lives)]
    if name not in _FOLDERS:
        raise SystemExit(f"There is no question set {name!r}. Choose from: {', '.join(SETS)}.")
    return _FOLDERS[name](data)


# ---- locomo -----------------------------------------------------------------------------------


def locomo(data: Path) -> list[Collection]:
    """Each conversation with its turns as memories 'Speaker: text' of the session's time.

    A question is asked when the last session is over.
    """
    folder = data / "locomo"
    conversations: list[Any] = []
    errors: dict[tuple[str, int], dict[str, Any]] = {}
    for path, rows in _files(folder):
        if path.name.startswith("audit"):
            errors |= {(row["question"], row["category"]): row for row in rows}
        else:
            conversations += rows
    if not conversations:
        raise SystemExit(f"There is no conversation in {folder}: put locomo*.json there.")
    try:
        return [_conversation(row, n, errors) for n, row in enumerate(conversations)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SystemExit(_other_layout(folder, error)) from error


def _conversation(
    row: Mapping[str, Any], number: int, errors: Mapping[tuple[str, int], Any]
) -> Collection:
    said = row["conversation"]
    memories, speakers = [], []
    sessions = sorted(
        int(match[1]) for key in said if (match := re.fullmatch(r"session_(\d+)", key))
    )
    for session in sessions:
        at = _session_time(said[f"session_{session}_date_time"])
        for turn in said[f"session_{session}"]:
            (turn_id,) = _turns([turn["dia_id"]])
            memories.append(_memory(turn_id, f"{turn['speaker']}: {turn['text']}", at))
            speakers.append(turn["speaker"])
    known = {memory.id for memory in memories}
    asked = max(memory.created for memory in memories)
    items = []
    name = str(row.get("sample_id", f"conversation {number}"))
    for n, one in enumerate(row["qa"]):
        category = one["category"]
        fixed = errors.get((one["question"], category))
        answer = fixed["correct_answer"] if fixed else one.get("answer", "")
        evidence = _turns(fixed["correct_evidence"] if fixed else one.get("evidence", []))
        required = frozenset(evidence) & known
        unknown = category == _ADVERSARIAL
        items.append(
            Item(
                key=f"{name}/{n}",
                text=one["question"],
                asked=asked,
                answers=() if unknown else (str(answer),),
                required=frozenset() if unknown else required or None,
                kind=_CATEGORIES.get(category, str(category)),
            )
        )
    return Collection(name, tuple(memories), tuple(speakers), tuple(items))


def _turns(written: Sequence[str]) -> list[str]:
    """Turn ids as one form, however they are written: 'D8:6; D9:17', 'D:11:26', 'D30:05'."""
    return [f"D{session}:{turn}" for one in written for session, turn in _TURN.findall(str(one))]


def _session_time(written: str) -> datetime:
    return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


# ---- memdaily ---------------------------------------------------------------------------------


def memdaily(data: Path) -> list[Collection]:
    """Each trajectory of messages as a person of its own."""
    folder = data / "memdaily_zh"
    collections = []
    for path, rows in _files(folder):
        # '05_post_processing_hybrid' asks questions of the kind 'post_processing'.
        kind = re.sub(r"^\d+_|_[^_]+$", "", path.stem) or path.stem
        try:
            collections += [
                _trajectory(row, f"{path.stem}/{n}", kind) for n, row in enumerate(rows)
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SystemExit(_other_layout(path, error)) from error
    if not collections:
        raise SystemExit(f"There is no trajectory in {folder}: put the *.json files there.")
    return collections


def _trajectory(row: Mapping[str, Any], name: str, kind: str) -> Collection:
    told = [
        replace(
            _memory(str(one["mid"]), one["message"], _chinese_time(one["time"])),
            place=one.get("place") or None,
        )
        for one in row["message_list"]
    ]
    memories = tuple(sorted(told, key=lambda memory: memory.created))
    known = {memory.id for memory in memories}
    items = []
    for one in row["question_list"]:
        letters = list(one["choices"])
        items.append(
            Item(
                key=f"{name}/{one['qid']}",
                text=one["question"],
                asked=_chinese_time(one["time"]),
                answers=(str(one["answer"]),),
                required=frozenset(map(str, one["target_step_id"])) & known or None,
                kind=kind,
                choices=tuple(str(one["choices"][letter]) for letter in letters),
                right=letters.index(one["ground_truth"]),
            )
        )
    return Collection(name, memories, ("",) * len(memories), tuple(items))


def _chinese_time(written: str) -> datetime:
    """'2024年04月01日 周一 08:43'"""
    year, month, day, hour, minute = map(int, re.findall(r"\d+", written))
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


# ---- simulated lives --------------------------------------------------------------------------


def simulated(bank: Bank, seed: int) -> Collection:
    """A life as its gold memories, never edited: what was replaced is there with what replaced it.

    Questions of forms are left out (``emg_policies`` fills the forms with the product).
    """
    life = write_life(bank, seed)
    name = f"{bank.name} {seed}"
    memories = tuple(
        Memory(
            id=told.key,
            text=resolve_text(told.text, told.at),
            type=_TYPES[told.subclass],
            subclass=told.subclass,
            created=told.at,
            triples=told.triples,
            valid_from=told.valid_from,
            valid_until=told.valid_until,
        )
        for told in life.told
    )
    items = tuple(
        Item(
            key=f"{name}/{n}",
            text=asked.text,
            asked=asked.at,
            answers=_said_as(sorted(asked.right)),
            required=asked.gold,
            kind=asked.kind,
            of_a_value=True,
            wrong=tuple(sorted(asked.wrong)),
        )
        for n, asked in enumerate(life.asked)
        if asked.kind != "form"
    )
    return Collection(name, memories, ("",) * len(memories), items)


def _said_as(values: Sequence[str]) -> tuple[str, ...]:
    """The values, and of a day the ways in which it is said."""
    ways = []
    for value in values:
        ways.append(value)
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            day = datetime.fromisoformat(value)
            ways += [f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}"]
    return tuple(ways)


# ---- files ------------------------------------------------------------------------------------


def _memory(memory: str, text: str, at: datetime) -> Memory:
    """A memory as it was told; nobody has placed it in a subclass or read its relations."""
    return Memory(memory, text, _UNPLACED.type, _UNPLACED.id, at)


def _files(folder: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The lists in the JSON files of a folder, in order of their names."""
    if not folder.is_dir():
        raise SystemExit(f"There is no folder {folder}. Give the folder of data sets by --data.")
    for path in sorted(folder.glob("*.json")):
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SystemExit(f"Cannot read {path}: {error}") from error
        if isinstance(rows, list):
            yield path, rows


def _other_layout(path: Path, error: Exception) -> str:
    return f"{path} is not of the layout that its set has ({type(error).__name__}: {error})."


_BANKS: Mapping[str, Bank] = {"lives_train": TRAIN, "lives_test": TEST}
_FOLDERS: Mapping[str, Callable[[Path], list[Collection]]] = {
    "locomo": locomo,
    "memdaily_zh": memdaily,
}
SETS = (*_FOLDERS, *_BANKS)
"""Names that ``load`` takes. The product is developed on ``lives_train``, never on the others."""
