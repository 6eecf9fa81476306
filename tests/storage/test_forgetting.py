"""Forgotten for good: nothing is left in any byte of the home, and that can be proved."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config import load_config
from agent.memory.home import forget_due, open_graph
from store.errors import EditConflict, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert, Replace
from store.types import EditKind, SourceKind, Span, Status
from tests.conftest import NOW
from tests.support.crash_work import forget_and_acknowledge
from tests.support.forgetting import OTHER, SECRET, bytes_of, draft, nothing_left


def test_it_leaves_every_place_and_everything_else_stays(told: MemoryGraph, own_home: Path):
    assert SECRET.encode() in bytes_of(own_home)
    done = told.erase(["m1"], at=NOW)
    assert done.verified
    nothing_left(own_home, SECRET, "the Quixotl pool locker", "4711-zebra")
    assert told.verify() == ()
    assert told.verify("x") == ()  # the other memory still has its vector
    assert [memory.text for memory in told.memories.list()] == [OTHER]
    raw = told.sources.get("s1").text
    assert raw == f"Note to self. {'█' * len(SECRET)} {OTHER}"
    assert told.memories.get("m2").span == Span(raw.index(OTHER), len(raw))
    assert told.memories.neighbours("the Quixotl pool locker") == ()
    first, asked, untouched = told.turns.last()
    assert (first.text, first.reply) == (raw, "[forgotten]")
    assert (asked.text, asked.reply) == ("How do I open my locker?", "[forgotten]")
    assert (untouched.reply, untouched.trace) == ("Dr. Osei.", {"memories": ["m2"]})
    with pytest.raises(UnknownId):
        told.memories.get("m1")


def test_the_journal_keeps_a_line_without_the_text(told: MemoryGraph):
    told.erase(["m1"], at=NOW)
    first, _, last = told.journal.list()
    assert (first.id, first.kind, first.at, first.redacted) == ("e1", EditKind.INSERT, NOW, NOW)
    assert [(c.memory, c.before, c.after, c.redacted) for c in first.changes] == [
        ("m1", None, None, True)
    ]
    assert (last.kind, last.actor) == (EditKind.ERASE, "user")
    assert [entry.id for entry in told.journal.of_memory("m1")] == ["e1", "e3"]


def test_the_journal_still_refuses_every_other_change(told: MemoryGraph):
    told.erase(["m1"], at=NOW)
    with sqlite3.connect(told.path) as other:
        for statement in (
            "UPDATE journal SET changes = '[]'",
            "UPDATE journal SET redacted = 'x'",
            "DELETE FROM journal",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                other.execute(statement)
        other.execute("INSERT INTO redacting VALUES ('now')")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute("UPDATE journal SET redacted = 'x', actor = 'auto'")
        other.rollback()
    other.close()


def test_every_version_goes_and_what_it_replaced_stays(told: MemoryGraph, own_home: Path):
    told.apply([Amend("m1", text="My locker at Quixotl opens with 0815-yak.")], at=NOW)
    told.apply([Replace("m1", draft("My locker at Quixotl opens with 4242-gnu."))], at=NOW)
    told.apply([Forget("m3")], at=NOW)
    told.undo(at=NOW)
    plan = told.plan_erase(["m3"])
    assert [memory.id for memory in plan.stays] == ["m1"]
    assert told.erase(["m3"], at=NOW).verified
    nothing_left(own_home, "4242-gnu.....")
    assert told.memories.get("m1").status is Status.REPLACED
    assert told.memories.get("m1").replaced_by is None
    assert told.erase(["m1"], at=NOW).verified
    nothing_left(own_home, SECRET, "opens with 0815-yak")
    assert told.verify() == ()


def test_the_same_sentence_told_twice_goes_twice(told: MemoryGraph, own_home: Path):
    again = told.sources.add(SourceKind.NOTE, f"# Pool\n- {SECRET}\n", NOW, locator="/pool.md")
    told.apply([Insert(draft(SECRET, again.id))], at=NOW)
    told.sources.add(SourceKind.CHAT, f"By the way: {SECRET.upper()}", NOW)  # gave no memory
    done = told.erase(["m1"], at=NOW)
    assert [memory.id for memory in done.plan.memories] == ["m1", "m3"]
    assert done.verified
    nothing_left(own_home, SECRET)
    assert told.sources.get("s3").text == f"By the way: {'█' * (len(SECRET) - 1)}."


def test_what_another_memory_says_on_its_own_account_is_named(told: MemoryGraph):
    told.apply([Insert(draft(f"{SECRET[:-1]} and Mia knows it too."))], at=NOW)
    done = told.erase(["m1"], at=NOW)
    assert not done.verified
    assert "m3" in done.erased.still_in


def test_a_source_without_a_known_span_goes_as_a_whole(graph: MemoryGraph, own_home: Path):
    raw = graph.sources.add(SourceKind.NOTE, "pool: quixotl / 4711 (zebra)", NOW, locator="/p.md")
    graph.apply([Insert(draft(SECRET, raw.id)), Insert(draft(OTHER, raw.id))], at=NOW)
    assert graph.erase(["m1"], at=NOW).verified
    assert set(graph.sources.get(raw.id).text) == {"█"}
    assert graph.sources.get(raw.id).content_hash == raw.content_hash  # the file is unchanged
    nothing_left(own_home, "quixotl / 4711 (zebra)")


# ---- undo ---------------------------------------------------------------------------------


def test_what_is_forgotten_for_good_cannot_be_undone_and_says_so(told: MemoryGraph):
    told.erase(["m1"], at=NOW)
    for entry in ("e1", "e3", None):
        with pytest.raises(EditConflict, match="m1 was forgotten for good"):
            told.undo(entry, at=NOW)
    assert told.undo("e2", at=NOW).changes[0].memory == "m2"
    assert told.verify() == ()


def test_undoing_a_whole_message_leaves_the_forgotten_part_alone(told: MemoryGraph):
    from store.maintenance.batch_undo import undo_all

    told.erase(["m1"], at=NOW)
    (undone,) = undo_all(told, told.journal.of_batch(1), at=NOW)
    assert undone.changes[0].memory == "m2"
    assert told.memories.list() == ()
    assert told.verify() == ()


# ---- softly -------------------------------------------------------------------------------


def test_softly_forgotten_is_undoable_for_30_days_and_then_gone(own_home: Path):
    config = load_config(now=NOW)
    with open_graph(config) as graph:
        graph.apply([Insert(draft(SECRET)), Insert(draft(OTHER))], at=NOW)
        graph.apply([Forget("m1")], at=NOW, actor="user")
        graph.apply([Forget("m2")], at=NOW)  # memlane's own: a note that no longer says it
    with open_graph(replace(config, fixed_now=NOW + timedelta(days=29))) as graph:
        assert graph.memories.get("m1").status is Status.FORGOTTEN
    with open_graph(replace(config, fixed_now=NOW + timedelta(days=30))) as graph:
        assert [memory.id for memory in graph.memories.list()] == ["m2"]
        nothing_left(own_home, SECRET)
        assert graph.verify() == ()
        assert graph.undo(at=NOW).changes[0].memory == "m2"  # not stopped by what was due


def test_taken_back_it_is_not_forgotten_later(graph: MemoryGraph):
    graph.apply([Insert(draft(SECRET))], at=NOW)
    graph.apply([Forget("m1")], at=NOW, actor="user")
    graph.undo(at=NOW)
    assert forget_due(graph, NOW + timedelta(days=99)) == ()
    graph.undo("e3", at=NOW + timedelta(days=40))  # forgotten again: the days count from here
    assert forget_due(graph, NOW + timedelta(days=60)) == ()
    assert forget_due(graph, NOW + timedelta(days=70)) == ("m1",)


def test_a_clock_set_forward_destroys_nothing(graph: MemoryGraph):
    today = datetime.now(UTC)
    graph.apply([Insert(draft(SECRET))], at=today)
    graph.apply([Forget("m1")], at=today, actor="user")
    assert forget_due(graph, today + timedelta(days=365)) == ()


# ---- whatever was done ----------------------------------------------------------------------


def test_a_zero_byte_is_a_space_in_a_message_as_in_its_memory(graph: MemoryGraph):
    said = "My code is 47\x0011."
    source = graph.sources.add(SourceKind.CHAT, said, NOW)
    assert source.text == "My code is 47 11."
    made = draft(said, source.id, Span(0, len(said)), said)
    (entry,) = graph.apply([Insert(made)], at=NOW)
    assert graph.erase([entry.changes[0].memory], at=NOW).verified


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda text: text.replace("\x00", " ").split()
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["insert", "replace", "forget", "amend", "undo"]), TEXTS),
        min_size=1,
        max_size=8,
    ),
    which=st.integers(0, 99),
)
def test_whatever_was_done_no_byte_of_it_is_left(tmp_path_factory, steps, which: int):
    """Property: after any edits, a forgotten memory is in no file, and all else still agrees."""
    home = tmp_path_factory.mktemp("home")
    said: dict[str, set[str]] = {}
    with MemoryGraph.open(home) as graph:
        for number, (what, text) in enumerate(steps):
            marked_text = f"quagga{number} {text} okapi{number}xyzzy"
            raw = graph.sources.add(SourceKind.CHAT, f"Well, {marked_text}", NOW)
            made = draft(marked_text, raw.id, Span(6, 6 + len(marked_text)), marked_text)
            current = graph.memories.list(Status.CURRENT)
            try:
                if what == "insert" or not current:
                    entries = graph.apply([Insert(made)], at=NOW)
                elif what == "replace":
                    entries = graph.apply([Replace(current[0].id, made)], at=NOW)
                elif what == "forget":
                    entries = graph.apply([Forget(current[-1].id)], at=NOW, actor="user")
                elif what == "amend":
                    entries = graph.apply([Amend(current[0].id, text=marked_text)], at=NOW)
                else:
                    entries = (graph.undo(at=NOW),)
            except (EditConflict, UnknownId):
                continue
            for change in (change for entry in entries for change in entry.changes):
                for version in filter(None, (change.before, change.after)):
                    said.setdefault(change.memory, set()).add(version.text)
        stored = graph.memories.list()
        if not stored:
            return
        victim = stored[which % len(stored)]
        rest = {memory.id: memory.text for memory in stored if memory.id != victim.id}
        done = graph.erase([victim.id], at=NOW)
        assert done.verified, (done.searched.found, done.erased.still_in)
        assert graph.verify() == ()
        assert {memory.id: memory.text for memory in graph.memories.list()} == rest
        assert graph.prove_forgotten().left == ()
        data = bytes_of(home)
        for text in said[victim.id]:
            assert text.encode() not in data
            assert f"okapi{text.split()[0][6:]}xyzzy".encode() not in data
        for entry in reversed(graph.journal.list()):
            try:
                graph.undo(entry.id, at=NOW)
            except EditConflict as error:
                assert str(error).endswith((".", "history", entry.id)) or "undo" in str(error)
            assert graph.verify() == ()


# ---- killed in the middle -----------------------------------------------------------------


@pytest.fixture(scope="module")
def workers() -> Iterator[multiprocessing.context.BaseContext]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.crash_work"])
    yield context


def test_killed_in_the_middle_it_is_all_there_or_all_gone(workers, tmp_path: Path):
    random.seed(4)
    gone = there = 0
    duration = 0.3
    for trial in range(16):
        home, log = tmp_path / f"home{trial}", tmp_path / f"log{trial}"
        process = workers.Process(
            target=forget_and_acknowledge, args=(home, log, SECRET), daemon=True
        )
        process.start()
        while not log.exists():
            time.sleep(0.001)
        began = time.monotonic()
        if trial:
            time.sleep(random.uniform(0, duration))
            process.kill()
        process.join()
        if not trial:
            duration = time.monotonic() - began
        with MemoryGraph.open(home) as graph:
            assert graph.verify() == ()
            texts = [memory.text for memory in graph.memories.list()]
            if SECRET in texts:
                there += 1
                assert not any(entry.redacted for entry in graph.journal.list())
                assert SECRET in graph.sources.get("s1").text
            else:
                gone += 1
                nothing_left(home, SECRET)
                assert graph.prove_forgotten().left == ()
    assert gone and there
