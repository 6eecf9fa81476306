"""No text stops the clock: every pattern of the product takes time linear in it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agent.applications.forms.fields import FormField
from agent.applications.forms.values.constraints import accepts
from agent.language.patterns import STRETCH, bounded, linear, untrusted
from tests.support.patterns import ANCHORED, LENGTH, Found, patterns, units

MOST = 0.25
"""Seconds of processor time for 10,000 characters: 0.05, and room for a slow machine."""


def spent(call: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    call(text)
    return time.process_time() - begun


def slow_on(found: Found) -> list[str]:
    """What, repeated, makes a pattern take too long."""
    uses = found.uses if found.uses and found.uses <= ANCHORED else ("search",)
    slow = []
    for unit in units(found):
        text = (unit * LENGTH)[:LENGTH]
        for use in uses:
            call = getattr(found.pattern, use)
            # A quarter first, so that a bad pattern fails here instead of running on.
            for part in (LENGTH // 20, LENGTH // 4, LENGTH):
                if spent(call, text[:part] + "\x00") > MOST * part / LENGTH + 0.02:
                    slow.append(f"{use} {unit!r} at {part}")
                    break
    return slow


def test_no_pattern_runs_for_long_on_any_repeated_text():
    found = patterns()
    assert len(found) > 400
    slow = {one.where: texts for one in found if (texts := slow_on(one))}
    assert not slow


def test_a_bounded_pattern_finds_in_a_long_text_what_it_finds_in_a_short_one():
    pattern = bounded(r"(\w+) likes (\w+)")
    text = "Nothing at all is said here. " * 60 + "Mia likes tea. " + "And nothing after. " * 60
    (match,) = pattern.finditer(text)
    assert match.group() == "Mia likes tea"
    assert text[match.start() : match.end()] == "Mia likes tea"
    assert pattern.sub(r"\2 for \1", text).count("tea for Mia") == 1


def test_what_is_longer_than_a_sentence_is_matched_whole_or_not_at_all():
    pattern = bounded(r"a+")
    assert pattern.fullmatch("a" * STRETCH)
    assert pattern.fullmatch("a" * STRETCH + "a") is None
    assert pattern.match("a" * STRETCH + "a") is None


def test_a_linear_pattern_gives_its_groups():
    match = linear(r"^not (?P<wrong>\w+)").match("not tea")
    assert match is not None and match["wrong"] == "tea"


@pytest.mark.parametrize("pattern", ["(.*)*x", "(a+)+$", "(a|aa)+$", "(.*.*)*=", "(x+x+)+y"])
def test_the_pattern_of_a_form_cannot_run_for_long(pattern: str):
    field = FormField(name="code", pattern=pattern)
    assert spent(lambda text: accepts(field, text), "a" * LENGTH) < MOST


def test_the_pattern_of_a_form_is_kept_to():
    field = FormField(name="zip", pattern=r"[0-9]{5}(-[0-9]{4})?")
    assert accepts(field, "12345-6789")
    assert not accepts(field, "1234")


@pytest.mark.parametrize("pattern", ["(?=.*\\d).{8,}", "(a", "a{1000}{1000}", "\\1"])
def test_a_pattern_that_cannot_be_run_asks_for_nothing(pattern: str):
    assert untrusted(pattern) is None
    assert accepts(FormField(name="x", pattern=pattern), "anything")
