"""Serialization of frozen values as JSON, driven by type hints.

Invariant: ``decode(type(value), encode(value)) == value`` for every request and result
(``tests/server/test_resident_wire.py``). Knows dataclasses, tuples, mappings, unions, enums, dates
and paths, and nothing of what they mean. What comes from outside is checked as it is decoded.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from store.errors import InvalidInput

T = TypeVar("T")


def encode(value: object) -> Any:
    """What ``json.dumps`` takes."""
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(encode(key)): encode(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def decode(kind: type[T], data: object, where: str = "the body") -> T:
    """The value that ``data`` stands for.

    :raises InvalidInput: if it is no such value; the message says where.
    """
    return cast(T, _decoded(kind, data, where))


@cache
def hints(kind: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


def _decoded(kind: Any, data: Any, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return data
    if origin in (Union, types.UnionType):
        return _one_of(arguments, data, where)
    if origin is Literal:
        return _checked(data in arguments, data, where, f"one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        _checked(isinstance(data, list), data, where, "a list")
        if arguments[-1] is Ellipsis:
            return tuple(_decoded(arguments[0], x, f"{where}[{n}]") for n, x in enumerate(data))
        _checked(len(data) == len(arguments), data, where, f"a list of {len(arguments)}")
        return tuple(_decoded(k, x, where) for k, x in zip(arguments, data, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        _checked(isinstance(data, dict), data, where, "an object")
        return {key: _decoded(arguments[1], x, f"{where}.{key}") for key, x in data.items()}
    if is_dataclass(kind):
        return _instance(kind, data, where)
    return _plain(kind, data, where)


def _one_of(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in kinds:
        return None
    left = [kind for kind in kinds if kind is not type(None)]
    if type(data) in left:
        return data
    problem: InvalidInput | None = None
    for kind in left:
        try:
            return _decoded(kind, data, where)
        except InvalidInput as error:
            problem = error
    raise problem or InvalidInput(f"{where} must not be null.")


def _instance(kind: Any, data: Any, where: str) -> Any:
    _checked(isinstance(data, dict), data, where, "an object")
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(data.keys() - known.keys()):
        raise InvalidInput(f"{where} has no field {unknown[0]!r}. Fields: {', '.join(known)}.")
    for name, field in known.items():
        if name not in data and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{where} lacks the field {name!r}.")
    types_of = hints(kind)
    return kind(
        **{name: _decoded(types_of[name], x, f"{where}.{name}") for name, x in data.items()}
    )


def _plain(kind: type[Any], data: Any, where: str) -> Any:
    if kind is float:
        number = isinstance(data, int | float) and not isinstance(data, bool)
        return float(_checked(number, data, where, "a number"))
    if kind in (str, int, bool):
        return _checked(type(data) is kind, data, where, _NAMES[kind])
    try:
        if kind is datetime:
            moment = datetime.fromisoformat(data)
            return _checked(moment.tzinfo is not None, moment, where, "a time with an offset")
        return kind(data)  # an enum or a path
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{where} is no {kind.__name__}.") from error


_NAMES = {str: "a text", int: "a whole number", bool: "true or false"}


def _checked(holds: bool, data: Any, where: str, wanted: str) -> Any:
    if not holds:
        raise InvalidInput(f"{where} must be {wanted}.")
    return data
