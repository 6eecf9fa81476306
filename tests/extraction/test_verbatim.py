"""A text stored as it stands: a memory for each fact that stands by itself, not a word changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extraction.triples.read import triples_for
from agent.extraction.verbatim import facts
from agent.session.session import Session
from store.types import Status, Triple


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I like tea.", ("I like tea.",)),
        ("I like tea. My aunt lives in Bonn.", ("I like tea.", "My aunt lives in Bonn.")),
        (
            "My sister lives in Bonn. Her dog is called Rex. I like tea.",
            ("My sister lives in Bonn. Her dog is called Rex.", "I like tea."),
        ),
        ("I don't eat meat. Because I like animals.",) * 2,
        ("Soup for Ana:\nI boil leeks.\nI add salt.",) * 2,
        ("我住在新加坡。我喜欢喝茶。", ("我住在新加坡。", "我喜欢喝茶。")),
    ],
)
def test_what_stands_by_itself_is_a_fact(text: str, parts: str | tuple[str, ...]):
    assert facts(text) == ((parts,) if isinstance(parts, str) else parts)


@given(st.text(alphabet="aIt .,!?\n我。HerMr", max_size=60))
def test_nothing_is_lost_and_nothing_added(text: str):
    assert "".join("".join(facts(text)).split()) == "".join(text.split())


def test_one_fact_may_change_without_the_others(session: Session):
    session.remember("My aunt lives in Bonn. I like tea.")
    session.remember("My aunt lives in Paris now.")
    current = [memory.text for memory in session.graph.memories.list(Status.CURRENT)]
    assert "I like tea." in current
    assert "My aunt lives in Bonn." not in current


def test_a_relation_ends_with_its_sentence():
    text = "My sister lives in Bonn. Her dog is called Rex. I like tea."
    (found,) = triples_for([text], None)
    assert found == (Triple("my sister", "lives_in", "Bonn"), Triple("me", "likes", "tea"))
