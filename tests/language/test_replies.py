"""The fixed sentences of answers are in the language of the question."""

from __future__ import annotations

import pytest

from agent.answering.replies import (
    UNKNOWN,
    is_unknown,
    no_longer,
    not_sure,
    unknown,
    without_excerpts,
)


@pytest.mark.parametrize(
    ("question", "said", "doubt", "over"),
    [
        ("Where do I live?", UNKNOWN, "I am not sure which holds.", "No longer."),
        (
            "Wo wohnt meine Schwester eigentlich?",
            "Das weiß ich nicht: Dazu habe ich mir nichts gemerkt.",
            "Ich bin nicht sicher, was davon gilt.",
            "Nicht mehr.",
        ),
        (
            "¿En qué ciudad vive mi hermano Iván?",
            "No lo sé: no recuerdo nada sobre eso.",
            "No sé con certeza cuál vale ahora.",
            "Ya no.",
        ),
        (
            "Où habite ma sœur depuis le mois de mars ?",
            "Je ne sais pas : je n'ai rien retenu à ce sujet.",
            "Je ne sais pas ce qui est encore vrai.",
            "Plus maintenant.",
        ),
        (
            "我现在住在哪儿？",
            "我不知道：我没有这方面的记忆。",
            "我不确定现在是哪一个。",
            "现在不是了。",
        ),
    ],
)
def test_in_the_language_of_the_question(question: str, said: str, doubt: str, over: str):
    assert (unknown(question), not_sure(question), no_longer(question)) == (said, doubt, over)
    assert is_unknown(said)


def test_a_language_without_these_sentences_is_answered_in_english_or_not_at_all():
    question = "Dove abita mia sorella dal mese di marzo?"
    assert unknown(question) == UNKNOWN
    assert not_sure(question) == no_longer(question) == ""


def test_an_answer_is_not_taken_for_unknown():
    assert not is_unknown("You live in Tampere.")
    assert not is_unknown("I don't know the day, but you said: “in May”.")


def test_what_is_quoted_beside_a_sentence_is_no_part_of_the_conversation():
    sentence, listed = "Anna comes on Friday.", "1. the Aurora\n2. the Sole"
    assert without_excerpts(f"{sentence}\nOn 2024-05-09 you said: “Bea left.”") == sentence
    assert without_excerpts(listed) == listed
    quoted = "On 2024-05-09 you said: “Bea left.”"
    assert without_excerpts(quoted) == quoted
