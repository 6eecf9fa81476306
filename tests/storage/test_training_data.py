"""What was learned is kept with what it rests on, and goes with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.errors import UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert
from store.tables.side_tables.training_data import (
    KEPT_WEIGHTS,
    AnswerJudgement,
    PairOrigin,
    StoredWeights,
)
from tests.conftest import NOW
from tests.support.exports import draft, lines_of, take_in
from tests.support.forgetting import SECRET, bytes_of, nothing_left

CODE = "4711-zebra"


def network(seed: int = 0) -> bytes:
    return np.random.default_rng(seed).normal(size=102).astype("<f8").tobytes()


def weights(**more: Any) -> StoredWeights:
    made = StoredWeights(
        "walk", 0, NOW, "train", (3, 20, 2), network(), "kept", 0.1, 0.2, 0, True, {"seed": 0}
    )
    return replace(made, **more)


def add_pair(graph: MemoryGraph, *ids: str, question: str = "What opens my locker?") -> str:
    return graph.learned.add_pair(
        question, CODE, graph.memories.of(ids), origin=PairOrigin.WRITTEN, at=NOW
    )


# ---- pairs --------------------------------------------------------------------------------


def test_a_pair_comes_back_as_it_was_kept(told: MemoryGraph):
    key = add_pair(told, "m1", "m2")
    (pair,) = told.learned.pairs(NOW)
    assert (pair.id, pair.question, pair.answer) == (key, "What opens my locker?", CODE)
    assert (pair.memories, pair.origin, pair.turn) == (("m1", "m2"), PairOrigin.WRITTEN, None)
    assert told.verify() == ()


def test_a_pair_waits_while_a_memory_of_it_is_softly_forgotten(told: MemoryGraph):
    add_pair(told, "m1")
    told.apply([Forget("m1")], at=NOW, actor="user")
    assert told.learned.pairs(NOW) == ()
    told.undo(at=NOW)
    assert len(told.learned.pairs(NOW)) == 1


def test_a_pair_does_not_outlive_what_its_memory_said(told: MemoryGraph):
    add_pair(told, "m1")
    add_pair(told, "m2", question="Who is my dentist?")
    told.apply([Amend("m1", text="My locker opens with 9.")], at=NOW)
    assert [pair.memories for pair in told.learned.pairs(NOW)] == [("m2",)]
    told.apply([Expire("m2", NOW + timedelta(days=1))], at=NOW)
    assert len(told.learned.pairs(NOW)) == 1
    assert told.learned.pairs(NOW + timedelta(days=2)) == ()


def test_undoing_an_insert_and_doing_it_again_keeps_the_pair(graph: MemoryGraph):
    (entry,) = graph.apply([Insert(draft("I like tea."))], at=NOW)
    add_pair(graph, entry.memory)
    undone = graph.undo(at=NOW)
    assert graph.learned.pairs(NOW) == ()
    graph.undo(undone.id, at=NOW)
    assert len(graph.learned.pairs(NOW)) == 1


def test_what_gave_no_pair_is_remembered_without_any_text(told: MemoryGraph):
    told.learned.add_failure(told.memories.of(["m1", "m2"]), "not answered", at=NOW)
    assert told.learned.pairs(NOW) == ()
    assert told.learned.tried() == {frozenset(("m1", "m2"))}
    assert told.learned.failures() == {"not answered": 1}


def test_a_new_judgement_takes_the_place_of_the_one_before(told: MemoryGraph):
    told.learned.add_judgement("t2", AnswerJudgement.GOOD, None, at=NOW)
    told.learned.add_judgement("t2", AnswerJudgement.BAD, None, at=NOW)
    assert told.learned.judgements() == {"t2": AnswerJudgement.BAD}


# ---- weights ------------------------------------------------------------------------------


def test_weights_are_numbered_and_one_is_active(graph: MemoryGraph):
    assert graph.learned.active("walk") is None
    first = graph.learned.add_weights(weights(), [])
    lost = graph.learned.add_weights(weights(flat=None, state="lost", active=False), [])
    second = graph.learned.add_weights(weights(flat=network(1), continues=1), [])
    assert [first.number, lost.number, second.number] == [1, 2, 3]
    assert graph.learned.active("walk") == second
    assert [w.active for w in graph.learned.history("walk")] == [False, False, True]
    assert graph.learned.active("scout") is None


def test_earlier_weights_can_be_returned_to_and_lost_ones_not(graph: MemoryGraph):
    for seed in range(2):
        graph.learned.add_weights(weights(flat=network(seed)), [])
    graph.learned.add_weights(weights(flat=None, state="lost", active=False), [])
    back = graph.learned.activate("walk", 1)
    assert back is not None
    assert back.flat == network(0)
    assert graph.learned.activate("walk", 0) is None
    assert graph.learned.active("walk") is None
    with pytest.raises(UnknownId, match="did worse than"):
        graph.learned.activate("walk", 3)
    with pytest.raises(UnknownId, match="no weights number 9"):
        graph.learned.activate("walk", 9)


def test_the_oldest_weights_go_but_never_those_in_use(graph: MemoryGraph):
    graph.learned.add_weights(weights(), [])
    for _ in range(KEPT_WEIGHTS + 5):
        graph.learned.add_weights(weights(active=False), [])
    kept = graph.learned.history("walk")
    assert len(kept) == KEPT_WEIGHTS + 1
    assert kept[0].number == 1
    assert kept[0].active


# ---- forgetting ---------------------------------------------------------------------------


def test_nothing_learned_from_a_memory_outlives_it(told: MemoryGraph, own_home: Path):
    add_pair(told, "m1")
    kept = add_pair(told, "m2", question="Who is my dentist?")
    quoting = told.learned.add_pair(
        "What did I say of the Quixotl pool locker?", "It has a code", [],
        origin=PairOrigin.CORRECTED, at=NOW, turn="t3",
    )  # fmt: skip
    told.learned.add_judgement("t2", AnswerJudgement.GOOD, None, at=NOW)
    told.learned.add_judgement("t3", AnswerJudgement.ANSWER, f"It is {CODE}", at=NOW)
    told.learned.add_weights(weights(), ["m1", "m2"])
    done = told.erase(["m1"], at=NOW)
    assert done.verified
    # The pair about the dentist says the code as its answer: only the forgotten said that.
    assert kept not in [pair.id for pair in told.learned.pairs(NOW)]
    assert quoting not in [pair.id for pair in told.learned.pairs(NOW)]
    assert told.learned.judgements() == {}
    nothing_left(own_home, SECRET, "the Quixotl pool locker", CODE)
    assert network() not in bytes_of(own_home)
    assert told.learned.active("walk") is None
    assert "removed" in told.learned.due()["walk"]
    with pytest.raises(UnknownId, match="forgotten for good"):
        told.learned.activate("walk", 1)
    assert told.verify() == ()


def test_what_was_learned_from_others_stays(told: MemoryGraph):
    kept = told.learned.add_pair(
        "Who is my dentist?", "Dr. Osei", told.memories.of(["m2"]), origin=PairOrigin.JUDGED, at=NOW
    )
    told.learned.add_judgement("t3", AnswerJudgement.GOOD, None, at=NOW)
    told.learned.add_weights(weights(), ["m2"])
    told.erase(["m1"], at=NOW)
    assert [pair.id for pair in told.learned.pairs(NOW)] == [kept]
    assert told.learned.judgements() == {"t3": AnswerJudgement.GOOD}
    active = told.learned.active("walk")
    assert active is not None
    assert active.flat == network()
    assert told.learned.due() == {}


def test_weights_that_go_on_from_others_rest_on_the_same_memories(told: MemoryGraph):
    told.learned.add_weights(weights(), ["m1"])
    told.learned.add_weights(weights(flat=network(1), continues=1), ["m2"])
    told.erase(["m1"], at=NOW)
    assert [w.state for w in told.learned.history("walk")] == ["removed", "removed"]


def test_a_soft_forgetting_makes_training_due_until_it_is_undone(told: MemoryGraph):
    told.learned.add_weights(weights(), ["m1"])
    assert told.learned.due() == {}
    told.apply([Forget("m1")], at=NOW, actor="user")
    assert "forgotten" in told.learned.due()["walk"]
    told.undo(at=NOW)
    assert told.learned.due() == {}


def test_a_new_training_settles_what_was_due(told: MemoryGraph):
    told.learned.add_weights(weights(), ["m1"])
    told.erase(["m1"], at=NOW)
    told.learned.add_weights(weights(flat=None, state="lost", active=False), [])
    assert told.learned.due() == {}


# ---- travelling ---------------------------------------------------------------------------


def test_what_was_learned_travels_with_an_export(told: MemoryGraph, own_home: Path, tmp_path: Path):
    add_pair(told, "m1")
    told.learned.add_judgement("t2", AnswerJudgement.GOOD, None, at=NOW)
    told.learned.add_weights(weights(), ["m1"])
    told.close()
    tables = {line["table"] for line in lines_of(own_home) if line["kind"] == "row"}
    assert {"episodes", "episode_memories", "feedback", "weights", "weights_memories"} <= tables
    from agent.io.transfer.export import export_jsonl

    export_jsonl(own_home, tmp_path / "all.jsonl", NOW)
    take_in(tmp_path / "all.jsonl", tmp_path / "other")
    with MemoryGraph.open(tmp_path / "other") as other:
        assert len(other.learned.pairs(NOW)) == 1
        active = other.learned.active("walk")
        assert active is not None
        assert active.flat == network()
        assert other.verify() == ()


def test_an_answer_that_tells_it_again_later_is_no_leftover(told: MemoryGraph):
    told.learned.add_judgement("t3", AnswerJudgement.ANSWER, f"{SECRET} Really.", at=NOW)
    told.erase(["m1"], at=NOW)
    assert told.learned.judgements() == {}
    assert told.prove_forgotten().left == ()
    told.learned.add_judgement("t3", AnswerJudgement.ANSWER, f"{SECRET} Really.", at=NOW)
    assert told.prove_forgotten().left == ()
