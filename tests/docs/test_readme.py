"""The conversation of README.md, played as it stands there.

What it stores needs no language model, so it is the same on every machine. What the model words is
checked for what it says: names, numbers, and the memories it rests on.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest

import agent.session.session
from agent.ports import Embedder
from tests.conftest import Result, ScriptedModel
from tests.support.documented import ROOT

Memlane = Callable[..., Result]
NOW = ("--now", "2024-05-08T09:00")
"""As the README says above the conversation."""

SAID = {
    "What does my boss drink?": r"green tea",
    "When is my dentist appointment?": r"(?=.*\b14\b)(?=.*(?:3 ?p\.?m|15:00))",
    "What is my passport number?": r"don't know",
}
"""What an answer has to hold, however it is worded."""

EDIT = re.compile(r"  (e\d+) (\w+) (m\d+): (?:e\d+: |.* -> )?(.*?)(?: \(until .*\))?$")
MEMORY = re.compile(r"  (m\d+) \d\.\d\d (.*)$")


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the conversation and the lines that the README shows under it."""

    words: list[str]
    shown: list[str]

    @property
    def edits(self) -> list[tuple[str, ...]]:
        return [found.groups() for line in self.shown if (found := EDIT.match(line))]

    @property
    def memories(self) -> list[tuple[str, ...]]:
        return [found.groups() for line in self.shown if (found := MEMORY.match(line))]

    def shown_as(self, memory: dict[str, str]) -> tuple[str, str]:
        """How a memory stands below the answer: what the answer quotes is not shown again."""
        quoted = any("“" in line and memory["text"] in line for line in self.shown)
        return memory["id"], "(as quoted)" if quoted else memory["text"]


def conversation() -> Iterator[Step]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- conversation -->\n```\n(.*?)```", text, re.DOTALL)
    for part in block.split("$ memlane ")[1:]:
        command, *shown = part.splitlines()
        yield Step(shlex.split(command), shown)


def check_edits(step: Step, result: Result) -> None:
    """The same edits under the same ids, with the same texts."""
    made = [
        (edit["id"], edit["kind"], edit["memory"], edit["after"]) for edit in result.json["edits"]
    ]
    assert made == step.edits
    assert made


def test_the_conversation_has_every_kind_of_step():
    steps = list(conversation())
    assert [step.words[0] for step in steps].count("say") == 3
    assert {step.words[1] for step in steps if step.words[0] == "ask"} == set(SAID)
    for step in steps:
        if step.words[0] == "ask":
            assert re.search(SAID[step.words[1]], " ".join(step.shown)), "its own check"
    assert steps[-1].words == ["memories", "undo"], "without an id: there is none to mistype"


def test_what_it_tells_is_stored_as_it_shows_without_a_language_model(
    memlane: Memlane, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
):
    silent = ScriptedModel()  # any call of it fails
    opened = partial(agent.session.session.open_session, llm=silent, embedder=embedder)
    monkeypatch.setattr(agent.session.session, "open_session", opened)
    for step in conversation():
        asks = step.words[0] == "ask"
        result = memlane(*NOW, *step.words, *(["--no-llm"] if asks else []), "--json")
        assert result.code == 0
        if not asks:
            check_edits(step, result)
            continue
        chosen = [step.shown_as(one) for one in result.json["memories"]]
        assert chosen == step.memories
    assert silent.asked == []


@pytest.mark.llm
def test_it_goes_as_it_shows_with_the_model_that_words_the_answers(memlane: Memlane):
    for step in conversation():
        result = memlane(*NOW, *step.words, "--json")
        assert result.code == 0
        if step.words[0] != "ask":
            check_edits(step, result)
            continue
        reply = result.json
        assert re.search(SAID[step.words[1]], reply["text"]), reply["text"]
        assert reply["abstained"] == (not step.memories)
        # The last of them says what was asked for; the others lead there.
        rests_on = [step.shown_as(one) for one in reply["memories"]]
        assert set(rests_on) <= set(step.memories)
        assert rests_on[-1:] == step.memories[-1:]
    listed = memlane(*NOW, "memories", "list", "--json").json["memories"]
    assert "I have a dentist appointment next Monday at 10am (2024-05-13 10:00)." in [
        one["text"] for one in listed
    ]
