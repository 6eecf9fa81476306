"""OpenAPI description, generated from the request types."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from agent.codec import encode, hints
from agent.server.resident.client import Hello, Running
from agent.server.resident.requests import CALLS, Call
from agent.version import __version__

_HEADERS = {
    "Memlane-Now": "A clock that stands still (ISO 8601 with offset).",
    "Memlane-Policy": "The policy where the request names none.",
    "Memlane-K": "How many memories to choose where the request does not say.",
}


def description() -> dict[str, Any]:
    """The whole document, OpenAPI 3.1."""
    schemas: dict[str, Any] = {}
    paths = {f"/v1/{call.name}": {"post": _operation(call, schemas)} for call in CALLS}
    for name, kind in (("hello", Hello), ("status", Running)):
        paths[f"/v1/{name}"] = {
            "get": {
                "operationId": name,
                "summary": _first_line(kind),
                "responses": {"200": _content(_schema(kind, schemas))},
            }
        }
    schemas["Error"] = {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
                "required": ["kind", "message"],
            }
        },
        "required": ["error"],
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "memlane", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(call: Call, schemas: dict[str, Any]) -> dict[str, Any]:
    given = _schema(call.given, schemas)
    events = "JSON lines: {text} as it is written, {item} for each file, {result} or {error} last"
    answered = _content({"type": "array", "items": given} if call.items else given)
    answered["content"]["application/x-ndjson"] = {"schema": {"description": events}}
    return {
        "operationId": call.name,
        "summary": _first_line(call.asked),
        "parameters": [
            {"name": name, "in": "header", "description": said, "schema": {"type": "string"}}
            for name, said in _HEADERS.items()
        ],
        "requestBody": {"required": True, **_body(_schema(call.asked, schemas))},
        "responses": {"200": answered, "default": _content(_ref("Error"), "What went wrong")},
    }


def _first_line(kind: type[Any]) -> str:
    return (kind.__doc__ or "").splitlines()[0]


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _content(schema: dict[str, Any], said: str = "Done") -> dict[str, Any]:
    return {"description": said, **_body(schema)}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_PLAIN: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    Path: {"type": "string"},
    Any: {},
}


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; dataclasses and enums are put among ``schemas`` and referred to."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one, schemas) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": _schema(arguments[0], schemas)}
        parts = [_schema(one, schemas) for one in arguments]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    if origin is not None:
        return {"type": "object", "additionalProperties": _schema(arguments[1], schemas)}
    if kind.__name__ not in schemas:
        schemas[kind.__name__] = {}  # a type may hold itself
        schemas[kind.__name__] = _named(kind, schemas)
    return _ref(kind.__name__)


def _named(kind: type[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    said = {"description": _first_line(kind)}
    if issubclass(kind, Enum):
        return {**said, "type": "string", "enum": [one.value for one in kind]}
    assert is_dataclass(kind), kind
    types_of = hints(kind)
    properties: dict[str, Any] = {}
    required = []
    for field in fields(kind):
        properties[field.name] = _schema(types_of[field.name], schemas)
        if field.default is not MISSING:
            properties[field.name]["default"] = encode(field.default)
        elif field.default_factory is MISSING:
            required.append(field.name)
    return {
        **said,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
