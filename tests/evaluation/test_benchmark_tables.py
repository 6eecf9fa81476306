"""What the tables rest on: kept answers, what a root search meets, who learns from what."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from agent.config import load_config
from agent.ports import ChatTurn
from agent.session.session import open_session
from benchmarks.papers.emg_rag.learning.emg_ablation import SEEN_FROM_ROOT, from_root
from benchmarks.papers.emg_rag.learning.emg_online import halves
from benchmarks.papers.emg_rag.learning.reward_kinds import gains
from benchmarks.shared.questions.qa_data import simulated
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.shared.questions.qa_views import Put, lived, sample
from benchmarks.shared.simulated_lives.lives_train import BANK
from policies.base import Question
from tests.conftest import ScriptedModel


def puts_of(seed: int = 0) -> list[Put]:
    """The questions of a life on views without meaning."""
    life = simulated(BANK, seed)
    vectors = np.full((len(life.memories), 4), 0.5, np.float32)
    return [
        Put(item, life.name, Question(item.text, vectors[0], item.asked),
            life.view(vectors, item.asked), item.required)
        for item in life.items
    ]  # fmt: skip


def test_an_answer_is_kept_over_runs_and_apart_by_its_settings(tmp_path):
    model = ScriptedModel(["Oslo.", "Bergen."])
    first = KeptAnswers(model, tmp_path / "answers.sqlite")
    turns = [ChatTurn("user", "Where do I live?")]
    assert first.chat(turns, max_tokens=10) == "Oslo."
    first.close()
    second = KeptAnswers(model, tmp_path / "answers.sqlite")
    assert second.chat(turns, max_tokens=10) == "Oslo."
    assert second.chat(turns, max_tokens=11) == "Bergen."
    assert (second.asked, second.found) == (2, 1)
    second.close()


class ModelWithStates(ScriptedModel):
    """Its state of a prompt is the length of the last turn; counts the prompts it reads."""

    def __init__(self) -> None:
        super().__init__([])
        self.read = 0

    def states(self, prompts, *, layer):
        self.read += len(prompts)
        return np.array([[len(turns[-1].content), layer] for turns in prompts], np.float32)


def test_a_hidden_state_is_kept_over_runs_and_apart_by_its_layer(tmp_path):
    model = ModelWithStates()
    first = KeptAnswers(model, tmp_path / "answers.sqlite")
    one, two = [ChatTurn("user", "Oslo")], [ChatTurn("user", "Bergen")]
    assert first.states([one], layer=3).tolist() == [[4, 3]]
    first.close()
    second = KeptAnswers(model, tmp_path / "answers.sqlite")
    assert second.states([two, one], layer=3).tolist() == [[6, 3], [4, 3]]
    assert model.read == 2
    assert second.states([one], layer=4).tolist() == [[4, 4]]
    second.close()


def test_from_the_root_a_bounded_part_of_the_layers_is_met_whatever_is_asked():
    memory = simulated(BANK, 0).memories[0]
    memories = tuple(
        replace(memory, id=f"m{n}", subclass=f"event.{'ab'[n % 2]}",
                created=memory.created + timedelta(minutes=n))
        for n in range(2 * SEEN_FROM_ROOT)
    )  # fmt: skip
    view = replace(
        puts_of()[0].view, memories=memories, vectors=np.ones((len(memories), 4), np.float32)
    )
    met = from_root(view)
    assert [m.subclass for m in met.memories] == ["event.a"] * SEEN_FROM_ROOT
    assert [m.id for m in met.memories[:2]] == ["m0", "m2"]


def test_what_is_corrected_is_never_measured():
    puts = puts_of()
    for name in ("lives_train", "locomo"):
        corrected, asked = halves(puts, name, seed=1)
        assert corrected and asked
        assert not {put.item.key for put in corrected} & {put.item.key for put in asked}
        assert all(put.item.answerable for put in corrected)
    corrected, asked = halves(puts, "lives_train", seed=1)
    assert max(p.item.asked for p in corrected) < min(p.item.asked for p in asked)


def test_a_sample_depends_on_the_seed_alone():
    puts = puts_of()
    assert sample(puts, 5, 1) == sample(puts, 5, 1) != sample(puts, 5, 2)
    assert sample(puts, 10_000, 0) == puts


def test_entropy_is_compared_with_the_best_reward_that_has_references():
    rows: dict[str, Figures] = {
        "untrained": {"f1": 0.5},
        "likelihood": {"f1": 0.7},
        "answer": {"f1": 0.6},
        "entropy": {"f1": 0.6},
    }
    found = gains(rows)
    assert round(found["likelihood"]["gain_f1"] or 0, 6) == 0.2
    assert round(found["entropy"]["entropy_share_f1"] or 0, 6) == 0.5
    assert (
        "entropy_share_f1" not in gains(rows | {"likelihood": {"f1": 0.4}, "answer": {}})["entropy"]
    )


def test_lived_questions_have_their_gold_in_the_edited_graph(embedder, tmp_path):
    small = replace(BANK, topics=BANK.topics[:2], passing=(), bookings=(), chains=(), tastes=())
    config = replace(load_config(), home=tmp_path)
    with open_session(config, embedder=embedder) as models:
        puts = list(lived(small, [0], models))
    items = {item.key: item for item in simulated(small, 0).items}
    assert [put.item.key for put in puts] == list(items)
    for put in puts:
        wanted = items[put.item.key].required or frozenset()
        assert put.required is None or len(put.required) <= len(wanted)
        assert all(memory.created <= put.item.asked for memory in put.view.memories)
    now = [put for put in puts if put.item.kind == "now" and put.required]
    held = sum(put.required <= put.view.row.keys() for put in now if put.required)
    assert held >= 0.9 * len(now)
