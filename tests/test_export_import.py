"""What goes out comes in again: nothing of a home is lost, and nothing is doubled."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.transfer.exporting import export_jsonl, export_markdown
from agent.transfer.importing import Imported, import_file
from agent.transfer.plain import from_plain, to_plain
from agent.transfer.records import from_document, to_document
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.types import Draft, Memory, SourceKind, Span, Status, Triple, Trust
from store.undoing import from_sources, undo_all
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


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
    ids = [entry.memory for entry in first]
    graph.apply([Replace(ids[1], draft("I live in Jurong.", subclass="attribute.address"))], at=NOW)
    graph.apply([Amend(ids[0], text="I like green tea."), Expire(ids[2], NOW)], at=NOW)
    graph.apply([Forget(ids[3])], at=NOW)
    graph.apply([Insert(draft("This is taken back."))], at=NOW)
    graph.undo(at=NOW)
    trace = {"memories": [ids[0]], "edits": [], "steps": [{"memory": ids[0], "score": 0.5}]}
    graph.turns.log(NOW, "What do I like?", "retrieve", "Tea.", trace)


@pytest.fixture
def full(tmp_path: Path) -> Path:
    home = tmp_path / "full"
    with MemoryGraph.open(home) as graph:
        fill(graph)
    return home


@pytest.fixture
def exported(full: Path, tmp_path: Path) -> Path:
    path = tmp_path / "all.jsonl"
    export_jsonl(full, path, NOW)
    return path


# ---- out ----------------------------------------------------------------------------------


def test_the_manifest_counts_the_lines_and_hashes_them(exported: Path):
    head, _, rest = exported.read_bytes().partition(b"\n")
    manifest = json.loads(head)
    assert manifest["kind"] == "memlane"
    assert manifest["sha256"] == hashlib.sha256(rest).hexdigest()
    kinds = [json.loads(line)["kind"] for line in rest.splitlines()]
    assert manifest["counts"] == {kind: kinds.count(kind) for kind in manifest["counts"]}
    assert {"subclass", "source", "edit", "memory", "turn", "row"} == set(kinds)


def test_an_export_is_its_owners_alone(exported: Path):
    assert exported.stat().st_mode & 0o777 == 0o600


def test_every_table_of_the_schema_is_exported_or_can_be_derived(full: Path):
    """A table that a later schema adds travels as rows, without a change of the export."""
    with MemoryGraph.open(full) as graph:
        from store.connection import Connection

        connection = Connection.open(graph.path.parent)
        connection.execute("CREATE TABLE later (id INTEGER PRIMARY KEY, what TEXT, raw BLOB)")
        connection.execute("INSERT INTO later VALUES (7, 'x', x'00ff')")
        connection.db.conn.commit()
        connection.close()
    rows = [line for line in lines_of(full) if line["kind"] == "row" and line["table"] == "later"]
    assert rows == [
        {"kind": "row", "table": "later",
         "values": {"id": 7, "what": "x", "raw": {"$base64": "AP8="}}}
    ]  # fmt: skip


def test_a_new_field_of_a_memory_travels_without_a_change_here():
    names = {field.name for field in fields(Memory)}
    memory = Memory("m1", "x", "Event", "event.life", NOW, span=Span(1, 2), trust=Trust.SEEN)
    assert set(to_plain(memory)) == names
    assert from_plain(Memory, to_plain(memory)) == memory


# ---- in, to an empty home -----------------------------------------------------------------


def test_jsonl_rebuilds_a_home_with_ids_statuses_and_history(
    full: Path, exported: Path, tmp_path: Path
):
    done = take_in(exported, tmp_path / "new")
    assert done.complete, done.tally.rejected
    assert (done.mode, done.warnings) == ("restored", ())
    assert lines_of(tmp_path / "new") == lines_of(full)
    with MemoryGraph.open(full) as old, MemoryGraph.open(tmp_path / "new") as new:
        assert new.memories.list() == old.memories.list()
        assert new.journal.list() == old.journal.list()
        assert new.sources.list() == old.sources.list()
        assert new.turns.last() == old.turns.last()
        assert new.verify() == ()
        # No id is given twice, not even that of the memory that was taken back.
        (entry,) = new.apply([Insert(draft("Next."))], at=NOW)
        assert entry.memory == "m7"
        assert new.undo(at=NOW).undoes == entry.id


@pytest.mark.parametrize("name", ["memories.md", "memories"])
def test_markdown_rebuilds_memories_and_sources(full: Path, tmp_path: Path, name: str):
    export_markdown(full, tmp_path / name, NOW)
    done = take_in(tmp_path / name, tmp_path / "new", "markdown")
    assert (done.mode, done.complete) == ("restored", True)
    assert markdown_of(tmp_path / "new") == markdown_of(full)
    with MemoryGraph.open(tmp_path / "new") as new, MemoryGraph.open(full) as old:
        assert new.memories.list() == old.memories.list()
        assert new.sources.list() == old.sources.list()
        assert new.verify() == ()


def test_an_import_that_breaks_off_leaves_the_home_empty(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from store.backup import Rebuild

    def crash(self: Rebuild, last: dict[str, int]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Rebuild, "keep_ids", crash)
    with pytest.raises(KeyboardInterrupt):
        take_in(exported, tmp_path / "new")
    monkeypatch.undo()
    assert take_in(exported, tmp_path / "new").mode == "restored"


def test_version_1_of_the_format_is_read(tmp_path: Path):
    memory = {
        "id": "m1", "text": "I like tea.", "type": "Preference", "subclass": "preference.diet",
        "created": NOW.isoformat(), "triples": [["me", "likes", "tea"]], "valid_from": None,
        "valid_until": None, "place": None, "source": None, "status": "current",
        "replaced_by": None,
    }  # fmt: skip
    old = [
        {"kind": "memlane", "version": 1, "exported": NOW.isoformat()},
        {"kind": "subclass", "id": "preference.diet", "type": "Preference", "name": "Diet"},
        {"kind": "memory", **memory},
        {"kind": "edit", "id": "e1", "batch": 1, "at": NOW.isoformat(), "edit_kind": "insert",
         "actor": "auto", "source": None, "undoes": None,
         "changes": [{"memory": "m1", "before": None, "after": memory}]},
    ]  # fmt: skip
    (tmp_path / "v1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old))
    assert take_in(tmp_path / "v1.jsonl", tmp_path / "new").complete
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert [m.text for m in graph.memories.list()] == ["I like tea."]
        assert graph.verify() == ()
        assert next(s for s in graph.subclasses() if s.id == "preference.diet").examples


def test_a_newer_format_is_refused(memlane: Any, tmp_path: Path):
    (tmp_path / "x.jsonl").write_text('{"kind": "memlane", "version": 99}\n')
    result: Result = memlane("import", tmp_path / "x.jsonl")
    assert result.code == 1
    assert "Upgrade memlane" in result.err


# ---- properties ---------------------------------------------------------------------------

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


# ---- merging ------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A home with memories and ids of its own."""
    home = tmp_path / "own"
    with MemoryGraph.open(home) as graph:
        source = graph.sources.add(SourceKind.CHAT, "I like green tea!", NOW)
        graph.apply([Insert(draft("I like  GREEN tea", source=source.id))], at=NOW)
        graph.apply([Insert(draft("My bicycle is red."))], at=NOW)
    return home


