"""Conversion of frozen values to plain JSON values.

Generic over dataclasses: a field added to ``Memory`` or ``Source`` is carried without a change
here. What cannot be read names the field and what is wrong with it.
"""

from __future__ import annotations

import base64
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
BYTES = "$base64"
"""The key of an object that stands for bytes."""

_PLAIN = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}


def to_plain(value: DataclassInstance) -> dict[str, object]:
    """Dataclasses become objects, tuples lists, times ISO 8601, enumerations their values."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return to_plain(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return {BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def from_plain(wanted: type[T], plain: object, where: str = "") -> T:
    """The value of dataclass ``wanted`` that ``to_plain`` made ``plain`` of.

    :raises ValueError: naming the field that is missing, unknown or of another kind.
    """
    hints = _hints(wanted)
    if isinstance(plain, list):  # the short form: fields by position
        if len(plain) > len(hints):
            raise ValueError(f"{where or wanted.__name__} has {len(plain)} values")
        plain = dict(zip(hints, plain, strict=False))
    if not isinstance(plain, Mapping):
        raise ValueError(f"{where or 'it'} is not an object")
    if unknown := sorted(str(key) for key in plain.keys() - hints.keys()):
        raise ValueError(f"{where and where + '.'}{unknown[0]} is not a known field")
    values = {}
    for field in fields(wanted):
        path = f"{where}.{field.name}" if where else field.name
        if field.name in plain:
            values[field.name] = _value(hints[field.name], plain[field.name], path)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{path} is missing")
    return wanted(**values)


@cache
def _hints(wanted: type[DataclassInstance]) -> dict[str, object]:
    return get_type_hints(wanted)


def _value(hint: object, plain: object, path: str) -> object:
    origin = get_origin(hint)
    if hint is Any:
        return plain
    if origin in (Union, types.UnionType):
        if plain is None:
            return None
        inner = [choice for choice in get_args(hint) if choice is not type(None)]
        return _value(inner[0], plain, path)
    if origin in (tuple, list, set, frozenset):
        if not isinstance(plain, list):
            raise ValueError(f"{path} is not a list")
        choices = get_args(hint)
        if origin is tuple and choices[-1] is not Ellipsis:
            if len(plain) != len(choices):
                raise ValueError(f"{path} has {len(plain)} values")
            pairs = zip(choices, plain, strict=True)
        else:
            pairs = zip([choices[0]] * len(plain), plain, strict=True)
        return origin(_value(c, item, f"{path}[{i}]") for i, (c, item) in enumerate(pairs))
    if origin is dict or hint is dict:
        if not isinstance(plain, dict):
            raise ValueError(f"{path} is not an object")
        return plain
    assert isinstance(hint, type), f"{path} has a type that is not supported: {hint}"
    return from_plain(hint, plain, path) if is_dataclass(hint) else _single(hint, plain, path)


def _single(hint: type, plain: object, path: str) -> object:
    if hint is datetime:
        try:
            moment = datetime.fromisoformat(plain) if isinstance(plain, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise ValueError(f"{path} is not a time with an offset: {plain!r:.60}")
        return moment
    if issubclass(hint, Enum):
        try:
            return hint(plain)
        except ValueError:
            known = ", ".join(str(item.value) for item in hint)
            raise ValueError(f"{path} is {plain!r:.60}, not one of {known}") from None
    right = isinstance(plain, hint) and (hint is bool or not isinstance(plain, bool))
    if not right:
        raise ValueError(f"{path} is not {_PLAIN.get(hint, hint.__name__)}")
    if isinstance(plain, str):
        if "\x00" in plain:
            raise ValueError(f"{path} holds a NUL character")
        try:
            plain.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{path} holds half a character (a lone surrogate)") from None
    return plain
