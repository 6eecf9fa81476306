"""Deciding between insert, expire, replace and nothing. Pure: no database, no model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from agent.memory.editing.plan import plan_edits
from store.derived.partitions import NearMemory
from store.journal import Insert, Replace
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft, Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
BY_ID = {subclass.id: subclass for subclass in SUBCLASSES}


def draft(text: str, *triples: tuple[str, str, str], subclass: str = "event.arrangement") -> Draft:
    return Draft(text, subclass, NOW, triples=tuple(Triple(*t) for t in triples))


def stored(text: str, *triples: tuple[str, str, str], subclass: str = "event.arrangement"):
    return Memory(
        "m1", text, "Event", subclass, NOW, triples=tuple(Triple(*t) for t in triples), source="s1"
    )


def plan(new: Draft, old: Memory, score: float):
    def near(_: Draft) -> Sequence[NearMemory]:
        return [NearMemory(old, score)]

    return plan_edits([new], near, BY_ID)


def test_a_new_relation_is_inserted():
    made = plan(
        draft("The seat for the EK349 flight is 23A.", ("EK349 flight", "seat", "23A")),
        stored("The EK349 flight departs at 01:40.", ("EK349 flight", "departs_at", "01:40")),
        0.8,
    )
    assert [type(edit) for edit in made.edits] == [Insert]


def test_another_value_of_a_one_valued_relation_replaces():
    made = plan(
        draft("The flight EK349 departs at 01:30.", ("flight EK349", "departs_at", "01:30")),
        stored("The EK349 flight leaves at 01:40.", ("EK349 flight", "departs_at", "01:40")),
        0.9,
    )
    assert isinstance(made.edits[0], Replace)
    assert made.edits[0].memory == "m1"


def test_another_value_of_a_many_valued_relation_is_inserted():
    made = plan(
        draft("I like sour soup.", ("me", "likes", "sour soup"), subclass="preference.diet"),
        stored("I like spicy food.", ("me", "likes", "spicy food"), subclass="preference.diet"),
        0.8,
    )
    assert [type(edit) for edit in made.edits] == [Insert]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I live in Bedok.", "I live in Bedok."),
        ("i live in Bedok", "I live in Bedok."),
    ],
)
def test_the_same_words_are_not_stored_twice(new: str, old: str):
    made = plan(draft(new), stored(old), 0.99)
    assert made.edits == ()
    assert made.unchanged == ("m1",)


def test_a_near_identical_text_with_another_number_is_not_the_same():
    made = plan(draft("I paid 40 euros to Ana."), stored("I paid 50 euros to Ana."), 0.99)
    assert made.unchanged == ()


def test_the_opposite_is_not_the_same():
    made = plan(draft("I do not eat meat."), stored("I do eat meat."), 0.98)
    assert made.unchanged == ()


def test_a_sentence_that_differs_in_its_value_alone_replaces_without_any_relation():
    made = plan(
        draft("The EK349 flight departs at 01:30 on 2024-05-12."),
        stored("The EK349 flight departs at 01:40 on 2024-05-12."),
        0.99,
    )
    assert isinstance(made.edits[0], Replace)


def test_the_same_sentence_about_another_thing_is_inserted():
    made = plan(
        draft("The EK350 flight departs at 01:30."),
        stored("The EK349 flight departs at 01:40."),
        0.97,
    )
    assert [type(edit) for edit in made.edits] == [Insert]


def test_the_same_slot_need_not_be_near_in_meaning():
    made = plan(
        draft("I live in Bedok.", ("me", "lives_in", "Bedok"), subclass="attribute.address"),
        stored("My home is in Jurong West.", ("me", "lives_in", "Jurong West")),
        0.3,
    )
    assert [type(edit) for edit in made.edits] == [Replace]


def test_one_text_does_not_state_a_thing_twice():
    def near(_: Draft) -> Sequence[NearMemory]:
        return []

    made = plan_edits([draft("I like tea."), draft("I like tea")], near, BY_ID)
    assert len(made.edits) == 1


def test_one_text_does_not_replace_a_memory_twice():
    old = stored("I live in Bedok.", ("me", "lives_in", "Bedok"), subclass="attribute.address")

    def near(_: Draft) -> Sequence[NearMemory]:
        return [NearMemory(old, 0.9)]

    first = draft("I live in Ang Mo Kio.", ("me", "lives_in", "AMK"), subclass="attribute.address")
    second = draft("I live in Tampines.", ("me", "lives_in", "Tampines"), subclass=first.subclass)
    made = plan_edits([first, second], near, BY_ID)
    assert [type(edit) for edit in made.edits] == [Replace, Insert]


def test_a_draft_with_an_end_is_a_time_bound_edit():
    until = NOW + timedelta(days=6)
    new = Draft("The voucher is valid.", "event.arrangement", NOW, valid_until=until)
    made = plan(new, stored("I like tea."), 0.1)
    assert made.edits[0].kind == "expire"
