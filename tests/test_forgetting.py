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

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config import load_config
from agent.forgetting import forget_due, open_graph
from agent.session import Session
from store import sweeping
from store.errors import EditConflict, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert, Replace
from store.sweeping import KEY_NAME, register_cache
from store.traces import Marker, marked, occurrences, stream, windows
from store.types import Draft, EditKind, SourceKind, Span, Status, Triple
from tests.conftest import NOW, ScriptedModel
from tests.crash_work import forget_and_acknowledge

SECRET = "My locker at the Quixotl pool opens with 4711-zebra."
OTHER = "My dentist is Dr. Osei."
RAW = f"Note to self. {SECRET} {OTHER}"


def draft(text: str, source: str | None = None, span: Span | None = None, *ends: str) -> Draft:
    triples = tuple(Triple("me", "has", end) for end in ends)
    return Draft(text, "attribute.belongings", NOW, triples, source=source, span=span)


@pytest.fixture
def told(graph: MemoryGraph) -> MemoryGraph:
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
    from store.undoing import batch_of, undo_all

    told.erase(["m1"], at=NOW)
    (undone,) = undo_all(told, batch_of(told.journal, "e1"), at=NOW)
    assert undone.changes[0].memory == "m2"
    assert told.memories.list() == ()
    assert told.verify() == ()


# ---- the proof ----------------------------------------------------------------------------


def test_the_proof_holds_no_text_and_finds_a_trace(told: MemoryGraph, own_home: Path):
    told.erase(["m1"], at=NOW)
    assert told.prove_forgotten().left == ()
    (own_home / "debug.bin").write_bytes(b"\x00\x80A" + SECRET[5:40].encode() + b"B\xff")
    proof = told.prove_forgotten()
    assert proof.left == ("e3",)
    assert proof.searched.found == ("debug.bin",)


def test_what_is_told_again_later_is_no_leftover(told: MemoryGraph):
    told.erase(["m1"], at=NOW)
    again = told.sources.add(SourceKind.CHAT, SECRET, NOW)
    told.apply([Insert(draft(SECRET, again.id))], at=NOW)
    assert told.prove_forgotten().left == ()


def test_without_the_key_or_without_a_proof_nothing_can_be_checked(
    told: MemoryGraph, own_home: Path
):
    told.erase(["m1"], at=NOW)
    assert told.prove_forgotten().unproven == 0
    told.erase(["m2"], at=NOW, proof=False)
    assert told.prove_forgotten().unproven == 1
    assert (own_home / KEY_NAME).stat().st_mode & 0o077 == 0
    (own_home / KEY_NAME).unlink()
    assert told.prove_forgotten().unproven == 2


def test_marks_of_a_text_tell_nothing_without_the_key():
    one, other = Marker(b"a" * 32), Marker(b"b" * 32)
    assert len(marked(one, [SECRET])) >= 3
    assert not {m.digest for m in marked(one, [SECRET])} & {
        m.digest for m in marked(other, [SECRET])
    }


def test_windows_lie_side_by_side_and_short_texts_have_none():
    cut = windows(SECRET)
    assert "".join(cut[:-1]) + cut[-1][-(len(stream(SECRET)) % 12) :] == stream(SECRET)
    assert windows("My PIN 4") == ()
    assert windows("🎉🎉🎉🎉🎉🎉🎉🎉🎉") == ()


def test_occurrences_are_of_whole_words():
    assert occurrences("I ski.", "Three whiskies. And i  SKI!") == (Span(20, 26),)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_trace_is_found_between_any_bytes(before: bytes, after: bytes):
    """Property: whatever stands beside a text, its marks are found."""
    marker = Marker(b"k")
    marks = dict.fromkeys(marked(marker, [SECRET]))
    folded = stream((before + SECRET.encode() + after).decode("utf-8", "replace"))
    assert marker.find(marks, folded)


# ---- files beside the database ------------------------------------------------------------


def test_caches_go_and_lines_of_logs_too(told: MemoryGraph, own_home: Path):
    cache = own_home / "cache"
    (cache / "deep").mkdir(parents=True)
    (cache / "replies.sqlite").write_bytes(SECRET.encode())
    (cache / "deep" / "x").write_bytes(b"y")
    log = own_home / "chat.history"
    log.write_text(f"hello\nsay {SECRET}\nbye\n")
    done = told.erase(["m1"], at=NOW)
    assert done.verified
    assert done.cleaned == ("chat.history",)
    assert log.read_text() == "hello\nbye\n"
    assert list(cache.iterdir()) == []


def test_a_cache_may_be_emptied_by_its_owner(
    told: MemoryGraph, own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweeping, "_caches", {})
    kept = own_home / "cache" / "llm.sqlite"
    kept.parent.mkdir()
    kept.write_bytes(b"tokens")
    (own_home / "cache" / "llm.sqlite-wal").write_bytes(b"w")
    register_cache("llm.sqlite", lambda path: void(path.write_bytes(b"empty")))
    told.erase(["m1"], at=NOW)
    assert kept.read_bytes() == b"empty"


