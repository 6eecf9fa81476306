"""Makes the weights of ``agent.language.dates.learned.tense``.

``python -m benchmarks.tense_train`` learns whether a date with two readings ('on Friday', 'the
12th') is meant as the past or the coming one. ``samples/time_sides.tsv`` says so, by hand, of the
dates in the messages of our voices. Dates that say it themselves ('yesterday', 'in two weeks') are
no help: with them as further examples fewer dates were read right. ``samples/time_sides_own.txt``
has plain sentences about what messages of these voices seldom tell.

The figures are the shares of dates that are read right. *voices* are those of the voices that the
weights did not see, in turn; *chats* those of chats and voices that nothing was learned from.
*ahead* is what always taking the coming date would give.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from agent.language.dates.learned.tense import WEIGHTS, signs_around, signs_of
from agent.language.dates.parser import Expression, expressions, on_both_sides
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.chats import CHATS, read_chat
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.training.reader.reader_data import VOICES, read_episodes

LABELS = SAMPLES / "time_sides.tsv"
OWN = SAMPLES / "time_sides_own.txt"
MARKED = re.compile(r"\[\[(.+?)\]\]")
STRENGTH = 10.0
"""The inverse of the regularization."""
FOLDS = 5
LEAST_SEEN, LEAST_WEIGHT = 2, 0.05
"""How often a sign must be seen to be learned, and what it must weigh to ship."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A date in a message: what is around it, and the answer that is to be learned."""

    voice: str
    signs: tuple[str, ...]
    yes: bool


def main() -> None:
    options = parser("tense_train", __doc__ or "")
    given = options.parse_args()
    told, held = list(messages_of_voices()), list(held_messages())
    labels = read_labels(LABELS, "lies")
    examples = list(_labelled(told, labels))
    tests = list(_labelled(held, labels))
    own = list(_own())
    progress(f"{len(examples)} + {len(own)} dates to learn from, {len(tests)} held out")
    figures: dict[str, float | int | None] = {}
    figures |= _shares("voices", examples, in_turn(examples, own, 2 if given.quick else FOLDS))
    weights = learn([*examples, *own])
    figures |= _shares("chats", tests, [score(weights, one) > 0 for one in tests])
    figures["n_signs"] = len(weights)
    if not given.quick:
        save("tense", weights)
    write_results("tense_train", {"quick": given.quick, "folds": FOLDS}, [0], figures)


def learn(examples: Sequence[Dated], strength: float = STRENGTH) -> dict[str, float]:
    """The weight of each sign, rounded; that of "" is the bias."""
    columns = CountVectorizer(analyzer=lambda one: one.signs, min_df=LEAST_SEEN, binary=True)
    model = LogisticRegression(C=strength, max_iter=3000)
    model.fit(columns.fit_transform(examples), [one.yes for one in examples])
    weighed = zip(columns.get_feature_names_out(), model.coef_[0], strict=True)
    learned = {str(sign): round(float(weight), 2) for sign, weight in weighed}
    learned = {sign: weight for sign, weight in learned.items() if abs(weight) >= LEAST_WEIGHT}
    return {"": round(float(model.intercept_[0]), 2), **learned}


def save(name: str, weights: dict[str, float]) -> None:
    """The weights where the product reads them."""
    text = json.dumps(dict(sorted(weights.items())), indent=0, ensure_ascii=False)
    (WEIGHTS / f"{name}.json").write_text(text + "\n", "utf-8")


def score(weights: dict[str, float], one: Dated) -> float:
    """Log-odds of what was learned."""
    return weights[""] + sum(weights.get(sign, 0.0) for sign in one.signs)


