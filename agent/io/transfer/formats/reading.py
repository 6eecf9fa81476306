"""Memories as one Markdown document for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from agent.results import phrase
from store.types import Memory, Source, Status, Subclass, Trust

TITLE = "# What memlane remembers"
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_<[]"})


def document(
    memories: Sequence[Memory],
    sources: Mapping[str, Source],
    subclasses: Sequence[Subclass],
    now: datetime,
) -> Iterator[str]:
    """The document, line by line: what is true under its type and subclass, then what is over."""
    kept = [memory for memory in memories if memory.status is not Status.FORGOTTEN]
    holding = [memory for memory in kept if memory.holds_at(now)]
    over = [memory for memory in kept if not memory.holds_at(now)]
    yield f"{TITLE}\n\n{now:%Y-%m-%d}: {_counted(holding)}"
    yield f", and {len(over):,} no longer true.\n" if over else ".\n"
    order = {subclass.id: place for place, subclass in enumerate(subclasses)}
    names = {subclass.id: subclass for subclass in subclasses}
    holding.sort(key=lambda memory: (order.get(memory.subclass, len(order)), memory.created))
    for type_, of_type in groupby(holding, key=lambda memory: memory.type):
        yield f"\n## {type_.capitalize()}\n"
        for subclass, lines in groupby(of_type, key=lambda memory: memory.subclass):
            yield f"\n### {names[subclass].name if subclass in names else subclass}\n\n"
            yield from (_line(memory, sources) for memory in lines)
    if over:
        texts = {memory.id: memory.text for memory in kept}
        yield "\n## No longer true\n\n"
        yield from (_past(memory, texts) for memory in sorted(over, key=lambda m: m.created))


def _counted(memories: Sequence[Memory]) -> str:
    return "1 memory" if len(memories) == 1 else f"{len(memories):,} memories"


def _line(memory: Memory, sources: Mapping[str, Source]) -> str:
    about = [f"{memory.created:%Y-%m-%d}"]
    source = sources.get(memory.source or "")
    if source is not None and source.locator:
        about.append(source.locator.rsplit("/", 1)[-1])
    elif memory.trust not in (None, Trust.TOLD):
        about.append(phrase(memory.trust))
    if memory.valid_until:
        about.append(f"until {memory.valid_until:%Y-%m-%d %H:%M}")
    return f"- {_plain(memory.text)} ({_plain(', '.join(about))})\n"


def _past(memory: Memory, texts: Mapping[str, str]) -> str:
    now = texts.get(memory.replaced_by or "")
    until = f" until {memory.valid_until:%Y-%m-%d %H:%M}" if memory.valid_until else ""
    since = f" Now: {_plain(now)}" if now else ""
    return f"- {_plain(memory.text)} ({memory.created:%Y-%m-%d}{until}){since}\n"


def _plain(text: str) -> str:
    """On one line, with no character that Markdown would take for more than itself."""
    return " ".join(text.split()).translate(_ESCAPED)
