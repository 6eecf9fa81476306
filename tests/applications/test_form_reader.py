"""Fields that are filled by meaning, and those that stay empty."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from agent.applications.forms.autofill import fill
from agent.applications.forms.fields import FormField, Option
from agent.models.readers.form_reader import form_reader, runs
from agent.ports import Embedder
from agent.results import FilledField
from store.types import Memory, Trust

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def one(
    embedder: Embedder | None, label: str, *told: str, relayed: str = "", **field: Any
) -> FilledField:
    memories = [
        Memory(f"m{n}", text, "Attribute", "attribute.contact", NOW, trust=Trust.TOLD)
        for n, text in enumerate(told)
    ]
    if relayed:
        kind = "attribute.contact"
        memories.append(Memory("r1", relayed, "Attribute", kind, NOW, trust=Trust.RELAYED))
    (result,) = fill(
        [FormField(name=label, label=label, **field)], memories, embedder=embedder, now=NOW
    )
    return result


@pytest.mark.parametrize(
    ("label", "told", "value"),
    [
        ("Passport issue date", "My passport was issued on 4 July 2022.", "2022-07-04"),
        ("Medication", "I take metformin.", "metformin"),
        ("Languages spoken", "I speak Greek and Danish.", "Greek and Danish"),
    ],
)
def test_fields_are_filled_by_meaning(embedder: Embedder, label: str, told: str, value: str):
    result = one(embedder, label, told, "I had soup for lunch.")
    assert (result.value, result.memories) == (value, ("m0",))


def test_another_date_of_the_same_thing_is_not_taken(embedder: Embedder):
    assert (
        one(embedder, "Passport expiry date", "My passport was issued on 4 July 2022.").value
        is None
    )


def test_what_asks_for_nothing_remembered_stays_empty(embedder: Embedder):
    told = ("My name is Ida Lund.", "My phone number is 555 010 4477.")
    for label in ("Promo code", "Name of this list", "Gift message"):
        assert one(embedder, label, *told).value is None


def test_a_number_of_the_employer_is_not_mine(embedder: Embedder):
    assert one(embedder, "Employer's phone", "My mobile is +31 6 5550 1234.").value is None
    assert one(None, "Work phone", "My work phone is +31 6 5550 1234.").value is not None


def test_what_the_person_told_wins_over_what_others_say():
    result = one(
        None,
        "Mobile",
        "My phone number is +31 6 5550 1234.",
        relayed="My mobile number is +31 6 9999 0000.",
    )
    assert result.value == "+31 6 5550 1234"


def test_a_piece_of_a_date_is_no_number():
    assert (
        one(None, "Passport number", "My passport is 9 September 2031 at the latest.").value is None
    )


@pytest.mark.parametrize(("told", "value"), [("O negative", "O-"), ("A+", "A+"), ("AB−", "AB-")])
def test_a_sign_chooses_the_option(told: str, value: str):
    options = tuple(Option(text, text) for text in ("A+", "A-", "AB+", "AB-", "O+", "O-"))
    assert one(None, "Blood type", f"My blood type is {told}.", options=options).value == value


def test_what_was_not_matched_is_told_apart_from_what_nobody_told(embedder: Embedder):
    assert one(embedder, "E-mail", "I had soup for lunch.").unmatched is False
    assert one(embedder, "Hull number of your boat", "I had soup for lunch.").unmatched is True


def test_runs_are_whole_words(embedder: Embedder):
    reader = form_reader(embedder)
    assert reader is not None
    text = "My number is +31 6-555 (mobile), call!"
    (words,) = embedder.encode_words([text])  # type: ignore[attr-defined]
    found = {text[run.start : run.end] for run in runs(text, words)}
    assert {"+31 6-555", "mobile", "call"} <= found
    assert not found & {"31", "+31 6", "obile"} - {"+31"}


def test_chances_are_those_of_both_halves(embedder: Embedder):
    reader = form_reader(embedder)
    assert reader is not None
    kinds = reader.kinds_of(["Phone", "Promo code"])
    assert np.allclose(kinds.sum(axis=1), 1, atol=1e-4)
    (found,) = reader.read(["My phone is 555 0100 200."], kinds)
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].chance > found[1].chance


@pytest.mark.parametrize(("value", "same"), [("4 July 2022", True), ("Leith", False), ("", False)])
def test_words_are_matched_with_the_kind_that_a_field_asks_for(embedder, value, same):
    reader = form_reader(embedder)
    assert reader is not None
    (asked,) = reader.kinds_of(["Passport issue date"])
    text = "My passport was issued in Leith on 4 July 2022." if value else "..."
    start = text.find(value)
    match = reader.match(text, start, start + len(value), asked)
    assert match.field > 0.9
    assert (match.both > 0.5) is same
    assert match.both <= match.value