def texts(graph: MemoryGraph, *statuses: Status) -> set[str]:
    return {memory.text for memory in graph.memories.list(*statuses)}


def test_a_merge_doubles_nothing_and_keeps_statuses(exported: Path, own: Path):
    done = take_in(exported, own)
    assert (done.mode, done.complete) == ("merged", True)
    assert done.tally.unchanged["memory"] == 1
    assert done.tally.new["memory"] == 4
    with MemoryGraph.open(own) as graph:
        memories = {memory.text: memory for memory in graph.memories.list()}
        assert "I like green tea." not in memories
        old, new = memories["I live in Bedok."], memories["I live in Jurong."]
        assert (old.status, old.replaced_by) == (Status.REPLACED, new.id)
        assert old.place == "Bedok\nNorth"
        assert memories["I will be forgotten."].status is Status.FORGOTTEN
        assert memories["I will be forgotten."].trust is Trust.SEEN
        assert not memories["Voucher ABC runs out."].holds_at(NOW)
        assert graph.verify() == ()
        (turn,) = graph.turns.last()
        assert turn.trace["memories"] == ["m1"]


def test_references_follow_the_new_ids(tmp_path: Path, own: Path):
    with MemoryGraph.open(tmp_path / "other") as graph:
        source = graph.sources.add(SourceKind.NOTE, "Rosa plays chess.", NOW, locator="/x.md")
        made = draft("Rosa plays chess.", source=source.id, span=Span(0, 17))
        graph.apply([Insert(made)], at=NOW)
    export_jsonl(tmp_path / "other", tmp_path / "x.jsonl", NOW)
    take_in(tmp_path / "x.jsonl", own)
    with MemoryGraph.open(own) as graph:
        (memory,) = graph.memories.search("chess")
        assert memory.id != "m1"
        assert memory.source != "s1"
        assert memory.source is not None and memory.span is not None
        assert memory.span.of(graph.sources.get(memory.source).text) == "Rosa plays chess."


