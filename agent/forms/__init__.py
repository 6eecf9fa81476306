"""Reading a form: HTML, a JSON Schema, a CSV header or bare labels become ``FormField`` values.

Owns what a form *says*; what a field means is ``agent.forms.matching`` and what goes into it is
``agent.autofill``. Invariant: whatever the input, a reader returns at most ``MAX_FIELDS`` fields
or raises ``InvalidInput`` with one line; it reads no network and follows no reference outside
the document.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.forms.fields import MAX_FIELDS, FormField, Option
from agent.forms.html import read_html
from store.errors import InvalidInput

__all__ = [
    "FormField",
    "Option",
    "fields_from_csv_header",
    "fields_from_html",
    "fields_from_json_schema",
    "fields_from_labels",
    "read_form",
]

MAX_CHARACTERS = 2_000_000
MAX_SCHEMA_DEPTH = 12


def read_form(source: Path | str, *, kind: str | None = None) -> tuple[FormField, ...]:
    """Read a form from a file (``Path``) or from text that was piped in (``str``).

    ``kind`` is "html", "json" or "csv"; without it the file's suffix and then its first
    character decide.

    :raises InvalidInput: if the file cannot be read, or what it holds is no form.
    """
    if isinstance(source, Path):
        text = _read_text(source)
        title = source.name
        kind = kind or _KIND_OF_SUFFIX.get(source.suffix.lower())
    else:
        text, title = source, "the form"
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise InvalidInput(f"{title} is empty; give an HTML page, a JSON Schema or a CSV header.")
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(
            f"{title} is longer than {MAX_CHARACTERS:,} characters; cut the form out."
        )
    if "\0" in text:
        raise InvalidInput(
            f"{title} is no text file; give an HTML page, a JSON Schema or a CSV header."
        )
    match kind or _sniff(text):
        case "html":
            return fields_from_html(text, title=title)
        case "json":
            return fields_from_json_schema(text, title=title)
        case _:
            return fields_from_csv_header(text, title=title)


_KIND_OF_SUFFIX = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > 4 * MAX_CHARACTERS:
            raise InvalidInput(f"{path.name} is too large for a form; cut the form out.")
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"Cannot read {path}: {error.strerror or error}.") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Old pages are still served in Latin-1; every byte decodes, and names stay readable.
        return raw.decode("latin-1")


def _sniff(text: str) -> str:
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
        raise InvalidInput(f"{title} is no form: no HTML fields, no JSON Schema, no CSV header.")
    fields = [FormField(name=c, label=c) for c in columns if c]
    return _checked(fields, title)


def fields_from_html(text: str, *, title: str = "the page") -> tuple[FormField, ...]:
    """The fields of a page in document order; a radio group is one field with options.

    :raises InvalidInput: if there is no field to fill.
    """
    fields = read_html(text)
    if not fields:
        raise InvalidInput(f"{title} holds no form fields; is it an HTML page with a form?")
    return _checked(fields, title)


def fields_from_json_schema(
    source: str | dict[str, Any], *, title: str = "the schema"
) -> tuple[FormField, ...]:
    """The properties of a JSON Schema; those of nested objects get dotted names.

    References inside the document are followed, one that leads back to itself is left out.

    :raises InvalidInput: if it is no JSON, or names no properties.
    """
    schema: Any = source
    if isinstance(source, str):
        try:
            schema = json.loads(source)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{title} is no valid JSON: {error}.") from None
    if not isinstance(schema, dict):
        raise InvalidInput(f"{title} is no JSON Schema: it must be an object with properties.")
    fields: list[FormField] = []
    _walk_schema(_Schema(schema, fields), schema, "", (), (), 0)
    if not fields:
        raise InvalidInput(f"{title} is no JSON Schema of a form: it names no properties.")
    return _checked(fields, title)


def _checked(fields: list[FormField], title: str) -> tuple[FormField, ...]:
    if len(fields) > MAX_FIELDS:
        raise InvalidInput(
            f"{title} has {len(fields):,} fields; at most {MAX_FIELDS:,} are filled."
        )
    if not fields:
        raise InvalidInput(f"{title} names no fields.")
    return tuple(fields)


@dataclass(frozen=True, slots=True)
class _Schema:
    root: dict[str, Any]
    fields: list[FormField]


def _walk_schema(
    schema: _Schema,
    node: object,
    name: str,
    context: tuple[str, ...],
    trail: tuple[str, ...],
    depth: int,
) -> None:
    """Append the leaves under ``node``. ``trail`` holds the references being followed."""
    if not isinstance(node, dict) or depth > MAX_SCHEMA_DEPTH or len(schema.fields) > MAX_FIELDS:
        return
    node, trail, circular = _resolved(schema.root, node, trail)
    if circular:
        return
    properties = node.get("properties")
    if isinstance(properties, dict):
        title = str(node.get("title") or name.rpartition(".")[2])
        inner = (*context, title) if title else context
        for key, child in properties.items():
            path = f"{name}.{key}" if name else str(key)
            _walk_schema(schema, child, path, inner, trail, depth + 1)
    for part in _as_list(node.get("allOf")):
        if isinstance(part, dict) and ("properties" in part or "$ref" in part or "allOf" in part):
            _walk_schema(schema, part, name, context, trail, depth + 1)
            properties = properties or {}
    if name and not isinstance(properties, dict):
        schema.fields.append(_leaf(node, name, context))


def _resolved(
    root: dict[str, Any], node: dict[str, Any], trail: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...], bool]:
    """The node with its references and its first real alternative merged in."""
    for _ in range(MAX_SCHEMA_DEPTH):
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in trail:
                return node, trail, True
            trail = (*trail, reference)
            rest = {k: v for k, v in node.items() if k != "$ref"}
            node = {**_pointed_at(root, reference), **rest}
            continue
        choices = [
            c
            for c in (*_as_list(node.get("anyOf")), *_as_list(node.get("oneOf")))
            if isinstance(c, dict) and c.get("type") != "null" and "const" not in c
        ]
        if choices and "type" not in node and "properties" not in node:
            rest = {k: v for k, v in node.items() if k not in ("anyOf", "oneOf")}
            node = {**choices[0], **rest}
            continue
        return node, trail, False
    return node, trail, True


def _pointed_at(root: dict[str, Any], reference: str) -> dict[str, Any]:
    """What a local JSON pointer names; an empty node for one that leads nowhere or outside."""
    if not reference.startswith("#"):
        return {}
    node: Any = root
    for step in reference[1:].strip("/").split("/") if reference != "#" else ():
        step = step.replace("~1", "/").replace("~0", "~")
        node = node.get(step) if isinstance(node, dict) else None
    return dict(node) if isinstance(node, dict) else {}


def _leaf(node: dict[str, Any], name: str, context: tuple[str, ...]) -> FormField:
    kinds = [k for k in _as_list(node.get("type")) if isinstance(k, str) and k != "null"]
    kind = kinds[0] if kinds else "string"
    if kind == "string":
        kind = _TYPE_OF_FORMAT.get(str(node.get("format", "")).lower(), "text")
    options = tuple(
        Option(str(value), str(value)) for value in _as_list(node.get("enum")) if value is not None
    ) or tuple(
        Option(str(c["const"]), str(c.get("title", c["const"])))
        for c in _as_list(node.get("oneOf"))
        if isinstance(c, dict) and "const" in c
    )
    length = node.get("maxLength")
    return FormField(
        name=name,
        label=str(node.get("title") or ""),
        type="select" if options else kind.lower(),
        id=name.rpartition(".")[2],
        hint=str(node.get("description") or ""),
        section=" ".join(context),
        options=options,
        pattern=str(node.get("pattern") or ""),
        max_length=length if isinstance(length, int) and length > 0 else None,
    )


_TYPE_OF_FORMAT = {
    "date": "date",
    "date-time": "datetime-local",
    "time": "time",
    "email": "email",
    "idn-email": "email",
    "uri": "url",
    "phone": "tel",
    "password": "password",
}


def _as_list(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
