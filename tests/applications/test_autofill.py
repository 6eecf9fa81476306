"""Filling forms: the right value of the right person with its evidence, or nothing."""

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
from agent.applications.forms.values.postal_addresses import split_address, split_name
from agent.results import FilledField
from store.types import Memory, Status, Triple

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def remembered(*texts: str, subclass: str = "attribute.contact") -> list[Memory]:
    return [Memory(f"m{i}", text, "Attribute", subclass, NOW) for i, text in enumerate(texts, 1)]


def one(label: str, *texts: str, now: datetime = NOW, **field: Any) -> FilledField:
    form = [FormField(name=label, label=label, **field)]
    return fill(form, remembered(*texts), now=now)[0]


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("First name", "My name is Julia Hartmann.", "Julia"),
        ("Last name", "My name is Julia Hartmann.", "Hartmann"),
        ("Family name", "My name is Wang Xiaoming.", "Wang"),
        ("姓名", "我叫王小明。", "王小明"),
        ("手机号", "我的手机号是13800138000。", "13800138000"),
        ("Phone", "My new mobile number is +31 6 1234 5678.", "+31 6 1234 5678"),
        ("Phone", "You can call me at (415) 555-0132.", "(415) 555-0132"),
        ("Phone", "my number's 07700 900831 and my email is f@post.example", "07700 900831"),
        ("E-mail", "julia@example.org is my e-mail address.", "julia@example.org"),
        ("City", "I live at 12 Oak Street, Springfield, IL 62704, USA.", "Springfield"),
        ("Zip code", "I live at 12 Oak Street, Springfield, IL 62704, USA.", "62704"),
        ("Street address", "My address is 12 Baker Street, Leeds.", "12 Baker Street, Leeds"),
        ("Date of birth", "I was born on 3 May 1990.", "1990-05-03"),
        ("Date of birth (MM/DD/YYYY)", "My birthday is May 3, 1990.", "05/03/1990"),
        ("Age", "I was born on 3 May 1990.", "33"),
        ("Employer", "I work as a nurse at Mercy Hospital.", "Mercy Hospital"),
        ("Job title", "I work as a nurse at Mercy Hospital.", "nurse"),
        ("Flight number", "The flight's number is EK349.", "EK349"),
        ("Seat", "The seat for flight EK349 is 23A.", "23A"),
        ("Hotel", "The Crowne Plaza reservation is for 2024-05-12 to 2024-05-18.", "Crowne Plaza"),
        (
            "Check-out",
            "The Crowne Plaza reservation is for 2024-05-12 to 2024-05-18.",
            "2024-05-18",
        ),
        ("Departure time", "The departure time for EK349 is at 01:40 on 2024-05-12.", "01:40"),
        ("Allergies", "I am allergic to peanuts.", "peanuts"),
        ("Passport number", "My passport number is E12345678.", "E12345678"),
        ("Spouse's name", "My wife's name is Li Na.", "Li Na"),
        ("Name of your boss", "My boss is Ms Okafor.", "Ms Okafor"),
        ("Card expiry (MM/YY)", "My visa card expires 08/2027.", "08/27"),
        ("Favorite color", "My favourite colour is green.", "green"),
        ("Library card number", "My library card number is 220145.", "220145"),
        (
            "Date of dentist appointment",
            "I have a dentist appointment on 2024-06-02.",
            "2024-06-02",
        ),
    ],
)
def test_a_memory_answers_a_field(label, text, value):
    result = one(label, text)
    assert result.value == value
    assert result.memories == ("m1",)
    assert 0 < result.confidence <= 1


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("Gym", "My gym is called Core Club.", "Core Club"),
        ("Gym", "Core Club is my gym now.", "Core Club"),
        ("Gym", "My gym is Core Club from today on.", "Core Club"),
        ("Gym", "Since 3 May 2024 my gym is Core Club.", "Core Club"),
        ("Gym", "My gym has been closed and Core Club is my old gym.", None),
        ("Gym", "My friend's place Core Club is my brother's gym.", None),
        ("Favourite film", "Heat is my favourite film these days.", "Heat"),
        ("Landlord", "Mr Lindt is my landlord.", "Mr Lindt"),
        ("Your landlord", "I've got a new landlord, Ms Abara.", "Ms Abara"),
        ("Dentist", "My dentist is now Dr Sorel.", "Dr Sorel"),
        ("Reference", "My landlord is Mr Lindt.", None),
        ("City", "I moved to 88 Pine Avenue, Denver, CO 80203, USA on March 19, 2024.", "Denver"),
        ("Address", "My address is 12 Oak Street, Leeds since 3 May 2024.", "12 Oak Street, Leeds"),
        ("Address", "I live at 12 May Street, Leeds.", "12 May Street, Leeds"),
    ],
)
def test_a_field_in_its_own_words_is_answered_by_what_names_it(label, text, value):
    assert one(label, text).value == value


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Phone", "My wife's phone number is +86 139 1111 2222."),
        ("Phone", "My old phone number was 555 123 4567."),
        ("Phone", "My phone's case cost 555 123 4567."),
        ("Phone", "Anna's phone number is 555 123 4567."),
        ("Phone", "My bank account number is 5551234567."),
        ("Your bank's phone number", "My phone number is 555 123 4567."),
        ("E-mail", "My passport number is E12345678."),
        ("Name", "My dog's name is Biscuit."),
        ("Wife's name", "My husband's name is Jonas."),
        ("Date of birth", "My mother's birthday is April 8, 1962."),
        ("Address", "My office is at 5 Harbour Road, Dublin."),
        ("Company address", "I live at 12 Baker Street, Leeds."),
        ("Insurance number", "My passport number is E12345678."),
        ("Gym membership number", "My frequent flyer number is 992 004 118."),
        ("Pet name", "My name is Julia Hartmann."),
        ("How did you hear about us?", "I hear well."),
        ("Message", "My message to Tom is on the fridge."),
        ("Phone model", "My phone number is 555 123 4567."),
        ("Middle name", "My name is Julia Hartmann."),
    ],
)
def test_no_evidence_leaves_the_field_empty(label, text):
    result = one(label, text)
    assert (result.value, result.confidence, result.memories) == (None, 0.0, ())
    assert result.alternatives == ()