def test_what_was_replaced_by_something_known_holds_no_longer(tmp_path: Path, own: Path):
    """Also where its end, or even its beginning, lies ahead."""
    later = NOW + timedelta(days=300)
    with MemoryGraph.open(tmp_path / "other") as graph:
        for old in (draft("My bicycle is blue."), draft("My bicycle is green.", valid_from=later)):
            (entry,) = graph.apply([Insert(old)], at=NOW)
            new = draft("My bicycle is red.", valid_from=later)
            graph.apply([Replace(entry.memory, new)], at=NOW)
    export_jsonl(tmp_path / "other", tmp_path / "x.jsonl", NOW)
    assert take_in(tmp_path / "x.jsonl", own).tally.new["memory"] == 2
    with MemoryGraph.open(own) as graph:
        holding = {m.text for m in graph.memories.list() if m.holds_at(NOW)}
        assert holding == {"I like GREEN tea", "My bicycle is red."}
        assert graph.verify() == ()
    assert take_in(tmp_path / "x.jsonl", own).tally.new["memory"] == 0


def test_undo_takes_a_merge_back(exported: Path, own: Path):
    with MemoryGraph.open(own) as graph:
        before = graph.memories.list()
    run = take_in(exported, own).run
    assert run is not None
    with MemoryGraph.open(own) as graph:
        undo_all(graph, from_sources(graph.journal, graph.runs.get(run).sources), at=NOW)
        assert graph.memories.list() == before
        assert graph.verify() == ()


def test_a_dry_run_tells_the_same_and_changes_nothing(exported: Path, own: Path, tmp_path: Path):
    before = lines_of(own)
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(exported.read_bytes() + b"{broken\n")
    dry = take_in(broken, own, dry_run=True)
    assert lines_of(own) == before
    assert not broken.with_name("broken.jsonl.rejected").exists()
    wet = take_in(broken, own)
    assert (dry.tally.new, dry.tally.unchanged) == (wet.tally.new, wet.tally.unchanged)
    assert dry.tally.rejected == wet.tally.rejected
    assert take_in(exported, tmp_path / "nowhere", dry_run=True).mode == "restored"
    assert not (tmp_path / "nowhere").exists()


def test_a_subclass_of_the_other_homes_own_comes_along(full: Path, own: Path, tmp_path: Path):
    from store.types import Subclass

    pets = Subclass("preference.pets", "Preference", "Pets", False, ("I like my cat Tom.",))
    with MemoryGraph.open(full) as graph:
        graph.add_subclass(pets)
        graph.apply([Insert(draft("I like cats.", subclass="preference.pets"))], at=NOW)
    export_jsonl(full, tmp_path / "x.jsonl", NOW)
    for home in (own, tmp_path / "new"):
        assert take_in(tmp_path / "x.jsonl", home).complete
        with MemoryGraph.open(home) as graph:
            assert pets in graph.subclasses()


def test_what_was_forgotten_for_good_stays_forgotten(full: Path, tmp_path: Path, own: Path):
    with MemoryGraph.open(full) as graph:
        (memory,) = graph.memories.search("green tea")
        graph.erase([memory.id], at=NOW)
        wanted = graph.journal.list()
    export_jsonl(full, tmp_path / "x.jsonl", NOW)
    assert "I like green tea." not in (tmp_path / "x.jsonl").read_text()
    done = take_in(tmp_path / "x.jsonl", tmp_path / "new")
    assert done.complete, done.tally.rejected
    assert lines_of(tmp_path / "new") == lines_of(full)
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert graph.journal.list() == wanted
        assert graph.verify() == ()
        assert graph.count_forgotten() == 1
    assert take_in(tmp_path / "x.jsonl", own).complete


# ---- broken files -------------------------------------------------------------------------


