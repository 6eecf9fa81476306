"""Several machines of one person: what is told, asked and forgotten, and what goes wrong."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.io.sync import segments
from agent.io.sync.apply import apply
from agent.io.sync.keys import MARKER, id_of, new_key
from agent.io.sync.run import pair, record, synchronise
from agent.io.sync.segments import age, names_in, opened, sealed
from agent.memory.editing.conflicts import Holds
from agent.memory.uncertain.pending_questions import next_question, settle_pair
from agent.session.session import Session
from store.errors import EditConflict, HomeUnavailable, InvalidInput, StoreFull
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.maintenance.backup import copy_database
from store.side_tables.pending_questions import QuestionKind
from store.types import SourceKind, Span, Status, Trust
from tests.conftest import NOW, Result, ScriptedModel
from tests.support.sync_work import killed_at
from tests.support.syncing import Homes, draft, state_of

KEY = new_key()
SECRET = "My locker at the Quixotl pool opens with 4711-zebra."
OTHER = "My dentist is Dr. Osei."


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[Homes]:
    MemoryGraph.open(tmp_path / "empty").close()
    skews = (timedelta(), timedelta(days=-3), timedelta(days=5))
    made = Homes(tmp_path, KEY, tmp_path / "empty", skews)
    yield made
    made.close()


def tell(homes: Homes, home: int, *texts: str) -> list[str]:
    """Memories read off one message."""
    graph, now = homes.graphs[home], homes.now(home)
    source = graph.sources.add(SourceKind.CHAT, " ".join(texts), now)
    told, start = [], 0
    for text in texts:
        span = Span(start, start + len(text))
        told.append(Insert(draft(text, now, source=source.id, span=span)))
        start += len(text) + 1
    return [entry.memory for entry in graph.apply(told, at=now, source=source.id)]


def edit(homes: Homes, home: int, change: Amend | Replace | Forget | Expire | Insert) -> str:
    (entry,) = homes.graphs[home].apply([change], at=homes.now(home), actor="user")
    return entry.memory


def texts(homes: Homes, home: int) -> list[str]:
    return sorted(m.text for m in homes.graphs[home].memories.list(Status.CURRENT))


def saying(homes: Homes, home: int, text: str) -> str:
    (found,) = homes.graphs[home].memories.saying(text)
    return found.id


def nowhere(homes: Homes, text: str) -> None:
    assert text not in homes.segments()
    for number, graph in enumerate(homes.graphs):
        assert graph.prove_forgotten().left == ()
        assert text.encode() not in homes.bytes(number)


def alike(homes: Homes) -> None:
    homes.settle()
    first, *others = [state_of(graph) for graph in homes.graphs]
    assert all(other == first for other in others)
    assert not any(graph.verify() for graph in homes.graphs)


# ---- what is told ---------------------------------------------------------------------------


def test_what_one_machine_is_told_the_others_know_with_its_source(homes: Homes):
    tell(homes, 0, OTHER, "I like tea.")
    edit(homes, 0, Amend("m2", pinned=True))
    alike(homes)
    tea = homes.graphs[2].memories.get(saying(homes, 2, "I like tea."))
    assert tea.pinned and tea.source and tea.span and tea.trust is Trust.TOLD
    assert tea.span.of(homes.graphs[2].sources.get(tea.source).text) == "I like tea."


def test_a_run_without_news_writes_nothing(homes: Homes):
    tell(homes, 0, OTHER)
    homes.settle()
    before = names_in(homes.folder)
    homes.settle()
    assert names_in(homes.folder) == before


def test_a_replacement_is_one_edit_everywhere_and_is_undone_as_one(homes: Homes):
    tell(homes, 0, "I live in Bedok.")
    homes.settle()
    edit(homes, 0, Replace("m1", draft("I live in Tampines.")))
    homes.settle()
    last = homes.graphs[1].journal.list()[-1]
    assert (last.kind, len(last.changes)) == ("replace", 2)
    homes.graphs[1].undo(last.id, at=homes.now(1))
    alike(homes)
    assert texts(homes, 0) == ["I live in Bedok."]


def test_an_undo_of_what_came_from_elsewhere_can_itself_be_undone(homes: Homes):
    tell(homes, 0, OTHER)
    homes.settle()
    graph = homes.graphs[1]
    back = graph.undo(at=homes.now(1))
    alike(homes)
    assert texts(homes, 0) == texts(homes, 2) == []
    graph.undo(back.id, at=homes.now(1))
    alike(homes)
    assert texts(homes, 0) == texts(homes, 2) == [OTHER]


def test_what_has_taken_a_place_elsewhere_is_not_undone_alone(homes: Homes):
    tell(homes, 0, "I live in Bedok.")
    homes.settle()
    for home, place in ((0, "Tampines"), (1, "Woodlands")):
        edit(homes, home, Replace("m1", draft(f"I live in {place}.")))
    homes.settle()
    graph = homes.graphs[2]
    for entry in graph.journal.list():
        if entry.kind == "insert" and graph.memories.replaced_by([entry.memory]):
            with pytest.raises(EditConflict, match="taken the place"):
                graph.undo(entry.id, at=homes.now(2))


# ---- conflicts ------------------------------------------------------------------------------


@pytest.mark.parametrize("holds", Holds)
def test_two_corrections_of_one_memory_are_a_question_that_is_answered_once(
    homes: Homes, holds: Holds
):
    tell(homes, 0, "I like tea.")
    homes.settle()
    edit(homes, 0, Amend("m1", text="I like green tea."))
    edit(homes, 1, Amend("m1", text="I like black tea."))
    homes.settle()
    asked = [
        next_question(graph, "none", homes.now(n), quiet=False)
        for n, graph in enumerate(homes.graphs)
    ]
    assert all(one and "green" in one.text and "black" in one.text for one in asked)
    question, graph = asked[2], homes.graphs[2]
    assert question is not None
    with graph.writing():
        settle_pair(graph, question.pair, holds, homes.now(2))
    alike(homes)
    now = homes.now(2)  # by the fastest clock: the older one may have ended just now
    assert not any(next_question(g, "none", now, quiet=False) for g in homes.graphs)


def test_two_replacements_of_one_memory_are_a_question(homes: Homes):
    tell(homes, 0, "I live in Bedok.")
    homes.settle()
    edit(homes, 0, Replace("m1", draft("I live in Tampines.")))
    edit(homes, 1, Replace("m1", draft("I live in Woodlands.")))
    alike(homes)
    assert texts(homes, 2) == ["I live in Tampines.", "I live in Woodlands."]
    assert all(len(graph.questions.undecided(QuestionKind.HOLDS)) == 1 for graph in homes.graphs)


def test_a_correction_of_what_was_replaced_elsewhere_is_not_lost(homes: Homes):
    tell(homes, 0, "I live in Bedok.")
    homes.settle()
    edit(homes, 0, Replace("m1", draft("I live in Tampines.")))
    edit(homes, 1, Amend("m1", text="I live in Bedok North."))
    alike(homes)
    assert texts(homes, 2) == ["I live in Bedok North.", "I live in Tampines."]
    assert all(len(graph.questions.undecided(QuestionKind.HOLDS)) == 1 for graph in homes.graphs)


def test_a_pin_and_a_correction_go_together(homes: Homes):
    tell(homes, 0, "I like tea.")
    homes.settle()
    edit(homes, 0, Amend("m1", pinned=True))
    edit(homes, 1, Amend("m1", text="I like green tea."))
    alike(homes)
    (memory,) = homes.graphs[2].memories.list()
    assert memory.pinned and memory.text == "I like green tea."
    assert not homes.graphs[2].questions.undecided(QuestionKind.HOLDS)


def test_what_was_changed_on_two_machines_is_asked_and_decided_in_the_chat(
    homes: Homes, session: Session, scripted: ScriptedModel
):
    tell(homes, 0, "I drink green tea at work.")
    pair(session.graph, homes.folder, KEY)
    homes.sync(0)
    synchronise(session.graph, homes.folder, NOW)
    session.graph.apply([Amend("m1", text="I drink black tea at work.")], at=NOW)
    edit(homes, 0, Amend("m1", text="I drink mint tea at work."))
    homes.sync(0)
    synchronise(session.graph, homes.folder, NOW)
    scripted.replies[:] = ["Good morning."]
    assert "mint" in session.respond("Good morning!").questions[0]
    session.respond("the mint tea")
    assert [m.text for m in session.graph.memories.list() if m.holds_at(NOW)] == [
        "I drink mint tea at work."
    ]
    synchronise(session.graph, homes.folder, NOW)
    homes.sync(0)
    assert [m.text for m in homes.graphs[0].memories.list() if m.holds_at(homes.now(0))] == [
        "I drink mint tea at work."
    ]


# ---- forgetting -----------------------------------------------------------------------------


@pytest.mark.parametrize("forgetter", range(3))
def test_what_one_machine_forgets_is_in_no_byte_of_any(homes: Homes, forgetter: int):
    tell(homes, 0, SECRET, OTHER)
    homes.settle()
    graph = homes.graphs[forgetter]
    graph.erase([saying(homes, forgetter, SECRET)], at=homes.now(forgetter))
    homes.sync(forgetter)
    assert SECRET not in homes.segments()  # at once, whoever wrote the segment
    alike(homes)
    nowhere(homes, SECRET)
    assert texts(homes, 0) == [OTHER]


def test_forgetting_wins_over_a_correction_that_did_not_know_of_it(homes: Homes):
    tell(homes, 0, SECRET)
    homes.settle()
    homes.graphs[0].erase(["m1"], at=homes.now(0))
    edit(homes, 1, Amend("m1", text="The locker code is 9999-quagga today."))
    homes.sync(1)
    alike(homes)
    assert texts(homes, 2) == []
    nowhere(homes, SECRET)
    nowhere(homes, "The locker code is 9999-quagga today.")


def test_the_same_sentence_told_elsewhere_is_forgotten_unless_it_is_told_again(homes: Homes):
    tell(homes, 0, SECRET)
    tell(homes, 1, SECRET)
    homes.graphs[0].erase(["m1"], at=homes.now(0))
    alike(homes)
    assert texts(homes, 1) == []
    nowhere(homes, SECRET)
    tell(homes, 1, SECRET)
    alike(homes)
    assert texts(homes, 0) == [SECRET]


def test_what_was_taken_back_here_and_forgotten_there_leaves_no_trace_here(homes: Homes):
    tell(homes, 0, SECRET)
    homes.settle()
    homes.graphs[1].undo(at=homes.now(1))
    homes.graphs[0].erase(["m1"], at=homes.now(0))
    alike(homes)
    nowhere(homes, SECRET)


def test_one_of_two_versions_can_be_forgotten(homes: Homes):
    tell(homes, 0, "I like tea.")
    homes.settle()
    edit(homes, 0, Amend("m1", text=SECRET))
    edit(homes, 1, Amend("m1", text="I like black tea a lot."))
    homes.settle()
    homes.graphs[2].erase([saying(homes, 2, SECRET)], at=homes.now(2))
    alike(homes)
    nowhere(homes, SECRET)
    assert "I like black tea a lot." in texts(homes, 0)


def test_a_segment_with_forgotten_text_that_comes_back_is_deleted_again(
    homes: Homes, tmp_path: Path
):
    tell(homes, 0, SECRET, OTHER)
    homes.settle()
    kept = shutil.copytree(homes.folder, tmp_path / "old")
    homes.graphs[1].erase([saying(homes, 1, SECRET)], at=homes.now(1))
    homes.settle()
    for path in kept.glob("*.age"):
        shutil.copy(path, homes.folder / f"conflict of {path.name}")
    alike(homes)
    nowhere(homes, SECRET)


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
        for item in opened((homes.folder / name).read_bytes(), KEY)
    ]
    for seed in range(8):
        order = random.Random(seed).sample(shared * 2, len(shared) * 2)
        home = Path(shutil.copytree(tmp_path / "empty", tmp_path / f"fresh{seed}"))
        with MemoryGraph.open(home) as graph:
            pair(graph, homes.folder, KEY)
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
    pair(fresh, homes.folder, KEY)
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
            pair(graph, homes.folder, KEY)
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
    recipient = age().x25519.Identity.from_str(KEY).to_public()
    plain = age().decrypt((homes.folder / name).read_bytes(), [age().x25519.Identity.from_str(KEY)])
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
    assert KEY not in (homes.folder / MARKER).read_text() and id_of(KEY) != KEY


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
