"""The chats of writers who had not seen the code: they hold together, and answers are judged."""

from __future__ import annotations

from datetime import datetime

import pytest

from benchmarks.quality.answers.conversations.chats import CHATS, HELD, Step, figures, read_chat

ALL = sorted([*CHATS.glob("*.jsonl"), *HELD.glob("*.jsonl")])


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_chat_is_in_order_and_holds_its_answers(path):
    steps = read_chat(path)
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    assert len({step.asks for step in steps}) == 2
    for step in steps:
        if step.asks:
            assert step.untold is not bool(step.every or step.some)


def test_a_chat_to_develop_with_is_none_to_measure_with():
    assert not {p.name for p in CHATS.glob("*.jsonl")} & {p.name for p in HELD.glob("*.jsonl")}


NOW = datetime.fromisoformat("2026-02-02T09:00:00+00:00")


@pytest.mark.parametrize(
    ("said", "silent", "right"),
    [
        ("It is on Friday at 9:15.", False, True),
        ("It is on Friday.", False, False),
        ("I don't know.", True, False),
    ],
)
def test_an_answer_needs_every_string_and_one_of_some(said, silent, right):
    step = Step(NOW, "when", True, False, ("friday",), ("9:15", "quarter past 9"), (), False)
    assert step.right(said, silent) is right


def test_of_what_was_never_told_silence_is_right():
    step = Step(NOW, "hotel", True, False, (), (), (), True)
    assert step.right("I am not sure that you told me.", True)
    assert not step.right("The Porto Hotel.", False)


def test_figures_are_shares_and_what_they_are_of():
    counts = {"ours.n": 4, "ours.right": 3, "ours.wrong": 0, "ours.untold.n": 1}
    counts |= {"ours.untold.silent": 1}
    assert figures(counts) == {
        "ours.n": 4,
        "ours.right": 0.75,
        "ours.wrong": 0.0,
        "ours.untold.n": 1,
        "ours.untold.silent": 1.0,
    }
