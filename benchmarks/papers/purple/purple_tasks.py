"""The four personal tasks that PURPLE is measured on (PAPERS.md), in one shape.

======== ==================== ============================== ======================= ==============
task     data                 records of a person            asked                   measured
======== ==================== ============================== ======================= ==============
rating   movielens100k        films with their ratings       the rating of another   absolute error
prefer   prefeval             40 stated preferences, one of  the option that obeys   accuracy
                              them of the question           the preference
persona  personamem_32k       what the person told, in       the reply that fits     accuracy
                              pieces of two sentences        the person
survey   opinionqa_slice      20 answers to other questions  the person's answer     accuracy
answers  locomo               turns of a conversation        a question about them   log-likelihood
======== ==================== ============================== ======================= ==============

PAPERS.md counts prefer and persona as one task, choosing the preferred option. A case knows its
*group* (the person, the topic, the conversation): who is learned from is never measured. Options
come in an order drawn by seed, and only their probabilities are compared.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agent.ports import Vectors
from benchmarks.shared.questions.qa_data import load
from policies.base import Episode, Question
from store.derived.view import GraphView
from store.tables.taxonomy import SUBCLASSES
from store.types import Memory

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
HISTORY = 80
"""Latest ratings of a person that may be candidates."""
PREFERENCES = 40
ANSWERED = 20
"""Survey answers that are known of a person (PAPERS.md)."""
OPTION_WORDS = 25
"""Of an option this much is compared: those of personamem run to a hundred words."""
RECORD_WORDS = 45
"""Of a record this much is shown."""
_PLACE = SUBCLASSES[-1]
Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A question of a person with the records that may help, and what the right answer is."""

    key: str
    task: str
    group: str
    episode: Episode
    before: str
    """What stands above the records in the prompt."""
    after: str
    """What stands below them; a continuation begins with a space."""
    options: tuple[str, ...]
    """Continuations; the reference alone where the answer is free text."""
    right: int
    values: tuple[float, ...] = ()
    """What the options stand for, where they are numbers."""

    def prompt(self, ids: Sequence[str]) -> str:
        """The prompt with these records in this order; with none it only asks."""
        view = self.episode.view
        if not ids:
            return self.after
        shown = (_cut(view.memories[view.row[memory]].text, RECORD_WORDS) for memory in ids)
        return "\n".join([self.before, *shown, self.after])


def cases(task: str, data: Path, count: int, encode: Encode, seed: int = 0) -> list[Case]:
    """About ``count`` questions of a task, spread evenly over its groups; the same for a seed."""
    rng = np.random.default_rng([seed, sorted(TASKS).index(task)])
    return list(TASKS[task](data, count, encode, rng))


def folds(
    asked: Sequence[Case], count: int, more: Sequence[Case] = ()
) -> Iterator[tuple[list[Case], list[Case]]]:
    """(to learn from, to measure): each group of ``asked`` is measured in exactly one fold.

    ``more`` is only learned from, and never where its group is measured.
    """
    groups = sorted({case.group for case in asked})
    drawn = np.random.default_rng(0).permutation(len(groups))
    fold = {groups[place]: n % count for n, place in enumerate(drawn)}
    for one in range(count):
        learned = [case for case in (*asked, *more) if fold.get(case.group) != one]
        yield learned, [case for case in asked if fold[case.group] == one]


# ---- the tasks ----------------------------------------------------------------------------------


