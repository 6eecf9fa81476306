"""Reading forms and telling what their fields ask for."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from agent.applications.forms.fields import FormField, Option
from agent.applications.forms.formats.open_form import (
    fields_from_csv_header,
    fields_from_html,
    fields_from_json_schema,
    fields_from_labels,
    open_form,
)
from agent.applications.forms.matching.match import match_fields
from agent.applications.forms.matching.vocabulary import Policy, vocabulary
from agent.ports import Embedder
from store.errors import InvalidInput


def key_of(**field: Any) -> str | None:
    field.setdefault("name", "x")
    return match_fields([FormField(**field)])[0].key


# --- reading ---


def test_html_fields_carry_label_placeholder_and_autocomplete():
    (field,) = fields_from_html(
        '<form><label for="e">E-mail <b>address</b></label>'
        '<input id="e" name="mail" type="EMAIL" placeholder="you@home" autocomplete="email"'
        ' maxlength="50"></form>'
    )
    assert field.label == "E-mail address"
    assert (field.name, field.id, field.type) == ("mail", "e", "email")
    assert (field.placeholder, field.autocomplete, field.max_length) == ("you@home", "email", 50)


def test_a_label_that_wraps_its_field_and_one_named_by_aria_count():
    first, second = fields_from_html(
        '<label>Surname <input name="a"></label><p id="t">Your town</p>'
        '<input name="b" aria-labelledby="t">'
    )
    assert (first.label, second.label) == ("Surname", "Your town")


def test_radio_buttons_of_one_name_are_one_field_with_options():
    (field,) = fields_from_html(
        "<fieldset><legend>Gender</legend>"
        '<label><input type="radio" name="g" value="f">Female</label>'
        '<label><input type="radio" name="g" value="m">Male</label></fieldset>'
    )
    assert field.label == "Gender"
    assert [o.value for o in field.options] == ["f", "m"]


def test_options_without_a_value_submit_their_text():
    (field,) = fields_from_html("<select name=c><option>Spain<option value=fr>France</select>")
    assert field.options == (Option("Spain", "Spain"), Option("fr", "France"))


def test_buttons_hidden_inputs_and_script_text_are_no_fields():
    fields = fields_from_html(
        "<script>var s = '<input name=no>'</script><input type=hidden name=token>"
        '<input type=submit value=Go><input name="city">'
    )
    assert [f.name for f in fields] == ["city"]
    assert fields[0].text_before == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "\0\0binary",
        "<html><p>No form here</p></html>",
        "<<<>>><!--",
        "{broken",
        "[]",
        "{}",
    ],
)
def test_what_is_no_form_gives_one_clear_line(text):
    with pytest.raises(InvalidInput) as error:
        open_form(text)
    assert "\n" not in str(error.value)


def test_a_missing_file_gives_one_clear_line(tmp_path):
    with pytest.raises(InvalidInput, match="Cannot read"):
        open_form(tmp_path / "none.html")


def test_a_file_is_read_by_its_suffix(tmp_path):
    page = tmp_path / "form.csv"
    page.write_text("first name,last name\nAda,Lovelace\n", "utf-8")
    assert [f.name for f in open_form(page).fields] == ["first name", "last name"]


def test_a_csv_header_may_use_semicolons_and_quotes():
    assert [f.label for f in fields_from_csv_header('"name, full";zip')] == ["name, full", "zip"]
    with pytest.raises(InvalidInput, match="header"):
        fields_from_csv_header("1;2;3")


def test_labels_must_say_something():
    with pytest.raises(InvalidInput):
        fields_from_labels([])
    with pytest.raises(InvalidInput):
        fields_from_labels(["Name", "  "])


def test_a_schema_gives_nested_fields_with_types_and_options():
    fields = fields_from_json_schema(
        {
            "properties": {
                "born": {"type": "string", "format": "date"},
                "size": {"type": ["integer", "null"]},
                "sex": {"enum": ["m", "f"]},
                "home": {"type": "object", "properties": {"zip": {"title": "Zip code"}}},
            }
        }
    )
    assert [(f.name, f.type) for f in fields] == [
        ("born", "date"),
        ("size", "integer"),
        ("sex", "select"),
        ("home.zip", "text"),
    ]
    assert fields[3].label == "Zip code"


def test_references_inside_the_document_are_followed():
    schema = {
        "$defs": {
            "person": {"type": "object", "properties": {"name": {"type": "string"}}},
            "same name": {"$ref": "#/$defs/person"},
        },
        "properties": {
            "me": {"$ref": "#/$defs/person"},
            "partner": {"$ref": "#/$defs/same%20name"},
            "far": {"$ref": "https://a.example/b"},
        },
    }
    names = [f.name for f in fields_from_json_schema(json.dumps(schema))]
    assert names == ["me.name", "partner.name", "far"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            {
                "$defs": {"person": {"properties": {"friend": {"$ref": "#/$defs/person"}}}},
                "properties": {"me": {"$ref": "#/$defs/person"}},
            },
            "circular",
        ),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}},
         "circular"),
        ({"properties": {"x": {"$ref": "#/$defs/none"}}}, "does not contain"),
        ('{"properties": {"x": {"title": "City"}, "x": {"title": "Phone"}}}', "twice"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_read_to_its_end_gives_one_clear_line(schema, said):
    with pytest.raises(InvalidInput, match=said) as error:
        fields_from_json_schema(schema)
    assert "\n" not in str(error.value)


def test_a_schema_of_nothing_but_circles_is_refused():
    with pytest.raises(InvalidInput):
        fields_from_json_schema({"$ref": "#"})


def test_five_hundred_nested_fields_are_read_quickly():
    page = "<div><iframe>" * 500 + "".join(
        f'<label>City <input name="c{i}"></label>' for i in range(500)
    )
    started = time.perf_counter()
    fields = fields_from_html(page)
    keys = {ask.key for ask in match_fields(fields)}
    assert len(fields) == 500
    assert keys == {"address-level2"}
    assert time.perf_counter() - started < 3


def test_too_many_fields_are_refused():
    with pytest.raises(InvalidInput, match="at most"):
        fields_from_html("<input name=a>" * 3000)


@pytest.mark.parametrize(
    "piece", ["<", "<!", "<a ", "<![CDATA[", "<!--", "&#", "</", "<input name='"]
)
def test_malformed_pages_do_not_hang(piece):
    started = time.perf_counter()
    with pytest.raises(InvalidInput):
        fields_from_html(piece * 20_000)
    assert time.perf_counter() - started < 5


# --- what fields ask for ---


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ({"autocomplete": "section-a shipping postal-code", "label": "Code"}, "postal-code"),
        ({"autocomplete": "off", "label": "First name"}, "given-name"),
        ({"name": "txtLastName"}, "family-name"),
        ({"name": "order[billing][zip_code]"}, "postal-code"),
        ({"label": "Vorname"}, "given-name"),
        ({"label": "Фамилия"}, "family-name"),
        ({"label": "お電話番号"}, "tel"),
        ({"label": "您的邮箱"}, "email"),
        ({"label": "Company name"}, "organization"),
        ({"label": "Name on card"}, "cc-name"),
        ({"label": "Date of birth (DD/MM/YYYY)"}, "bday"),
        ({"label": "Check-in date"}, "check-in"),
        ({"label": "Your name", "placeholder": "First name"}, "given-name"),
        ({"label": "CVV"}, "cc-csc"),
        ({"name": "email-otp"}, "one-time-code"),
        ({"label": "Promo code"}, "coupon"),
        ({"placeholder": "Search..."}, "search"),
        ({"type": "password", "label": "Email"}, "current-password"),
        ({"type": "password", "autocomplete": "new-password"}, "new-password"),
        ({"label": "Library card number"}, None),
        ({"name": "q"}, "search"),
        ({"label": "Implanted devices", "name": "q7"}, None),
        ({"type": "textarea", "label": "Conditions that our leaders should know of"}, None),
        ({"type": "textarea"}, "message"),
        ({"label": "Project name"}, "message"),
    ],
)
def test_fields_are_recognised(field, key):
    assert key_of(**field) == key


def test_a_name_of_something_else_is_not_the_persons_name():
    for label in ("Event name", "Breed name", "Name of the ship"):
        assert key_of(label=label) is None


@pytest.mark.parametrize(
    ("label", "key", "subject"),
    [
        ("Spouse's name", "name", "spouse"),
        ("Name of your boss", "name", "boss"),
        ("Mother's date of birth", "bday", "mother"),
        ("Emergency contact phone", "tel", "emergency contact"),
        ("Your bank's phone number", "tel", "bank"),
        ("Company address", "street-address", "employer"),
        ("Work phone", "tel", "me"),
    ],
)
def test_the_label_says_whose_it_is(label, key, subject):
    (ask,) = match_fields(fields_from_labels([label]))
    assert (ask.key, ask.subject) == (key, subject)


def test_the_group_says_whose_it_is():
    fields = fields_from_html(
        "<fieldset><legend>Emergency contact</legend><label>Name <input name=n></label></fieldset>"
    )
    assert match_fields(fields)[0].subject == "emergency contact"


def test_the_address_above_a_lone_password_is_the_user_name():
    email, password = (
        FormField("mail", "E-mail", type="email"),
        FormField("pw", "Password", type="password"),
    )
    assert match_fields([email, password])[0].key == "username"
    first = FormField("fn", "First name")
    assert match_fields([first, email, password])[1].key == "email"
    again = FormField("pw2", "Repeat password", type="password")
    assert match_fields([email, password, again])[0].key == "email"


def test_labels_that_follow_their_fields_are_noticed():
    fields = fields_from_html(
        "<div><input name=x1><span>First name</span></div><div><input name=x2>"
        "<span>Last name</span></div><div><input name=email><span>Email</span></div>"
    )
    assert [a.key for a in match_fields(fields)] == ["given-name", "family-name", "email"]


def test_labels_in_the_cells_of_a_table_are_before_their_fields():
    rows = ("As in your papers", "Passport number", "Date of birth")
    cells = "".join(f"<tr><td>{row}<td><input name=f{n}>" for n, row in enumerate(rows))
    asked = match_fields(fields_from_html(f"<form><table>{cells}</table></form>"))
    assert [ask.key for ask in asked] == [None, "passport-number", "bday"]


def test_three_selects_side_by_side_are_a_date_of_birth():
    fields = [
        FormField("s1", type="select", options=(Option("", "Month"), Option("1", "January"))),
        FormField("s2", type="select", options=(Option("", "Day"), Option("1", "1"))),
        FormField("s3", type="select", options=(Option("", "Year"), Option("1990", "1990"))),
    ]
    assert [a.key for a in match_fields(fields)] == ["bday-month", "bday-day", "bday-year"]


def test_the_label_of_the_field_before_says_nothing_of_a_labelled_field():
    page = "<label>E-mail<input name=a></label>"
    page += (
        "<label for=b>Number plate of the car that you will park here</label><input id=b name=b>"
    )
    mail, plate = match_fields(fields_from_html(f"<form>{page}</form>"))
    assert mail.key == "email" != plate.key


def test_what_a_card_has_beside_its_number_is_asked_only_beside_a_number():
    number, end = FormField("n", label="Card number"), FormField("e", label="Valid until")
    start = FormField("s", label="Start date")
    assert [a.key for a in match_fields([number, end, start])][1:] == ["cc-exp", "card-detail"]
    assert [a.key for a in match_fields([FormField("p", label="Permit"), end, start])][1:] == [
        None,
        None,
    ]
    (alone,) = match_fields([FormField("e", label="Card expiry date")])
    assert alone.key == "cc-exp"


def test_a_row_of_single_characters_takes_a_code():
    boxes = [FormField(f"phone{i}", max_length=1) for i in range(6)]
    assert {a.key for a in match_fields(boxes)} == {"one-time-code"}


def test_the_reader_overrules_a_phrase_that_means_another_thing(embedder: Embedder):
    fields = fields_from_labels(["Driving licence expiry", "City", "Promo code", "PIN"])
    expiry, city, promo, pin = match_fields(fields, embedder)
    assert (expiry.key, expiry.via) == (None, "meaning")
    assert (city.key, city.via) == ("address-level2", "words")
    assert not promo.fillable
    assert (pin.key, pin.fillable) == ("pin", False)


def test_the_vocabulary_closes_what_must_never_be_filled():
    keys = vocabulary().keys
    for name in ("current-password", "new-password", "one-time-code", "cc-csc", "pin"):
        assert keys[name].policy is Policy.NEVER
    assert all(target in keys for target in vocabulary().aliases.values())
    assert keys["passport-number"].sensitive
