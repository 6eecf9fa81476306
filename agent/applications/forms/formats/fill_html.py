"""Filled HTML pages; only filled tags change.

Nothing is written anew: the page is read once more, and each value is put where it belongs in the
text itself. Invariants: what is not filled stays as it was, character by character; a value never
ends the attribute or element it stands in; what a text field or textarea holds already stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from agent.applications.forms.formats.html import read_page
from agent.applications.forms.formats.page import Page, Spot, Tag
from agent.results import FilledField, Value

_ATTRIBUTE = re.compile(
    r"""(?P<space>[\s/]+)(?P<name>[^\s"'<>/=][^\s/>=]*)
        (?:(?P<equals>\s*=\s*)(?P<value>"[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?""",
    re.VERBOSE,
)
_START = re.compile(r"<[a-zA-Z][^\s/>]*")


_Change = tuple[int, int, str]
"""Where the page changes, from and up to, and the text that stands there then."""


def fill_page(text: str, results: Sequence[FilledField]) -> str:
    """The page with the results of its fields, which are in the order of the page.

    :raises ValueError: if there are not as many results as fields.
    """
    page = read_page(text)
    changes = sorted(_changes(page, results), key=lambda change: change[0])
    pieces: list[str] = []
    done = 0
    for start, end, new in changes:
        pieces += [text[done:start], new]
        done = end
    return "".join((*pieces, text[done:]))


def _changes(page: Page, results: Sequence[FilledField]) -> Iterator[_Change]:
    for field, spot, result in zip(page.fields, page.spots, results, strict=True):
        if result.value is None:
            continue
        if field.type in ("select", "radio") and spot.choices:
            mark = "selected" if field.type == "select" else "checked"
            yield from _chosen(spot, mark, result.value)
        elif field.type in ("checkbox", "radio"):
            if result.value is True:
                yield _tagged(spot.tag, _with(spot.tag.raw, "checked"))
        elif field.type == "textarea":
            if spot.closes == spot.tag.end:
                yield spot.tag.end, spot.tag.end, escape(str(result.value), quote=False)
        elif not _value_of(spot.tag.raw, "value"):
            yield _tagged(spot.tag, _with(spot.tag.raw, "value", str(result.value)))


def _chosen(spot: Spot, mark: str, value: Value) -> Iterator[_Change]:
    """The first choice with this value marked, and no other."""
    chosen = next((tag for tag in spot.choices if tag.value == str(value)), None)
    if chosen is None:
        return
    for tag in spot.choices:
        raw = _with(tag.raw, mark) if tag is chosen else _without(tag.raw, mark)
        if raw != tag.raw:
            yield _tagged(tag, raw)


def _tagged(tag: Tag, raw: str) -> _Change:
    return tag.start, tag.end, raw


def _attributes(raw: str) -> Iterator[re.Match[str]]:
    start = _START.match(raw)
    place = start.end() if start else len(raw)
    while found := _ATTRIBUTE.match(raw, place):
        yield found
        place = found.end()


def _value_of(raw: str, name: str) -> str:
    """What the tag's own text says of an attribute; empty where it does not have it."""
    found = next((a for a in _attributes(raw) if a["name"].lower() == name), None)
    return (found["value"] or "").strip("\"'").strip() if found else ""


def _with(raw: str, name: str, value: str | None = None) -> str:
    """The start tag with an attribute set, in its place where it has one already."""
    shown = name if value is None else f'{name}="{escape(" ".join(value.split()))}"'
    found = next((a for a in _attributes(raw) if a["name"].lower() == name), None)
    if found is not None:
        return raw[: found.start("name")] + shown + raw[found.end() :]
    start = _START.match(raw)
    place = start.end() if start else 1
    return f"{raw[:place]} {shown}{raw[place:]}"


def _without(raw: str, name: str) -> str:
    """The start tag without an attribute."""
    found = next((a for a in _attributes(raw) if a["name"].lower() == name), None)
    return raw if found is None else raw[: found.start()] + raw[found.end() :]