def in_turn(
    examples: Sequence[Dated], own: Sequence[Dated], folds: int, strength: float = STRENGTH
) -> list[bool]:
    """What is said of each date by weights that did not see its voice."""
    voices = sorted({one.voice for one in examples})
    said: dict[Dated, bool] = {}
    for fold in range(folds):
        held = set(voices[fold::folds])
        weights = learn([*own, *(one for one in examples if one.voice not in held)], strength)
        said |= {one: score(weights, one) > 0 for one in examples if one.voice in held}
        progress(f"without {', '.join(sorted(held))}")
    return [said[one] for one in examples]


def _shares(name: str, dates: Sequence[Dated], said: Sequence[bool]) -> dict[str, float | int]:
    right = [one.yes is past for one, past in zip(dates, said, strict=True)]
    back = [ok for ok, one in zip(right, dates, strict=True) if one.yes]
    return {
        f"{name}.n": len(dates),
        f"{name}.right": float(np.mean(right)),
        f"{name}.right.ahead": float(np.mean([not one.yes for one in dates])),
        f"{name}.past.n": len(back),
        f"{name}.past.found": float(np.mean(back)),
    }


Message = tuple[str, datetime, str]
"""Voice, time and text."""


def messages_of_voices() -> Iterator[Message]:
    yield from _of_episodes(VOICES)


def held_messages() -> Iterator[Message]:
    yield from _of_episodes(HELD_VOICES)
    for path in sorted(CHATS.glob("*.jsonl")):
        yield from ((path.stem, one.at, one.text) for one in read_chat(path) if not one.asks)


def _of_episodes(folder: Path) -> Iterator[Message]:
    said = {
        (episode.voice, at, text): None
        for episode in read_episodes(folder)
        for at, text in episode.messages
    }
    yield from said


def read_labels(path: Path, column: str) -> dict[tuple[str, str, str], str]:
    """What a table says of dates, by their voice, time and words."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["voice"], row["at"], row["words"]): row[column]
            for row in csv.DictReader(file, delimiter="\t")
        }


def _labelled(said: Sequence[Message], labels: dict[tuple[str, str, str], str]) -> Iterator[Dated]:
    """The dates of messages that have a label; the others are doubtful, or no dates."""
    for voice, at, text in said:
        for found in dates(text, at):
            words = " ".join(text[found.start : found.end].split())
            lies = labels.get((voice, written(at), words))
            if lies is not None and _on_both_sides(found, at):
                signs = (
                    *signs_around(text, found.start, found.end),
                    *signs_of(found.when, at.replace(tzinfo=None)),
                )
                yield Dated(voice, tuple(dict.fromkeys(signs)), lies == "past")


def _own() -> Iterator[Dated]:
    """The marked dates of ``OWN``, each sentence told at noon of its day."""
    for line in OWN.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        day, side, marked = line.split(" ", 2)
        at = datetime.fromisoformat(f"{day}T12:00")
        text = MARKED.sub(r"\1", marked)
        found = [one for one in dates(text, at) if _on_both_sides(one, at)]
        if len(found) != len(MARKED.findall(marked)):
            raise SystemExit(f"{OWN.name}: the dates of {text!r} are not those marked")
        for one in found:
            signs = (*signs_around(text, one.start, one.end), *signs_of(one.when, at))
            yield Dated("", tuple(dict.fromkeys(signs)), side == "<")


def written(at: datetime) -> str:
    """A time as the tables of labels have it."""
    return at.isoformat(timespec="seconds" if at.tzinfo else "minutes")


def aware(at: datetime) -> datetime:
    """A time of a message with a zone; those of the voices have none."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def dates(text: str, at: datetime) -> Iterator[Expression]:
    """The expressions of an English text that name a day or more."""
    for found in expressions(text, aware(at)):
        when = found.when
        plain = when.dated and not when.narrative and when.bound is None and not found.foreign
        if plain and when.kind not in ("recurring", "duration"):
            yield found


def _on_both_sides(found: Expression, at: datetime) -> bool:
    return on_both_sides(found.when, at.replace(tzinfo=None))


if __name__ == "__main__":
    main()
