"""Whatever a home holds, its export brings back: any text, time and edit."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.io.transfer.export import export_jsonl, export_markdown
from agent.io.transfer.records import from_document, to_document
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert, Replace
from store.types import Draft, Memory, SourceKind, Span, Status, Triple, Trust
from tests.conftest import NOW
from tests.support.exports import draft, markdown_of, take_in

TRICKY = st.sampled_from(
    [
        "---", "\\---", "--- id: x", "id: m9", "a\n---\nb", "a\r\n", "- item", "# heading",
        "'; DROP TABLE memories; --", 'He said "yes": no', "null", "~", "yes", "{a: b}",
        "مرحبا بالعالم", "שלום \u202eעולם", "\U0001f469\u200d\U0001f467 \U0001f9c1", "&a *alias",
        "2024-05-08", "x\u2028y\u0085z", "\ufeff", "'", '"', "\\", "\x7f", "x" * 10_000,
    ]
)  # fmt: skip
TEXT = st.one_of(TRICKY, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
SAID = TEXT.filter(lambda text: "".join(text.split()) != "")
TIME = st.datetimes(
    datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from([UTC, None])
).map(lambda moment: moment if moment.tzinfo else moment.replace(tzinfo=UTC))
ENTITY = st.one_of(st.sampled_from(["me", "Robert'); DROP TABLE entities;--"]), SAID)
TRIPLES = st.lists(
    st.one_of(
        st.builds(Triple, ENTITY, SAID, ENTITY),
        ENTITY.map(lambda name: Triple(name, "knows", name)),  # a relation to itself
    ),
    max_size=3,
).map(tuple)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    start, end = draw(st.none() | TIME), draw(st.none() | TIME)
    if start and end and end < start:
        start, end = end, start
    return Draft(
        draw(SAID),
        draw(st.sampled_from(["preference.diet", "event.life", "attribute.address"])),
        draw(TIME),
        draw(TRIPLES),
        start,
        end,
        draw(st.none() | TEXT),
        span=draw(st.none() | st.just(Span(0, 3))),
        trust=draw(st.none() | st.sampled_from(list(Trust))),
    )


ACTS = st.lists(
    st.tuples(st.sampled_from(["insert", "replace", "forget", "amend", "undo"]), drafts(), TEXT),
    min_size=1,
    max_size=6,
)


@contextmanager
def fresh() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def act(graph: MemoryGraph, acts: Sequence[tuple[str, Draft, str]]) -> None:
    for what, made, raw in acts:
        source = graph.sources.add(SourceKind.CHAT, raw, NOW, place=raw[:40] or None)
        made = Draft(
            **{f.name: getattr(made, f.name) for f in fields(made)} | {"source": source.id}
        )
        current = [memory.id for memory in graph.memories.list(Status.CURRENT)]
        if what == "insert" or not current:
            graph.apply([Insert(made)], at=NOW, source=source.id)
        elif what == "replace":
            graph.apply([Replace(current[0], made)], at=NOW)
        elif what == "forget":
            graph.apply([Forget(current[-1])], at=NOW)
        elif what == "amend":
            graph.apply([Amend(current[0], text=made.text, triples=made.triples)], at=NOW)
        else:
            graph.undo(at=NOW)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTS)
def test_export_import_export_gives_the_same(acts: list[tuple[str, Draft, str]]):
    with fresh() as folder:
        with MemoryGraph.open(folder / "a") as graph:
            act(graph, acts)
        export_jsonl(folder / "a", folder / "a.jsonl", NOW)
        done = take_in(folder / "a.jsonl", folder / "b")
        assert done.complete, done.tally.rejected
        export_jsonl(folder / "b", folder / "b.jsonl", NOW)
        assert (folder / "b.jsonl").read_bytes() == (folder / "a.jsonl").read_bytes()

        for name in ("c.md", "c"):
            export_markdown(folder / "a", folder / name, NOW)
            done = take_in(folder / name, folder / f"home-{name}", "markdown")
            assert done.complete, done.tally.rejected
            assert markdown_of(folder / f"home-{name}") == markdown_of(folder / "a")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTS)
def test_merging_an_export_twice_adds_nothing_the_second_time(acts: list[tuple[str, Draft, str]]):
    with fresh() as folder:
        with MemoryGraph.open(folder / "a") as graph:
            act(graph, acts)
            count = len(graph.memories.list())
        with MemoryGraph.open(folder / "b") as graph:
            graph.apply([Insert(draft("Something of my own, told here."))], at=NOW)
        export_jsonl(folder / "a", folder / "a.jsonl", NOW)
        first = take_in(folder / "a.jsonl", folder / "b")
        assert first.complete, first.tally.rejected
        assert first.tally.new["memory"] + first.tally.unchanged["memory"] == count
        again = take_in(folder / "a.jsonl", folder / "b")
        assert again.tally.new["memory"] == again.tally.new["source"] == 0
        with MemoryGraph.open(folder / "b") as graph:
            assert graph.verify() == ()


@given(drafts(), TEXT)
@settings(max_examples=60, deadline=None)
def test_every_value_is_read_back_as_it_was_written(made: Draft, text: str):
    memory = Memory(
        "m1", made.text, "Event", made.subclass, made.created, made.triples, made.valid_from,
        made.valid_until, made.place, "s1", span=made.span, trust=made.trust,
    )  # fmt: skip
    assert from_document(json.loads(json.dumps(to_document(memory)))) == memory
