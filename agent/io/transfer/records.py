"""Export records, independent of the file format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.codec import decode, encode, parse
from store.errors import InvalidInput
from store.journal import Entry
from store.tables.sources import Turn
from store.types import Memory, Source, Subclass

VERSION = 2
"""Of the format. 1 had no counts and no checksum, and is read too."""
HEAD = "memlane"

Value = Subclass | Source | Entry | Memory | Turn


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table that no frozen value stands for."""

    table: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line (or a document) that cannot be taken in, and why."""

    line: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Record:
    """One value of an export and the line where it stands."""

    line: int
    value: Value | Row
    raw: str


KINDS: dict[str, type[Value | Row]] = {
    "subclass": Subclass,
    "source": Source,
    "edit": Entry,
    "memory": Memory,
    "turn": Turn,
    "row": Row,
}
"""In the order in which they are written: what others refer to comes first."""
NAMES = {wanted: name for name, wanted in KINDS.items()}


def to_document(value: Value | Row) -> dict[str, Any]:
    """The JSON object of a record; its ``kind`` says what it is."""
    name = NAMES[type(value)]
    plain = encode(value)
    if "kind" in plain:  # sources and edits have a kind of their own
        plain = {f"{name}_kind" if key == "kind" else key: item for key, item in plain.items()}
    return {"kind": name, **plain}


def from_document(document: Mapping[str, Any]) -> Value | Row:
    """The value of a JSON object.

    :raises ValueError: saying what is wrong with it.
    """
    name = document.get("kind")
    wanted = KINDS.get(name) if isinstance(name, str) else None
    if wanted is None:
        raise ValueError(f"kind is {name!r:.60}, not one of {', '.join(KINDS)}")
    own = f"{name}_kind"
    plain = {"kind" if key == own else key: item for key, item in document.items() if key != "kind"}
    if wanted is Subclass:
        plain.setdefault("single", False)  # version 1 left it out
    try:
        return decode(wanted, plain)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


def to_line(value: Value | Row) -> str:
    """One line of JSONL."""
    return json.dumps(to_document(value), ensure_ascii=False)


def from_line(line: str) -> Value | Row:
    """:raises ValueError: if the line is no record; its message says why in a few words."""
    try:
        document = parse(line)
    except InvalidInput as error:
        raise ValueError(str(error)) from None
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    return from_document(document)
