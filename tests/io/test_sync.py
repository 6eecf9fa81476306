"""Several machines of one person: what is told, asked and forgotten."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.io.sync.run import pair, synchronise
from agent.io.sync.segments import names_in
from agent.memory.editing.conflicts import Holds
from agent.memory.uncertain.pending_questions import next_question, settle_pair
from agent.session.session import Session
from store.errors import EditConflict
from store.journal import Amend, Replace
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Trust
from tests.conftest import NOW, ScriptedModel
from tests.support.syncing import Homes, alike, draft, edit, nowhere, saying, tell, texts

SECRET = "My locker at the Quixotl pool opens with 4711-zebra."
OTHER = "My dentist is Dr. Osei."


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


def test_two_statements_told_apart_that_contradict_each_other_are_a_question(homes: Homes):
    tell(homes, 0, "My locker has the code 4411.")
    tell(homes, 1, "My locker has the code 9023.")
    tell(homes, 1, "I like tea.")
    alike(homes)
    for n, graph in enumerate(homes.graphs):
        assert len(graph.questions.undecided(QuestionKind.HOLDS)) == 1
        question = next_question(graph, "none", homes.now(n), quiet=False)
        assert question and "4411" in question.text and "9023" in question.text
        if n == 2:
            with graph.writing():
                settle_pair(graph, question.pair, Holds.BOTH, homes.now(2))
    alike(homes)
    assert not any(graph.questions.undecided(QuestionKind.HOLDS) for graph in homes.graphs)


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
    pair(session.graph, homes.folder, homes.key)
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
