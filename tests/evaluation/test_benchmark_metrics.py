"""The figures of the tables, against cases worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers.emg_rag.emg_policies import compared
from benchmarks.shared.questions.qa_data import Item, load, simulated
from benchmarks.shared.questions.qa_judge import Answered, judge_answers, right_answer
from benchmarks.shared.questions.qa_metrics import (
    bleu,
    evidence,
    exact,
    over_seeds,
    rouge,
    token_f1,
    words,
)
from benchmarks.shared.simulated_lives.lives_train import BANK


def test_exact_match_looks_past_case_articles_and_punctuation():
    assert exact("The Blue Car.", ["red car", "blue car"]) == 1
    assert exact("a blue car today", ["blue car"]) == 0
    assert exact("", []) == 0


def test_token_f1_counts_shared_words_of_the_best_reference():
    # 2 of the 4 words said, both of the 2 wanted: 2 * 2 / (4 + 2)
    assert token_f1("You live in Oslo", ["in Oslo"]) == pytest.approx(2 / 3)
    assert token_f1("Oslo Oslo", ["Oslo"]) == pytest.approx(2 / 3)
    assert token_f1("Bergen", ["Oslo", "Bergen"]) == 1
    assert token_f1("", ["Oslo"]) == 0


def test_chinese_is_compared_by_character():
    assert words("我住在上海。") == ["我", "住", "在", "上", "海"]
    assert token_f1("上海", ["上海市"]) == pytest.approx(4 / 5)
    assert rouge("上海", ["上海市"]).rouge1 == pytest.approx(4 / 5)


def test_rouge_of_unigrams_bigrams_and_the_longest_subsequence():
    # said: the cat sat; wanted: the cat has sat. 3 of 3 and of 4 words, 1 of 2 and of 3 pairs.
    scores = rouge("the cat sat", ["the cat has sat"])
    assert scores.rouge1 == pytest.approx(6 / 7)
    assert scores.rouge2 == pytest.approx(2 / 5)
    assert scores.rouge_l == pytest.approx(6 / 7)
    assert rouge("He was running", ["he runs"]).rouge1 == pytest.approx(4 / 5)
    assert rouge("anything", []).rouge1 == 0


def test_bleu_is_one_for_the_reference_itself_and_takes_uneven_references():
    said = ["my sister moved to Porto in May", "the train leaves at nine today"]
    assert bleu(said, [[said[0]], ["another", said[1]]]) == pytest.approx(1)
    assert bleu(["nothing of that kind here"], [["my sister moved to Porto"]]) < 0.1
    assert bleu([], []) == 0


def test_evidence_rewards_choosing_nothing_where_nothing_is_required():
    found = evidence(["a", "b", "c"], {"a", "d"})
    assert found.precision == pytest.approx(1 / 3)
    assert found.recall == pytest.approx(1 / 2)
    assert found.f1 == pytest.approx(2 / 5)
    assert evidence([], set()).f1 == 1
    assert evidence(["a"], set()).f1 == 0
    assert evidence([], {"a"}).recall == 0


def asked(*answers: str, of_a_value: bool = False, wrong: tuple[str, ...] = ()) -> Item:
    now = datetime(2024, 3, 10, tzinfo=UTC)
    return Item("q", "Where?", now, answers, None, "now", of_a_value=of_a_value, wrong=wrong)


def test_an_answer_of_a_value_names_it_and_no_other():
    home = asked("Oslo", of_a_value=True, wrong=("Bergen",))
    assert right_answer(home, "You live in Oslo.") == 1
    assert right_answer(home, "You moved from Bergen to Oslo.") == 0
    assert right_answer(home, "") == 0
    assert right_answer(asked("Oslo"), "Oslo.") == 1
    assert right_answer(asked("Oslo"), "In Oslo") == 0
    assert right_answer(asked(), "") == 1
    assert right_answer(asked(), "In Oslo") == 0


def test_words_are_judged_where_there_is_an_answer_and_abstention_where_there_is_none():
    rows = [Answered(asked("in Oslo"), "in Oslo", 1.0), Answered(asked("a dog"), "", 0.0),
            Answered(asked(), "", 1.0), Answered(asked(), "in Rome", 0.0)]  # fmt: skip
    found = judge_answers(rows)
    assert (found["token_f1"], found["rouge1"], found["exact"]) == (0.5, 0.5, 0.5)
    assert (found["right"], found["answers"]) == (0.5, 4)
    assert (found["abstained_known"], found["abstained_unknown"]) == (0.5, 0.5)


def test_a_walk_is_compared_with_the_best_of_the_others():
    figures = {"walk.f1": 0.6, "scout.f1": 0.9, "top-k.f1": 0.2, "purple.f1": 0.3,
               "fused@3.f1": 0.5, "bm25@needed.f1": 0.99,
               "walk.notes_tokens": 100, "top-k@20.notes_tokens": 500,
               "oracle.f1": 1.0, "walk.prompt_tokens": 400, "top-k@20.prompt_tokens": 1000,
               "walk.token_f1": 0.4, "oracle.token_f1": 0.5, "top-k.token_f1": 0.2}  # fmt: skip
    found = compared(figures)
    assert found["walk.over_best_f1"] == pytest.approx(2)
    assert found["walk.over_any_k_f1"] == pytest.approx(1.2)
    assert found["scout.over_any_k_f1"] == pytest.approx(1.8)
    assert found["walk.over_fixed_f1"] == pytest.approx(3)
    assert found["walk.notes_share"] == pytest.approx(0.2)
    assert found["walk.prompt_share"] == pytest.approx(0.4)
    assert found["walk.oracle_share_token_f1"] == pytest.approx(0.8)
    assert "scout.over_best_token_f1" not in found


def test_seeds_give_a_mean_and_a_deviation():
    found = over_seeds([{"f1": 0.2, "ms": None}, {"f1": 0.4, "ms": 3.0}])
    assert found["f1"] == pytest.approx(0.3)
    assert found["f1_sd"] == pytest.approx(0.02**0.5)
    assert (found["ms"], found["ms_sd"]) == (3.0, 0.0)


# ---- the question sets ------------------------------------------------------------------------


def write_locomo(folder: Path) -> None:
    """A conversation of ours in locomo's layout, with the odd ids that its key has."""
    folder.mkdir(parents=True)
    said = {
        "speaker_a": "Ann", "speaker_b": "Bo",
        "session_10_date_time": "1:05 am on 2 June, 2023",
        "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "I flew home."}],
        "session_2_date_time": "12:30 pm on 1 June, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Hi"},
                      {"speaker": "Ann", "dia_id": "D2:2", "text": "I am in Rome."}],
    }  # fmt: skip
    asked = [
        {"question": "Where was Ann?", "answer": "Paris", "evidence": ["D2:02; D:2:1"],
         "category": 1},
        {"question": "How many?", "answer": 3, "evidence": ["D9:9"], "category": 4},
        {"question": "What did Bo eat?", "adversarial_answer": "soup", "evidence": ["D2:1"],
         "category": 5},
    ]  # fmt: skip
    rows = [{"conversation": said, "qa": asked}]
    (folder / "locomo_other.json").write_text(json.dumps(rows), encoding="utf-8")


