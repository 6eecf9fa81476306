"""Front matter of notes: the fields between two lines of dashes at the top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from agent.extraction.documents.context import DocumentContext, DocumentLine, day_in
from agent.extraction.documents.wiki_links import plain_links
from store.types import Span

_KEEPING = frozenset(
    "tags tag aliases alias created modified updated date id uid cssclass cssclasses publish draft"
    " layout permalink template title type status author kind version".split()
)
"""Front matter that is about the file and not about the person."""
_WRITTEN = ("date", "created")
"""Fields that tell when a note was written."""


@dataclass(frozen=True, slots=True)
class NoteField:
    """A field: its name, its value in words, and where the line stands."""

    name: str
    value: str
    span: Span

    @property
    def tells(self) -> bool:
        """Whether it says something of the person or topic, and not of the file."""
        return bool(self.value) and self.name.lower() not in _KEEPING and "{{" not in self.value


def read_front_matter(text: str) -> tuple[tuple[NoteField, ...], int]:
    """The fields at the top of a note, and where the rest begins."""
    lines = text.splitlines(keepends=True)
    ruled = [number for number, line in enumerate(lines) if line.strip("\ufeff \t\r\n") == "---"]
    if len(ruled) < 2 or ruled[0] != 0:
        return (), 0
    fields: list[NoteField] = []
    at = len(lines[0])
    for line in lines[1 : ruled[1]]:
        _read_line(line, Span(at, at + len(line.rstrip())), fields)
        at += len(line)
    return tuple(fields), at + len(lines[ruled[1]])


def _read_line(line: str, span: Span, fields: list[NoteField]) -> None:
    """'name: value', or an item of the list that the field above has."""
    name, colon, value = line.partition(":")
    if colon and name[:1].isalpha():
        fields.append(NoteField(name.strip(), _plain(value), span))
    elif fields and line.strip().startswith("- "):
        last = fields.pop()
        value = ", ".join(filter(None, [last.value, _plain(line.strip()[2:])]))
        fields.append(NoteField(last.name, value, Span(last.span.start, span.end)))


def written_in(fields: tuple[NoteField, ...], captured: datetime) -> datetime | None:
    """The day that the fields tell the note was written on."""
    dates = [field.value for field in fields if field.name.lower() in _WRITTEN]
    days = [day for day, _ in (day_in(value, captured) for value in dates) if day is not None]
    return days[0] if days else None


def field_lines(
    fields: tuple[NoteField, ...], context: DocumentContext, *, dated: bool
) -> Iterator[DocumentLine]:
    """'The birthday of Mia Berg is 1991-04-08.'; of a note about its writer: 'My birthday is ...'.

    The fields of a note that is ``dated`` and names nothing are those of its day.
    """
    for field in fields:
        if not field.tells:
            continue
        if context.is_own:
            said = f"My {field.name} is {field.value}"
        elif context.title:
            said = f"The {field.name} of {context.title} is {field.value}"
        elif dated:
            said = f"The {field.name} on {context.written:%Y-%m-%d} is {field.value}"
        else:
            said = f"The {field.name} is {field.value}"
        yield DocumentLine("", said, context, field.span, literal=True)


def _plain(value: str) -> str:
    """A value without the marks of its format."""
    value = plain_links(value.strip())
    if value[:1] + value[-1:] == "[]":
        value = ", ".join(part.strip().strip("\"'") for part in value[1:-1].split(","))
    return value.strip("\"'").strip()
