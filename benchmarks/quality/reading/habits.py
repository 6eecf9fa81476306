"""Weekdays without a date in messages: is one of them meant, or that of every week?

``samples/habits.tsv`` says so, by hand, of weekdays in chats and voices that the statement reader
did not learn from. It is asked whether the clause tells a state (``agent.extraction.told``).
Without it each of these weekdays is one day: what patterns read as a habit ('I swim on Tuesday') is
not among them.

- *found*: the share of what is weekly that is taken for it;
- *right*: the share of what is taken for weekly that is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime

from agent.config import load_config
from agent.extraction.own_words import own_words
from agent.extraction.told import tell_habits
from agent.language.dates.parser import expressions, is_weekday
from agent.session.session import open_session
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.training.language.tense_train import aware, held_messages, written

LABELS = SAMPLES / "habits.tsv"


def main() -> None:
    options = parser("habits", __doc__ or "")
    given = options.parse_args()
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = {
            (row["voice"], row["at"], row["words"]): row["is"] == "weekly"
            for row in csv.DictReader(file, delimiter="\t")
        }
    weekly: list[bool] = []
    ours: list[bool] = []
    with open_session(load_config()) as models:
        for voice, at, text in held_messages():
            told = own_words(text)
            habits = tell_habits(told, models.statements)
            for words in _weekdays(text, at):
                label = labels.get((voice, written(at), words))
                at_home = [
                    (sentence, habit)
                    for sentence, habit in zip(told, habits, strict=True)
                    if words in " ".join(sentence.split())
                ]
                if label is None or not at_home:
                    continue
                sentence, habit = at_home[0]
                weekly.append(label)
                ours.append(habit)
                progress(f"{'ok' if habit is label else 'BAD'} {words}: {sentence}")
    both = sum(one and other for one, other in zip(weekly, ours, strict=True))
    figures: dict[str, float | int | None] = {
        "n": len(weekly),
        "weekly.n": sum(weekly),
        "taken": sum(ours),
        "found": both / sum(weekly),
        "right": both / max(1, sum(ours)),
    }
    write_results("habits", {"quick": given.quick}, [0], figures)


def _weekdays(text: str, at: datetime) -> Iterator[str]:
    for found in expressions(text, aware(at)):
        said = text[found.start : found.end]
        if is_weekday(said, found.when, at.replace(tzinfo=None)):
            yield " ".join(said.split())


if __name__ == "__main__":
    main()