@pytest.mark.parametrize(
    "field",
    [
        FormField("p", "Password", type="password"),
        FormField("p", "Your name", type="password"),
        FormField("p", "Password"),
        FormField("p", "One-time code"),
        FormField("p", "CVV"),
        FormField("p", "Security code", autocomplete="cc-csc"),
        FormField("p", "PIN"),
        FormField("p", "New password", autocomplete="new-password"),
        FormField("p", "Mother's maiden name"),
    ],
)
def test_secrets_are_never_filled(field):
    memories = remembered(
        "My password is hunter2.",
        "My one-time code is 482913.",
        "My CVV is 123.",
        "The security code of my card is 123.",
        "My PIN is 4821.",
        "My mother's maiden name is Rossi.",
        "My name is Julia Hartmann.",
    )
    (result,) = fill([field], memories, now=NOW)
    assert result.value is None
    assert result.alternatives == ()


def test_a_place_of_work_is_no_person():
    boss = "The role of Ana Soto is my manager at Harrow & Tweed."
    assert one("Line manager's name", boss).value is None
    assert one("Line manager's name", "My manager Ana works at Harrow & Tweed.").value == "Ana"


def test_a_note_whose_heading_names_half_of_a_value_is_read():
    assert one("Passport number", "British passport: Number: 533401287.").value == "533401287"
    assert one("Passport number", "My British passport number is 533401287.").value == "533401287"
    assert one("Passport number", "Rory Ruiz: Passport number: 533401287.").value is None
    assert one("Passport expiry", "British passport: Expires: 19 February 2031.").value == (
        "2031-02-19"
    )
    assert one("Passport expiry", "Rory: Passport expires: 19 February 2031.").value is None


