"""Dates, reminders, forms and routes of German, Spanish, French and Chinese, without the 1.5B.

Own samples (``benchmarks/samples/languages``); of each kind one half, *held*, was written with the
other, *dev*, before any code, and was only run once the code was done. One writer wrote both, so
they are alike in style.

- *dates*: ``find_times`` on a sentence said on Wednesday, 8 May 2024, 9:00. *right*: an
  expression has exactly the day, moment, span or end that belongs there, or nothing was to be found
  and nothing was; *wrong*: something else was found; *missed*: nothing was. Lengths, times of
  day alone and what recurs count as nothing.
- *reminded*: of the sentences that tell of something to come, those of which ``memlane remind``
  tells at the right time, after they were told to an empty home.
- *forms*: labels in the language, each a form of its own, filled from sentences in English
  (*from_english*) and from the same in the language itself (*from_own*). *right*, *wrong*,
  *offered* (there to choose from) and *empty* count the fields that have a value; *closed* those
  that must stay empty and do.
- *routes*: small talk, questions and statements by ``Router.detect``.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.applications.forms.fields import FormField
from agent.applications.forms.matching.match import match_fields
from agent.applications.services.reminders import coming
from agent.config import load_config
from agent.language.dates import TimeSpan, find_times
from agent.memory.remember import keep, remember_as_said
from agent.results import FilledField, Value
from agent.session.session import Session, open_session
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh

FOLDER = SAMPLES / "languages"
LANGUAGES = ("de", "es", "fr", "zh")
HALVES = ("dev", "held")
NOW = datetime(2024, 5, 8, 9, tzinfo=UTC)
NOTHING = "-"
AHEAD = 365
"""Days that are looked at for reminders."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a sample: its half, its language, and its two columns."""

    half: str
    language: str
    first: str
    second: str


Count = Callable[[str], None]


def main(argv: Sequence[str] | None = None) -> None:
    options = parser("languages", __doc__ or "")
    options.add_argument("--mistakes", action="store_true", help="print what is not right")
    options.add_argument("--dev", action="store_true", help="only the half that code may follow")
    args = options.parse_args(argv)
    halves = ("dev",) if args.dev or args.quick else HALVES
    counts: Counter[str] = Counter()

    def count(key: str) -> None:
        counts[key] += 1

    said = progress if args.mistakes else (lambda _: None)
    _dates(halves, count, said)
    with open_session(load_config()) as models:
        _routes(halves, models, count, said)
        _reminders(halves, models, count, said)
        _forms(halves, models, count, said)
    figures: dict[str, float | int | None] = dict(sorted(counts.items()))
    for key, number in figures.items():
        progress(f"{key:40} {number}")
    config = {"quick": args.quick or args.dev, "now": NOW.isoformat()}
    write_results("languages", config, (), figures)


def rows(name: str, halves: Sequence[str]) -> Iterator[Row]:
    """The rows of a sample of these halves."""
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        row = Row(*line.split("\t"))
        if row.half in halves:
            yield row


# ---- dates and reminders ----------------------------------------------------------------------


def _dates(halves: Sequence[str], count: Count, said: Callable[[str], None]) -> None:
    for row in rows("dates.tsv", halves):
        found = [span for span in find_times(row.first, NOW) if tells(span)]
        outcome = judged(found, row.second)
        count(f"{row.half}.{row.language}.dates.{outcome}")
        if outcome != "right":
            said(f"{outcome} {row.first} {row.second} {[written(span) for span in found]}")


def tells(span: TimeSpan) -> bool:
    """Whether an expression names a day, moment or span at all."""
    return span.dated and span.kind not in ("duration", "recurring")


def judged(found: Sequence[TimeSpan], expected: str) -> str:
    """Right, wrong or missed; see the top."""
    if expected == NOTHING:
        return "wrong" if found else "right"
    if any(expected in (written(span), f"..{written(span, end=True)}") for span in found):
        return "right"
    return "wrong" if found else "missed"


