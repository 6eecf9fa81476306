"""Homes to export, and what tests of exports ask of them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent.io.transfer.export import export_jsonl, export_markdown
from agent.io.transfer.import_ import Imported, import_file
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.types import Draft, SourceKind, Span, Status, Triple, Trust
from tests.conftest import NOW


def no_place(texts: Sequence[str]) -> list[str]:
    raise AssertionError("an export knows where its memories belong")


def take_in(path: Path, home: Path, form: str = "jsonl", **options: Any) -> Imported:
    return import_file(path, form, home, NOW, no_place, **options)


def draft(text: str, **more: Any) -> Draft:
    return Draft(text, more.pop("subclass", "preference.other"), NOW, **more)


def lines_of(home: Path) -> list[dict[str, Any]]:
    """The export of a home without its manifest."""
    out = io.StringIO()
    export_jsonl(home, out, NOW)
    return [json.loads(line) for line in out.getvalue().split("\n")[1:] if line]


def markdown_of(home: Path) -> str:
    out = io.StringIO()
    export_markdown(home, out, NOW)
    return out.getvalue()


def fill(graph: MemoryGraph) -> None:
    """A home with everything that a home can have."""
    source = graph.sources.add(
        SourceKind.NOTE, "I like tea.\r\n---\nid: x\n---\nI live in Bedok.", NOW, locator="/n/a.md"
    )
    graph.runs.add(graph.runs.start(NOW, "/n/a.md"), source.id)
    graph.sources.add(SourceKind.CHAT, "pending \U0001f9c1", NOW, place="home")
    triples = (Triple("me", "likes", "tea"), Triple("tea", "likes", "tea"))
    first = graph.apply(
        [
            Insert(draft("I like tea.", source=source.id, triples=triples, span=Span(0, 11))),
            Insert(draft("I live in Bedok.", subclass="attribute.address", place="Bedok\nNorth")),
            Insert(draft("Voucher ABC runs out.", valid_until=NOW + timedelta(days=3))),
            Insert(draft("I will be forgotten.", trust=Trust.SEEN)),
        ],
        at=NOW,
        source=source.id,
    )
    graph.form_consents.put("passport-number", "air.example", given=True, at=NOW)
    ids = [entry.memory for entry in first]
    graph.apply([Replace(ids[1], draft("I live in Jurong.", subclass="attribute.address"))], at=NOW)
    graph.apply([Amend(ids[0], text="I like green tea."), Expire(ids[2], NOW)], at=NOW)
    graph.apply([Forget(ids[3])], at=NOW)
    graph.apply([Insert(draft("This is taken back."))], at=NOW)
    graph.undo(at=NOW)
    trace = {"memories": [ids[0]], "edits": [], "steps": [{"memory": ids[0], "score": 0.5}]}
    graph.turns.log(NOW, "What do I like?", "retrieve", "Tea.", trace)


def texts(graph: MemoryGraph, *statuses: Status) -> set[str]:
    return {memory.text for memory in graph.memories.list(*statuses)}
