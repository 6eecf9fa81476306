"""Homes of introductions and of months, follow-ups: they hold together, answers are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.ports import Embedder
from benchmarks.quality.answers.conversations.introductions import is_said
from benchmarks.quality.answers.conversations.introductions_data import (
    FOLLOW_UPS,
    FOLLOW_UPS_HELD,
    INTRODUCTIONS,
    INTRODUCTIONS_HELD,
    MONTHS,
    MONTHS_HELD,
    Introduced,
    read_follow_ups,
    read_introductions,
)
from benchmarks.training.reader.adapter.introduction_groups import (
    groups_of_follow_ups,
    groups_of_introductions,
)


def _homes(*folders: Path) -> list[Introduced]:
    return [home for folder in folders for home in read_introductions(folder)]


LEARNED, HELD = _homes(INTRODUCTIONS, MONTHS), _homes(INTRODUCTIONS_HELD, MONTHS_HELD)


def test_no_voice_is_both_learned_from_and_held():
    assert not {one.voice for one in LEARNED} & {one.voice for one in HELD}


@pytest.mark.parametrize("home", [*LEARNED, *HELD], ids=lambda home: home.id)
def test_a_home_is_in_order_and_holds_its_answers(home):
    moments = [moment for moment, _ in home.messages]
    assert moments == sorted(moments)
    assert all(moment.tzinfo for moment in moments)
    for one in home.questions:
        assert moments[-1] < one.asked
        assert bool(one.needed) == bool(one.answer)
        assert one.needed or not one.changed


@pytest.mark.parametrize("folder", [INTRODUCTIONS_HELD, MONTHS_HELD], ids=lambda path: path.name)
def test_each_question_marks_the_notes_that_its_home_needs(folder: Path, embedder: Embedder):
    groups = list(groups_of_introductions(folder, embedder))
    asked = [one for home in _homes(folder) for one in home.questions]
    for group, one in zip(groups, asked, strict=True):
        assert group.question == one.text
        labels = [note.label for note in group.notes]
        assert ("needed" in labels) == bool(one.needed)
        begun = [" ".join(span.words.split()[:2]) for span in one.needed]
        needed = [note.text for note in group.notes if note.label == "needed"]
        assert all(any(words in text for text in needed) for words in begun)


@pytest.mark.parametrize("folder", [FOLLOW_UPS, FOLLOW_UPS_HELD], ids=lambda path: path.name)
def test_follow_ups_mark_what_they_need(folder: Path, embedder: Embedder):
    pairs = list(read_follow_ups(folder))
    assert all(bool(one.needed) == bool(one.answer) for one in pairs)
    asked = {(one.first, one.text): one for one in pairs}
    assert len(asked) == len(pairs)
    found = 0
    for group in groups_of_follow_ups(folder, embedder):
        if one := asked.get((group.last, group.question)):
            assert ("needed" in [note.label for note in group.notes]) == bool(one.needed)
            found += 1
    assert found == len(pairs)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("You live above the bakery.", True),
        ("You live in Leeds.", False),
        ("I don't know.", False),
    ],
)
def test_half_of_the_words_make_an_answer_right(said, right):
    assert is_said("above the bakery", said) is right
