"""Fits how nearness counts beside the reader of notes: ``python -m benchmarks.nearness_fit``.

The chats of ``samples/chats`` are told to the product and asked. Of each question for which the
reader finds no note sure, the notes that were read are the rows: what the reader says of one and
its cosine to the question, and whether it holds a string that the answer must have. A logistic
regression gives ``agent.answering.notes.NEARNESS``; no weights are written. The cosine here is that
of the line; the product takes that of the memory, which it has already. Measured is each chat by
what was fitted without it: average precision, and *top*: the likeliest note is a right one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from agent.answering.notes import SURE
from agent.config import load_config
from agent.models.note_reader import DatedNote, NoteReader, Reading, note_reader
from agent.models.second_reader import logit, mixed
from agent.ports import Vectors
from agent.session.session import Session, open_session
from benchmarks.quality.answers.chats import CHATS, read_chat
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.shared.simulated_lives.lives import at, fresh


@dataclass(frozen=True, slots=True)
class Question:
    """The notes that were read for a question."""

    chat: str
    relevance: Vectors
    near: Vectors
    right: Vectors
    """Whether each holds what the answer must have."""


class Recording:
    """A reader of notes that keeps what it read last."""

    def __init__(self, reader: NoteReader) -> None:
        self._reader = reader
        self.notes: list[str] = []
        self.relevance: Vectors = np.zeros(0, np.float32)

    def read(self, question: str, notes: Sequence[DatedNote], first: Sequence[float]) -> Reading:
        reading = self._reader.read(question, notes, first)
        self.notes, self.relevance = [text for _, text in notes], reading.relevance
        return reading


def main() -> None:
    options = parser("nearness_fit", __doc__ or "")
    given = options.parse_args()
    rows: list[Question] = []
    with open_session(load_config()) as models:
        models.llm = KeptAnswers(models.llm)
        for path in sorted(CHATS.glob("*.jsonl"))[: 1 if given.quick else None]:
            with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
                rows += _read(path, home, 8 if given.quick else None)
            progress(f"{path.stem}: {len(rows)} questions without a sure note so far")
    if given.quick:
        return
    found = _fit(rows)
    progress("NEARNESS = " + ", ".join(f"{one:.2f}" for one in found))
    known = {chat: _fit([r for r in rows if r.chat != chat]) for chat in {r.chat for r in rows}}
    both = [mixed([logit(row.relevance), row.near], known[row.chat]) for row in rows]
    figures = {"n": float(len(rows))}
    figures |= _measured("reader", rows, [row.relevance for row in rows])
    figures |= _measured("both", rows, both)
    figures |= dict(zip(("weight", "near", "bias"), found.tolist(), strict=True))
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    write_results("nearness_fit", {"quick": given.quick, "sure": SURE}, [0], figures)


def _read(path: Path, home: Session, most: int | None) -> list[Question]:
    reader = note_reader(home.llm)
    if reader is None:
        raise SystemExit("The weights of the note reader fit another language model.")
    rows = []
    recording = Recording(reader)
    with patch("agent.answering.notes.note_reader", lambda _: recording):
        for step in read_chat(path)[:most]:
            recording.notes = []
            there = at(home, step.at)
            if not step.asks:
                there.respond(step.text)
                continue
            there.ask(step.text)
            if not recording.notes or recording.relevance.max() >= SURE:
                continue
            asked, *lines = home.embedder.encode([step.text, *recording.notes])
            wanted = () if step.untold else (*step.every, *step.some)
            right = [any(one in text.lower() for one in wanted) for text in recording.notes]
            near = np.array([line @ asked for line in lines], np.float32)
            rows.append(Question(path.stem, recording.relevance, near, np.array(right)))
    return rows


def _fit(rows: Sequence[Question]) -> Vectors:
    inputs = [np.stack([logit(row.relevance), row.near], axis=1) for row in rows]
    labels = np.concatenate([row.right for row in rows])
    model = LogisticRegression(C=100.0, max_iter=1000).fit(np.concatenate(inputs), labels)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _measured(name: str, rows: Sequence[Question], chances: Sequence[Vectors]) -> dict[str, float]:
    labels = np.concatenate([row.right for row in rows])
    top = [
        row.right[one.argmax()] for row, one in zip(rows, chances, strict=True) if row.right.any()
    ]
    precision = float(average_precision_score(labels, np.concatenate(chances)))
    return {
        f"{name}.precision": precision,
        f"{name}.top": float(np.mean(top)),
        "answered": len(top),
    }


if __name__ == "__main__":
    main()
