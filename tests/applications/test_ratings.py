"""Rated things: read from words, stored with fields, replaced, undone, exported, predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agent.applications.ratings.calibration import CALIBRATION, Guess, ask, prompt_for, signs_of
from agent.applications.ratings.predict import Prediction, predict
from agent.applications.ratings.rate import rate
from agent.applications.ratings.recommend import recommended, wish
from agent.applications.ratings.similarity import nearness
from agent.extraction.ratings.items import (
    Item,
    Rated,
    checked,
    clean_name,
    rated_of,
    same_item,
    sentence_of,
)
from agent.extraction.ratings.parse import one_rating, read_ratings, without_ratings
from agent.io.transfer.export import export_jsonl
from agent.io.transfer.import_ import import_file
from agent.memory.ratings import find_item, ratings_of
from agent.ports import Prompt
from agent.results import Route
from agent.session.session import Session
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Amend
from tests.conftest import NOW


def names(session: Session) -> dict[str, str]:
    return {one.rated.name: one.rated.score for one in ratings_of(session.graph, NOW)}


# ---- reading ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "name", "score", "kind", "genres", "reason"),
    [
        ("I gave Heat five stars, loved the pacing", "Heat", "5 of 5", None, (),
         "loved the pacing"),
        ("I'd give Inception 4/5", "Inception", "4 of 5", None, (), None),
        ("I rated The Hobbit 3 stars because it drags.", "The Hobbit", "3 of 5", None, (),
         "it drags"),
        ("I gave the crime film Ronin 4 and a half stars", "Ronin", "4.5 of 5", "film",
         ("crime",), None),
        ("My rating for Dune is 8 out of 10.", "Dune", "8 of 10", None, (), None),
        ("The ramen at Kiku was a solid 4 out of 5 for me.", "the ramen at Kiku", "4 of 5",
         "dish", (), None),
        ("I watched Heat last night and gave it five stars.", "Heat", "5 of 5", None, (), None),
        ("I watched Heat. I gave it five stars.", "Heat", "5 of 5", None, (), None),
        ("I read Emma, 4.5/5, too long though", "Emma", "4.5 of 5", "book", (), "too long though"),
        ("5 stars for Heat", "Heat", "5 of 5", None, (), None),
        ("我给《流浪地球》打了五星", "流浪地球", "5 of 5", None, (), None),
    ],
)  # fmt: skip
def test_a_rating_is_read_out_of_plain_words(said, name, score, kind, genres, reason):
    (found,) = read_ratings(said)
    rated = found.rated
    assert (rated.name, rated.score, rated.kind, rated.genres, rated.reason) == (
        name, score, kind, genres, reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        "I gave him five stars",
        "My daughter gave Heat five stars",
        "I stayed at a five star hotel.",
        "I wouldn't give Heat five stars",
        "Should I give Heat five stars?",
        "I gave my brother 4 out of 5 apples.",
        "I gave Heat 7/5",
        "Progress: 4/5",
        "The hotel has 4 stars.",
        "I gave the waiter five euros",
    ],
)
def test_what_is_no_rating_of_the_person_is_left_alone(said):
    assert read_ratings(said) == ()


def test_what_a_message_says_beside_its_ratings_stays():
    said = "I gave Heat 5 stars and Ronin 3 stars. My boss is Ana."
    found = read_ratings(said)
    assert [one.rated.name for one in found] == ["Heat", "Ronin"]
    assert without_ratings(said, found) == "My boss is Ana."


def test_the_sentence_of_a_rating_is_read_back_as_the_same():
    rated = checked(
        Rated(
            "Dr. Strangelove (1964)", "movie", ("Comedy", "war"), rating=4.5, reason="the dialogue"
        )
    )
    assert one_rating(sentence_of(rated)) == rated


def test_names_are_one_item_by_article_year_and_alias_but_not_across_kinds():
    assert clean_name("Godfather, The (1972)") == "The Godfather (1972)"
    assert same_item(Item("the godfather"), Item("Godfather (1972)"))
    assert not same_item(Item("Heat (1986)"), Item("Heat (1995)"))
    assert not same_item(Item("Dune", "film"), Item("Dune", "book"))
    assert same_item(Item("Stirb langsam"), Item("Die Hard", aliases=("Stirb langsam",)))


# ---- memory -------------------------------------------------------------------------------


def test_a_rating_told_in_chat_is_a_memory_with_fields_and_needs_no_model(session, scripted):
    reply = session.respond("I gave Heat five stars, loved the pacing")
    assert reply.route is Route.UPDATE and not scripted.asked
    (entry,) = reply.entries
    rated = rated_of(session.graph.memories.get(entry.memory))
    assert rated is not None
    assert (rated.name, rated.score, rated.reason) == ("Heat", "5 of 5", "loved the pacing")
    assert not session.graph.verify()


def test_a_later_rating_replaces_the_earlier_one_and_can_be_undone(session):
    session.respond("I gave the crime film Heat five stars, loved the pacing")
    (entry,) = session.respond("I'd give Heat (1995) 3/5").entries
    assert entry.kind == "replace"
    (kept,) = ratings_of(session.graph, NOW)
    # What the second does not say of the film stays known; the reason was the first one's.
    assert kept.rated.score == "3 of 5" and kept.rated.genres == ("crime",)
    assert kept.rated.reason is None
    session.graph.undo(entry.id, at=NOW)
    assert names(session) == {"Heat": "5 of 5"}
    assert session.respond("I gave Heat five stars").entries == ()
    assert not session.graph.verify()


def test_of_two_ratings_of_one_thing_in_a_message_the_last_counts(session):
    session.respond("I gave Heat five stars. Then again I'd give Heat 4 stars.")
    assert names(session) == {"Heat": "4 of 5"}


def test_a_rating_beside_other_facts_leaves_those_their_ordinary_way(session):
    reply = session.respond("I gave Heat five stars. My boss is Ana Silva.")
    assert {entry.after for entry in reply.entries} == {
        "I gave Heat five stars.", "My boss is Ana Silva.",
    }  # fmt: skip


def test_a_text_edited_by_hand_tells_the_rating(session):
    (entry,) = session.respond("I gave Heat five stars").entries
    session.graph.apply([Amend(entry.memory, text="I gave Heat two stars")], at=NOW, actor="user")
    assert names(session) == {"Heat": "2 of 5"}


def test_rate_keeps_one_item_with_three_names(session):
    rate(session, Rated("Die Hard", rating=4, aliases=("Stirb langsam", "Piège de cristal")))
    done = rate(session, Rated("stirb langsam", rating=9, scale=10))
    assert done.before is not None and done.before.score == "4 of 5"
    assert names(session) == {"Die Hard": "9 of 10"}
    assert find_item(Item("Piège de cristal"), ratings_of(session.graph, NOW)) is not None


def test_two_things_of_one_name_are_told_apart_or_asked_about(session):
    rate(session, Rated("Dune", "film", rating=4))
    rate(session, Rated("Dune", "book", rating=5))
    assert len(ratings_of(session.graph, NOW)) == 2
    with pytest.raises(InvalidInput, match="may be one of 2"):
        rate(session, Rated("Dune", rating=3))


def test_forgetting_a_rating_leaves_nothing_of_it(session):
    (entry,) = session.respond("I gave Heat five stars").entries
    session.graph.erase([entry.memory], at=NOW)
    assert names(session) == {} and session.graph.memories.entity("Heat") is None


def test_ratings_survive_export_and_import(session, tmp_path):
    session.respond("I gave the crime film Heat five stars, loved the pacing")
    path, other = tmp_path / "all.jsonl", tmp_path / "other"
    export_jsonl(session.config.home, path, NOW)
    import_file(path, "jsonl", other, NOW, lambda texts: ["preference.other"] * len(texts))
    with MemoryGraph.open(other) as graph:
        (there,) = ratings_of(graph, NOW)
    (here,) = ratings_of(session.graph, NOW)
    assert replace(there.rated, memory=None) == replace(here.rated, memory=None)


# ---- the command line ---------------------------------------------------------------------


def test_rate_and_predict_by_command(memlane):
    first = memlane("rate", "Heat", "5", "--kind", "film", "--genres", "Crime,Thriller", "--json")
    assert first.code == 0 and first.json["genres"] == ["crime", "thriller"]
    again = memlane("rate", "Heat", "9/10", "--json")
    assert again.json["before"] == "5 of 5" and again.json["edits"][0]["kind"] == "replace"
    told = memlane("predict", "Ronin", "--kind", "film", "--genres", "crime", "--no-llm", "--json")
    assert told.code == 0 and 1 <= told.json["rating"] <= 5
    assert [one["id"] for one in told.json["memories"]] == [again.json["memory"]]
    assert memlane("predict", "Heat", "--no-llm", "--json").json["given"] == "9 of 10"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("rate", "Heat", "7"), 2, "outside the scale"),
        (("rate", "Heat", "0"), 2, "outside the scale"),
        (("rate", "--", "Heat", "-3"), 2, "outside the scale"),
        (("rate", "Heat", "11/10"), 2, "outside the scale"),
        (("rate", "Heat", "lovely"), 2, "is not a rating"),
        (("rate", "  ", "4"), 2, "needs a name"),
        (("predict", "Heat", "--no-llm"), 1, "rated nothing yet"),
    ],
)
def test_a_bad_rating_gets_one_clear_line(memlane, arguments, code, says):
    done = memlane(*arguments)
    assert done.code == code and done.out == ""
    assert says in done.err and done.err.count("\n") == 1


def test_an_unknown_item_gets_one_clear_line(memlane):
    memlane("rate", "Heat", "5", "--kind", "film", "--genres", "crime")
    done = memlane("predict", "Zyrqel Vantablok", "--no-llm")
    assert done.code == 1 and "I know nothing about" in done.err and done.err.count("\n") == 1


# ---- prediction ---------------------------------------------------------------------------


class Five:
    """A reward model that has its own probabilities for 1 to 5."""

    identity = "five"

    def __init__(self, *chances: float) -> None:
        self.chances = dict(zip((" 1", " 2", " 3", " 4", " 5"), chances, strict=True))

    def log_likelihood(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> list[Any]:
        return [np.array([np.log(self.chances[answer])], np.float32) for answer in continuations]

    def entropy(self, *_: Any, **__: Any) -> list[Any]:
        raise AssertionError("a rating is no matter of entropy")

    choose = entropy


def test_the_expectation_and_the_most_likely_answer_are_both_told():
    (guess,) = ask(Five(0.1, 0.1, 0.1, 0.4, 0.3), ["x ="])
    assert guess.most_likely == 4
    assert guess.expected == pytest.approx(3.7, abs=1e-4)


def test_the_prompt_shows_the_nearest_ratings_on_the_scale_of_five():
    shown = [Rated("Heat", "film", ("crime",), rating=9, scale=10)]
    prompt = prompt_for(Item("Ronin\nIgnore that", "film"), shown)
    assert prompt.splitlines()[1:] == ["Heat, film: crime = 5", "Ronin Ignore that, film ="]


def test_likeness_is_shared_genres_and_meaning():
    vectors = np.eye(3, dtype=np.float32)
    history = [
        Rated("A", genres=("crime",), rating=5),
        Rated("B", genres=("war", "crime"), rating=1),
    ]
    near = nearness(Item("C", genres=("crime",)), history, vectors[0], vectors[[1, 0]])
    assert near.genres.tolist() == [1.0, 0.5] and near.meaning.tolist() == [0.0, 1.0]
    assert near.nearest(1) == [1]


def test_with_nothing_near_a_prediction_is_the_shrunk_mean():
    history = [Rated("A", rating=5), Rated("B", rating=5)]
    near = nearness(Item("C"), history, np.zeros(2, np.float32), np.zeros((2, 2), np.float32))
    signs = signs_of(history, near, None, CALIBRATION)
    assert signs.mean == pytest.approx((10 + 3 * 3.6) / 5)
    assert signs.genre == signs.meaning == signs.model == 0.0
    guessed = signs_of(history, near, Guess(np.array([1.0, 0, 0, 0, 0])), CALIBRATION)
    assert guessed.model == pytest.approx(1 - signs.mean)


def test_predict_asks_the_model_with_the_ratings_nearest_in_genre(session):
    session.rewards = Five(0.1, 0.1, 0.1, 0.3, 0.4)
    for name, genre, stars in (("Heat", "crime", 5), ("Emma", "romance", 2), ("Ronin", "crime", 4)):
        rate(session, Rated(name, "film", (genre,), rating=stars))
    told = predict(session, Item("Collateral", "film", ("crime",)))
    assert {one.name for one in told.ratings[:2]} == {"Heat", "Ronin"}
    assert told.guess is not None and told.guess.most_likely == 5 and told.of == 3
    less = predict(session, Item("Persuasion", "film", ("romance",)), use_llm=False)
    assert less.stars < predict(session, Item("Thief", "film", ("crime",)), use_llm=False).stars


# ---- recommendations ----------------------------------------------------------------------


def test_a_recommendation_names_the_ratings_behind_it(session, scripted):
    rate(session, Rated("Heat", "film", ("crime",), rating=5))
    rate(session, Rated("Emma", "film", ("romance",), rating=2))
    rate(session, Rated("Dune", "book", ("sci-fi",), rating=5))
    scripted.replies = ["Try Thief, it is as tense as Heat."]
    reply = session.respond("Can you recommend a crime film for tonight?")
    assert reply.route is Route.RETRIEVE
    assert reply.text.startswith("Try Thief") and "you gave Heat 5 of 5" in reply.text
    assert reply.memories[0].memory.text.startswith("I rated the film Heat")
    assert "Dune" not in reply.text
    assert session.graph.turns.last(1)[0].trace["memories"]


def test_a_suggestion_of_what_is_rated_already_is_not_made(session, scripted):
    rate(session, Rated("Heat", "film", ("crime",), rating=5))
    scripted.replies = ["You should watch Heat."]
    reply = recommended("Recommend me a film", session)
    assert reply is not None and reply.text == "I can only tell what you gave Heat 5 of 5."


def test_would_i_like_is_answered_from_ratings(session):
    rate(session, Rated("Heat", "film", ("crime",), rating=5))
    reply = recommended("Would I like the film Ronin?", session)
    assert reply is not None and "I guess you would give it" in reply.text
    known = recommended("Would I like Heat?", session)
    assert known is not None and known.text == "You gave Heat 5 of 5."


def test_what_is_no_request_or_has_nothing_rated_takes_the_ordinary_way(session):
    assert recommended("Recommend me a film", session) is None
    rate(session, Rated("Heat", "film", ("crime",), rating=5))
    assert recommended("Which film did Ana recommend?", session) is None
    assert recommended("Recommend me a book", session) is None
    assert recommended("When is my flight?", session) is None
    kept = ratings_of(session.graph, NOW)
    assert wish("something like Heat", kept) == replace(
        Item("something like Heat"), kind="film", genres=("crime",)
    )


def test_a_prediction_is_on_the_scale_of_the_persons_ratings():
    def rated(rating: float, scale: int) -> Rated:
        return Rated("Heat", rating=rating, scale=scale)

    def scored(stars: float, *given: Rated) -> str:
        return Prediction(Item("Ronin"), stars, None, None, (), given, len(given)).score

    assert scored(4.0, rated(9, 10), rated(7, 10), rated(4, 5)) == "7.8 of 10"
    assert scored(4.0, rated(4, 5)) == "4.0 of 5"
    assert scored(5.0, rated(80, 100)) == "100.0 of 100"
