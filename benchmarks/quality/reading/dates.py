"""How many English time expressions agent.language.dates resolves exactly.

Data: ``datetime_recognizers/English`` (Microsoft Recognizers-Text specs, MIT). A gold expression
counts as right when a found span overlaps it, has its type, and the reading that memlane would
store is one of the listed values (an ambiguous one lists a past and a future value). Gold without
a value ("not resolved", sets) is not counted. Cases marked NotSupported for Python are counted
apart: ``exact_supported_*`` leaves them out, ``exact_all_*`` has them in. Chinese is not covered.
Deterministic: no seed plays a part.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.language.dates import TimeSpan, find_times
from benchmarks.shared.common import parser, progress, write_results

MEMORY_TYPES = ("date", "datetime", "daterange", "datetimerange", "duration")
QUICK_EVERY = 5
_MODES = "DateTimeModel"


@dataclass(frozen=True, slots=True)
class Gold:
    """One expected expression of a case."""

    kind: str
    start: int
    end: int
    values: frozenset[tuple[str, ...]]
    """Each a (value) or a (start, end), with "" for an open side."""


@dataclass(frozen=True, slots=True)
class Case:
    file: str
    text: str
    now: datetime
    supported: bool
    gold: tuple[Gold, ...]


def load(folder: Path) -> Iterator[Case]:
    """The cases of every file; those whose reference time is missing get a fixed one."""
    for path in sorted((folder / "datetime_recognizers" / "English").glob("*.json")):
        if path.stem.startswith("TimeZone"):
            continue
        for row in json.loads(path.read_text(encoding="utf-8-sig")):
            context = row.get("Context") or {}
            written = context.get("ReferenceDateTime", "2016-11-07T00:00:00")
            now = datetime.fromisoformat(written[:19]).replace(tzinfo=UTC)
            marks = f"{row.get('NotSupported', '')} {row.get('NotSupportedByDesign', '')}".lower()
            gold = tuple(_gold(result) for result in row["Results"])
            yield Case(path.stem, row["Input"], now, "python" not in marks, gold)


def _gold(result: dict[str, Any]) -> Gold:
    kind = (result.get("TypeName") or result.get("Type") or "").removeprefix("datetimeV2.")
    start = int(result.get("Start", 0))
    end = int(result["End"]) + 1 if "End" in result else start + int(result.get("Length", 0))
    values: set[tuple[str, ...]] = set()
    for entry in (result.get("Resolution") or {}).get("values", ()):
        kind = entry.get("type", kind)
        values |= _value(entry)
    parsed = result.get("Value") or {}
    if isinstance(parsed, dict):
        for side in ("FutureResolution", "PastResolution"):
            values |= _parsed(parsed.get(side) or {})
    return Gold(kind, start, end, frozenset(values))


def _value(entry: dict[str, Any]) -> set[tuple[str, ...]]:
    if "value" in entry:
        return set() if entry["value"] == "not resolved" else {(str(entry["value"]),)}
    if "start" in entry or "end" in entry:
        open_start = entry.get("start", "")
        return {(open_start, entry.get("end", ""))}
    return set()


def _parsed(resolution: dict[str, str]) -> set[tuple[str, ...]]:
    """The resolutions of the parser files; a missing side of a range is open."""
    keys = set(resolution)
    starts = [value for key, value in resolution.items() if key.startswith("start")]
    ends = [value for key, value in resolution.items() if key.startswith("end")]
    if starts or ends:
        return {((starts or [""])[0], (ends or [""])[0])}
    values = [resolution[key] for key in keys if key in ("date", "dateTime", "time", "duration")]
    return {(value,) for value in values if value}


def type_of(span: TimeSpan) -> str:
    """The data set's name for the kind of a span."""
    if span.kind == "recurring":
        return "set"
    if span.kind != "range":
        return span.kind
    if not span.dated:
        return "timerange"
    timed = span.grain in ("second", "minute", "hour", "part")
    return "datetimerange" if timed else "daterange"


def value_of(span: TimeSpan) -> tuple[str, ...]:
    """The value that memlane stores for a span, in the data set's notation."""
    if span.kind == "duration":
        return (f"{span.seconds:.0f}",) if span.seconds is not None else ()
    kind = type_of(span)
    if span.kind != "range":
        return (_written(span.start, kind),)
    start, end = span.start, span.end
    if span.last is not None:
        end = span.last  # they name the last unit, we store where it ends
    if span.grain == "part" and end is not None and end.hour == 0 and start is not None:
        # Their night ends at 23:59:59.
        return (_written(start, kind), f"{start:%Y-%m-%d} 23:59:59"[0 if span.dated else 11 :])
    return (_written(start, kind), _written(end, kind))


def _written(moment: datetime | None, kind: str) -> str:
    if moment is None:
        return ""
    if kind in ("time", "timerange"):
        return f"{moment:%H:%M:%S}"
    date = f"{moment.year:04}-{moment:%m-%d}"
    return date if kind in ("date", "daterange") else f"{date} {moment:%H:%M:%S}"


def judge(case: Case) -> Iterator[tuple[Gold, str]]:
    """For each gold expression what came out: exact, value (wrong), type (wrong) or missed."""
    spans = find_times(case.text, case.now)
    for gold in case.gold:
        near = [one for one in spans if one.start_char < gold.end and gold.start < one.end_char]
        typed = [one for one in near if type_of(one) == gold.kind]
        if any(value_of(one) in gold.values for one in typed):
            yield gold, "exact"
        else:
            yield gold, "value" if typed else ("type" if near else "missed")


def main() -> None:
    options = parser("dates", "exact resolution of English time expressions").parse_args()
    cases = list(load(options.data))
    if options.quick:
        cases = cases[::QUICK_EVERY]
    began = time.perf_counter()
    counts: Counter[str] = Counter()
    for case in cases:
        for gold, outcome in judge(case):
            if not gold.values:
                counts["gold_without_value"] += 1
                continue
            for scope in _scopes(case, gold):
                counts[f"n_{scope}"] += 1
                counts[f"right_{scope}"] += outcome == "exact"
        if not case.gold:
            counts["n_nothing_to_find"] += 1
            counts["right_nothing_to_find"] += not find_times(case.text, case.now)
    seconds = time.perf_counter() - began
    figures: dict[str, float | int | None] = {
        "cases": len(cases),
        "cases_not_supported": sum(not case.supported for case in cases),
        "gold_without_value": counts["gold_without_value"],
        "ms_per_case": 1000 * seconds / max(1, len(cases)),
    }
    for key in sorted(key for key in counts if key.startswith("n_")):
        scope = key.removeprefix("n_")
        figures[key] = counts[key]
        figures[f"exact_{scope}"] = counts[f"right_{scope}"] / counts[key]
        progress(f"{scope:40} {figures[f'exact_{scope}']:.3f} of {counts[key]}")
    write_results("dates", {"data": options.data, "quick": options.quick}, [], figures)


def _scopes(case: Case, gold: Gold) -> Iterator[str]:
    for scope in ("all", "supported") if case.supported else ("all",):
        yield f"{scope}_overall"
        yield f"{scope}_{gold.kind}"
        if gold.kind in MEMORY_TYPES:
            yield f"{scope}_memory_types"
        if scope == "supported":
            yield f"file_{case.file}"


if __name__ == "__main__":
    main()
