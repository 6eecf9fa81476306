"""The demo, whole and with the real models: what a newcomer sees first has to be right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Result


@pytest.mark.llm
def test_the_demo_plays_to_its_end_and_every_step_is_right(memlane: Callable[..., Result]):
    result = memlane("demo", "--json")
    wrong = [step for step in result.json["steps"] if not step["ok"]]
    assert wrong == []
    assert result.code == 0
    assert len(result.json["steps"]) >= 12


@pytest.mark.llm
def test_a_person_can_tell_ask_and_correct(memlane: Callable[..., Result]):
    told = memlane("say", "My wife Anna is allergic to peanuts.", "--json").json
    assert told["route"] == "update"
    asked = memlane("ask", "What is my wife allergic to?", "--json").json
    assert "peanut" in asked["text"].lower()
    assert asked["memories"][0]["id"] == told["edits"][0]["memory"]
    unknown = memlane("ask", "What is my passport number?", "--json").json
    assert unknown["abstained"]
