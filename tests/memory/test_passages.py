"""Passages: the words of a source that a memory was read from."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.memory.passages import as_told, passage_of, section
from store.graph import MemoryGraph
from store.journal import Amend, Insert
from store.types import Draft, Memory, Source, SourceKind, Span

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def test_the_words_are_the_unit_and_whole_whatever_signs_stand_in_them():
    text = "The menu is soup | fish | cake on every single Friday. Dora cooks all of it herself."
    source = Source("s1", SourceKind.CHAT, text, "", NOW)
    span = Span(0, text.index("Dora") - 1)
    memory = Memory("m1", text, "", "attribute.food", NOW, source="s1", span=span)
    passage = passage_of(memory, {"s1": source})
    assert passage.words == "The menu is soup | fish | cake on every single Friday."
    assert passage.text == text


def test_a_memory_without_a_source_has_its_own_words():
    memory = Memory("m1", "I work at Redford.", "", "attribute.occupation", NOW)
    assert passage_of(memory, {}).words == "I work at Redford."


def test_a_section_goes_from_its_title_to_the_next():
    text = "intro\n# One\na\nb\n# Two\nc\n"
    found = [section(text, text.index(word)) for word in ("intro", "a\n", "c\n")]
    assert [text[one.start : one.end] for one in found] == [
        "intro\n",
        "# One\na\nb\n",
        "# Two\nc\n",
    ]


def test_a_source_that_was_corrected_is_no_passage(graph: MemoryGraph):
    told = "My GP is Dr Bo at Mill Lane.", "My dentist is Ana."
    source = graph.sources.add(SourceKind.CHAT, " ".join(told), NOW)
    spans = Span(0, 28), Span(29, 47)
    drafts = [
        Draft(text, "attribute.health", NOW, source=source.id, span=span)
        for text, span in zip(told, spans, strict=True)
    ]
    put = graph.apply([Insert(draft) for draft in drafts], at=NOW, actor="auto")
    ids = [entry.memory for entry in put]
    assert as_told(graph.memories.of(ids), graph)
    done = graph.apply([Amend(ids[0], text="My GP is Dr Bo.")], at=NOW, actor="user")
    memories = graph.memories.of(ids)
    words = [passage_of(memory, as_told(memories, graph)).text for memory in memories]
    assert words == ["My GP is Dr Bo.", "My dentist is Ana."]
    graph.undo(done[0].id, at=NOW)
    assert as_told(graph.memories.of(ids), graph)
