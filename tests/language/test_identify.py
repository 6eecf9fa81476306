"""The language of a text: English wherever it may be, another one where it surely is."""

from __future__ import annotations

import json

import pytest

from agent.language.identify import common_language, is_surely_english, language_of
from benchmarks.shared.common import SAMPLES


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("4411", "en"),
        ("José García", "en"),
        ("José García lives in Bogotá", "en"),
        ("gym = Anvil House\npin 2290\ndays: m/w/sa, legs sa", "en"),
        ("tbh cba w gym 2nite, shin splints again lol", "en"),
        ("Meine Schwester wohnt jetzt in Flensburg.", "de"),
        ("Mi hermano vive en Zaragoza con dos amigos.", "es"),
        ("Ma sœur habite à Nantes depuis le mois de mai.", "fr"),
        ("我现在住在上海。", "zh"),
        ("Москва", "ru"),
    ],
)
def test_languages(text: str, language: str):
    found = language_of(text)
    assert found == language or (language == "ru" and found not in ("en", "zh"))


def test_a_short_question_is_in_the_language_of_what_it_is_about():
    notes = ["Meine Schwester wohnt jetzt in Flensburg.", "Ich fahre einen alten roten Polo."]
    assert common_language("Wo wohnt sie?", notes) == "de"
    assert common_language("Where does my sister live?", notes) == "en"


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("Your hotel is called Quinta da Rocha, and it is by the sea.", True),
        ("Quinta da Rocha", False),
        ("El hotel de Madeira es la Quinta da Rocha.", False),
        ("我在 Redford Joinery Limited 上班。", False),
    ],
)
def test_a_name_alone_is_not_surely_english(text: str, sure: bool):
    assert is_surely_english(text) == sure


def test_no_german_or_spanish_text_of_ours_is_surely_english():
    files = [*SAMPLES.glob("people/*_de.json"), *SAMPLES.glob("people/*_es.json")]
    told = [
        one["text"] for file in files for one in json.loads(file.read_text("utf-8"))["messages"]
    ]
    assert len(told) > 200
    assert [text for text in told if is_surely_english(text)] == []
