"""Fields of a JSON Schema, with dotted names for nested objects.

References inside the document are followed; nothing outside it is read. Invariant: a document that
refers to itself in a circle, or names a property twice, is refused with one line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from agent.applications.forms.fields import MAX_FIELDS, FormField, Option
from agent.applications.forms.formats.page import host_of
from store.errors import InvalidInput

MAX_DEPTH = 12
MAX_NODES = 20_000
"""Looked at in all: references may make a small document large."""


@dataclass(slots=True)
class _Schema:
    """A document while it is walked."""

    title: str
    root: dict[str, Any]
    fields: list[FormField]
    site: str
    left: int = MAX_NODES


def read_schema(source: str | dict[str, Any], title: str) -> list[FormField]:
    """Every property that takes a value, in the order of the document.

    :raises InvalidInput: if it is no JSON Schema of a form, or one that cannot be read to its end.
    """
    document: Any = source
    if isinstance(source, str):
        try:
            document = json.loads(source, object_pairs_hook=_named_once)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{title} is not valid JSON: {error}.") from None
        except _NamedTwice as error:
            raise InvalidInput(
                f"{title} names {error.args[0]!r} twice, so that field is ambiguous; keep one of "
                "them."
            ) from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{title} is not a JSON Schema: it must be an object with properties.")
    schema = _Schema(title, document, [], host_of(str(document.get("$id", ""))))
    _walk(schema, document, "", (), (), 0)
    if not schema.fields:
        raise InvalidInput(f"{title} is not the JSON Schema of a form: it names no properties.")
    return schema.fields


class _NamedTwice(Exception):
    """Its argument is the name."""


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _NamedTwice(next(name for name in names if names.count(name) > 1))
    return found


def _walk(
    schema: _Schema,
    node: object,
    name: str,
    context: tuple[str, ...],
    trail: tuple[str, ...],
    depth: int,
) -> None:
    """Append the leaves under ``node``. ``trail`` holds the references that led here."""
    schema.left -= 1
    if depth > MAX_DEPTH or schema.left < 0:
        raise InvalidInput(
            f"{schema.title} is nested too deeply to be a form; give the part that is to be filled."
        )
    if not isinstance(node, dict) or len(schema.fields) > MAX_FIELDS:
        return
    node, trail = _resolved(schema, node, trail)
    properties = node.get("properties")
    if isinstance(properties, dict):
        title = str(node.get("title") or name.rpartition(".")[2])
        inner = (*context, title) if title else context
        for key, child in properties.items():
            path = f"{name}.{key}" if name else str(key)
            _walk(schema, child, path, inner, trail, depth + 1)
    for part in _as_list(node.get("allOf")):
        if isinstance(part, dict) and ("properties" in part or "$ref" in part or "allOf" in part):
            _walk(schema, part, name, context, trail, depth + 1)
            properties = properties or {}
    if name and not isinstance(properties, dict):
        schema.fields.append(_leaf(node, name, context, schema.site))


def _resolved(
    schema: _Schema, node: dict[str, Any], trail: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The node with its references and its first real alternative merged in."""
    while True:
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in trail:
                circle = " -> ".join((*trail[trail.index(reference) :], reference))
                raise InvalidInput(
                    f"{schema.title} has circular references ({circle}); remove one of them."
                )
            trail = (*trail, reference)
            rest = {k: v for k, v in node.items() if k != "$ref"}
            node = {**_pointed_at(schema, reference), **rest}
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
        return node, trail


def _pointed_at(schema: _Schema, reference: str) -> dict[str, Any]:
    """What a JSON pointer names inside the document; an empty node for an address outside it.

    :raises InvalidInput: if it points to nothing.
    """
    if not reference.startswith("#"):
        return {}
    node: Any = schema.root
    for step in reference[1:].strip("/").split("/") if reference.strip("#/") else ():
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and step.isdigit():
            node = node[int(step)] if int(step) < len(node) else None
        else:
            node = node.get(step) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        raise InvalidInput(f"{schema.title} refers to {reference!r}, which it does not contain.")
    return dict(node)


def _leaf(node: dict[str, Any], name: str, context: tuple[str, ...], site: str) -> FormField:
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
    shortest, longest = node.get("minLength"), node.get("maxLength")
    return FormField(
        name=name,
        label=str(node.get("title") or ""),
        type="select" if options else kind.lower(),
        id=name.rpartition(".")[2],
        hint=str(node.get("description") or ""),
        section=" ".join(context),
        options=options,
        pattern=_whole(node.get("pattern")),
        min_length=shortest if isinstance(shortest, int) else 0,
        max_length=longest if isinstance(longest, int) and longest > 0 else None,
        site=site,
    )


def _whole(pattern: object) -> str:
    """A schema's pattern may match anywhere, a form's must match the whole value."""
    if not isinstance(pattern, str) or not pattern:
        return ""
    return (
        ("" if pattern.startswith("^") else ".*")
        + pattern
        + ("" if pattern.endswith("$") else ".*")
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
