"""Frozen values as plain JSON values and back: for exports and for the resident process.

Driven by type hints: a field added to a dataclass is carried without a change here. Invariant:
``decode(type(value), encode(value)) == value`` (``tests/server/test_resident_wire.py``,
``tests/io/test_export_properties.py``). What comes from outside is checked as it is decoded, and
what cannot be read names the field and what is wrong with it.
"""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import (
    Any,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from store.errors import InvalidInput

T = TypeVar("T")
BYTES = "$base64"
"""The key of an object that stands for bytes."""

_PLAIN = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}
_WHOLE = range(-(2**63), 2**63)
"""The whole numbers that a database column holds."""


def parse(text: str | bytes) -> Any:
    """What a JSON document says, which is not known to fit anything yet.

    :raises InvalidInput: if it is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise InvalidInput("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start + 1}") from None
    except ValueError:  # a number of thousands of digits
        raise InvalidInput("not JSON: a number is too long") from None


def _no_number(name: str) -> NoReturn:
    raise InvalidInput(f"not JSON: {name} is no number")


def encode(value: object) -> Any:
    """What ``json.dumps`` takes: dataclasses become objects, tuples lists, times ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bytes):
        return {BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(encode(key)): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(item) for item in value]
    return value


def decode(kind: type[T], plain: object, where: str = "") -> T:
    """The value that ``encode`` made ``plain`` of; ``where`` is what it is called.

    :raises InvalidInput: naming the field that is missing, unknown or of another kind.
    """
    return cast(T, _decoded(kind, plain, where))


@cache
def hints(kind: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


def _decoded(kind: Any, plain: Any, path: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return plain
    if origin in (Union, types.UnionType):
        return _one_of(inner, plain, path)
    if origin is Literal:
        _check(plain in inner, path, f"is not one of {', '.join(map(str, inner))}")
        return plain
    if origin in (tuple, list, set, frozenset):
        return origin(_items(origin is tuple, inner, plain, path))
    if kind is dict or (origin is not None and issubclass(origin, Mapping)):
        _check(isinstance(plain, dict), path, "is not an object")
        item = inner[1] if inner else Any
        return {key: _decoded(item, x, _below(path, key)) for key, x in plain.items()}
    return _instance(kind, plain, path) if is_dataclass(kind) else _single(kind, plain, path)


def _items(fixed: bool, kinds: tuple[Any, ...], plain: Any, path: str) -> list[Any]:
    _check(isinstance(plain, list), path, "is not a list")
    if not fixed or kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(plain)
    _check(len(kinds) == len(plain), path, f"has {len(plain)} values, not {len(kinds)}")
    pairs = enumerate(zip(kinds, plain, strict=True))
    return [_decoded(kind, item, f"{path}[{number}]") for number, (kind, item) in pairs]


def _one_of(kinds: tuple[Any, ...], plain: Any, path: str) -> Any:
    if plain is None and type(None) in kinds:
        return None
    left = [kind for kind in kinds if kind is not type(None)]
    # One that it is already goes first: 1 is no 1.0 where both may be.
    left.sort(key=lambda kind: kind is not type(plain))
    for kind in left[:-1]:
        try:
            return _decoded(kind, plain, path)
        except InvalidInput:
            continue
    return _decoded(left[-1], plain, path)


def _instance(kind: Any, plain: Any, path: str) -> Any:
    types_of = hints(kind)
    if isinstance(plain, list):  # the short form: fields by position
        _check(len(plain) <= len(types_of), path, f"has {len(plain)} values")
        plain = dict(zip(types_of, plain, strict=False))
    _check(isinstance(plain, dict), path, "is not an object")
    for name in sorted(plain.keys() - types_of.keys()):
        _check(False, _below(path, name), "is not a known field")
    values = {}
    for field in fields(kind):
        below = _below(path, field.name)
        if field.name in plain:
            values[field.name] = _decoded(types_of[field.name], plain[field.name], below)
        else:
            has_one = field.default is not MISSING or field.default_factory is not MISSING
            _check(has_one, below, "is missing")
    return kind(**values)


def _single(kind: Any, plain: Any, path: str) -> Any:
    if kind is datetime:
        return _moment(plain, path)
    if kind is Path:
        _check(isinstance(plain, str) and "\x00" not in plain, path, "is not a path")
        return Path(plain)
    if issubclass(kind, Enum):
        known = {item.value: item for item in kind}
        said = f"is {plain!r:.60}, not one of {', '.join(map(str, known))}"
        _check(isinstance(plain, str | int) and plain in known, path, said)
        return known[plain]
    right = isinstance(plain, int | float if kind is float else kind)
    _check(right and (kind is bool or not isinstance(plain, bool)), path, f"is not {_PLAIN[kind]}")
    if isinstance(plain, str):
        _check("\x00" not in plain, path, "holds a NUL character")
        _check(is_whole(plain), path, "holds half a character (a lone surrogate)")
    elif isinstance(plain, int) and not isinstance(plain, bool):
        _check(plain in _WHOLE, path, "is too large a number")
    return float(plain) if kind is float else plain


def _moment(plain: Any, path: str) -> datetime:
    try:
        moment = datetime.fromisoformat(plain) if isinstance(plain, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidInput(f"{path} is not a time with an offset: {plain!r:.60}")
    return moment


def is_whole(text: str) -> bool:
    """Whether a text has no half characters, which no file and no database takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _below(path: str, name: str) -> str:
    # Quoted where the name is not one of ours: it may be anything.
    name = name if name.isidentifier() and name.isascii() else repr(name)[:60]
    return f"{path}.{name}" if path else name


def _check(holds: bool, path: str, said: str) -> None:
    if not holds:
        raise InvalidInput(f"{path or 'it'} {said}")