def test_a_note_called_by_a_role_names_who_that_is():
    assert one("Mother's first name", "Mum: Isla Ruiz.").value == "Isla"
    assert one("Mother's name", "Mum: Paramedic.").value is None
    assert one("Mother's name", "Mum: Lives in Ullapool.").value is None


def test_hidden_fields_are_bait_and_stay_empty():
    fields = fields_from_html('<input name="email" style="display:none"><input name="e-mail">')
    bait, real = fill(fields, remembered("My e-mail is a@b.example."), now=NOW)
    assert (bait.value, real.value) == (None, "a@b.example")


def test_what_no_longer_holds_is_not_used():
    old = Memory("m1", "My phone number is 555 123 4567.", "A", "c", NOW, valid_until=NOW)
    gone = Memory("m2", "My phone number is 555 999 0000.", "A", "c", NOW, status=Status.REPLACED)
    assert fill(fields_from_labels(["Phone"]), [old, gone], now=NOW)[0].value is None


def test_the_newest_of_two_values_wins_and_the_other_is_offered():
    earlier = datetime(2023, 1, 1, tzinfo=UTC)
    memories = [
        Memory("m1", "My phone number is 555 123 4567.", "A", "c", NOW),
        Memory("m2", "My phone number is 555 999 0000.", "A", "c", earlier),
    ]
    (result,) = fill(fields_from_labels(["Phone"]), memories, now=NOW)
    (alone,) = fill(fields_from_labels(["Phone"]), memories[:1], now=NOW)
    assert result.value == "555 123 4567"
    assert [(a.value, a.memories) for a in result.alternatives] == [("555 999 0000", ("m2",))]
    assert result.confidence < alone.confidence


def test_the_words_of_the_label_choose_between_work_and_private():
    texts = ("My work phone is 030 555 1200.", "My mobile number is 0151 234 5678.")
    assert one("Work phone", *texts).value == "030 555 1200"
    assert one("Phone", *texts).value == "0151 234 5678"


def test_a_guest_may_be_the_one_it_was_booked_for():
    result = one(
        "Guest name",
        "My name is Julia Hartmann.",
        "I booked a hotel in Rome for my boss.",
        "My boss is Li Wei.",
    )
    assert result.value == "Julia Hartmann"
    assert [a.value for a in result.alternatives] == ["Li Wei"]
    assert result.confidence < 0.8


def test_the_coming_booking_is_preferred():
    texts = (
        "The Hilton reservation is for 2023-02-01 to 2023-02-03.",
        "The Ibis reservation is for 2024-06-01 to 2024-06-03.",
    )
    assert one("Check-in date", *texts).value == "2024-06-01"
    assert one("Hotel", *texts).value == "Ibis"


def test_triples_count_where_the_sentence_bears_them_out():
    said = Memory(
        "m1",
        "For travel I carry E12345678.",
        "Attribute",
        "attribute.identity",
        NOW,
        triples=(Triple("me", "passport number", "E12345678"),),
    )
    made_up = Memory(
        "m2", "I like tea.", "A", "c", NOW, triples=(Triple("me", "phone number", "555 123 4567"),)
    )
    passport, phone = fill(
        fields_from_labels(["Passport number", "Phone"]), [said, made_up], now=NOW
    )
    assert (passport.value, passport.sensitive) == ("E12345678", True)
    assert phone.value is None


def test_pronouns_mean_the_person_named_before():
    text = "My mother is called Liu Fang and her phone number is 139 0000 1111."
    assert one("Mother's phone", text).value == "139 0000 1111"
    assert one("Phone", text).value is None
    assert one("Son's birthday", "My son is Le, he was born on 2015-06-01.").value == "2015-06-01"


def test_names_of_people_stand_for_their_role():
    result = one(
        "Husband's phone", "My husband Jonas likes chess.", "Jonas's phone number is 555 123 4567."
    )
    assert result.value == "555 123 4567"


# --- the field's form ---


