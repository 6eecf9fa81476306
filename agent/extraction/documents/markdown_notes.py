"""Standalone sentences from Markdown outlines, without a model.

A bullet such as 'next visit 12 May' says nothing by itself: what it is about stands above it, in
the headings and the bullets it lies under. Each bullet becomes one sentence that begins with that
context; a list of bare words stays together as one. Running text is left for the other ways of
extraction, with its headings in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.extraction.documents.wiki_links import plain_links
from agent.extraction.faithfulness import has_verb, is_clean
from agent.language.sentences import content, is_instruction, is_question, strip_wrapper

BARE = 3
"""Most words of a list item that says nothing alone, such as 'olive oil'."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(\S.*)$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_FIELD = re.compile(r"([A-Za-z][\w -]{0,30}):[ \t]*(\S.*)$")
_OWN = re.compile(r"(?:(?:since|from|as of|on|in) [^,]{2,30}? )?(?:I|We|My|Our)\b", re.IGNORECASE)
_KEEPING = frozenset(
    "tags tag aliases alias created modified updated date id uid cssclass cssclasses publish draft"
    " layout permalink template type status author kind version".split()
)
"""Front matter that is about the file and not about the person."""
_GENERIC = frozenset(
    "notes note info information details misc miscellaneous todo to-do todos tasks links log"
    " general other various inbox today journal diary facts summary overview".split()
)
"""Headings that tell nothing about what stands below them."""
_LISTS = _GENERIC | frozenset(
    "list remember reminder reminders memo memos things important quick daily weekly monthly my the"
    " to do of for and self monday tuesday wednesday thursday friday saturday sunday week".split()
)
"""Words of headings that add nothing to a whole sentence: 'Monday list', 'To remember'."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What the bullets of a note state, and the rest of its text."""

    memories: tuple[str, ...]
    rest: str


@dataclass(slots=True)
class _Item:
    """A bullet with what lies under it."""

    indent: int
    text: str
    done: str | None
    """'x' or ' ' of a check box; None where there is none."""
    context: tuple[str, ...]
    below: list[_Item] = field(default_factory=list)


def read_outline(text: str) -> Outline:
    """State the bullets that stand under a heading; everything else comes back as it is."""
    text, front = _front_matter(text)
    if not re.search(r"^#{1,6}[ \t]+\S", text, re.M):
        return Outline((), "\n".join([*front, plain_links(text)]))
    rest: list[str] = list(front)
    memories: list[str] = []
    headings: list[tuple[int, str]] = []
    items: list[_Item] = []
    fenced = False

    def flush() -> None:
        memories.extend(_stated(items))
        items.clear()

    for line in plain_links(text).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            continue
        if heading := _HEADING.match(line):
            flush()
            level = len(heading[1])
            headings = [(depth, name) for depth, name in headings if depth < level]
            headings.append((level, _bare(heading[2])))
            rest.append(line)
        elif headings and (bullet := _BULLET.match(line)):
            indent = len(bullet[1].expandtabs(4))
            context = tuple(name for _, name in headings)
            _place(items, _Item(indent, _bare(bullet[3]), bullet[2], context))
        elif items and line.strip() and line[:1] in " \t":
            last = items[-1]
            while last.below:
                last = last.below[-1]
            last.text += f" {_bare(line)}"  # a bullet that goes on
        else:
            if line.strip():
                flush()
            rest.append(line)
    flush()
    if memories and not any(line.strip() and not _HEADING.match(line) for line in rest):
        rest = []  # headings whose bullets are stated have nothing left to say
    return Outline(tuple(dict.fromkeys(memories)), "\n".join(rest))


def _front_matter(text: str) -> tuple[str, list[str]]:
    """The text without its YAML front matter, and the fields in it that are no bookkeeping."""
    match = re.match(r"\ufeff?---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", text, re.S)
    if match is None:
        return text, []
    fields = (_FIELD.match(line) for line in match[1].splitlines())
    kept = [
        f"{found[1]}: {found[2]}" for found in fields if found and found[1].lower() not in _KEEPING
    ]
    return text[match.end() :], kept


def _place(items: list[_Item], item: _Item) -> None:
    """Put a bullet under the one that it is indented below."""
    siblings = items
    while siblings and item.indent > siblings[-1].indent:
        siblings = siblings[-1].below
    siblings.append(item)


def _stated(items: Sequence[_Item], above: tuple[str, ...] = ()) -> Iterator[str]:
    bare = [item for item in items if _is_bare(item)]
    if len(bare) > 1 and len(bare) == len(items):
        yield _sentence((*items[0].context, *above), ", ".join(item.text for item in bare))
        return
    for item in items:
        context = (*item.context, *above)
        name = item.text.rstrip(":： ")
        if item.below and (item.text != name or len(name.split()) <= 2 * BARE):
            yield from _stated(item.below, (*above, name))
            continue
        if not (is_instruction(item.text) or (item.done is None and is_question(item.text))):
            state = {None: "", " ": "to do: "}.get(item.done, "done: ")
            stripped = strip_wrapper(item.text)
            changed = stripped and stripped.lower() != item.text.lower()  # else only its capital
            said = stripped if changed and not state else item.text
            yield _sentence(() if _stands_alone(said) else context, state + said)
        yield from _stated(item.below, (*above, name))


def _stands_alone(said: str) -> bool:
    """Whether a bullet is a sentence about the writer: 'My gym is Fit24' needs no heading."""
    return _OWN.match(said) is not None and has_verb(said) and is_clean(said)


def _is_bare(item: _Item) -> bool:
    short = len(item.text.split()) <= BARE and not item.below and item.done is None
    return short and not re.search(r"\d|[:：.!?]", item.text) and not has_verb(item.text)


def _sentence(context: Sequence[str], said: str) -> str:
    """'Trip to Rome, Hotel: booked for three nights.'; what the bullet says itself is left out."""
    known = content(said)
    whole = said[:1].isupper() and has_verb(said)
    above = [name for name in context if not _is_generic(name, whole=whole)][-2:]
    above = [name for name in above if not content(name) or not content(name) <= known]
    ended = said if re.search(r"[.!?。！？]$", said) else f"{said}."
    return f"{', '.join(above)}: {ended}" if above else ended[:1].upper() + ended[1:]


def _is_generic(heading: str, *, whole: bool) -> bool:
    """Whether a heading names nothing, beside a ``whole`` sentence or a mere piece of one."""
    if heading.lower() in _GENERIC:
        return True
    said = set(re.findall(r"[\w-]+", heading.lower()))
    return whole and len(said) > 0 and said <= _LISTS


def _bare(text: str) -> str:
    """Without marks of emphasis."""
    text = re.sub(r"(\*\*|__|==|~~|`)(?=\S)(.+?)(?<=\S)\1", r"\2", text.strip())
    return re.sub(r"(?<![\w*])[*_](?=\S)([^*_]+?)(?<=\S)[*_](?![\w*])", r"\1", text)