def test_one_broken_line_loses_nothing_else(full: Path, exported: Path, tmp_path: Path):
    """Memories and journal tell the same twice, so any one line may break."""
    lines = exported.read_bytes().splitlines(keepends=True)
    with MemoryGraph.open(full) as graph:
        wanted = graph.memories.list()
    for number in range(1, len(lines)):
        kind = json.loads(lines[number])["kind"]
        if kind in ("subclass", "row") and number % 7:
            continue
        damaged = [*lines]
        damaged[number] = damaged[number][: len(damaged[number]) // 2] + b"\n"
        path = tmp_path / "damaged.jsonl"
        path.write_bytes(b"".join(damaged))
        home = tmp_path / f"home{number}"
        done = take_in(path, home)
        # The row that says which ingest a source was part of goes with it.
        assert done.tally.rejected_count == (2 if kind == "source" and number < 27 else 1)
        assert done.tally.rejected[0].line == number + 1
        kept = path.with_name("damaged.jsonl.rejected").read_bytes()
        assert kept.startswith(damaged[number])
        with MemoryGraph.open(home) as graph:
            assert graph.verify() == ()
            found = graph.memories.list()
            if kind == "source":  # its memories stay, without what they were read from
                assert [m.text for m in found] == [m.text for m in wanted]
            else:
                assert found == wanted, (kind, number)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('"text"', "no JSON object"),
        ('{"kind": "spell"}', "kind is 'spell'"),
        ('{"kind": "memory", "id": "m1"}', "text is missing"),
        ('{"kind": "memory", "id": 5}', "id is not text"),
        ("\x00\x00", "no JSON"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path: Path, line: str, reason: str):
    path = tmp_path / "x.jsonl"
    path.write_text(line + "\n")
    done = take_in(path, tmp_path / "new")
    assert done.tally.rejected_count == 1
    assert reason in done.tally.rejected[0].reason
    assert len(done.tally.rejected[0].reason) < 300


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"created": "2024-05-08T09:00:00"}, "created is no time with an offset"),
        ({"status": "lost"}, "status is 'lost', not one of"),
        ({"triples": [["a", "b"]]}, "triples[0].tail is missing"),
        ({"id": "x1"}, "is no memory id"),
        ({"text": "  "}, "text is empty"),
        ({"valid_from": "2024-05-09T00:00:00+00:00", "valid_until": "2024-05-08T00:00:00+00:00"},
         "ends before it begins"),
        ({"colour": "blue"}, "colour is no field"),
        ({"text": "half \ud83d"}, "half a character"),
    ],
)  # fmt: skip
def test_a_memory_that_cannot_be_is_named(tmp_path: Path, change: dict[str, Any], reason: str):
    memory = Memory("m1", "I like tea.", "Preference", "preference.diet", NOW)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(to_document(memory) | change) + "\n")
    for home in (tmp_path / "new", tmp_path / "filled"):
        if home.name == "filled":
            with MemoryGraph.open(home) as graph:
                graph.apply([Insert(draft("My bicycle is red."))], at=NOW)
        done = take_in(path, home)
        assert done.tally.rejected_count == 1
        assert reason in done.tally.rejected[0].reason


def test_a_mended_line_can_be_imported_alone(exported: Path, tmp_path: Path):
    lines = exported.read_text().splitlines(keepends=True)
    number = next(i for i, s in enumerate(lines) if "green tea" in s and '"kind": "memory"' in s)
    kept = [line for line in lines if "green tea" not in line] + [lines[number][:-3] + "\n"]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(kept))
    home = tmp_path / "new"
    take_in(path, home)
    rejected = path.with_name("x.jsonl.rejected")
    rejected.write_text(rejected.read_text().rstrip("\n") + lines[number][-3:])
    assert take_in(rejected, home).complete
    with MemoryGraph.open(home) as graph:
        assert "I like green tea." in texts(graph)


def test_a_cut_off_export_says_how_much_is_missing(memlane: Any, exported: Path, tmp_path: Path):
    lines = exported.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(lines[:-4]))
    result: Result = memlane("import", tmp_path / "cut.jsonl")
    assert result.code == 1
    assert "4 exported lines are missing" in result.err


def test_a_file_changed_by_hand_is_taken_in_and_said(memlane: Any, exported: Path, tmp_path: Path):
    changed = tmp_path / "x.jsonl"
    changed.write_text(exported.read_text().replace("Voucher ABC", "Voucher XYZ"))
    result: Result = memlane("import", changed, "--json")
    assert result.code == 0
    assert any("SHA-256" in warning for warning in result.json["warnings"])


