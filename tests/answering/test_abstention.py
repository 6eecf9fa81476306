"""Choosing nothing: when memory hardly holds the answer nothing is selected, and it is said so."""

from __future__ import annotations

import json
from dataclasses import astuple, fields, replace
from pathlib import Path

import numpy as np
import pytest

from agent.answering.replies import UNKNOWN
from agent.answering.retrieve import READING, timeless
from agent.results import Route
from agent.session.session import Session
from benchmarks.quality.answers.abstention_cases import read_own
from policies.abstain import WEIGHTS, AbstentionJudge, SelectionSigns, shipped, signs_of
from policies.base import Question
from policies.selection import Choice
from policies.weight_file import read_json, write_json
from store.derived.view import GraphView
from store.types import Memory, SourceStatus, Triple
from tests.conftest import NOW, ScriptedModel

SURE = SelectionSigns(best=0.8, stands_out=4.0, covered=1.0, unnamed=0.0, personal=1.0, advice=0.0)
LOST = SelectionSigns(best=0.1, stands_out=1.0, covered=0.0, unnamed=1.0, personal=0.0, advice=0.0)
TOLD = (
    "I live in Jurong West, Singapore.",
    "My boss is Kenji Tan.",
    "Kenji drinks only green tea.",
    "My gym is called Fit24.",
    "I like spicy food.",
    "My daughter Leonor is allergic to peanuts.",
)


@pytest.fixture
def told(session: Session) -> Session:
    for text in TOLD:
        session.remember(text)
    return session


def view_of(*memories: Memory) -> tuple[GraphView, list[Choice]]:
    vectors = np.eye(max(8, len(memories)), dtype=np.float32)[: len(memories)]
    return GraphView(memories, vectors), [Choice(memory, 0.5) for memory in memories]


def memory(number: int, text: str, *triples: Triple) -> Memory:
    return Memory(f"m{number}", text, "Event", "event.arrangement", NOW, triples)


# ---- the judge --------------------------------------------------------------------------------


def test_the_shipped_judge_tells_a_sure_case_from_a_lost_one():
    judge = shipped()
    assert 0 < judge.threshold < 0.5  # silence costs more than a needless look
    assert judge.likely(LOST) < judge.threshold < judge.likely(SURE)


@pytest.mark.parametrize(
    ("sign", "better"),
    [("best", 1), ("stands_out", 1), ("covered", 1), ("unnamed", -1)],
)
def test_each_sign_counts_the_way_it_should(sign: str, better: int):
    judge = shipped()
    low, high = (replace(SURE, **{sign: value}) for value in (0.0, 1.0))
    assert (judge.likely(high) - judge.likely(low)) * better >= 0


def test_a_judge_survives_its_file(tmp_path: Path):
    judge = AbstentionJudge(0.5, tuple(range(len(fields(SelectionSigns)))), 0.2, "encoder")
    judge.save(tmp_path / "judge.json")
    assert AbstentionJudge.load(tmp_path / "judge.json") == judge


def test_a_file_of_other_signs_is_refused(tmp_path: Path):
    text = json.dumps(read_json(WEIGHTS)).replace('"best"', '"worst"')
    write_json(tmp_path / "judge.json", json.loads(text))
    with pytest.raises(ValueError, match="worst"):
        AbstentionJudge.load(tmp_path / "judge.json")


# ---- what it looks at -------------------------------------------------------------------------


def test_signs_count_words_names_and_relations():
    view, chosen = view_of(
        memory(1, "I moved to Tampines.", Triple("me", "lives_in", "Tampines")),
        memory(2, "Kenji drinks green tea."),
    )
    question = Question("Where do I live, and what does Kenji Tan drink?", view.vectors[0], NOW)
    signs = signs_of(question, view, chosen, READING)
    assert signs is not None
    assert signs.best == pytest.approx(1.0)
    assert signs.personal == 1.0
    assert signs.unnamed == pytest.approx(1 / 2)  # Kenji is there, Tan is not
    assert 0 < signs.covered < 1
    assert all(np.isfinite(astuple(signs)))


