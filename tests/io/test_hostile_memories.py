"""Very long memories, emoji, right-to-left text and SQL as names go in, come out and are found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from agent.extraction.triples.read import triples_for
from agent.io.transfer.import_ import import_file
from agent.io.transfer.records import to_line
from agent.memory.editing.candidates import Nearby
from agent.memory.editing.plan import plan_edits
from agent.ports import Embedder
from store.graph import MemoryGraph
from store.types import Draft, Memory, Triple

NOW = datetime(2024, 5, 8, 9, tzinfo=UTC)
SQL = "Robert'); DROP TABLE memories;--"
TEXTS = {
    "long": "I keep a diary: " + "today was a good day and tomorrow will be one. " * 213 + "End.",
    "one word": "x" * 10_000,
    "emoji": "My cat 🐈‍⬛ loves 👨‍👩‍👧‍👦 and 🇳🇴 on \u200bTuesdays.",
    "arabic": "أعيش في دبي منذ عام ٢٠٢٠.",
    "hebrew": "\u202eאני גר בתל אביב\u202c and work there.",
    "sql": f"My brother's name is {SQL}.",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_planned_stored_found_and_undone(tmp_path: Path, embedder: Embedder, text: str):
    (triples,) = triples_for([text], None)
    draft = Draft(text, "event.life", NOW, (*triples, Triple("me", "knows", SQL)))
    vector = embedder.encode([text])[0]
    with MemoryGraph.open(tmp_path / "home") as graph:
        near = Nearby(graph, embedder.identity, NOW)
        plan = plan_edits([draft], lambda d: near.to(d, vector), {})
        graph.apply(plan.edits, at=NOW, model=embedder.identity, vectors={draft.text: vector})
        (stored,) = graph.memories.list()
        assert stored.text == " ".join(text.split())
        again = Nearby(graph, embedder.identity, NOW)
        assert [m.memory.id for m in again.to(draft, vector)] == [stored.id]
        assert plan_edits([draft], lambda d: again.to(d, vector), {}).edits == ()
        assert graph.memories.neighbours(SQL)
        assert graph.verify(embedder.identity) == ()
        graph.undo(at=NOW)
        assert Nearby(graph, embedder.identity, NOW).to(draft, vector) == []


def test_a_broken_line_among_many_is_named_and_the_rest_arrives(tmp_path: Path):
    lines = [
        to_line(Memory(f"m{i}", f"Memory {i}.", "Event", "event.life", NOW)) for i in range(1, 2001)
    ]
    lines[1233] = lines[1233][:40]
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    home = tmp_path / "home"
    done = import_file(file, "jsonl", home, NOW, lambda texts: ["event.life"] * len(texts))
    assert (done.tally.new["memory"], done.tally.rejected_count) == (1999, 1)
    assert done.tally.rejected[0].line == 1234
    with MemoryGraph.open(home) as graph:
        assert graph.memories.counts() == {"current": 1999}
        # Nothing was encoded on the way in; what is made later is found at once.
        assert graph.index("e", NOW).lacks_vectors
        missing = graph.vectors.missing("e")
        unit = np.eye(1, 8, dtype=np.float32)[0]
        graph.vectors.put("e", dict.fromkeys(missing, unit))
        assert len(graph.index("e", NOW)) == 1999
