"""Forms of two people who told their days in free wording: ``samples/forms_day.toml``.

*right* counts fields with the value that belongs there, *wrong* those with any other value, among
them fields that must stay empty.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent.applications.forms.autofill import fill
from agent.applications.forms.formats.open_form import fields_from_html
from agent.ports import Embedder
from benchmarks.shared.common import SAMPLES, progress
from store.types import Memory

DAY = SAMPLES / "forms_day.toml"
NOW = datetime.fromisoformat("2026-11-24T09:00:00+00:00")


def figures(
    embedder: Embedder | None, *, mistakes: bool, path: Path = DAY
) -> dict[str, float | int | None]:
    """Counts for each person; ``mistakes`` lists the fields that are not right."""
    found: dict[str, float | int | None] = {}
    for who, person in tomllib.loads(path.read_text("utf-8"))["people"].items():
        right = wrong = asked = empty = 0
        for name, expected, value in _filled(person, embedder):
            answers = [part.casefold() for part in expected.split("|") if part]
            asked += bool(answers)
            empty += not answers
            good = value is not None and str(value).casefold() in answers
            right += good
            wrong += value is not None and not good
            if mistakes and not good and (answers or value is not None):
                progress(f"{name:10} {value!r}, not {expected!r}")
        counts = {"with_value": asked, "right": right, "must_stay_empty": empty, "wrong": wrong}
        found |= {f"day_{who}_{name}": count for name, count in counts.items()}
    return found


def _filled(person: Mapping[str, Any], embedder: Embedder | None) -> list[tuple[str, str, Any]]:
    memories = [
        Memory(f"m{n}", text, "Attribute", "attribute.contact", NOW + timedelta(minutes=n))
        for n, text in enumerate(person["told"], 1)
    ]
    return [
        (result.name, person["expected"][result.name], result.value)
        for form in person["forms"]
        for result in fill(fields_from_html(form), memories, embedder=embedder, now=NOW)
    ]
