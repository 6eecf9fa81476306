"""The graph: edits, undo, history, and the proof that everything derived agrees."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.tables import memories
from store.types import Draft, SourceKind, SourceStatus, Status, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=3)


def draft(text: str, *triples: tuple[str, str, str], until: datetime | None = None) -> Draft:
    return Draft(
        text,
        "attribute.address",
        NOW,
        triples=tuple(Triple(*triple) for triple in triples),
        valid_until=until,
    )


HOME = draft("I live in Jurong West.", ("me", "lives_in", "Jurong West"))
MOVED = draft("I live in Bedok.", ("me", "lives_in", "Bedok"))


def test_insert_stores_text_type_relations_and_one_journal_entry(graph: MemoryGraph):
    (entry,) = graph.apply([Insert(HOME)], at=NOW)
    memory = graph.memories.get("m1")
    assert (memory.text, memory.type) == ("I live in Jurong West.", "Attribute")
    assert memory.triples == (Triple("me", "lives_in", "Jurong West"),)
    assert (entry.id, entry.kind, entry.memory, entry.before, entry.after) == (
        "e1", "insert", "m1", None, "I live in Jurong West.",
    )  # fmt: skip
    assert graph.verify() == ()


def test_insert_with_an_end_is_the_time_bound_edit_and_leaves_by_itself(graph: MemoryGraph):
    (entry,) = graph.apply([Insert(draft("The voucher is valid.", until=LATER))], at=NOW)
    memory = graph.memories.get(entry.memory)
    assert entry.kind == "expire"
    assert memory.holds_at(NOW)
    assert not memory.holds_at(LATER)
    assert memory.status is Status.CURRENT  # nothing had to run for it to expire


def test_replace_keeps_the_old_memory_as_history(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    (entry,) = graph.apply([Replace("m1", MOVED)], at=LATER)
    old, new = graph.memories.get("m1"), graph.memories.get("m2")
    assert (old.status, old.replaced_by) == (Status.REPLACED, "m2")
    assert old.valid_until == NOW  # when the new one was said
    assert new.status is Status.CURRENT
    assert (entry.before, entry.after) == (HOME.text, MOVED.text)
    assert [m.id for m in graph.memories.list(Status.CURRENT)] == ["m2"]


def test_undo_brings_back_rows_relations_and_full_text(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    before = graph.memories.list()
    graph.apply([Replace("m1", MOVED)], at=LATER)
    undone = graph.undo(at=LATER)
    assert graph.memories.list() == before
    assert graph.memories.search("Bedok") == ()
    assert graph.memories.neighbours("Bedok") == ()
    assert undone.undoes == "e2"
    assert graph.verify() == ()


def test_an_undo_can_be_undone(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    undo = graph.undo(at=NOW)
    assert graph.memories.list() == ()
    graph.undo(undo.id, at=NOW)
    assert [m.text for m in graph.memories.list()] == [HOME.text]
    assert graph.verify() == ()


def test_undo_of_an_edit_under_later_ones_names_the_one_in_the_way(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.apply([Replace("m1", MOVED)], at=NOW)
    with pytest.raises(EditConflict, match="Undo e2 first"):
        graph.undo("e1", at=NOW)


def test_undo_twice_says_so(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.undo("e1", at=NOW)
    with pytest.raises(EditConflict, match="already undone, by e2"):
        graph.undo("e1", at=NOW)
    with pytest.raises(UnknownId, match="nothing to undo"):
        graph.undo(at=NOW)


def test_ids_are_never_given_twice(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.undo(at=NOW)
    (entry,) = graph.apply([Insert(MOVED)], at=NOW)
    assert entry.memory == "m2"


def test_forget_takes_out_and_undo_brings_back(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    (entry,) = graph.apply([Forget("m1")], at=NOW, actor="user")
    assert entry.after is None
    assert graph.memories.list(Status.CURRENT) == ()
    graph.undo(at=NOW)
    assert graph.memories.list(Status.CURRENT)[0].id == "m1"


def test_amend_changes_only_what_is_given(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.apply([Amend("m1", subclass="attribute.occupation", place="home")], at=NOW)
    memory = graph.memories.get("m1")
    assert (memory.text, memory.subclass, memory.place) == (
        HOME.text, "attribute.occupation", "home",
    )  # fmt: skip


def test_expire_sets_the_end_of_a_stored_memory(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.apply([Expire("m1", LATER)], at=NOW)
    assert not graph.memories.get("m1").holds_at(LATER)


def test_a_plan_with_one_impossible_edit_applies_nothing(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    with pytest.raises(UnknownId):
        graph.apply([Insert(MOVED), Forget("m99")], at=NOW)
    assert [m.id for m in graph.memories.list()] == ["m1"]
    assert graph.verify() == ()


def test_a_replaced_memory_cannot_be_edited_again(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    graph.apply([Replace("m1", MOVED)], at=NOW)
    with pytest.raises(EditConflict, match="m1 is replaced by m2"):
        graph.apply([Replace("m1", HOME)], at=NOW)


def test_many_memories_are_read_a_few_at_a_time(
    graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch
):
    graph.apply([Insert(draft(f"Fact {n}.", ("me", "knows", str(n)))) for n in range(7)], at=NOW)
    graph.apply([Forget("m3")], at=NOW)
    monkeypatch.setattr(memories, "_FEW", 3)
    assert tuple(graph.memories.each()) == graph.memories.list()
    newest = graph.memories.newest(2, ["attribute.address"])
    assert [memory.id for memory in newest] == ["m6", "m7"]
    assert graph.memories.newest(2, ["event.life"]) == ()


def test_the_best_joined_is_what_most_memories_that_hold_name(graph: MemoryGraph):
    assert graph.browse.best_joined(NOW) is None
    told = (("Oslo", "in", "Norway"), ("Bonn", "in", "Germany"), ("me", "likes", "Bonn"))
    graph.apply([Insert(draft(str(one), one)) for one in told], at=NOW)
    assert graph.browse.best_joined(NOW) == "Bonn"
    ended = [draft(f"{n}", ("me", "saw", "Oslo"), until=LATER) for n in range(3)]
    graph.apply([Insert(one) for one in ended], at=NOW)
    assert graph.browse.best_joined(NOW) == "Oslo"
    assert graph.browse.best_joined(LATER) == "Bonn"
    graph.apply([Forget("m2")], at=NOW)
    assert graph.browse.best_joined(LATER) == "Oslo"  # of equals the one that was told first


def test_a_memory_cannot_end_before_it_begins(graph: MemoryGraph):
    graph.apply([Insert(HOME)], at=NOW)
    with pytest.raises(InvalidInput, match="before it begins"):
        graph.apply([Amend("m1", valid_from=LATER, valid_until=NOW)], at=NOW)


@pytest.mark.parametrize("bad", ["m99", "12", "e1", "m0", "m-1", "", "m1; DROP TABLE memories"])
def test_ids_that_do_not_exist_are_named(graph: MemoryGraph, bad: str):
    with pytest.raises(UnknownId):
        graph.memories.get(bad)


def test_the_journal_refuses_to_be_rewritten(graph: MemoryGraph):
    import sqlite3

    graph.apply([Insert(HOME)], at=NOW)
    with sqlite3.connect(graph.path) as other:
        for statement in ("DELETE FROM journal", "UPDATE journal SET actor = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                other.execute(statement)
    other.close()


def test_neighbours_join_entities_that_differ_in_case_and_article(graph: MemoryGraph):
    graph.apply(
        [
            Insert(draft("My boss is Kenji.", ("me", "boss", "Kenji"))),
            Insert(draft("Kenji flies.", ("KENJI", "flies_to", "the Netherlands"))),
        ],
        at=NOW,
    )
    assert [memory for _, memory in graph.memories.neighbours("kenji")] == ["m1", "m2"]
    assert [memory for _, memory in graph.memories.neighbours("Netherlands")] == ["m2"]


def test_vectors_leave_with_their_text(graph: MemoryGraph):
    unit = np.eye(4, dtype=np.float32)
    graph.apply([Insert(HOME)], at=NOW, model="encoder:1", vectors={HOME.text: unit[0]})
    assert graph.vectors.missing("encoder:1") == ()
    assert graph.vectors.missing("encoder:2") == ("m1",)
    graph.apply([Amend("m1", text="I live in Tampines.")], at=NOW)
    assert graph.vectors.missing("encoder:1") == ("m1",)
    assert graph.verify("encoder:1") == ("m1: no vector of encoder:1",)


def test_view_holds_what_is_current_and_history_only_when_asked(graph: MemoryGraph):
    unit = np.eye(4, dtype=np.float32)
    vectors = {HOME.text: unit[0], MOVED.text: unit[1]}
    graph.apply([Insert(HOME)], at=NOW, model="e", vectors=vectors)
    graph.apply([Replace("m1", MOVED)], at=NOW, model="e", vectors=vectors)
    assert [m.id for m in graph.view(NOW, "e").memories] == ["m2"]
    view = graph.view(NOW, "e", history=True)
    assert [m.id for m in view.memories] == ["m1", "m2"]
    assert view.current == {"m2"}


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE memories SET text = 'x' WHERE id = 1", "m1: row and journal differ"),
        ("DELETE FROM memories WHERE id = 1", "m1: in the journal, but without a row"),
        ("DELETE FROM relations", "m1: row and journal differ"),
        ("INSERT INTO memories_fts(rowid, text) VALUES (7, 'ghost')", "full text"),
        ("INSERT INTO entities (name, key) VALUES ('x', 'x')", "no relation names it"),
        (
            "INSERT INTO vectors (memory, model, vector) VALUES (1, 'e', x'0000')",
            "not a float32 array",
        ),
    ],
)
def test_verify_finds_whatever_does_not_agree(graph: MemoryGraph, damage: str, finding: str):
    import sqlite3

    graph.apply([Insert(HOME)], at=NOW)
    assert graph.verify() == ()
    other = sqlite3.connect(graph.path)
    with other:
        other.execute(damage)
    other.close()
    assert any(finding in problem for problem in graph.verify()), graph.verify()


def test_a_source_is_stored_once_per_file_version(graph: MemoryGraph):
    first = graph.sources.add(SourceKind.NOTE, "a", NOW, locator="/n.md")
    again = graph.sources.add(SourceKind.NOTE, "a", LATER, locator="/n.md")
    changed = graph.sources.add(SourceKind.NOTE, "b", LATER, locator="/n.md")
    assert first == again
    assert (changed.id, changed.status) == ("s2", SourceStatus.PENDING)
    assert graph.sources.add(SourceKind.CHAT, "a", NOW).id == "s3"


def test_reopening_finds_everything(own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        graph.apply([Insert(HOME)], at=NOW)
        subclasses = graph.subclasses()
    with MemoryGraph.open(own_home) as graph:
        assert graph.memories.get("m1").text == HOME.text
        assert graph.subclasses() == subclasses
        assert {s.type for s in subclasses} == {"Relationship", "Preference", "Event", "Attribute"}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda text: text.replace("\x00", " ").split()
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["insert", "replace", "forget", "amend", "undo"]), TEXTS),
        max_size=12,
    )
)
def test_any_sequence_of_edits_and_undos_verifies(tmp_path_factory, steps):
    """Property: rows, full text and journal agree after whatever was done, in whatever script."""
    with MemoryGraph.open(tmp_path_factory.mktemp("home")) as graph:
        for what, text in steps:
            current = graph.memories.list(Status.CURRENT)
            made = draft(text, ("me", "says", text))
            try:
                if what == "insert" or not current:
                    graph.apply([Insert(made)], at=NOW)
                elif what == "replace":
                    graph.apply([Replace(current[0].id, made)], at=NOW)
                elif what == "forget":
                    graph.apply([Forget(current[-1].id)], at=NOW)
                elif what == "amend":
                    graph.apply([Amend(current[0].id, text=text)], at=NOW)
                else:
                    graph.undo(at=NOW)
            except (EditConflict, UnknownId):
                pass
        assert graph.verify() == ()


def test_relation_names_are_all_found_in_order(graph: MemoryGraph):
    assert graph.memories.relation_names() == ()
    for name in ("likes", "boss", "works_at", "likes", "'; DROP TABLE"):
        graph.apply([Insert(draft(f"{name}.", ("me", name, "x")))], at=NOW)
    assert graph.memories.relation_names() == ("'; DROP TABLE", "boss", "likes", "works_at")


def test_vectors_of_an_older_home_are_kept_and_still_leave_with_their_text(tmp_path: Path):
    from sqlite_utils import Database

    from store.database.migrations import migrations

    db = Database(tmp_path / "memlane.db")
    migrations.apply(db, stop_before="m013_large_homes")
    vector = np.eye(4, dtype="<f4")[0].tobytes()
    db.execute("INSERT INTO types VALUES ('Attribute', 0)")
    db.execute("INSERT INTO subclasses VALUES ('attribute.own', 'Attribute', 'own', 0, '[]', 0)")
    for number in (1, 2):
        db.execute(
            "INSERT INTO memories (id, text, subclass, created, status) VALUES (?, 'Old.',"
            " 'attribute.own', '2024-05-08T09:00:00+00:00', 'current')",
            [number],
        )
        db.execute("INSERT INTO vectors VALUES (?, 'e', ?)", [number, vector])
    db.conn.commit()
    db.close()
    with MemoryGraph.open(tmp_path) as graph:
        assert sorted(graph.vectors.of("e")) == ["m1", "m2"]
        assert graph.vectors.missing("e") == ()
        with graph.writing():
            graph._rows.execute("UPDATE memories SET text = 'New.' WHERE id = 1")
        assert list(graph.vectors.of("e")) == ["m2"]
        graph.vectors.put("e", {"m2": np.eye(4, dtype=np.float32)[1]})
        assert graph.vectors.of("e")["m2"][1] == 1.0
