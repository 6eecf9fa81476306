"""The proof that nothing is left, and the files beside the database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.markdown_edit import written
from agent.io.transfer.backup import FOLDER, backup, free_path
from store.erasure import secure_delete
from store.erasure.fingerprints import Fingerprint, Fingerprints, occurrences, stream, windows
from store.erasure.secure_delete import EDITS_FOLDER, KEY_NAME, register_cache
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import SourceKind, Span
from tests.conftest import NOW
from tests.support.forgetting import SECRET, draft, nothing_left, void

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


def marked(marker: Fingerprints) -> frozenset[Fingerprint]:
    return frozenset(map(marker.mark, windows(SECRET)))


def test_marks_of_a_text_tell_nothing_without_the_key():
    one, other = Fingerprints(b"a" * 32), Fingerprints(b"b" * 32)
    assert len(marked(one)) >= 3
    assert not {m.digest for m in marked(one)} & {m.digest for m in marked(other)}


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
    marker = Fingerprints(b"k")
    marks = dict.fromkeys(marked(marker))
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


def test_what_this_process_has_read_goes_too(told: MemoryGraph):
    from agent.memory.editing.compare import words
    from store.erasure.fingerprints import _tokens

    assert words(SECRET)
    assert words.cache_info().currsize
    told.erase(["m1"], at=NOW)
    assert words.cache_info().currsize == _tokens.cache_info().currsize == 0


def test_what_an_editor_left_goes_too(told: MemoryGraph, own_home: Path):
    folder = own_home / EDITS_FOLDER
    folder.mkdir()
    other = written([told.memories.get("m2")])
    (folder / "other.md").write_text(other)
    (folder / "plain.md").write_text(written(told.memories.list()))
    # Reworded, so that only its id tells what it is about.
    (folder / "reworded.md").write_text("---\nid: M1\n---\n\nThe pool locker has a new code.\n")
    (own_home / "import.jsonl.rejected").write_text(f"{SECRET}\nanother line\n")
    done = told.erase(["m1"], at=NOW)
    assert done.verified
    gone = {"import.jsonl.rejected", "edits/plain.md", "edits/reworded.md"}
    assert set(done.cleaned) == gone
    assert [path.name for path in folder.iterdir()] == ["other.md"]
    assert (folder / "other.md").read_text() == other
    assert (own_home / "import.jsonl.rejected").read_text() == "another line\n"


def test_a_cache_may_be_emptied_by_its_owner(
    told: MemoryGraph, own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(secure_delete, "_caches", {})
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


def test_a_backup_in_the_home_is_unpacked_and_named(told: MemoryGraph, own_home: Path):
    file = backup(own_home, free_path(own_home / FOLDER, NOW), NOW).path
    assert SECRET.encode() not in file.read_bytes()  # it is packed
    (own_home / "backups" / "half.zip").write_bytes(file.read_bytes()[:-200])
    done = told.erase(["m1"], at=NOW)
    assert not done.verified
    assert done.searched.found == (f"backups/{file.name}",)
    assert told.prove_forgotten().left == ("e3",)
    file.unlink()
    assert told.prove_forgotten().left == ()


def test_while_another_process_reads_old_bytes_wait_for_the_next_open(
    told: MemoryGraph, own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(secure_delete, "PATIENCE", 0.1)
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