def test_locomo_is_read_in_order_of_time_with_its_key_corrected(tmp_path):
    write_locomo(tmp_path / "locomo")
    (whole,) = load("locomo", tmp_path)
    assert [memory.id for memory in whole.memories] == ["D2:1", "D2:2", "D10:1"]
    assert whole.memories[1].text == "Ann: I am in Rome."
    assert whole.memories[1].created == datetime(2023, 6, 1, 12, 30, tzinfo=UTC)
    assert [item.required for item in whole.items] == [{"D2:1", "D2:2"}, None, frozenset()]
    assert [item.answers for item in whole.items] == [("Paris",), ("3",), ()]
    fixed = {"question": "Where was Ann?", "category": 1, "correct_answer": "Rome",
             "correct_evidence": ["D2:2"]}  # fmt: skip
    (tmp_path / "locomo" / "audit.json").write_text(json.dumps([fixed]), encoding="utf-8")
    item = load("locomo", tmp_path)[0].items[0]
    assert (item.answers, item.required) == (("Rome",), frozenset({"D2:2"}))


def test_a_trajectory_has_its_choices_and_its_kind(tmp_path):
    folder = tmp_path / "memdaily_zh"
    folder.mkdir()
    row = {
        "message_list": [{"mid": 0, "message": "我在上海。", "time": "2024年04月01日 周一 08:43",
                          "place": "上海"}],
        "question_list": [{"qid": 0, "question": "我在哪里？", "answer": "上海",
                           "target_step_id": [0], "choices": {"A": "北京", "B": "上海"},
                           "ground_truth": "B", "time": "2024年04月05日 周五 08:07"}],
    }  # fmt: skip
    (folder / "07_post_processing_roles.json").write_text(json.dumps([row]), encoding="utf-8")
    (one,) = load("memdaily_zh", tmp_path)
    (item,) = one.items
    assert (item.kind, item.right, item.required) == ("post_processing", 1, frozenset("0"))
    assert one.memories[0].place == "上海"


@pytest.mark.parametrize("content", [None, "[]", "{", '[{"x": 1}]'])
@pytest.mark.parametrize("name", ["locomo", "memdaily_zh"])
def test_bad_data_gives_one_line(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "some.json").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as error:
        load(name, tmp_path)
    assert "\n" not in str(error.value) and name in str(error.value)


def test_a_view_holds_what_was_told_by_then():
    life = simulated(BANK, 0)
    vectors = np.eye(len(life.memories), 4, dtype=np.float32)
    moment = life.items[0].asked
    view = life.view(vectors, moment)
    assert {m.id for m in view.memories} == {m.id for m in life.memories if m.created <= moment}
    assert 0 < len(view.memories) == len(view.vectors) < len(life.view(vectors).memories)
