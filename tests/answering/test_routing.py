"""What a person types goes the right way: remembered, looked up, or simply answered."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agent.answering.routing import (
    MOST_PIECES,
    PIECE_CHARACTERS,
    WEIGHTS,
    WORDING_SLOTS,
    Router,
    combine,
    pieces,
    wording_slots,
)
from agent.errors import ModelError
from agent.ports import Embedder, Vectors
from agent.results import Route
from benchmarks.training.routing_own import sentences
from store.errors import WeightsDamaged

HELDOUT = Path(__file__).parents[2] / "benchmarks" / "samples" / "routing_heldout.jsonl"

TOLD = """My aunt Gertrud sold her bakery in Graz
I start at the observatory on the first of October
Remember that the boat key hangs behind the clock
we named the baby Ottilie
I can't eat hazelnuts any more
My brother's train gets in at 21:14 on Sunday
Actually it's Wednesday, not Thursday
Put rye flour on my shopping list
I used to love techno but these days I only listen to fado
Your table at Kranich is confirmed for 9 March at 19:30, 4 people. Reference QX771."""
ASKED = """When does my brother's train get in?
where is the boat key
What name did we give the baby?
what was the name of my aunt's bakery
Do I have anything planned on Sunday?
which nuts am I not supposed to eat
What should I cook for my aunt when she visits?
Who is Ottilie?
Can you recommend a concert I would enjoy?
which things are still on my shopping list"""
ELSE = """What is the boiling point of ethanol?
How do I descale a kettle?
thanks, that's perfect
A very good day to you
What is 38 times 12?
Who wrote The Magic Mountain?
Turn the heating down
Tell me a joke about penguins
Translate 'see you tomorrow' into Finnish
The Danube flows into the Black Sea."""
CLEAR = [
    (text, route)
    for route, block in ((Route.UPDATE, TOLD), (Route.RETRIEVE, ASKED), (Route.NEITHER, ELSE))
    for text in block.splitlines()
]


@pytest.fixture(scope="module")
def router(embedder: Embedder) -> Router:
    return Router(embedder)


def test_clear_messages_go_the_right_way(router: Router):
    wrong = [
        (text, got) for text, route in CLEAR if (got := router.detect(text).route) is not route
    ]
    assert len(wrong) <= 3, wrong


def test_messages_nobody_trained_on_go_the_right_way(router: Router):
    rows = [json.loads(line) for line in HELDOUT.read_text("utf-8").splitlines()]
    right = sum(router.detect(row["text"]).route == row["route"] for row in rows)
    assert right / len(rows) >= 0.9


def test_the_check_set_shares_no_sentence_with_the_training_sentences():
    def bare(text: str) -> str:
        return "".join(c for c in text.lower() if c.isalnum())

    rows = [json.loads(line)["text"] for line in HELDOUT.read_text("utf-8").splitlines()]
    checked = {bare(text) for text in [*rows, *(text for text, _ in CLEAR)]}
    assert not checked & {bare(text) for text, _ in sentences()}


def test_chinese_messages_go_the_right_way(router: Router):
    assert router.detect("我表妹下个月搬到昆明").route is Route.UPDATE
    assert router.detect("我表妹搬到哪里了？").route is Route.RETRIEVE
    assert router.detect("谢谢你！").route is Route.NEITHER


def test_probabilities_add_up_and_name_the_route(router: Router):
    decision = router.detect("I moved to Turku")
    assert set(decision.probabilities) == set(Route)
    assert sum(decision.probabilities.values()) == pytest.approx(1)
    assert decision.route is max(Route, key=lambda route: decision.probabilities[route])


@pytest.mark.parametrize("text", ["", "   \n", "?!", "🙂", "..."])
def test_a_message_without_words_is_neither(router: Router, text: str):
    decision = router.detect(text)
    assert decision.route is Route.NEITHER
    assert decision.probabilities[Route.NEITHER] == 1


def test_a_long_story_is_an_update(router: Router):
    story = (
        "Yesterday I drove to Graz with my aunt. We had lunch at a small place by the river. "
        "She told me that she is selling the bakery in spring and moving in with her sister. "
    )
    assert router.detect(story * 12).route is Route.UPDATE


def test_a_question_after_a_long_story_is_a_question(router: Router):
    story = "I drove to Graz with my aunt last week. She is selling her bakery in spring. "
    asked = story * 12 + "Where did I put the keys to her house?"
    assert router.detect(asked).route is Route.RETRIEVE


def test_a_text_of_a_megabyte_is_judged_by_a_few_pieces(router: Router):
    for text in ("word " * 200_000, "x" * 1_000_000, "字" * 350_000, "\n" * 1_000_000 + "hi"):
        found = pieces(text)
        assert len(found) <= MOST_PIECES
        assert all(len(piece) <= PIECE_CHARACTERS for piece in found)
    assert router.detect("My boat is green. " * 60_000).route is Route.UPDATE


def test_pieces_keep_every_word_of_a_text_of_a_few_pieces():
    text = "\n".join(f"Day {day}: I walked {day} kilometres. It rained!" for day in range(60))
    assert " ".join(pieces(text)).split() == text.split()


def test_the_last_piece_decides_for_retrieve_and_any_piece_for_update():
    told, asked, idle = [0.05, 0.9, 0.05], [0.9, 0.05, 0.05], [0.05, 0.05, 0.9]
    assert combine(np.array([told, idle, idle])).argmax() == 1
    assert combine(np.array([told, told, asked])).argmax() == 0
    assert combine(np.array([asked, told])).argmax() == 1
    assert combine(np.array([idle, idle])).argmax() == 2


def test_wording_ignores_case_and_which_number_it_is():
    first, values = wording_slots("Flight 442 leaves AT 9")
    again, _ = wording_slots("flight 118 leaves at 7")
    assert (first == again).all()
    assert first.max() < WORDING_SLOTS
    assert np.square(values).sum() == pytest.approx(3)


@pytest.mark.parametrize("text", ["\x10", "\ufeff \ufeff", "\U000d8003"])
def test_what_has_no_word_at_all_has_finite_slots(text: str):
    slots, values = wording_slots(text)
    assert len(slots) == len(values)
    assert np.isfinite(values).all()


class OtherEncoder:
    """An encoder the shipped weights were not made for."""

    identity = "other:0123456789ab"
    dimension = 384

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimension), dtype=np.float32)


def test_weights_refuse_another_encoder_by_name():
    with pytest.raises(ModelError, match=r"other:0123456789ab.*routing_train"):
        Router(OtherEncoder())


def test_damaged_weights_name_the_remedy(embedder: Embedder, tmp_path: Path):
    cut = tmp_path / "routing.npz"
    cut.write_bytes(WEIGHTS.read_bytes()[:5000])
    for path in (cut, tmp_path / "missing.npz"):
        with pytest.raises(WeightsDamaged, match="routing_train"):
            Router(embedder, path)


def test_weights_may_lie_anywhere(embedder: Embedder, tmp_path: Path):
    copy = shutil.copy(WEIGHTS, tmp_path / "mine.npz")
    assert Router(embedder, Path(copy)).detect("I moved to Turku").route is Route.UPDATE
