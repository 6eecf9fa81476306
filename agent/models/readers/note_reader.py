"""The language model as a reader of notes: which of them answer a question and still hold.

The model reads the question and all dated notes together, the newest first, so it sees what a later
note did to an earlier one. What it has made of a note stands in its hidden state at the end of the
note's line. A linear classifier reads that state beside the mean of all lines, another one reads
the mean and says whether any note answers. They were learned together with the adapter with which
the model reads (``adapters.reading_adapter``); ``benchmarks.adapter_fit`` writes the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.language.injection import as_data
from agent.models.fixed_turns import fixed
from agent.models.readers.second_reader import logit, mixed, rivals, tells_states
from agent.ports import ChatTurn, HiddenStateModel, LanguageModel, Vectors
from policies.weight_file import read_arrays

WEIGHTS = Path(__file__).parent / "data" / "note_reader.npz"
NOTES = 12
"""Most notes that are read together, as in training."""
LONGEST = 200
"""Characters of a note or question that are read: what is longer is cut."""
SYSTEM = (
    "A person asks a question about their own life. You see the question and the person's dated "
    "notes, the newest first. Later notes may change what earlier ones say. Which notes answer the "
    "question, at least in part, and still hold?"
)
"""The states depend on every word of the prompt."""
_BEGIN = fixed(SYSTEM)

DatedNote = tuple[datetime, str]


def about_notes(question: str, notes: Sequence[DatedNote], last: str = "") -> tuple[ChatTurn, ...]:
    """The prompt: the question, then a line for each note, in the order of ``newest_first``.

    ``last`` is what was asked right before it, on which it may lean: 'and the rear one?'. Only
    ``benchmarks.adapter_examples`` gives it so far; no weights that ship have learned from it.
    """
    lines = [
        f"{number}. [{notes[n][0]:%Y-%m-%d}] {_line(notes[n][1])}"
        for number, n in enumerate(newest_first(notes), 1)
    ]
    asked = _line(question) + (f' (asked after "{_line(last)}")' if last else "")
    body = "\n".join((f"Question: {asked}", "Notes:", *lines, ""))
    return *_BEGIN, ChatTurn("user", body)


def newest_first(notes: Sequence[DatedNote]) -> list[int]:
    """The places of the notes, by their time."""
    return sorted(range(len(notes)), key=lambda n: notes[n][0], reverse=True)


def states_of(
    question: str, notes: Sequence[DatedNote], model: HiddenStateModel, *, layer: int
) -> Vectors:
    """What the model has made of each note, in the order of ``notes``: (n, width)."""
    lines = model.line_states(about_notes(question, notes), layer=layer)[2:]
    states = np.empty_like(lines)
    states[newest_first(notes)] = lines
    return states


def _line(text: str) -> str:
    return as_data(text)[:LONGEST]


class NoteProbabilities(NamedTuple):
    """What was read in several notes, as calibrated probabilities."""

    relevance: Vectors
    """That a note answers the question, at least in part, and holds: (n,)."""
    answered: float
    """That any of them does."""


class NoteReader:
    """Says how likely each note answers a question and still holds.

    :param weights: those of ``relevance_of`` and ``answered_of``; the ``layer`` of the model.
    """

    def __init__(self, model: HiddenStateModel, weights: dict[str, Vectors]) -> None:
        self._model = model
        self._weights = weights

    def read(
        self, question: str, notes: Sequence[DatedNote], first: Sequence[float]
    ) -> NoteProbabilities:
        """Read at most ``NOTES`` notes; ``first`` is the statement reader's relevance of each.

        :raises PromptTooLong: if the notes together exceed the context.
        """
        if not notes:
            return NoteProbabilities(np.zeros(0, np.float32), 0.0)
        states = states_of(question, notes, self._model, layer=int(self._weights["layer"]))
        return NoteProbabilities(
            relevance_of(states, self._weights), answered_of(states, first, self._weights)
        )


def relevance_of(states: Vectors, weights: Mapping[str, Vectors]) -> Vectors:
    """The calibrated probability of each note by the states of all: (n,).

    ``mix`` says how the score of a note and those of the others make it.
    """
    return mixed(signs(scores_of(states, weights)), weights["mix"])


def answered_of(states: Vectors, first: Sequence[float], weights: Mapping[str, Vectors]) -> float:
    """That any note answers, by the states of all and what the statement reader says of each.

    ``answered_mix`` is to ``signs_of_all`` what ``mix`` is to ``signs``.
    """
    about = [[one] for one in signs_of_all(states, first, weights)]
    return float(mixed(about, weights["answered_mix"])[0])


def scores_of(states: Vectors, weights: Mapping[str, Vectors]) -> Vectors:
    """The log-odds of each of several notes by their states, not calibrated: (n,).

    ``weight`` is for a state, ``around`` for the mean of all.
    """
    around = states.mean(axis=0) @ weights["around"]
    return np.asarray(states @ weights["weight"] + around + weights["bias"], np.float32)


def signs(scores: Vectors) -> list[Vectors]:
    """What the probability of each note rests on: its score, and the odds of the others.

    Notes that are read together compete.
    """
    odds: Vectors = (1 / (1 + np.exp(-scores))).astype(np.float32)
    return [scores, rivals(odds)]


def signs_of_all(
    states: Vectors, first: Sequence[float], weights: Mapping[str, Vectors]
) -> tuple[float, float, float]:
    """What the probability rests on that any note answers (``together``)."""
    mean = float(states.mean(axis=0) @ weights["answered"] + weights["answered_bias"])
    return together(mean, scores_of(states, weights), first)


def together(
    mean: float, scores: Vectors, first: Sequence[float] | Vectors
) -> tuple[float, float, float]:
    """The score of the mean, those of the notes together, and the statement reader's best."""
    return mean, float(np.logaddexp.reduce(scores)), float(logit(first).max())


def note_reader(model: LanguageModel) -> NoteReader | None:
    """The reader of notes; None where no weights fit the model."""
    weights = _weights()
    if weights is None or not tells_states(model):
        return None
    return NoteReader(model, weights) if model.identity == str(weights["model"]) else None


@cache
def _weights() -> dict[str, Vectors] | None:
    return read_arrays(WEIGHTS) if WEIGHTS.exists() else None
