"""Generated requests and command lines, a small budget of ``python -m benchmarks.attacks``."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.language.validation import MAX_K, checked_k, checked_message, checked_time
from benchmarks.quality.attacks.attack_inputs import Attack, wrong_answer
from benchmarks.quality.attacks.attack_lines import attack_lines, wrong_output
from benchmarks.quality.attacks.attack_requests import attack_requests, attacked, send
from store.errors import InvalidInput
from tests.conftest import NOW

SEED = 27


def test_no_generated_request_is_a_500_or_a_hang(tmp_path: Path):
    found = attack_requests(tmp_path / "home", 150, SEED, "--hash")
    assert (found.wrong, found.lost) == ({}, 0)
    assert found.sent >= 100


def test_no_generated_command_line_is_a_traceback_or_a_hang(tmp_path: Path):
    found = attack_lines(tmp_path / "home", 25, SEED)
    assert found.wrong == {}
    assert found.sent >= 15


@pytest.mark.parametrize(
    ("name", "body", "headers", "status", "said"),
    [
        ("say", b"[" * 200_000, (), 400, "nested too deeply"),
        ("say", b'{"text": "\\ud800"}', (), 400, "half a character"),
        ("say", b'{"text": "\xff"}', (), 400, "not UTF-8"),
        ("ask", b'{"question": "who?", "k": ' + b"9" * 5000 + b"}", (), 400, "too long"),
        ("ask", b'{"question": "who?", "k": 1e400}', (), 400, "k is not a whole number"),
        ("ask", b'{"question": "who?", "k": 99999999}', (), 400, "at most"),
        ("ask", b'{"question": "who?"}', (("Memlane-K", "9" * 300),), 400, "Memlane-K"),
        ("ask", b'{"question": "who?"}', (("Memlane-Now", "9999-12-31T23:59-12:00"),), 400, "9999"),
        ("remember", b'{"text": "a", "at": "0001-01-01T00:00:00+14:00"}', (), 400, "out of range"),
        ("fill", b'{"fields": [{"name": "a", "form": 1' + b"0" * 400 + b"}]}", (), 400, "large"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_clear_error(
    tmp_path: Path,
    name: str,
    body: bytes,
    headers: tuple[tuple[str, str], ...],
    status: int,
    said: str,
):
    home = tmp_path / "home"
    with attacked(home, "--hash"):
        attack = Attack(f"/v1/{name}", body, headers)
        code, answer, seconds = send(attack, home / "memlane.sock")
    assert (code, wrong_answer(attack, code, answer, seconds)) == (status, None)
    assert said in answer.decode()


def test_a_year_that_has_no_day_after_it_does_no_harm_to_other_questions(tmp_path: Path):
    home = tmp_path / "home"
    with attacked(home, "--hash"):
        socket = home / "memlane.sock"
        told = Attack("/v1/remember", b'{"text": "My pass ends on 9999-12-31.", "wait": true}')
        assert send(told, socket)[0] == 200
        fields = b'{"fields": [{"name": "e", "label": "E-mail"}], "use_llm": false}'
        assert send(Attack("/v1/fill", fields), socket)[0] == 200


def test_the_attack_sees_what_is_wrong():
    attack = Attack("/v1/say", b"{}")
    assert wrong_answer(attack, 500, b"", 0.1)
    assert wrong_answer(attack, 200, b"{}", 11.0)
    assert wrong_answer(attack, 400, b"oops", 0.1)
    assert wrong_output(["ask"], 1, b"", b"memlane: unexpected KeyError: 'x'\n", 0.1)
    assert wrong_output(["ask"], None, b"", b"", 30.0)
    assert wrong_output(["ask", "--json"], 0, b"{} {}", b"", 0.1)
    assert not wrong_output(["ask", "--json"], 0, b"{}\n", b"", 0.1)


def test_texts_times_and_counts_have_limits():
    assert checked_message("a\x00b") == "a b"
    assert checked_message("half \ud800") == "half ?"
    for wrong in ("", "x" * 20_001):
        with pytest.raises(InvalidInput):
            checked_message(wrong)
    for year in (1, 999, 9999):
        with pytest.raises(InvalidInput, match="out of range"):
            checked_time(NOW.replace(year=year))
    for k in (0, -1, MAX_K + 1):
        with pytest.raises(InvalidInput, match="at least 1"):
            checked_k(k)
