"""Writing a filled page: values in their places, everything else as it was."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.applications.forms.formats.fill_html import fill_page
from agent.applications.forms.formats.open_form import fields_from_html, open_form
from agent.results import FilledField, Value


def filled(page: str, *values: Value | None) -> str:
    return fill_page(page, [FilledField(f"f{i}", "", v, 1.0) for i, v in enumerate(values)])


@pytest.mark.parametrize(
    ("page", "value", "expected"),
    [
        ("<input name=a>", "Ada", '<input value="Ada" name=a>'),
        ("<INPUT NAME='a' VALUE=''/>", "Ada", "<INPUT NAME='a' value=\"Ada\"/>"),
        ("<input value name=a>", "Ada", '<input value="Ada" name=a>'),
        ("<input name=a value=kept>", "Ada", "<input name=a value=kept>"),
        ("<input name=a>", 'a"><script>', '<input value="a&quot;&gt;&lt;script&gt;" name=a>'),
        ("<input name=a>", "two\nlines", '<input value="two lines" name=a>'),
        ("<input type=number name=a>", 33, '<input value="33" type=number name=a>'),
        ("<input type=checkbox name=a>", True, "<input checked type=checkbox name=a>"),
        ("<input type=checkbox name=a>", False, "<input type=checkbox name=a>"),
        ("<textarea name=a></textarea>", "1 & 2", "<textarea name=a>1 &amp; 2</textarea>"),
        ("<textarea name=a>kept</textarea>", "new", "<textarea name=a>kept</textarea>"),
        ("<textarea name=a>", "new", "<textarea name=a>"),
        (
            "<select name=a><option selected value=1>x<option value=2>y</select>",
            "2",
            "<select name=a><option value=1>x<option selected value=2>y</select>",
        ),
        (
            "<select><option>x<option>y</select>",
            "y",
            "<select><option>x<option selected>y</select>",
        ),
        (
            "<input type=radio name=a value=1 checked> <input type=radio name=a value=2>",
            "2",
            "<input type=radio name=a value=1> <input checked type=radio name=a value=2>",
        ),
        ("<input name='>' title='a>b'>", "x", "<input value=\"x\" name='>' title='a>b'>"),
    ],
)
def test_a_value_is_put_where_it_belongs(page, value, expected):
    assert filled(page, value) == expected


def test_what_is_not_filled_stays_character_by_character():
    page = (
        "\ufeff<!doctype html>\r\n<!-- <input name=no> --><script>'<input>'</script>\t"
        "<p>&nbsp;&copy <b><input name = a ><input type=hidden value=x><br/></p><inputs></b>"
    )
    assert filled(page, None) == page
    assert filled(page, "v") == page.replace("<input name = a >", '<input value="v" name = a >')


def test_what_stands_in_a_textarea_is_no_field():
    page = "<textarea name=a><input name=b></textarea><input name=c>"
    assert [field.name for field in fields_from_html(page)] == ["a", "c"]
    assert filled(page, None, "v").endswith('<input value="v" name=c>')


class _Values(HTMLParser):
    """What a reader of the page finds in its first input."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str | None] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "input":
            self.values.append(dict(attrs).get("value"))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1))
def test_any_value_stays_inside_its_attribute(text):
    reader = _Values()
    reader.feed(filled("<p><input name=a></p>", text))
    assert (reader.values, reader.tags) == ([text], ["p", "input"])


@pytest.mark.parametrize(
    "raw",
    [
        "<input name=a title='Größe'>".encode(),
        "\ufeff<input name=a title='Größe'>".encode(),
        "<meta charset=windows-1252><input name=a title='Größe'>".encode("cp1252"),
        "<input name=a title='Größe'>".encode("latin-1"),
        "\ufeff<input name=a>".encode("utf-16-le"),
        b"<meta charset=nonsense><input name=a title='\xff\xfe'>",
    ],
)
def test_the_bytes_of_a_page_come_back(raw):
    form = open_form(raw)
    assert [field.name for field in form.fields] == ["a"]
    assert fill_page(form.text, [FilledField("a", "", None, 0.0)]).encode(form.encoding) == raw