def test_dates_take_the_fields_form():
    text = "I was born on 3 May 1990."
    assert one("Birthday", text, type="date").value == "1990-05-03"
    assert one("Birthday", text, placeholder="dd/mm/yyyy").value == "03/05/1990"
    assert one("Geburtsdatum (TT.MM.JJJJ)", text).value == "03.05.1990"
    assert one("Birthday", "My birthday is 3 May.", type="date").value is None


def test_selects_take_one_of_their_options_or_nothing():
    text = "I live at 12 Oak Street, Springfield, IL 62704, USA."
    countries = (Option("", "Choose"), Option("DE", "Germany"), Option("US", "United States"))
    assert one("Country", text, options=countries).value == "US"
    assert one("Country", text, options=countries[:2]).value is None
    assert (
        one("State", text, options=(Option("14", "Illinois"), Option("15", "Iowa"))).value == "14"
    )
    sexes = (Option("1", "Male"), Option("2", "Female"))
    assert one("Gender", "I am a woman.", options=sexes).value == "2"


def test_phones_lose_their_signs_only_where_the_field_demands():
    text = "My phone number is +1 415 555 0132."
    assert one("Phone", text, type="tel").value == "+1 415 555 0132"
    assert one("Phone", text, pattern="[0-9]{11}").value == "14155550132"
    assert one("Phone", text, max_length=10).value == "4155550132"


def test_a_value_that_does_not_fit_is_left_out_rather_than_cut():
    assert one("Full name", "My name is Julia Hartmann.", max_length=5).value is None


def test_schema_types_are_kept():
    fields = fields_from_json_schema(
        {
            "properties": {
                "age": {"type": "integer"},
                "vegetarian": {"type": "boolean"},
                "smoker": {"type": "boolean"},
                "newsletter": {"type": "boolean"},
                "nationality": {"enum": ["CN", "US"]},
            }
        }
    )
    texts = (
        "I was born on 3 May 1990.",
        "I am a vegetarian.",
        "I am not a smoker.",
        "I am Chinese.",
    )
    values = [r.value for r in fill(fields, remembered(*texts), now=NOW)]
    assert values == [33, True, False, None, "CN"]


def test_consent_boxes_are_never_ticked():
    fields = fields_from_html("<label><input type=checkbox name=t> I agree to the terms</label>")
    assert fill(fields, remembered("I agree to the terms."), now=NOW)[0].value is None


def test_a_field_asked_twice_with_two_meanings_gets_two_answers():
    fields = [
        FormField("name", "Name", section="Applicant"),
        FormField("name", "Name", section="Emergency contact"),
    ]
    memories = remembered("My name is Julia Hartmann.", "My emergency contact is Sam Reed.")
    mine, theirs = fill(fields, memories, now=NOW)
    assert (mine.value, theirs.value) == ("Julia Hartmann", "Sam Reed")


# --- splitting ---


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "221B Baker Street, London NW1 6XE",
            {
                "address-line1": "221B Baker Street",
                "address-level2": "London",
                "postal-code": "NW1 6XE",
            },
        ),
        (
            "Marienplatz 8, 80331 Munich, Germany",
            {"address-line1": "Marienplatz 8", "address-level2": "Munich", "postal-code": "80331"},
        ),
        (
            "123 Main St, Suite 200, Toronto, ON M5V 2T6, Canada",
            {"address-line2": "Suite 200", "address-level1": "ON", "country": "Canada"},
        ),
        ("广东省深圳市南山区科技园路1号", {"address-level1": "广东省", "address-level2": "深圳市"}),
        ("Paris, France", {"address-level2": "Paris", "country": "France"}),
    ],
)
def test_addresses_come_apart(text, parts):
    assert parts.items() <= split_address(text).items()


def test_a_town_alone_is_no_street():
    assert split_address("Rotterdam") == {"address-level2": "Rotterdam"}


def test_names_come_apart_in_their_own_order():
    name = split_name("Dr. Jan van der Berg")
    assert name is not None
    assert (name.title, name.given, name.family) == ("Dr.", "Jan", "van der Berg")
    assert split_name("Cher") is None
