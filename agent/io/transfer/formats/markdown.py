"""Markdown records with YAML front matter.

A file holds one document or many, one after the other. A line of a body that begins like front
matter (``---``) is written with a backslash before it, which Markdown shows as it was. Reading a
document gives back exactly what was written, whatever its text is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

FENCE = "---"
_ESCAPED = re.compile(r"^\\+---", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_WORDS = frozenset("null true false yes no on off y n".split())
"""Bare words that YAML readers take for something else than text."""
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON allows inside quotes and YAML does not."""
_TO_ESCAPE = re.compile(r"^(\\*---)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """Front matter and the text below it."""

    line: int
    fields: dict[str, Any]
    body: str
    raw: str


def write(fields: dict[str, Any], body: str) -> str:
    """One document, ending in a newline."""
    head = "".join(f"{_scalar(key)}: {_scalar(value)}\n" for key, value in fields.items())
    escaped = _TO_ESCAPE.sub(r"\\\1", body)
    return f"{FENCE}\n{head}{FENCE}\n{escaped}\n"


def _scalar(value: object) -> str:
    """A value as YAML: bare where that is safe, else as JSON, which YAML reads as it is."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def read(lines: Iterable[str]) -> Iterator[Document | tuple[int, str, str]]:
    """The documents of a file, lazily; (line, reason, text) for one that cannot be read.

    ``lines`` end in newlines, and only those end a line.
    """
    for number, head, body in _split(lines):
        raw = f"{FENCE}\n{head}{FENCE}\n{body}"
        try:
            fields = _parse(head)
        except ValueError as error:
            yield number, str(error), raw
            continue
        yield Document(number, fields, _unescaped(body), raw)


def _parse(head: str) -> dict[str, Any]:
    import yaml

    try:
        fields = yaml.load(head, Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in its line {mark.line + 2}" if mark else ""
        reason = getattr(error, "problem", None) or "it cannot be read"
        raise ValueError(f"the front matter is not YAML: {reason}{where}") from None
    except RecursionError:
        raise ValueError("the front matter is nested too deeply") from None
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise ValueError("the front matter has no fields")
    return fields


def _split(lines: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """(line number, front matter, body) of each document."""
    start, head, body = 0, [""], [""]
    inside = "before"
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix("\ufeff")
        fence = line.rstrip(" \t\r\n") == FENCE
        if fence and inside != "head":
            if inside == "body":
                yield start, "".join(head), "".join(body)
            start, head, body, inside = number, [], [], "head"
        elif fence:
            inside = "body"
        elif inside == "head":
            head.append(line)
        elif inside == "body":
            body.append(line)
        elif line.strip():
            # Text before any front matter: a document without fields, named as such.
            start, head, body, inside = number, [], [line], "body"
    if inside != "before":
        yield start, "".join(head), "".join(body)


def _unescaped(body: str) -> str:
    body = body.removesuffix("\n")
    return _ESCAPED.sub(lambda match: match.group()[1:], body)


@cache
def _loader() -> type[object]:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # PyYAML has no types
        """Reads null, true, false and numbers, but leaves dates and yes/no as they are written."""

        yaml_implicit_resolvers: ClassVar[dict[str | None, list[tuple[str, re.Pattern[str]]]]] = {
            first: [
                (tag, pattern)
                for tag, pattern in resolvers
                if tag.rsplit(":", 1)[-1] not in ("timestamp", "merge", "value", "bool")
            ]
            for first, resolvers in base.yaml_implicit_resolvers.items()
        }

    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile("(?:true|false)$"), list("tf")
    )
    return Loader
