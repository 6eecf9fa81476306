"""Edits of JSON text that leave every other character where it is.

A value is looked up by the path to it; the text is only cut or added to at that place. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object, or an element of an array."""

    key: str | None
    start: int
    """Where it begins: at its name, if it has one."""
    value: int
    """Where its value begins."""
    end: int
    """Behind its value."""


def items(text: str, at: int) -> tuple[JsonItem, ...]:
    """What an object or array that begins at ``at`` holds; the text is known to be JSON."""
    return tuple(_items(text, at))


def _items(text: str, at: int) -> Iterator[JsonItem]:
    named = text[at] == "{"
    at = _skipped(text, at + 1)
    while text[at] not in "}]":
        start, key = at, None
        if named:
            key, at = _DECODER.raw_decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield JsonItem(key, start, at, end)
        at = _skipped(text, end)
        if text[at] == ",":
            at = _skipped(text, at + 1)


def member(text: str, at: int, key: str) -> JsonItem | None:
    """The member of an object, by its name."""
    return next((item for item in items(text, at) if item.key == key), None)


def appended(text: str, at: int, item: str, indent: str, depth: int) -> str:
    """The text with one more item at the end of a container, ``depth`` levels deep."""
    gap = "\n" + indent * depth
    item = item.replace("\n", gap)
    if found := items(text, at):
        return f"{text[: found[-1].end]},{gap}{item}{text[found[-1].end :]}"
    end = _skipped(text, at + 1)
    return f"{text[: at + 1]}{gap}{item}\n{indent * (depth - 1)}{text[end:]}"


def removed(text: str, at: int, number: int) -> str:
    """The text without an item of a container."""
    found = items(text, at)
    if number:
        return text[: found[number - 1].end] + text[found[number].end :]
    if len(found) > 1:
        return text[: found[0].start] + text[found[1].start :]
    return text[: at + 1] + text[_skipped(text, found[0].end) :]


def indent_of(text: str) -> str:
    """The indent of a text; two blanks where it has none."""
    first = next((line for line in text.splitlines() if line[:1] in (" ", "\t")), "  ")
    return first[: len(first) - len(first.lstrip())] or "  "


def _skipped(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at
