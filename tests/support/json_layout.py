"""JSON documents as docs/cli.md shows them: in few lines, with what an example adds to another."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

WIDTH = 96
"""Columns of a printed document."""
MAPS = tuple(
    "counts dropped judged kept left memories new pairs sources state timing_ms unchanged "
    "written".split()
)
"""Objects by these names have a number for each kind that there is, so other homes have others."""
_DOTS = "..."


@dataclass(frozen=True, slots=True)
class Example:
    """What a command line printed with ``--json``."""

    command: tuple[str, ...]
    """The words that call the command."""
    line: str
    code: int
    """Its exit code."""
    documents: tuple[dict[str, Any], ...]

    @property
    def failed(self) -> bool:
        """Whether it is an error that was printed."""
        return any("error" in document for document in self.documents)


def shape(value: object, name: str = "") -> object:
    """The keys, types and nesting of a document, of a list those of one element."""
    if isinstance(value, dict):
        if name in MAPS:
            return {"*": shape(next(iter(value.values()), None))}
        return {key: shape(inside, key) for key, inside in value.items()}
    if isinstance(value, list):
        return [shape(fullest(value))] if value else []
    if value is None:
        return "null"
    return {bool: "boolean", str: "text"}.get(type(value), "number")


def fullest(values: Iterable[object]) -> object:
    """The first of the elements in which most is filled in."""
    return max(values, key=_filled)


def _filled(value: object) -> int:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return sum(map(_filled, inside))
    return value is not None


def block(shown: Iterable[Example]) -> str:
    """The examples of one command, fenced, each with what it adds to those before."""
    lines = ["```"]
    before: list[Mapping[str, Any]] = []
    for one in shown:
        lines.append(f"$ {one.line}")
        for document in one.documents:
            lines.append(_beside(document, before))
            before.append(document)
    return "\n".join([*lines, "```"]).replace(f'"{_DOTS}": "{_DOTS}"', _DOTS)


def brief(one: Example, memory: Collection[str]) -> Example:
    """The example with each memory cut to id and text; ``memory`` are the keys that it has."""

    def cut(value: object) -> object:
        if isinstance(value, list):
            return [cut(element) for element in value]
        if not isinstance(value, dict):
            return value
        if value.keys() >= set(memory):
            more = {key: value[key] for key in value if key not in memory}
            return {"id": value["id"], "text": value["text"], _DOTS: _DOTS, **more}
        return inside(value)

    def inside(document: dict[str, object]) -> dict[str, object]:
        return {key: cut(element) for key, element in document.items()}

    return replace(one, documents=tuple(map(inside, one.documents)))


def _beside(document: dict[str, Any], before: Iterable[Mapping[str, Any]]) -> str:
    """A document, or what it has more than an earlier one with the same keys."""
    whole = layout(document)
    others = [other for other in before if other.keys() <= document.keys()]
    if not others or "\n" not in whole:
        return whole
    other = max(others, key=len)
    new = {
        key: value
        for key, value in document.items()
        if key not in other or _adds(shape(value, key), shape(other[key], key))
    }
    return layout({_DOTS: _DOTS, **new})


def _adds(new: object, old: object) -> bool:
    """Whether a shape shows something that the other one does not."""
    if isinstance(new, dict) and isinstance(old, dict):
        return any(key not in old or _adds(one, old[key]) for key, one in new.items())
    if isinstance(new, list) and isinstance(old, list):
        return bool(new) and (not old or _adds(new[0], old[0]))
    return new not in ("null", old)


def layout(value: object, indent: int = 0, column: int = 0) -> str:
    """JSON in few lines of ``WIDTH`` columns; only a long text makes one longer.

    The first line begins at ``column``, those that follow are indented by more than ``indent``.
    """
    flat = json.dumps(value, ensure_ascii=False)
    if column + len(flat) <= WIDTH or not isinstance(value, dict | list):
        return flat
    named = isinstance(value, dict)
    inside = value.items() if isinstance(value, dict) else [("", one) for one in value]
    text, column, part = "{" if named else "[", column + 1, ""
    for number, (key, one) in enumerate(inside):
        label = f"{json.dumps(key)}: " if named else ""
        length = len(label + json.dumps(one, ensure_ascii=False))
        if number and ("\n" in part or column + length + 4 > WIDTH):
            text, column = f"{text},\n{' ' * (indent + 1)}", indent + 1
        elif number:
            text, column = f"{text}, ", column + 2
        part = label + layout(one, indent + 1, column + len(label) + 1)
        text, column = text + part, column + len(part)
    return text + ("}" if named else "]")
