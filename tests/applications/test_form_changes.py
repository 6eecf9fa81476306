"""Two values of one thing: a form takes the one that holds that day, and offers the other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.applications.forms.autofill import fill
from agent.applications.forms.formats.open_form import fields_from_html, fields_from_labels
from agent.extraction.triples.read import triples_for
from agent.extraction.validity import held
from agent.memory.time.changed import Newer
from agent.results import FilledField
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Trust

DAY = timedelta(days=1)
NOW = datetime(2024, 5, 1, tzinfo=UTC)
OAK = "My home address is 12 Oak Street, Springfield, IL 62704, USA."


def told(*texts: str, trust: tuple[Trust, ...] = ()) -> list[Memory]:
    """Memories with their relations, told a day apart, the last one two days before ``NOW``."""
    found = []
    for number, (text, triples) in enumerate(zip(texts, triples_for(texts, None), strict=True)):
        at = NOW + (number - len(texts) - 1) * DAY
        start, end = held(text, "attribute.address", triples, at)
        memory = Memory(
            f"m{number + 1}", text, "Attribute", "attribute.address", at, triples=triples,
            valid_from=start, valid_until=end, trust=trust[number] if trust else None,
        )  # fmt: skip
        found.append(memory)
    return found


def one(label: str, *texts: str, now: datetime = NOW) -> FilledField:
    return fill(fields_from_labels([label]), told(*texts), now=now)[0]


@pytest.mark.parametrize(
    ("label", "texts", "value"),
    [
        ("City", (OAK, "I moved to 88 Pine Avenue, Denver, CO 80203, USA."), "Denver"),
        ("Home address", (OAK, "Since 2024-04-28 I live at 88 Pine Avenue."), "88 Pine Avenue"),
        ("Employer", ("I work for Bolt & Sons.", "I joined Acme."), "Acme"),
        ("Company", ("I work for Bolt & Sons.", "I joined Acme."), "Acme"),
        ("Company", ("I joined Acme.", "I now work for Bolt & Sons."), "Bolt & Sons"),
    ],
)
def test_the_later_value_of_what_one_has_one_of_is_filled_in(label, texts, value):
    result = one(label, *texts)
    assert (result.value, result.memories) == (value, ("m2",))
    assert [offered.memories for offered in result.alternatives] == [("m1",)]


@pytest.mark.parametrize(
    ("older", "plan"),
    [
        (OAK, "I'm moving to 88 Pine Avenue, Denver on 2024-05-19."),
        ("I live at 12 Oak Street, Springfield.", "From 2024-05-19 my address is 88 Pine Avenue."),
    ],
)
def test_a_plan_counts_from_its_own_day(older, plan):
    assert str(one("Street address", older, plan).value).startswith("12 Oak Street")
    later = one("Street address", older, plan, now=NOW + 18 * DAY)
    assert str(later.value).startswith("88 Pine Avenue")


def test_an_address_that_is_over_lends_no_part_to_the_next():
    memories = told(
        "I live at 88 Pine Avenue, Apt 5, Denver.", "I moved to 310 Lake Drive, Madison."
    )
    form = fields_from_html("<form>Street address <input name=s> Apt <input name=a></form>")
    street, apt = fill(form, memories, now=NOW)
    assert street.value == "310 Lake Drive, Madison"
    assert apt.value is None
    assert [offered.value for offered in apt.alternatives] == ["Apt 5"]


@pytest.mark.parametrize(
    ("label", "texts", "value"),
    [
        # Said again with less.
        ("Street address", (OAK, "I live in Springfield."), "12 Oak Street"),
        # Somebody else's.
        ("City", (OAK, "My parents live at 5 Mill Road, Leeds."), "Springfield"),
        # Another one of several, by its own words.
        ("Home address", (OAK, "My billing address is 5 Mill Road, Leeds."), "12 Oak Street"),
        (
            "Home phone",
            ("My home phone number is (303) 555-0142.", "My mobile number is (217) 555-0187."),
            "(303) 555-0142",
        ),
        # What only one of the two readers takes for it.
        ("Employer", ("I work at Acme.", "I am a volunteer at Red Cross."), "Acme"),
        ("E-mail", ("My email is a@x.example.", "I write to help@bank.example."), "a@x.example"),
    ],
)
def test_what_is_something_else_takes_no_place(label, texts, value):
    assert str(one(label, *texts).value).startswith(value)


def test_what_others_wrote_later_takes_the_place_of_nothing_told():
    texts = ("I live at 12 Oak Street, Springfield.", "My address is 88 Pine Avenue, Denver.")
    fields = fields_from_labels(["City"])
    for trust, value in ((Trust.SEEN, "Springfield"), (Trust.NOTED, "Denver")):
        (result,) = fill(fields, told(*texts, trust=(Trust.TOLD, trust)), now=NOW)
        assert result.value == value


@pytest.mark.parametrize(
    ("later", "change", "filled"),
    [
        ("My wife's phone number is (312) 555-0155.", ChangeKind.SUPERSEDES, True),
        ("My wife's phone number is (312) 555-0155.", ChangeKind.ENDS, False),
        ("Everything is different since Anna and Tom met.", ChangeKind.SUPERSEDES, False),
    ],
)
def test_a_change_in_doubt_counts_unless_all_that_was_told_is_of_another_thing(
    later: str, change: ChangeKind, filled: bool
):
    memories = told("My wife is Anna Weber.", later)
    newer = {"m1": [Newer(memories[1], change, 0.4)]}
    (result,) = fill(fields_from_labels(["Spouse's name"]), memories, now=NOW, newer=newer)
    assert result.value == ("Anna Weber" if filled else None)
    if not filled:
        assert [offered.value for offered in result.alternatives] == ["Anna Weber"]
