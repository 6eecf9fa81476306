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
from collections.abc import Callable, Mapping
from contextlib import suppress
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
    try:
        return cast(T, _reader(cast(Any, kind))(plain))
    except _Refused as refused:
        raise InvalidInput(refused.told(where)) from None


@cache
def hints(kind: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


_Reader = Callable[[Any], Any]


class _Refused(Exception):
    """What is wrong with a value, and the way to it: the innermost name first."""

    def __init__(self, said: str, *names: str) -> None:
        self._said = said
        self._names = list(names)

    def below(self, name: str) -> _Refused:
        self._names.append(name)
        return self

    def told(self, where: str) -> str:
        path = where
        for name in reversed(self._names):
            path += name if name.startswith("[") or not path else f".{name}"
        return f"{path or 'it'} {self._said}"


@cache
def _reader(kind: Any) -> _Reader:
    """What reads values of a kind. Made once: an import reads the same kinds very often."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda plain: plain
    if origin in (Union, types.UnionType):
        return _one_of(inner)
    if origin is Literal:
        return _literal(inner)
    if origin in (tuple, list, set, frozenset):
        return _items(origin, inner)
    if kind is dict or (origin is not None and issubclass(origin, Mapping)):
        return _mapping(inner[1] if inner else Any)
    return _instance(kind) if is_dataclass(kind) else _single(kind)


def _literal(allowed: tuple[Any, ...]) -> _Reader:
    def read(plain: Any) -> Any:
        if plain not in allowed:
            raise _Refused(f"is not one of {', '.join(map(str, allowed))}")
        return plain

    return read


def _mapping(kind: Any) -> _Reader:
    item = _reader(kind)

    def read(plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise _Refused("is not an object")
        key = ""
        try:
            return {(key := name): item(value) for name, value in plain.items()}
        except _Refused as refused:
            raise refused.below(_called(key)) from None

    return read


def _items(kind: Any, kinds: tuple[Any, ...]) -> _Reader:
    fixed = kind is tuple and kinds[-1] is not Ellipsis
    readers = [_reader(one) for one in (kinds if fixed else kinds[:1])]

    def read(plain: Any) -> Any:
        if not isinstance(plain, list):
            raise _Refused("is not a list")
        if fixed and len(readers) != len(plain):
            raise _Refused(f"has {len(plain)} values, not {len(readers)}")
        own = readers if fixed else readers * len(plain)
        number = 0
        found = []
        try:
            for number, item in enumerate(plain):
                found.append(own[number](item))
        except _Refused as refused:
            raise refused.below(f"[{number}]") from None
        return kind(found)

    return read


def _one_of(kinds: tuple[Any, ...]) -> _Reader:
    or_none = type(None) in kinds
    left = [(kind, _reader(kind)) for kind in kinds if kind is not type(None)]
    alone = left[0][1] if len(left) == 1 else None

    def read(plain: Any) -> Any:
        if plain is None and or_none:
            return None
        if alone is not None:
            return alone(plain)
        # One that it is already goes first: 1 is no 1.0 where both may be.
        ordered = sorted(left, key=lambda one: one[0] is not type(plain))
        for _, reader in ordered[:-1]:
            with suppress(_Refused):
                return reader(plain)
        return ordered[-1][1](plain)

    return read


def _instance(kind: Any) -> _Reader:
    plan: list[tuple[str, _Reader, bool]] = []
    names: set[str] = set()

    def ready() -> None:  # at the first use: a class may have fields of its own kind
        of = hints(kind)
        for field in fields(kind):
            has_one = field.default is not MISSING or field.default_factory is not MISSING
            plan.append((field.name, _reader(of[field.name]), has_one))
        names.update(of)

    def read(plain: Any) -> Any:
        if not plan:
            ready()
        if isinstance(plain, list):  # the short form: fields by position
            if len(plain) > len(names):
                raise _Refused(f"has {len(plain)} values")
            plain = dict(zip(hints(kind), plain, strict=False))
        if not isinstance(plain, dict):
            raise _Refused("is not an object")
        if not names.issuperset(plain):
            raise _Refused("is not a known field", _called(min(plain.keys() - names)))
        values = {}
        name = ""
        try:
            for name, reader, has_one in plan:
                if name in plain:
                    values[name] = reader(plain[name])
                elif not has_one:
                    raise _Refused("is missing")
        except _Refused as refused:
            raise refused.below(name) from None
        return kind(**values)

    return read


def _single(kind: Any) -> _Reader:
    if kind is datetime:
        return _moment
    if kind is Path:
        return _path
    if kind is str:
        return _text
    if issubclass(kind, Enum):
        return _enum({item.value: item for item in kind})
    wanted = int | float if kind is float else kind

    def read(plain: Any) -> Any:
        if not isinstance(plain, wanted) or (kind is not bool and isinstance(plain, bool)):
            raise _Refused(f"is not {_PLAIN[kind]}")
        if isinstance(plain, int) and not isinstance(plain, bool) and plain not in _WHOLE:
            raise _Refused("is too large a number")
        return float(plain) if kind is float else plain

    return read


def _enum(known: dict[Any, Any]) -> _Reader:
    def read(plain: Any) -> Any:
        if not isinstance(plain, str | int) or plain not in known:
            raise _Refused(f"is {plain!r:.60}, not one of {', '.join(map(str, known))}")
        return known[plain]

    return read


def _text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise _Refused(f"is not {_PLAIN[str]}")
    if "\x00" in plain:
        raise _Refused("holds a NUL character")
    if not plain.isascii() and not is_whole(plain):
        raise _Refused("holds half a character (a lone surrogate)")
    return plain


def _path(plain: Any) -> Path:
    if not isinstance(plain, str) or "\x00" in plain:
        raise _Refused("is not a path")
    return Path(plain)


def _moment(plain: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(plain) if isinstance(plain, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _Refused(f"is not a time with an offset: {plain!r:.60}")
    return moment


def is_whole(text: str) -> bool:
    """Whether a text has no half characters, which no file and no database takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _called(name: str) -> str:
    # Quoted where the name is not one of ours: it may be anything.
    return name if name.isidentifier() and name.isascii() else repr(name)[:60]
