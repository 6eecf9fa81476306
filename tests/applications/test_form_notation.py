"""Values in the notation that a field asks for, and nothing where it takes none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.applications.forms.autofill import fill
from agent.applications.forms.fields import FormField, Option
from agent.applications.forms.formats.open_form import (
    fields_from_html,
    fields_from_json_schema,
    fields_from_labels,
)
from agent.applications.forms.values.constraints import accepts
from agent.applications.forms.values.fit import fit
from agent.results import FilledField
from store.types import Memory

NOW = datetime(2024, 5, 1, tzinfo=UTC)
GERMAN = "I live at Marienplatz 8, 80331 Munich, Germany."
AMERICAN = "I live at 742 Evergreen Terrace, Apt 4, Springfield, OR 97403, USA."


def remembered(*texts: str) -> list[Memory]:
    return [Memory(f"m{i}", t, "Attribute", "attribute.contact", NOW) for i, t in enumerate(texts)]


def values(html: str, *texts: str) -> list[Any]:
    return [r.value for r in fill(fields_from_html(html), remembered(*texts), now=NOW)]


def one(field: FormField, *texts: str) -> FilledField:
    return fill([field], remembered(*texts), now=NOW)[0]


@pytest.mark.parametrize(
    ("attributes", "said", "value"),
    [
        ({}, "0151 23456789", "0151 23456789"),
        ({"placeholder": "+49 151 12345678"}, "0151 23456789", "+49 1512 3456789"),
        ({"pattern": r"\+[0-9]{6,15}"}, "0151 23456789", "+4915123456789"),
        ({"pattern": "[0-9]{3}-[0-9]{3}-[0-9]{4}"}, "+1 415 555 0132", "415-555-0132"),
        ({"placeholder": "(555) 555-5555"}, "+1 415 555 0132", "(415) 555-0132"),
        ({"placeholder": "XXX XXX XXXX"}, "(415) 555-0132", "415 555 0132"),
        ({"placeholder": "(555) 555-5555"}, "+49 151 23456789", "+49 151 23456789"),
        ({"autocomplete": "tel-national"}, "+49 151 23456789", "01512 3456789"),
        ({"max_length": 11}, "+49 151 23456789", "15123456789"),
        ({"type": "integer"}, "+49 151 23456789", 4915123456789),
        ({"pattern": "[0-9]{4}"}, "+49 151 23456789", None),
    ],
)  # fmt: skip
def test_phone_numbers_take_the_fields_notation(attributes, said, value):
    country = GERMAN if said.startswith(("0", "+49")) else AMERICAN
    result = one(FormField("p", "Phone", **attributes), f"My phone number is {said}.", country)
    assert result.value == value


def test_a_calling_code_that_follows_from_the_address_names_it_as_evidence():
    field = FormField("p", "Phone", placeholder="+49 …", pattern=r"\+.*")
    assert one(field, "My phone number is 0151 23456789.").value is None
    found = one(field, "My phone number is 0151 23456789.", GERMAN)
    assert found.memories == ("m0", "m1")


def test_beside_a_country_code_the_number_is_national():
    page = (
        "<label>Country code <select name=cc autocomplete=tel-country-code><option value=ca>Canada"
        " (+1)<option value=us>United States (+1)<option value=de>Germany (+49)</select></label>"
        "<label>Phone <input name=n></label>"
    )
    number = "My phone number is +1 415 555 0132."
    assert values(page, number, AMERICAN) == ["us", "(415) 555-0132"]
    assert values(page, number) == [None, "(415) 555-0132"]
    assert values(page, "My phone number is +49 151 23456789.") == ["de", "01512 3456789"]
    code = "<input name=c autocomplete=tel-country-code>"
    assert values(code, number, AMERICAN) == ["+1"]


def test_a_number_is_split_over_three_boxes():
    boxes = "".join(f"<label>Phone<input name=p{i} maxlength={n}></label>" for i, n in
                    enumerate((3, 3, 4)))  # fmt: skip
    assert values(boxes, "My phone number is (415) 555-0132.", AMERICAN) == ["415", "555", "0132"]


def test_an_address_is_divided_among_the_fields_that_stand_beside_each_other():
    city = "<label>City <input name=c></label><label>ZIP <input name=z></label>"
    line = "<label>Street address <input name=s></label>"
    second = "<label>Address line 2 <input name=s2></label>"
    assert values(line, AMERICAN) == ["742 Evergreen Terrace, Apt 4, Springfield, OR 97403, USA"]
    assert values(line + city, AMERICAN)[0] == "742 Evergreen Terrace, Apt 4"
    assert values(line + second + city, AMERICAN)[:2] == ["742 Evergreen Terrace", "Apt 4"]
    number = "<label>Straße <input name=s></label><label>Hausnummer <input name=h></label>"
    assert values(number + city, GERMAN)[:2] == ["Marienplatz", "8"]
    country = "<label>Address <input name=s></label><label>Country <input name=l></label>"
    assert values(country, GERMAN) == ["Marienplatz 8, 80331 Munich", "Germany"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (FormField("c", "Country"), "USA"),
        (FormField("c", "Country code"), "US"),
        (FormField("c", "Country", max_length=2), "US"),
        (FormField("c", "Country", pattern="[A-Z]{2}"), "US"),
        (FormField("s", "State"), "OR"),
        (FormField("s", "State", min_length=4), "Oregon"),
        (FormField("z", "Zip code", pattern=r"\d{5}"), "97403"),
        (FormField("z", "Zip code", pattern=r"\d{4}"), None),
    ],
)
def test_places_are_written_as_the_field_takes_them(field, value):
    assert one(field, AMERICAN).value == value


def test_a_whole_name_is_joined_of_its_parts_and_an_initial_split_off():
    told = ("My first name is Ada.", "My last name is Lovelace.")
    joined = one(FormField("n", "Full name"), *told)
    assert (joined.value, joined.memories) == ("Ada Lovelace", ("m0", "m1"))
    whole = "My name is Ada Augusta Lovelace."
    assert one(FormField("m", "Middle initial"), whole).value == "A"
    assert one(FormField("m", "Middle name"), whole).value == "Augusta"


def test_dates_are_split_and_named_in_any_language():
    months = tuple(Option(str(i), name) for i, name in enumerate(
        "Monat Jänner Februar März April Mai Juni Juli August September Oktober November Dezember"
        .split()))  # fmt: skip
    field = FormField("m", "Birth month", "select", options=months)
    assert one(field, "I was born on 3 May 1990.").value == "5"
    german = FormField("b", "Birthday", pattern=r"\d{2}\.\d{2}\.\d{4}")
    assert one(german, "I was born on 3 May 1990.").value == "03.05.1990"
    slashes = FormField("b", "Birthday", pattern=r"\d{2}/\d{2}/\d{4}")
    assert one(slashes, "I was born on 3 May 1990.").value is None
    assert one(slashes, "I was born on 5 May 1990.").value == "05/05/1990"


def test_a_list_or_object_of_a_schema_takes_no_text():
    schema = {"properties": {"allergies": {"type": "array"}, "name": {"type": "object"}}}
    told = remembered("I am allergic to peanuts.", "My name is Ada Lovelace.")
    results = fill(fields_from_json_schema(schema), told, now=NOW)
    assert [r.value for r in results] == [None, None]


def test_a_pattern_that_could_run_for_long_is_tried_in_linear_time():
    assert not accepts(FormField("a", pattern="(a+)+$"), "a" * 200 + "b")
    assert accepts(FormField("a", pattern="[unclosed"), "anything")
    assert not accepts(FormField("a", pattern="[a-c]{3}"), "abd")


# --- what is the person's to choose, and what is not clear ---


def test_a_delivery_is_not_addressed_to_the_employer():
    page = (
        "<label>Company <input name='checkout[shipping_address][company]'></label>"
        "<label>Address <input name=a></label><label>City <input name=c></label>"
    )
    results = fill(fields_from_html(page), remembered("I work at Acme.", GERMAN), now=NOW)
    assert results[0].value is None
    assert [other.value for other in results[0].alternatives] == ["Acme"]
    assert values("<label>Company <input name=c></label>", "I work at Acme.") == ["Acme"]


def test_the_name_that_a_site_shows_is_the_persons_to_choose():
    (result,) = fill(
        fields_from_labels(["Display name"]), remembered("My nickname is Lena."), now=NOW
    )
    assert (result.value, [a.value for a in result.alternatives]) == (None, ["Lena"])
    (told,) = fill(
        fields_from_labels(["Display name"]), remembered("My display name is lena88."), now=NOW
    )
    assert told.value == "lena88"


def test_a_field_with_two_labels_of_different_meaning_stays_empty_with_one_line():
    page = "<label for=x>First name</label><label for=x>Phone</label><input id=x name=x>"
    told = remembered("My name is Ada Lovelace.", "My phone number is 0151 23456789.")
    (result,) = fill(fields_from_html(page), told, now=NOW)
    assert result.value is None
    assert "two labels" in result.note and "\n" not in result.note
    error = "<label for=x>First name</label><label for=x>Please fill this in</label><input id=x>"
    assert fill(fields_from_html(error), told, now=NOW)[0].value == "Ada"


def test_a_name_asked_twice_with_two_meanings_is_filled_by_its_labels_and_said():
    page = "<label>First name <input name=x></label><label>Phone <input name=x></label>"
    told = remembered("My name is Ada Lovelace.", "My phone number is 0151 23456789.")
    results = fill(fields_from_html(page), told, now=NOW)
    assert [r.value for r in results] == ["Ada", "0151 23456789"]
    assert {r.note for r in results} == {
        "'x' is asked more than once ('First name' and 'Phone'): each is filled by its own label."
    }


def test_radio_buttons_of_one_name_under_two_questions_are_not_guessed():
    group = (
        "<fieldset><legend>{}</legend><label><input type=radio name=g value={}>{}</label>"
        "</fieldset>"
    )
    page = group.format("Gender", "f", "Female") + group.format("Country", "de", "Germany")
    (result,) = fill(fields_from_html(page), remembered("I am a woman.", GERMAN), now=NOW)
    assert result.value is None
    assert "two labels" in result.note


@pytest.mark.parametrize("key", ["name", "street-address", "organization"])
def test_a_number_alone_is_no_name_and_no_address(key: str):
    assert fit("3", key, FormField("Home")) is None
    assert fit("3 Mill Road", key, FormField("Home")) == "3 Mill Road"