def rating(data: Path, count: int, encode: Encode, rng: np.random.Generator) -> Iterator[Case]:
    """One film a person, among the last half of what they rated; records are those before it."""
    folder = data / "movielens100k"
    names = [line.split("|")[0] for line in _lines(folder / "u.genre") if "|" in line]
    films = {}
    for line in _lines(folder / "u.item"):
        (
            number,
            title,
            *_,
        ) = line.split("|")
        marks = line.split("|")[-len(names) :]
        genres = [name.lower() for name, mark in zip(names, marks, strict=True) if mark == "1"]
        films[number] = f"{title}, {', '.join(genres)}"
    rated: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for line in _lines(folder / "u.data"):
        person, film, stars, at = line.split("\t")
        rated[person].append((int(at), film, stars))
    people = [p for p in sorted(rated) if len(rated[p]) >= 2 * ANSWERED]
    for person in rng.permutation(people)[:count].tolist():
        told = sorted(rated[person])
        place = int(rng.integers(len(told) // 2, len(told)))
        _, film, stars = told[place]
        records = [f"{films[f]}: {s}" for _, f, s in told[max(0, place - HISTORY) : place]]
        yield _case(
            f"{person}/{film}", "rating", person, films[film], records, encode,
            before="Films and how I rated them, from 1 (bad) to 5 (very good):",
            after=f"{films[film]}:",
            options=tuple(f" {n}" for n in range(1, 6)), right=int(stars) - 1,
            values=(1.0, 2.0, 3.0, 4.0, 5.0),
        )  # fmt: skip


def prefer(data: Path, count: int, encode: Encode, rng: np.random.Generator) -> Iterator[Case]:
    """Questions of six topics; records are preferences of all topics, the right one among them."""
    rows = [
        (path.stem, number, row)
        for path in sorted((data / "prefeval" / "mcq_options").glob("*.json"))
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]
    everything = [row["preference"] for _, _, row in rows]
    for topic, number, row in _spread(rows, count, rng, lambda one: one[0]):
        others = [p for p in everything if p != row["preference"]]
        drawn = rng.choice(len(others), PREFERENCES - 1, replace=False)
        records = [others[place] for place in drawn] + [row["preference"]]
        records = [records[place] for place in rng.permutation(len(records))]
        needed = frozenset({f"r{records.index(row['preference'])}"})
        options, right = _shuffled(row["classification_task_options"], 0, rng)
        yield _case(
            f"{topic}/{number}", "prefer", topic, row["question"], records, encode,
            before="About the user:", after=f"User: {row['question']}\nAssistant:",
            options=options, right=right, required=needed,
        )  # fmt: skip


def persona(data: Path, count: int, encode: Encode, rng: np.random.Generator) -> Iterator[Case]:
    """Questions of personas; records are the user's turns, in pieces of two sentences."""
    folder = data / "personamem_32k"
    documents = json.loads((folder / "documents.json").read_text(encoding="utf-8"))
    told: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for turn in re.findall(
            r"\[USER\] User: (.*?)(?=\n\n\[|\Z)", document["content"], re.DOTALL
        ):
            sentences = re.split(r"(?<=[.!?])\s+", " ".join(turn.split()))
            told[document["id"]] += [
                " ".join(sentences[n : n + 2]) for n in range(0, len(sentences), 2)
            ]
    rows = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    for row in _spread(rows, count, rng, lambda one: str(one["user_id"])):
        asked, *lettered = re.split(r"\n+\([a-z]\) ", row["query"])
        asked = re.sub(r"^User: [^\n]*\n+", "", asked).strip()
        place = ord(row["gold_answers"][1]) - ord("a")
        options, right = _shuffled(lettered, place, rng)
        records = [piece for session in row["gold_ids"] for piece in told[session]]
        yield _case(
            row["id"], "persona", row["user_id"], asked, records, encode,
            before="What the user told before:", after=f"User: {asked}\nAssistant:",
            options=options, right=right,
        )  # fmt: skip


def survey(data: Path, count: int, encode: Encode, rng: np.random.Generator) -> Iterator[Case]:
    """One question a person; records are their answers to 20 others."""
    folder = data / "opinionqa_slice"
    rows = json.loads(
        (folder / "question_bank_with_distributions.json").read_text(encoding="utf-8")
    )
    bank = {row["qid"]: row for row in rows if len(row["choice"]) > 1}  # else nothing is chosen
    people = [json.loads(line) for line in _lines(folder / "user_answers.jsonl")]
    people = [p for p in people if len([a for a in p["answers"] if a[0] in bank]) > ANSWERED]
    for place in rng.permutation(len(people))[:count].tolist():
        person = people[place]
        answers = [(q, n) for q, n in person["answers"] if q in bank and n < len(bank[q]["choice"])]
        drawn = [answers[n] for n in rng.permutation(len(answers))[: ANSWERED + 1]]
        *known, (asked, said) = drawn
        row = bank[asked]
        records = [f"{bank[q]['question']} {bank[q]['choice'][n]}" for q, n in known]
        options, right = _shuffled(row["choice"], said, rng)
        group = f"{person['user_id']}"
        yield _case(
            f"{group}/{asked}", "survey", group, row["question"], records, encode,
            before="What I answered in a survey:", after=row["question"],
            options=options, right=right,
        )  # fmt: skip


def answers(data: Path, count: int, encode: Encode, rng: np.random.Generator) -> Iterator[Case]:
    """Answerable questions of conversations; records are the turns with their dates."""
    for conversation in load("locomo", data):
        items = [item for item in conversation.items if item.answerable and item.required]
        texts = [f"[{m.created:%d %B %Y}] {m.text}" for m in conversation.memories]
        memories = tuple(
            Memory(m.id, text, m.type, m.subclass, m.created)
            for m, text in zip(conversation.memories, texts, strict=True)
        )
        view = GraphView(memories, encode(texts), frozenset(m.id for m in memories))
        share = max(1, count // 3)
        for place in sorted(rng.permutation(len(items))[:share].tolist()):
            item = items[place]
            question = Question(item.text, encode([item.text])[0], item.asked)
            yield Case(
                item.key, "answers", conversation.name,
                Episode(item.key, question, view, item.required),
                "Notes:", f"Question: {item.text}\nAnswer:", (f" {item.answers[0]}",), 0,
            )  # fmt: skip


TASKS: Mapping[str, Callable[[Path, int, Encode, np.random.Generator], Iterator[Case]]] = {
    "rating": rating,
    "prefer": prefer,
    "persona": persona,
    "survey": survey,
    "answers": answers,
}


# ---- what they share ----------------------------------------------------------------------------


def _case(
    key: str,
    task: str,
    group: str,
    asked: str,
    texts: Sequence[str],
    encode: Encode,
    *,
    before: str,
    after: str,
    options: tuple[str, ...],
    right: int,
    values: tuple[float, ...] = (),
    required: frozenset[str] | None = None,
) -> Case:
    """Records stand a day apart, in the order they are given: none is beside another."""
    memories = tuple(
        Memory(f"r{n}", text, _PLACE.type, _PLACE.id, START + timedelta(days=n))
        for n, text in enumerate(texts)
    )
    view = GraphView(memories, encode(texts), frozenset(m.id for m in memories))
    now = START + timedelta(days=len(texts))
    episode = Episode(f"{task}/{key}", Question(asked, encode([asked])[0], now), view, required)
    return Case(episode.key, task, group, episode, before, after, options, right, values)


def _shuffled(
    options: Sequence[str], right: int, rng: np.random.Generator
) -> tuple[tuple[str, ...], int]:
    """The options as continuations, in an order drawn by chance, and where the right one is."""
    order = rng.permutation(len(options)).tolist()
    shown = (f" {_cut(' '.join(options[place].split()), OPTION_WORDS)}" for place in order)
    return tuple(shown), order.index(right)


def _spread(
    rows: Sequence[Any], count: int, rng: np.random.Generator, group: Callable[[Any], str]
) -> list[Any]:
    """``count`` rows, as many of each group as of another."""
    by_group: dict[str, list[Any]] = defaultdict(list)
    for place in rng.permutation(len(rows)).tolist():
        by_group[group(rows[place])].append(rows[place])
    turns = max(map(len, by_group.values()))
    drawn = [by_group[g][n] for n in range(turns) for g in sorted(by_group) if n < len(by_group[g])]
    return drawn[:count]


def _cut(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _lines(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SystemExit(f"Cannot read {path}: {error}. Give the data folder by --data.") from error
    encoding = "latin-1" if path.name == "u.item" else "utf-8"
    return raw.decode(encoding).splitlines()
