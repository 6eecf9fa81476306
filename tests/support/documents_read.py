"""A document as it is read: its text, and what it gives a home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.extraction.documents.sections import part_of
from agent.io.ingest import kind_of
from agent.io.sources.documents.read import read_document
from agent.ports import TextLine
from agent.session.session import Session
from store.types import Memory, Status


class NoReader:
    def read(self, image: Path) -> list[TextLine]:
        raise AssertionError("a page with text needs no OCR")


def text_of(path: Path, data: bytes, reader: Any = None) -> str:
    kind = kind_of(path)
    assert kind is not None
    path.write_bytes(data)
    return read_document(path, data, kind, reader or NoReader(), path.parent)


def taken(session: Session, path: Path, data: bytes) -> dict[str, tuple[str | None, Memory]]:
    """What a file gives: each memory with the place that it stands at."""
    path.write_bytes(data)
    (report,) = session.ingest([path])
    assert report.status in ("new", "changed"), report.reason
    assert report.source is not None
    source = session.graph.sources.get(report.source)
    held = [m for m in session.graph.memories.made_from(source.id) if m.status is Status.CURRENT]
    assert session.graph.verify() == ()
    return {memory.text: (part_of(source, memory.span), memory) for memory in held}
