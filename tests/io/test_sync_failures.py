"""Several machines of one person: order, copies, what is lost on the way, and what goes wrong."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from agent.io.sync import segments
from agent.io.sync.apply import apply
from agent.io.sync.keys import MARKER, id_of, new_key
from agent.io.sync.run import pair, record, synchronise
from agent.io.sync.segments import age, names_in, opened, sealed
from store.errors import HomeUnavailable, InvalidInput, StoreFull
from store.graph import MemoryGraph
from store.journal import Amend, Insert, Replace
from store.maintenance.backup import copy_database
from tests.conftest import NOW, Result
from tests.support.sync_work import killed_at
from tests.support.syncing import Homes, alike, draft, edit, nowhere, saying, state_of, tell, texts

SECRET = "My locker at the Quixotl pool opens with 4711-zebra."
OTHER = "My dentist is Dr. Osei."


# ---- order, copies, what is lost on the way ---------------------------------------------------


def busy(homes: Homes) -> None:
    """Changes on all machines, with conflicts and a forgetting."""
    tell(homes, 0, "I like tea.", "I live in Bedok.", SECRET)
    homes.settle()
    for home, place in ((0, "Tampines"), (1, "Woodlands")):
        bedok = saying(homes, home, "I live in Bedok.")
        edit(homes, home, Replace(bedok, draft(f"I live in {place}.")))
    tea = [saying(homes, home, "I like tea.") for home in range(3)]
    for home, kind in enumerate(("green", "black", "mint")):
        edit(homes, home, Amend(tea[home], text=f"I like {kind} tea."))
        homes.sync(home)
    homes.graphs[2].erase([saying(homes, 2, SECRET)], at=homes.now(2))
    tell(homes, 1, OTHER)
    homes.settle()


def test_the_records_of_all_segments_give_the_same_in_any_order(homes: Homes, tmp_path: Path):
    busy(homes)
    expected = state_of(homes.graphs[0])
    shared = [
        item
        for name in names_in(homes.folder)
        for item in opened((homes.folder / name).read_bytes(), homes.key)
    ]
    for seed in range(8):
        order = random.Random(seed).sample(shared * 2, len(shared) * 2)
        home = Path(shutil.copytree(tmp_path / "empty", tmp_path / f"fresh{seed}"))
        with MemoryGraph.open(home) as graph:
            pair(graph, homes.folder, homes.key)
            cut = seed * len(order) // 8
            for part in (order[:cut], order[cut:]):
                with graph.writing():
                    record(graph, f"{len(part)}.age", part)
                apply(graph, NOW)
            apply(graph, NOW)  # the first that was told of it may have waited for the second
            found = state_of(graph)
            assert {k: v for k, v in found.items() if "question" not in k} == {
                k: v for k, v in expected.items() if "question" not in k
            }, seed
            assert graph.verify() == ()


def test_a_segment_that_comes_late_changes_nothing_in_the_end(homes: Homes):
    tell(homes, 0, "I like tea.")
    homes.sync(0)
    (first,) = names_in(homes.folder)
    edit(homes, 0, Amend("m1", text="I like green tea."))
    homes.sync(0)
    with homes.hidden([first]):
        homes.sync(1)
    alike(homes)
    assert texts(homes, 1) == ["I like green tea."]


def test_segments_that_somebody_deletes_are_told_anew(homes: Homes):
    busy(homes)
    for name in names_in(homes.folder):
        (homes.folder / name).unlink()
    homes.sync(1)
    fresh = MemoryGraph.open(homes.root / "fresh")
    pair(fresh, homes.folder, homes.key)
    homes.graphs.append(fresh)
    homes.skews = (*homes.skews, timedelta())
    alike(homes)


def test_a_copy_of_a_home_doubles_nothing(homes: Homes, tmp_path: Path):
    original = MemoryGraph.open(tmp_path / "original")
    for text in ("I like tea.", OTHER):
        original.apply([Insert(draft(text))], at=NOW)
    (tmp_path / "copy").mkdir()
    copy_database(tmp_path / "original" / "memlane.db", tmp_path / "copy" / "memlane.db")
    original.apply([Amend("m1", text="I like green tea.")], at=NOW)
    with original, MemoryGraph.open(tmp_path / "copy") as copy:
        for graph in (original, copy, original, copy):
            pair(graph, homes.folder, homes.key)
            synchronise(graph, homes.folder, NOW)
        assert state_of(original) == state_of(copy)
        assert [m.text for m in copy.memories.list()] == ["I like green tea.", OTHER]


def test_a_restored_older_home_forgets_again_and_catches_up(homes: Homes, tmp_path: Path):
    tell(homes, 0, SECRET, OTHER)
    homes.settle()
    old = Path(shutil.copytree(tmp_path / "empty", tmp_path / "older"))
    copy_database(homes.graphs[1].path, old / "copy.db")
    (old / "copy.db").replace(old / "memlane.db")
    homes.graphs[0].erase([saying(homes, 0, SECRET)], at=homes.now(0))
    edit(homes, 0, Amend(saying(homes, 0, OTHER), text="My dentist is Dr. Lund."))
    homes.settle()
    homes.graphs[1].close()
    homes.graphs[1] = MemoryGraph.open(old)
    homes.settle()
    assert texts(homes, 1) == ["My dentist is Dr. Lund."]
    assert state_of(homes.graphs[1]) == state_of(homes.graphs[0])


# ---- what goes wrong ------------------------------------------------------------------------


def test_a_half_written_segment_waits_until_it_is_whole(homes: Homes):
    tell(homes, 0, OTHER)
    homes.sync(0)
    (name,) = names_in(homes.folder)
    whole = (homes.folder / name).read_bytes()
    for length in (0, 40, len(whole) // 2, len(whole) - 1):
        (homes.folder / name).write_bytes(whole[:length])
        done = homes.sync(1)
        assert "incomplete" in done.unreadable[name]
        assert texts(homes, 1) == []
    (homes.folder / name).write_bytes(whole)
    assert not homes.sync(1).unreadable
    assert texts(homes, 1) == [OTHER]


def test_a_segment_that_none_of_the_homes_wrote_is_refused(homes: Homes):
    tell(homes, 0, OTHER)
    homes.sync(0)
    (name,) = names_in(homes.folder)
    recipient = age().x25519.Identity.from_str(homes.key).to_public()
    plain = age().decrypt(
        (homes.folder / name).read_bytes(), [age().x25519.Identity.from_str(homes.key)]
    )
    forged = age().encrypt(bytes(32) + plain[32:], [recipient])
    (homes.folder / "forged.age").write_bytes(forged)
    (homes.folder / "other.age").write_bytes(sealed([], new_key()))
    assert set(homes.sync(1).unreadable) == {"forged.age", "other.age"}
    assert texts(homes, 1) == [OTHER]


def test_a_folder_that_is_gone_or_empty_is_one_line_and_loses_nothing(homes: Homes):
    tell(homes, 0, OTHER)
    away = homes.folder.rename(homes.root / "away")
    with pytest.raises(HomeUnavailable, match="no folder"):
        homes.sync(0)
    homes.folder.mkdir()
    with pytest.raises(HomeUnavailable, match="not the shared folder"):
        homes.sync(0)
    assert list(homes.folder.iterdir()) == []
    homes.folder.rmdir()
    away.rename(homes.folder)
    alike(homes)
    assert texts(homes, 2) == [OTHER]


def test_another_key_is_one_line(homes: Homes, tmp_path: Path):
    with MemoryGraph.open(tmp_path / "stranger") as graph:
        with pytest.raises(InvalidInput, match="another key"):
            pair(graph, homes.folder, new_key())
        with pytest.raises(HomeUnavailable, match="not paired"):
            synchronise(graph, homes.folder, NOW)
    (homes.folder / MARKER).write_text((homes.folder / MARKER).read_text()[:20])
    with pytest.raises(InvalidInput, match="damaged"):
        homes.sync(0)
    assert homes.key not in (homes.folder / MARKER).read_text() and id_of(homes.key) != homes.key


def test_a_full_disk_loses_nothing(homes: Homes, monkeypatch: pytest.MonkeyPatch):
    tell(homes, 0, OTHER)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreFull, match="full"):
            homes.sync(0)
    assert [path.name for path in homes.folder.iterdir()] == [MARKER]
    alike(homes)
    assert texts(homes, 2) == [OTHER]


def test_killed_anywhere_the_next_run_goes_on(homes: Homes, tmp_path: Path):
    busy(homes)
    edit(homes, 0, Amend(saying(homes, 0, OTHER), text="My dentist is Dr. Lund."))
    homes.graphs[0].erase([saying(homes, 0, "I live in Tampines.")], at=homes.now(0))
    tell(homes, 1, "I own a bicycle.")
    homes.sync(1)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.sync_work"])
    homes.graphs[0].close()
    kills = 0
    for step in (1, 6, 14, 25, 40, 60, 85):
        process = context.Process(target=killed_at, args=(homes.root / "home0", homes.folder, step))
        process.start()
        process.join(300)
        assert process.exitcode in (0, -9)
        kills += process.exitcode == -9
    assert kills >= 3
    homes.graphs[0] = MemoryGraph.open(homes.root / "home0")
    alike(homes)
    nowhere(homes, "I live in Tampines.")
    assert not list(homes.folder.glob(f"{segments.PART}*"))


# ---- the command ----------------------------------------------------------------------------


def test_the_command_pairs_shows_the_key_and_synchronises(
    memlane: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import io

    one, two, folder = tmp_path / "one", tmp_path / "two", tmp_path / "shared"
    folder.mkdir()
    with MemoryGraph.open(one) as graph:
        graph.apply([Insert(draft(OTHER))], at=NOW)
    assert memlane("--home", one, "sync").code == 2
    assert "--pair" in memlane("--home", one, "sync", folder).err
    first = memlane("--home", one, "sync", folder, "--pair")
    key = memlane("--home", one, "sync", "--key").out.strip()
    assert first.code == 0 and key in first.out
    monkeypatch.setattr("sys.stdin", io.StringIO("AGE-SECRET-KEY-1NONSENSE\n"))
    assert memlane("--home", two, "sync", folder, "--pair").code == 2
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{key.lower()}\n"))
    assert memlane("--home", two, "sync", folder, "--pair", "--json").json["added"] == ["m1"]
    with MemoryGraph.open(two) as graph:
        graph.apply([Insert(draft("I like tea."))], at=NOW)
    before = sorted(folder.iterdir())
    dry = memlane("--home", two, "sync", "--dry-run", "--json").json
    assert dry["dry_run"] and dry["told"] == 3
    assert sorted(folder.iterdir()) == before
    assert memlane("--home", two, "sync").code == 0
    assert memlane("--home", one, "sync", "--json").json["added"] == ["m2"]
    assert memlane("--home", one, "sync", tmp_path / "nowhere").code != 0
