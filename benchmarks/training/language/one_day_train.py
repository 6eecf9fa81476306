"""Makes the weights of ``agent.language.dates.learned.one_day``.

``python -m benchmarks.one_day_train`` learns whether a time expression names one day: 'the first'
in 'for the first time' does not, and neither does the Tuesday of every week.
``samples/one_day.tsv`` says so of the expressions in the messages of our voices that get a date.
The others were labelled by hand; those that say it themselves ('today', 'next week', '3 May') are
taken to be days. ``samples/one_day_own.txt`` has plain sentences about what messages of these
voices seldom tell: the time counted from now.

*voices* are those of the voices that the weights did not see, in turn; *chats* those of chats and
voices that nothing was learned from. *wrong* is the share of what is dated that names no day, with
these weights and, as *wrong.all*, without them; *kept* the share of the days that are still dated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np

from agent.language.dates.dated import may_be_dated
from agent.language.dates.learned.one_day import signs
from agent.language.dates.parser import Expression, expressions
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.training.language.tense_train import (
    FOLDS,
    MARKED,
    Dated,
    Message,
    aware,
    held_messages,
    in_turn,
    learn,
    messages_of_voices,
    read_labels,
    save,
    score,
    written,
)

LABELS = SAMPLES / "one_day.tsv"
OWN = SAMPLES / "one_day_own.txt"
_AT = datetime(2026, 5, 12, 12, tzinfo=UTC)
"""When the plain sentences are said."""
STRENGTH = 1.0
"""The inverse of the regularization."""


def main() -> None:
    options = parser("one_day_train", __doc__ or "")
    given = options.parse_args()
    labels = read_labels(LABELS, "is")
    examples = list(_labelled(messages_of_voices(), labels))
    tests = list(_labelled(held_messages(), labels))
    own = list(_own())
    progress(f"{len(examples)} + {len(own)} expressions to learn from, {len(tests)} held out")
    folds = 2 if given.quick else FOLDS
    figures = _shares("voices", examples, in_turn(examples, own, folds, STRENGTH))
    weights = learn([*examples, *own], STRENGTH)
    figures |= _shares("chats", tests, [score(weights, one) > 0 for one in tests])
    figures["n_signs"] = len(weights)
    if not given.quick:
        save("one_day", weights)
    write_results("one_day_train", {"quick": given.quick, "folds": FOLDS}, [0], figures)


def _labelled(said: Iterator[Message], labels: dict[tuple[str, str, str], str]) -> Iterator[Dated]:
    """The expressions of messages that have a label; the others are doubtful."""
    for voice, at, text in said:
        for found in expressions(text, aware(at)):
            words = " ".join(text[found.start : found.end].split())
            label = labels.get((voice, written(at), words))
            if label is not None and may_be_dated(text, found):
                yield _dated(voice, at, text, found, label == "day")


def _own() -> Iterator[Dated]:
    """The marked expressions of ``OWN``."""
    for line in OWN.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        answer, marked = line.split(" ", 1)
        text = MARKED.sub(r"\1", marked)
        for found in expressions(text, _AT):
            if f"[[{text[found.start : found.end]}]]" in marked:
                yield _dated("", _AT, text, found, answer == "+")


def _dated(voice: str, at: datetime, text: str, found: Expression, yes: bool) -> Dated:
    read = signs(text, found.start, found.end, found.when, at.replace(tzinfo=None))
    return Dated(voice, tuple(dict.fromkeys(read)), yes)


def _shares(
    name: str, examples: Sequence[Dated], dated: Sequence[bool]
) -> dict[str, float | int | None]:
    days = np.array([one.yes for one in examples])
    said = np.array(dated)
    return {
        f"{name}.n": len(days),
        f"{name}.wrong.all": float(np.mean(~days)),
        f"{name}.wrong": float(np.mean(~days[said])),
        f"{name}.kept": float(np.mean(said[days])),
    }


if __name__ == "__main__":
    main()