def test_a_broken_line_among_a_hundred_thousand(tmp_path: Path):
    """Streamed: nothing but the line at hand and 16 bytes a statement are kept."""
    path = tmp_path / "many.jsonl"
    memory = Memory("m1", "x", "Preference", "preference.other", NOW)
    plain = to_document(memory)
    with path.open("w") as file:
        for number in range(1, 100_001):
            if number == 51_234:
                file.write('{"kind": "memory", "id": "m51234", "te\n')
            else:
                document = plain | {"id": f"m{number}", "text": "The same is told again."}
                file.write(json.dumps(document) + "\n")
    with MemoryGraph.open(tmp_path / "own") as graph:
        graph.apply([Insert(draft("The same is told again."))], at=NOW)
    done = take_in(path, tmp_path / "own")
    assert [r.line for r in done.tally.rejected] == [51_234]
    assert done.tally.unchanged["memory"] == 99_999
    assert path.with_name("many.jsonl.rejected").read_text() == (
        '{"kind": "memory", "id": "m51234", "te\n'
    )


# ---- Markdown -----------------------------------------------------------------------------


def test_an_edited_document_is_read(tmp_path: Path):
    (tmp_path / "x.md").write_text(
        "\ufeff---\r\nid: m1\r\ntype: Preference\r\nsubclass: preference.diet\r\n"
        "created: 2024-05-08T09:00:00+00:00\r\nplace: no\r\n"
        "triples:\r\n- {head: me, relation: likes, tail: tea}\r\n---\r\n\r\nI like\r\ntea.\r\n\r\n"
    )
    done = take_in(tmp_path / "x.md", tmp_path / "new", "markdown")
    assert done.complete, done.tally.rejected
    with MemoryGraph.open(tmp_path / "new") as graph:
        (memory,) = graph.memories.list()
    assert (memory.text, memory.place) == ("I like tea.", "no")
    assert memory.triples == (Triple("me", "likes", "tea"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Only a sentence.\n", "has no fields"),
        ("---\nid: [broken\n---\ntext\n", "no YAML"),
        ("---\nid: m1\n---\ntext\n", "is missing"),
        ("---\nkind: spell\n---\ntext\n", "kind is 'spell'"),
        ("---\nid: !!python/object/apply:os.system [echo]\n---\ntext\n", "no YAML"),
    ],
)
def test_a_document_without_usable_front_matter_is_named(tmp_path: Path, text: str, reason: str):
    memory = Memory("m7", "I like tea.", "Preference", "preference.diet", NOW)
    from agent.transfer.exporting import as_document

    (tmp_path / "x.md").write_text(text + as_document(memory))
    done = take_in(tmp_path / "x.md", tmp_path / "new", "markdown")
    assert done.tally.rejected_count == 1
    assert reason in done.tally.rejected[0].reason
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert [m.id for m in graph.memories.list()] == ["m7"]


def test_a_folder_that_is_not_empty_is_left_alone(memlane: Any, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    result: Result = memlane("export", "--format", "markdown", "--out", tmp_path / "out")
    assert result.code == 1
    assert "there already" in result.err
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_memlane_does_not_ingest_its_own_export(memlane: Any, full: Path, tmp_path: Path):
    export_markdown(full, tmp_path / "out", NOW)
    export_markdown(full, tmp_path / "out.md", NOW)
    result: Result = memlane("ingest", tmp_path / "out", tmp_path / "out.md", "--json")
    assert result.code == 0
    assert {source["status"] for source in result.json["sources"]} == {"skipped"}
    assert "memlane import" in result.json["sources"][0]["reason"]


# ---- the commands -------------------------------------------------------------------------


def test_export_and_import_by_command(memlane: Any, full: Path, tmp_path: Path):
    out = tmp_path / "all.jsonl"
    result: Result = memlane("--home", full, "export", "--out", out, "--json")
    assert (result.code, result.json["counts"]["memory"]) == (0, 5)
    assert result.json["lines"] == len(out.read_text().split("\n")) - 1
    result = memlane("import", out, "--json")
    assert result.code == 0, result.err
    assert result.json["mode"] == "restored"
    result = memlane("import", out, "--json")
    assert (result.json["mode"], result.json["new"], result.json["run"]) == ("merged", {}, None)


def test_a_rejected_line_is_named_and_exits_1(memlane: Any, exported: Path):
    exported.write_bytes(exported.read_bytes() + b"{broken\n")
    result: Result = memlane("import", exported)
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert "no JSON" in line and ".rejected" in line
    assert "restored" in result.out


@pytest.mark.parametrize("content", ["", "hello", "[1, 2]", "\x00\x01"])
def test_a_file_that_is_nothing_we_know_is_refused(memlane: Any, tmp_path: Path, content: str):
    (tmp_path / "x.bin").write_text(content)
    result: Result = memlane("import", tmp_path / "x.bin")
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert memlane("import", tmp_path / "gone").code == 1
    assert memlane("import", tmp_path / "x.bin", "--format", "docx").code == 2
