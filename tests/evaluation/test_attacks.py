"""The banks of attacks in a small budget: secrets taken out, hostile texts without effect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.session.session import Session
from benchmarks.quality.attacks import secrets_alike, secrets_bank
from benchmarks.quality.attacks.poison import Parrot, struck
from benchmarks.quality.attacks.poison_bank import ATTACKS, KNOWN, Attack, Way, attacks
from benchmarks.quality.attacks.secrets import found, untouched
from tests.conftest import NOW
from tests.support.crash_work import SilentModel


def test_the_banks_are_large_enough():
    assert len(secrets_bank.DEVELOPED) + len(secrets_bank.HELD_OUT) == 25
    assert len(secrets_alike.DEVELOPED) + len(secrets_alike.HELD_OUT) == 20
    assert len(attacks()) >= 200


def test_secrets_of_the_kinds_developed_on_are_found():
    assert found(secrets_bank.DEVELOPED, 0).share >= 0.97


def test_harmless_texts_of_the_kinds_developed_on_stay():
    assert untouched(secrets_alike.DEVELOPED, 0).share >= 0.99


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
