"""How a corrected form value could be remembered."""

from __future__ import annotations

import pytest

from agent.applications.forms.corrections import corrected
from store.types import Memory, Status
from tests.conftest import NOW


def memory(text: str) -> Memory:
    return Memory("m1", text, "Attribute", "attribute.contact", NOW, status=Status.CURRENT)


@pytest.mark.parametrize(
    ("text", "key", "was", "now", "said"),
    [
        ("I live at 12 Mill Road, Leeds.", "address-level2", "Leeds", "York",
         "I live at 12 Mill Road, York."),
        ("My phone number is +44 7700 900123.", "tel", "07700 900123", "07700 900456",
         "My phone number is 07700 900456."),
        ("My mother's name is Ada Berg.", "name", "Ada Berg", "Ada Falk",
         "My mother's name is Ada Falk."),
        ("I was born on 14 March 1990.", "bday", "1990-03-14", "1990-03-15", None),
        ("Leeds is where Leeds United plays.", "address-level2", "Leeds", "York", None),
    ],
)  # fmt: skip
def test_a_memory_keeps_its_words_but_for_the_value(
    text: str, key: str, was: str, now: str, said: str | None
):
    known = memory(text)
    proposal = corrected("The label", key, was, now, [known])
    if said is None:
        assert proposal[1] is None and proposal[0].endswith(f"is {now}.")
    else:
        assert proposal == (said, known)


def test_a_value_without_a_memory_is_a_sentence_of_its_own():
    assert corrected("Mobile:", "tel", "1", " 0170  1 ", []) == ("My phone number is 0170 1.", None)
    assert corrected("Shoe size *", None, "41", "42", []) == ("My shoe size is 42.", None)
