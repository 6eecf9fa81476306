"""Secrets are taken out before anything is stored; everything else stays to the letter."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.language.redaction import redact, what_is_gone
from tests.support.redaction_cases import HARMLESS, SECRETS


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_a_secret_is_gone_and_named(text: str, secret: str, kind: str):
    done = redact(text)
    assert secret not in done.text
    assert f"[{kind} redacted]" in done.text
    assert kind in done.kinds


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_to_the_letter(text: str):
    assert redact(text).text == text


@pytest.mark.parametrize("text", [text for text, _, _ in SECRETS])
def test_twice_changes_nothing(text: str):
    once = redact(text).text
    assert redact(once).text == once


@example([next(text for text, _, kind in SECRETS if kind == "recovery phrase")] * 2)
@given(st.lists(st.sampled_from([*[s for s, _, _ in SECRETS], *HARMLESS]), max_size=5))
def test_no_secret_survives_in_any_company(texts: list[str]):
    done = redact("\n\n".join(texts))
    for text, secret, _ in SECRETS:
        if text in texts and not any(secret in harmless for harmless in HARMLESS):
            assert len(secret) < 6 or secret not in done.text


def test_the_rest_of_the_text_is_as_it_was():
    done = redact("Hotel wifi: password: hunter2, breakfast from 7.")
    assert done.text == "Hotel wifi: password: [password redacted], breakfast from 7."
    assert what_is_gone(done.text) == "Not stored: password."


def test_positions_follow_the_text():
    text = "PIN: 4821 and then gate D12"
    done = redact(text)
    at = done.moved(text.index("gate"))
    assert done.text[at:].startswith("gate D12")
    assert done.moved(0) == 0
    assert done.text[done.moved(text.index("82")) :].startswith("[PIN redacted]")


@pytest.mark.parametrize(
    "text",
    ["4" * 200_000, "4 " * 100_000, "password: " * 20_000, "DE89 4444 " * 20_000,
     "-----BEGIN PRIVATE KEY-----\n" * 5_000, "DE89 " * 40_000, "my PIN for " * 20_000,
     "seed phrase " + "word " * 50_000, "a://b:" * 30_000],
)  # fmt: skip
def test_a_hostile_text_takes_no_longer_than_it_is_long(text: str):
    begun = time.process_time()
    redact(text)
    assert time.process_time() - begun < 5
