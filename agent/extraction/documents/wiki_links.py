"""Wiki links in notes (``[[Mia]]``) as text and relations.

Whoever writes ``[[Mia]]`` says that Mia is someone or something with a name of its own. So a memory
whose sentence names a link of its note carries a relation to it, whatever else it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from agent.extraction.triples.patterns import ME
from store.row_codecs import entity_key
from store.types import Source, Triple

MENTIONS = "mentions"
_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """One link: the name of what it leads to, and the words that stand in the text."""

    name: str
    shown: str


def links(text: str) -> tuple[Link, ...]:
    """The links of a text, each once; pictures and files that are put in are none."""
    found = (_read(match) for match in _LINK.finditer(text) if not match[1])
    return tuple(dict.fromkeys(link for link in found if link.name))


def plain_links(text: str) -> str:
    """The text with the words of its links in place of them."""
    return _LINK.sub(lambda match: "" if match[1] else _read(match).shown, text)


def _read(match: re.Match[str]) -> Link:
    """'Family/Mia#Birthday' leads to 'Mia'."""
    page = match[2].split("#")[0].split("^")[0]
    name = " ".join(page.rsplit("/", 1)[-1].removesuffix(".md").split())
    shown = " ".join((match[3] or name or match[2].strip("#^")).split())
    return Link(name, shown)


def with_links(
    triples: tuple[Triple, ...], sentence: str, source: Source, found: Iterable[Link]
) -> tuple[Triple, ...]:
    """The relations of a memory, and one to each link that its sentence names."""
    ends = {entity_key(end) for triple in triples for end in (triple.head, triple.tail)}
    head = title_of(source) or ME
    added = [
        Triple(head, MENTIONS, link.name)
        for link in found
        if entity_key(link.name) not in ends | {entity_key(head)}
        and re.search(rf"(?<!\w){re.escape(link.shown)}(?!\w)", sentence, re.IGNORECASE)
    ]
    return (*triples, *dict.fromkeys(added))


def title_of(source: Source) -> str:
    """What a note is called: its first heading of the first level, else its file."""
    if heading := re.search(r"^#[ \t]+(.+?)[ \t]*#*$", source.text, re.M):
        return plain_links(heading[1]).strip()
    return PurePath(source.locator).stem if source.locator else ""