def test_another_file_that_holds_it_is_named(told: MemoryGraph, own_home: Path):
    (own_home / "backup.db").write_bytes(b"\x00" + SECRET.encode())
    done = told.erase(["m1"], at=NOW)
    assert not done.verified
    assert done.searched.found == ("backup.db",)


def test_while_another_process_reads_old_bytes_wait_for_the_next_open(
    told: MemoryGraph, own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweeping, "PATIENCE", 0.1)
    other = sqlite3.connect(told.path)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchone()
    done = told.erase(["m1"], at=NOW)
    assert not done.swept and not done.verified
    other.close()
    told.close()
    with MemoryGraph.open(own_home) as graph:
        nothing_left(own_home, SECRET)
        assert not graph.prove_forgotten().unswept


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


# ---- the command --------------------------------------------------------------------------


@pytest.fixture
def kept(memlane, own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        graph.apply([Insert(draft(SECRET)), Insert(draft(OTHER))], at=NOW)
    return memlane


def test_forget_asks_first_and_names_the_way_without(kept):
    result = kept("memories", "forget", "m1")
    assert result.code == 2
    assert "--yes" in result.err and "--soft" in result.err
    assert len(kept("memories", "list", "--json").json["memories"]) == 2


def test_forget_yes_reports_what_was_searched(kept, own_home: Path):
    result = kept("memories", "forget", "m1", "--yes", "--json")
    assert result.code == 0
    assert result.json["verified"] is True
    assert result.json["memories"] == ["m1"]
    assert result.json["edits"][0]["kind"] == "erase"
    assert result.json["searched"]["files"] >= 1
    assert SECRET not in result.out
    nothing_left(own_home, SECRET)
    checks = {c["name"]: c for c in kept("doctor", "--forgotten", "--json").json["checks"]}
    assert checks["forgotten"]["ok"]
    assert "nothing of it" in checks["forgotten"]["detail"]
    assert "language model" not in checks
    history = kept("memories", "history").out
    assert "forgotten for good" in history and SECRET not in history
    again = kept("memories", "forget", "m1", "--yes")
    assert (again.code, "no memory m1" in again.err) == (1, True)


def test_doctor_fails_on_a_trace(kept, own_home: Path):
    kept("memories", "forget", "m1", "--yes")
    (own_home / "stray.bin").write_bytes(SECRET.encode())
    result = kept("doctor", "--forgotten", "--json")
    check = next(c for c in result.json["checks"] if c["name"] == "forgotten")
    assert result.code == 1
    assert "stray.bin" in check["detail"]


def test_forget_soft_says_until_when(kept):
    result = kept("--now", "2024-05-08T09:00:00+00:00", "memories", "forget", "--soft", "m1")
    assert "until 2024-06-07" in result.out
    assert "memories undo e3" in result.out
    assert kept("--now", "2024-05-09T09:00:00+00:00", "memories", "undo").code == 0


def test_forgotten_in_the_home_but_not_in_the_persons_own_file(kept, tmp_path: Path):
    note = tmp_path / "gym.md"
    note.write_text("My gym is called Fit24.\n")
    kept("ingest", str(note))
    result = kept("memories", "forget", "m3", "--yes")
    assert result.code == 0
    assert f"Your own file still holds it: {note}" in result.out
    assert kept("ingest", str(note), "--json").json["sources"][0]["status"] == "unchanged"


def test_in_chat_forget_is_soft(session: Session, scripted: ScriptedModel):
    from cli.run import Run
    from cli.talk import _one_line

    session.remember(SECRET)
    _one_line(Run(), session, "/forget m1", None)
    assert session.graph.memories.get("m1").status is Status.FORGOTTEN
    session.graph.undo(at=NOW)
    assert session.graph.memories.get("m1").status is Status.CURRENT


# ---- through a session --------------------------------------------------------------------


def test_told_answered_and_forgotten_nothing_of_it_is_left(
    session: Session, scripted: ScriptedModel, own_home: Path
):
    session.respond("My boss is Kenji Tan. My gym locker code is 84213377.")
    scripted.replies.append("Your gym locker code is 84213377.")
    session.ask("What is my gym locker code?")
    secret = next(m for m in session.graph.memories.list() if "84213377" in m.text)
    assert session.graph.erase([secret.id], at=NOW).verified
    assert b"84213377" not in bytes_of(own_home)
    assert session.graph.verify(session.embedder.identity) == ()
    assert session.ask("What is my gym locker code?", use_llm=False).memories == ()


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
    context.set_forkserver_preload(["tests.crash_work"])
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
