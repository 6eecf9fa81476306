"""A secret told in every place where memlane keeps something, and the look for it after."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from store.erasure.fingerprints import stream, windows
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, SourceKind, Span, Triple
from tests.conftest import NOW

SECRET = "My locker at the Quixotl pool opens with 4711-zebra."
OTHER = "My dentist is Dr. Osei."
RAW = f"Note to self. {SECRET} {OTHER}"


def draft(text: str, source: str | None = None, span: Span | None = None, *ends: str) -> Draft:
    triples = tuple(Triple("me", "has", end) for end in ends)
    return Draft(text, "attribute.belongings", NOW, triples, source=source, span=span)


def tell_a_secret(graph: MemoryGraph) -> MemoryGraph:
    """Two memories of one message, in every place where memlane keeps something."""
    raw = graph.sources.add(SourceKind.CHAT, RAW, NOW)
    start = RAW.index(SECRET)
    spans = (Span(start, start + len(SECRET)), Span(start + len(SECRET) + 1, len(RAW)))
    unit = np.eye(4, dtype=np.float32)
    graph.apply(
        [
            Insert(draft(SECRET, raw.id, spans[0], "the Quixotl pool locker")),
            Insert(draft(OTHER, raw.id, spans[1], "Dr. Osei")),
        ],
        at=NOW,
        source=raw.id,
        model="x",
        vectors={SECRET: unit[0], OTHER: unit[1]},
    )
    graph.turns.log(NOW, RAW, "update", f"Noted: {SECRET} (e1)", {"edits": ["e1", "e2"]})
    graph.turns.log(
        NOW, "How do I open my locker?", "retrieve", "With 4711-zebra.", {"memories": ["m1"]}
    )
    graph.turns.log(NOW, "Who is my dentist?", "retrieve", "Dr. Osei.", {"memories": ["m2"]})
    return graph


def void(_: object) -> None:
    """Nothing, whatever it is given."""


def bytes_of(home: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def nothing_left(home: Path, *texts: str) -> None:
    """No text, and no distinctive part of one, in any file."""
    data = bytes_of(home)
    folded = stream(data.decode("utf-8", "replace"))
    for text in texts:
        assert text.encode() not in data
        for window in windows(text):
            assert window not in folded, window
