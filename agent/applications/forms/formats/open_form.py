"""Form readers for HTML, JSON Schema, CSV headers and labels.

Owns what a form *says*; what a field means is ``agent.applications.forms.matching.match`` and what
goes into it is ``agent.applications.forms.autofill``. Invariant: whatever the input, a reader
returns at most ``MAX_FIELDS`` fields or raises ``InvalidInput`` with one line; it reads no network
and follows no reference outside the document.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent.applications.forms.fields import MAX_FIELDS, FormField
from agent.applications.forms.formats.html import read_page
from agent.applications.forms.formats.json_schema import read_schema
from store.errors import InvalidInput

MAX_CHARACTERS = 2_000_000
Kind = Literal["html", "json", "csv"]


@dataclass(frozen=True, slots=True)
class Form:
    """A form as it was read."""

    title: str
    kind: Kind
    fields: tuple[FormField, ...]
    text: str
    encoding: str = "utf-8"
    """By which ``text`` gives the very bytes that were read."""
    notes: tuple[str, ...] = ()
    """What of it was not read, a line each."""


def open_form(source: Path | bytes | str, *, kind: Kind | None = None) -> Form:
    """Read a form from a file (``Path``) or from what was piped in.

    Without ``kind`` the file's suffix and then its first character decide what it is.

    :raises InvalidInput: if the file cannot be read, or what it holds is no form.
    """
    encoding, title = "utf-8", "the form"
    if isinstance(source, Path):
        title = source.name
        kind = kind or _KIND_OF_SUFFIX.get(source.suffix.lower())
        source = _bytes_of(source)
    if isinstance(source, bytes):
        text, encoding = _decoded(source)
    else:
        text = source
    shown = text.removeprefix("\ufeff")
    if not shown.strip():
        raise InvalidInput(f"{title} is empty; give an HTML page, a JSON Schema or a CSV header.")
    if len(shown) > MAX_CHARACTERS:
        raise InvalidInput(
            f"{title} is longer than {MAX_CHARACTERS:,} characters; cut out the form."
        )
    if "\0" in shown:
        raise InvalidInput(
            f"{title} is not a text file; give an HTML page, a JSON Schema or a CSV header."
        )
    kind = kind or _sniff(shown)
    notes: tuple[str, ...] = ()
    match kind:
        case "html":
            fields, notes = _page(text, title)
        case "json":
            fields = fields_from_json_schema(shown, title=title)
        case _:
            fields = fields_from_csv_header(shown, title=title)
    return Form(title, kind, fields, text, encoding, notes)


_KIND_OF_SUFFIX: dict[str, Kind] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > 4 * MAX_CHARACTERS:
            raise InvalidInput(f"{path.name} is too large for a form; cut out the form.")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"Cannot read {path}: {error.strerror or error}.") from None


_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def _decoded(raw: bytes) -> tuple[str, str]:
    """The text of a page and the encoding that gives its bytes back exactly."""
    named = _CHARSET.search(raw[:2000])
    declared = [named[1].decode("ascii")] if named else []
    wide = {codecs.BOM_UTF16_LE: ["utf-16-le"], codecs.BOM_UTF16_BE: ["utf-16-be"]}
    for encoding in (*wide.get(raw[:2], ()), "utf-8", *declared):
        try:
            text = raw.decode(encoding)
            if text.encode(encoding) == raw:
                return text, encoding
        except (UnicodeError, LookupError):
            continue
    # Every byte is a character of Latin-1, and names stay readable.
    return raw.decode("latin-1"), "latin-1"


def _sniff(text: str) -> Kind:
    start = text.lstrip()[:1]
    if start == "<":
        return "html"
    if start in "{[":
        return "json"
    return "html" if "<input" in text.lower() or "<select" in text.lower() else "csv"


def fields_from_labels(labels: Sequence[str]) -> tuple[FormField, ...]:
    """``--field LABEL``: a field for each label, named by it.

    :raises InvalidInput: if there is no label, or one is blank.
    """
    cleaned = [" ".join(label.split()) for label in labels]
    if not cleaned:
        raise InvalidInput("No field was given; name one with --field LABEL.")
    if not all(cleaned):
        raise InvalidInput("A field's label is blank; say what it asks for.")
    return _checked([FormField(name=label, label=label) for label in cleaned], "the list of fields")


def fields_from_csv_header(text: str, *, title: str = "the CSV") -> tuple[FormField, ...]:
    """The columns named in the first line; further lines are examples and are not read.

    :raises InvalidInput: if the first line holds data or prose rather than column names.
    """
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        # A delimiter inside quotes splits nothing, so the right one gives the most columns.
        rows = [next(csv.reader(io.StringIO(line), delimiter=d), []) for d in ",;\t|"]
        columns = [column.strip() for column in max(rows, key=len)]
    except csv.Error as error:
        raise InvalidInput(f"{title} has no readable CSV header: {error}.") from None
    if not any(any(c.isalpha() for c in column) for column in columns):
        raise InvalidInput(f"{title} does not start with a header that names its columns.")
    if any(len(column) > 200 for column in columns) or "<" in line:
        raise InvalidInput(f"{title} is not a form: no HTML fields, no JSON Schema, no CSV header.")
    fields = [FormField(name=c, label=c) for c in columns if c]
    return _checked(fields, title)


def fields_from_html(text: str, *, title: str = "the page") -> tuple[FormField, ...]:
    """The fields of a page in document order; a radio group is one field with options.

    :raises InvalidInput: if there is no field to fill.
    """
    return _page(text, title)[0]


def _page(text: str, title: str) -> tuple[tuple[FormField, ...], tuple[str, ...]]:
    """The fields of a page, and the line about its frames."""
    page = read_page(text)
    frames = f"{page.frames} frame{'s' if page.frames != 1 else ''}"
    if not page.fields and page.frames:
        raise InvalidInput(
            f"{title} has no form fields itself, only {frames}, each a separate page: open the "
            "frame alone, save it and give that page."
        )
    if not page.fields:
        raise InvalidInput(f"{title} has no form fields; is it an HTML page with a form?")
    note = f"{title}: {frames} not read; a frame is a separate page; give it separately."
    return _checked(page.fields, title), (note,) if page.frames else ()


def fields_from_json_schema(
    source: str | dict[str, Any], *, title: str = "the schema"
) -> tuple[FormField, ...]:
    """The properties of a JSON Schema; those of nested objects get dotted names.

    :raises InvalidInput: if it is no JSON, names no properties, or refers to itself in a circle.
    """
    return _checked(read_schema(source, title), title)


def _checked(fields: Sequence[FormField], title: str) -> tuple[FormField, ...]:
    if len(fields) > MAX_FIELDS:
        raise InvalidInput(
            f"{title} has {len(fields):,} fields; at most {MAX_FIELDS:,} are filled."
        )
    if not fields:
        raise InvalidInput(f"{title} names no fields.")
    return tuple(fields)
