"""The banks of attacks in a small budget: secrets taken out, hostile texts without effect."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import load_config
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.ports import SecretReader
from agent.session.session import Session
from benchmarks.quality.attacks.attack_edits import acknowledged
from benchmarks.quality.attacks.attacks import COUNTS
from benchmarks.quality.attacks.long_day import HOURS, Hour
from benchmarks.quality.attacks.poison import Parrot, struck
from benchmarks.quality.attacks.poison_bank import ATTACKS, KNOWN, Attack, Way, attacks
from benchmarks.quality.redaction import secrets_alike, secrets_bank
from benchmarks.quality.redaction.secrets import bank, measured
from benchmarks.shared.many_memories import memories
from benchmarks.shared.results_page import security_table
from tests.conftest import NOW
from tests.support.crash_work import SilentModel


def test_the_banks_are_large_enough():
    assert len(secrets_bank.DEVELOPED) + len(secrets_bank.HELD_OUT) == 25
    assert len(secrets_alike.DEVELOPED) + len(secrets_alike.HELD_OUT) == 20
    assert len(attacks()) >= 200


@pytest.mark.parametrize("reader", [None, LocalSecretReader(load_config())])
def test_secrets_of_the_kinds_developed_on_are_found_and_their_look_alikes_stay(
    reader: SecretReader | None,
):
    texts = list(bank(secrets_bank.DEVELOPED, secrets_alike.DEVELOPED, [0]))
    gone, touched = measured(texts, reader)
    assert gone >= 0.97
    assert touched <= 0.01


@pytest.mark.parametrize(("way", "name"), list(zip(list(Way) * 2, list(ATTACKS)[::3], strict=True)))
def test_an_attack_changes_nothing_and_is_not_obeyed(session: Session, way: Way, name: str):
    models = Session(
        replace(session.config, fixed_now=NOW),
        session.graph,
        llm=SilentModel(),
        embedder=session.embedder,
    )
    outcome = struck(Attack(way, name, ATTACKS[name]), models, Parrot())
    assert not (outcome.obeyed or outcome.forged or outcome.changed), outcome
    assert outcome.right >= len(KNOWN) - 1


def test_the_table_of_the_security_page_is_what_the_results_say():
    text = security_table.TARGET.read_text("utf-8")
    assert security_table.page(text) == text, "write it: python -m benchmarks.report"
    named = [name for name, _, _ in security_table.ROWS]
    parts = {f"attacks_{part}" for part in COUNTS}
    assert set(named) == parts | {"secrets", "poison", "long_day"}


def test_a_line_of_the_table_has_its_figures_and_where_they_come_from(tmp_path: Path):
    told = {"config": {"minutes": 9.0, "part": "requests"}, "revision": "0123456789abcdef-dirty"}
    figures = {"n": 12, "wrong": 0, "acknowledged": 5, "lost": 0, "slowest_s": 1.25}
    path = tmp_path / "attacks_requests.json"
    path.write_text(json.dumps({**told, "figures": figures}))
    lines = security_table.table(tmp_path).splitlines()
    assert len(lines) == 2 + 2
    assert lines[2].endswith(
        "| 0 of 12, slowest 1.2 s | `benchmarks.attacks --part requests --minutes 9`, "
        "0123456-dirty |"
    )


def test_a_writer_says_what_it_changed_before_it_is_killed():
    lines = ["~ a", "+ a", "~ a", "~ b", "- a", "+ b", "~ c"]
    assert acknowledged(lines) == {"a": "-", "b": "+", "c": "~"}


def test_a_day_has_each_message_file_and_question_once(tmp_path: Path):
    life = memories(50)
    hours = [Hour(number, life, (30, 20, 25), tmp_path) for number in range(HOURS)]
    assert sorted(one.memory for hour in hours for one in hour.said) == sorted(
        one.memory for one in life[:30]
    )
    assert len({path for hour in hours for path in hour.files}) == 20
    assert sum(len(hour.asked) for hour in hours) == 25