def written(span: TimeSpan, *, end: bool = False) -> str:
    """A span as the samples write it; with ``end`` only where it ends."""
    if end or span.start is None:
        ends = f"{span.end:%Y-%m-%d}" if span.end else ""
        return ends if end else f"..{ends}"
    if span.kind == "datetime":
        return f"{span.start:%Y-%m-%d %H:%M}"
    if span.end is None or span.end - span.start == timedelta(days=1):
        return f"{span.start:%Y-%m-%d}"
    return f"{span.start:%Y-%m-%d}..{span.end:%Y-%m-%d}"


def _reminders(
    halves: Sequence[str], models: Session, count: Count, said: Callable[[str], None]
) -> None:
    for row in rows("dates.tsv", halves):
        moment = _moment(row.second)
        if moment is None or not NOW < moment < NOW + timedelta(days=AHEAD):
            continue
        with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
            source = keep(home.graph, row.first, said=NOW)
            remember_as_said(source, home.graph, at(home, NOW), NOW)
            when = [one.when for one in coming(home.graph, NOW, AHEAD)]
        right = any(f"{one:%Y-%m-%d %H:%M}" == f"{moment:%Y-%m-%d %H:%M}" for one in when)
        outcome = "right" if right else "wrong" if when else "missed"
        count(f"{row.half}.{row.language}.reminded.{outcome}")
        if not right:
            said(f"reminded {outcome} {row.first} {[f'{one:%Y-%m-%d %H:%M}' for one in when]}")


def _moment(expected: str) -> datetime | None:
    """When a day or moment of the samples begins; None for spans, ends and nothing."""
    if expected == NOTHING or ".." in expected:
        return None
    return datetime.fromisoformat(expected).replace(tzinfo=UTC)


# ---- routes -----------------------------------------------------------------------------------


def _routes(
    halves: Sequence[str], models: Session, count: Count, said: Callable[[str], None]
) -> None:
    for row in rows("routing.tsv", halves):
        route = models.router.detect(row.second).route
        right = route == row.first
        count(f"{row.half}.{row.language}.routes.{row.first}.{'right' if right else 'wrong'}")
        if not right:
            said(f"route {route} {row.first} {row.second}")


# ---- forms ------------------------------------------------------------------------------------


def _forms(
    halves: Sequence[str], models: Session, count: Count, said: Callable[[str], None]
) -> None:
    table = tomllib.loads((FOLDER / "forms.toml").read_text("utf-8"))
    for language in LANGUAGES:
        labels = [row for row in table[language]["labels"] if row[0] in halves]
        fields = [
            FormField(name=f"f{n}", label=label, form=n) for n, (_, label, _) in enumerate(labels)
        ]
        for arm, told in (
            ("from_english", table["english"]),
            ("from_own", table[language]["told"]),
        ):
            found = _filled(fields, told.strip().splitlines(), models)
            for (half, label, expected), result in zip(labels, found, strict=True):
                outcome = form_outcome(result, expected)
                count(f"{half}.{language}.forms.{arm}.{outcome}")
                if outcome not in ("right", "closed"):
                    said(f"form {language} {arm} {outcome} {label}: {result.value!r}")


def _filled(fields: Sequence[FormField], told: Sequence[str], models: Session) -> list[FilledField]:
    with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
        for text in told:
            source = keep(home.graph, text, said=NOW, keep_secrets=True)
            remember_as_said(source, home.graph, at(home, NOW), NOW)
        for asked in match_fields(fields, home.embedder):
            home.graph.form_consents.put(asked.consent_name, "", given=True, at=NOW)
        return list(at(home, NOW).fill(fields, use_llm=False))


def form_outcome(result: FilledField, expected: str) -> str:
    """Right, wrong, offered or empty; for fields that must stay empty closed or wrong."""
    if not expected:
        return "closed" if result.value is None else "wrong"
    if result.value is None:
        return (
            "offered" if any(_is(one.value, expected) for one in result.alternatives) else "empty"
        )
    return "right" if _is(result.value, expected) else "wrong"


def _is(value: Value, expected: str) -> bool:
    bare = str(value).replace(" ", "").casefold()
    return any(way.replace(" ", "").casefold() in bare for way in expected.split("/"))


if __name__ == "__main__":
    main()