def test_nothing_chosen_has_no_signs():
    view, _ = view_of(memory(1, "I like tea."))
    assert signs_of(Question("Tea?", view.vectors[0], NOW), view, [], READING) is None


def test_dates_of_a_question_need_not_be_in_a_memory():
    vector = np.zeros(8, np.float32)
    assert "March" not in timeless(Question("Where did I live on 3 March?", vector, NOW)).text


def test_other_scripts_are_read_as_words():
    view, chosen = view_of(memory(1, "我住在上海。"))
    signs = signs_of(Question("我住在哪里？", view.vectors[0], NOW), view, chosen, READING)
    assert signs is not None
    assert signs.covered > 0


# ---- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What does Kenji drink?",
        "Which gym do I go to?",
        "What must my daughter not eat?",
        "Who is my boss?",
    ],
)
def test_what_is_known_is_chosen(told: Session, question: str):
    assert told.select(question).chosen


@pytest.mark.parametrize(
    "question",
    [
        "Who painted the Mona Lisa?",
        "How many moons does Jupiter have?",
        "What is the boiling point of water?",
        "Who wrote Pride and Prejudice?",
    ],
)
def test_what_memory_has_no_part_in_chooses_nothing_and_says_so(told: Session, question: str):
    # 'fused' has no floor of its own; the scripted model has no reply: it is not asked.
    reply = told.ask(question, policy="fused")
    assert reply.abstained
    assert reply.text == UNKNOWN
    assert reply.memories == ()
    assert reply.likely is not None
    assert reply.likely < shipped().threshold
    assert reply.selection is not None
    assert not any(step.chosen for step in reply.selection.trace)
    assert reply.selection.trace  # what was looked at is told all the same


def test_what_exactly_answers_is_never_doubted(told: Session):
    found = told.retrieve("Where do I live?")
    assert found.likely is None
    assert found.selection.chosen[0].memory.text == TOLD[0]


def test_another_encoder_is_not_judged(told: Session, monkeypatch: pytest.MonkeyPatch):
    other = replace(shipped(), encoder="another", threshold=1.0)
    monkeypatch.setattr("agent.session.session.shipped", lambda: other)
    assert told.select("What does Kenji drink?").chosen


def test_exact_hits_count_among_k(told: Session):
    for k in (1, 2, 3):
        assert len(told.select("Where do I live?", k=k).chosen) <= k


def test_what_gave_way_is_left_out_with_its_reason(told: Session):
    selection = told.select("Where do I live?", policy="recency", k=1)
    (only,) = selection.chosen
    assert only.memory.text == TOLD[0]
    left = [step.reason for step in selection.trace if not step.chosen]
    assert any("displaced" in reason for reason in left)


# ---- what stands behind it --------------------------------------------------------------------


def test_small_talk_that_fails_leaves_its_message_to_be_retried(
    session: Session, scripted: ScriptedModel
):
    from agent.errors import ModelMissing

    scripted.replies.append(ModelMissing("No model: memlane models pull"))
    with pytest.raises(ModelMissing):
        session.respond("Thanks, that was great!")
    (source,) = session.graph.sources.list()
    assert source.status is SourceStatus.FAILED


def test_small_talk_stays_small_talk(told: Session, scripted: ScriptedModel):
    scripted.replies.append("You are welcome.")
    assert told.respond("Thanks, that was great!").route is Route.NEITHER


def test_our_own_samples_are_whole():
    homes = list(read_own())
    assert len(homes) >= 4
    for _, memories, questions in homes:
        held = [holds for _, _, holds in questions]
        assert len(memories) >= 15
        assert 0.2 < sum(held) / len(held) < 0.8
        assert len({text for text, _, _ in questions}) == len(questions)
