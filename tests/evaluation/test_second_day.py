"""The second day's texts, and how what comes of them is judged."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent.applications.forms.formats.open_form import fields_from_html
from benchmarks.quality.uses.second_day import DAY, _contains, _verdict, draw


def test_the_day_has_what_its_record_says():
    day = tomllib.loads(DAY.read_text("utf-8"))
    sizes = {part: len(day[part]) for part in ("chat", "note", "screen", "question", "form")}
    assert sizes == {"chat": 25, "note": 20, "screen": 6, "question": 20, "form": 5}
    expected = [value for form in day["form"] for value in form["expected"].values()]
    assert sum(map(bool, expected)) == 54
    for form in day["form"]:
        assert {field.name for field in fields_from_html(form["html"])} == set(form["expected"])
    assert all(draw(screen["lines"]).width == 720 for screen in day["screen"])


@pytest.mark.parametrize("path", sorted(DAY.parent.glob("days*/*.toml")), ids=lambda p: p.stem)
def test_every_day_can_be_played(path: Path):
    day = tomllib.loads(path.read_text("utf-8"))
    assert {"now", "secrets", "chat", "note", "screen", "question", "form"} <= day.keys()
    for form in day["form"]:
        assert {field.name for field in fields_from_html(form["html"])} == set(form["expected"])
    assert all(draw(screen["lines"]).width == 720 for screen in day["screen"])


def test_a_text_is_judged_by_parts_ways_and_what_must_not_be_in_it():
    assert _contains("The MOT is on 11 December.", "mot + 2026-12-11|11 December")
    assert not _contains("The MOT is on 9 December.", "mot + 2026-12-11|11 December")
    assert not _contains("My GP is at Links, not Mill Lane.", "Mill Lane + !Links")
    assert _contains("I work at Harrow & Tweed.", "Harrow & Tweed")


def test_an_answer_is_right_wrong_or_unknown_and_silence_is_right_where_nothing_is_known():
    unknown = "I don't know: I remember nothing about that."
    assert _verdict("At 14:40 on Monday.", "Monday + 14:40") == "right"
    assert _verdict("At 15:00 on Monday.", "Monday + 14:40") == "wrong"
    assert _verdict(unknown, "Monday") == "unknown"
    assert _verdict("On December 19, 2026.", "19 December|2026-12-19") == "right"
    assert _verdict("Your password is [password redacted].", "?") == "refused"
    assert (_verdict(unknown, "?"), _verdict("Smith.", "?")) == ("refused", "invented")
