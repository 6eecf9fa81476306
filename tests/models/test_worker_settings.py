"""Settings of a model's process: the fastest that work on this machine are found, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ModelCrashed
from agent.models.worker import process
from agent.models.worker.faults import parse_fault
from agent.models.worker.models import WorkerLanguageModel
from agent.models.worker.settings import FILE, Findings, Rung, rungs
from tests.support.workers import HELLO, found, small_model


@pytest.fixture(scope="module")
def repacks(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where repacked weights crash by themselves.

    Some virtual machines name AMX and do not allow it: llama.cpp dies of SIGILL there.
    """
    model = small_model(tmp_path_factory.mktemp("repacks"))
    why = model.check().why
    model.close()
    if any("repacked" in one and "crashed" in one for one in why):
        pytest.skip("repacked weights crash on this machine")


@pytest.mark.usefixtures("repacks")
def test_a_crash_on_repacked_weights_is_found_before_the_first_request(
    model: WorkerLanguageModel, tmp_path: Path, notices: list[str], monkeypatch
):
    """What a processor with a broken AMX kernel does: each worker with such weights dies."""
    model.chat(HELLO, max_tokens=1)
    monkeypatch.setenv("MEMLANE_FAULT", "segv@1:repack")
    crashing = small_model(tmp_path)
    assert crashing.chat(HELLO, max_tokens=4)
    assert found(crashing).rung == Rung(repack=False, flash=True, threads=2)
    assert "crashed (SIGSEGV)" in found(crashing).why[0]
    assert len(notices) == 1 and "no repacking" in notices[0]
    crashing.close()
    again = small_model(tmp_path)
    assert again.chat(HELLO, max_tokens=4) and len(notices) == 1, "found once, remembered"
    again.close()
    monkeypatch.delenv("MEMLANE_FAULT")
    assert not again.check().why, "memlane models check finds out again"
    again.close()


@pytest.mark.usefixtures("repacks")
@pytest.mark.parametrize("faster", ["weights repacked", "no repacking"])
def test_of_weights_repacked_and_not_the_faster_are_taken(
    faster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = small_model(tmp_path)
    opener = model._opener
    seconds = iter((1.0, 2.0) if faster == "weights repacked" else (2.0, 1.0))
    monkeypatch.setattr(opener, "_seconds", lambda _: next(seconds))
    finding = model.check()
    assert str(finding.rung).startswith(faster) and finding.why == ()
    assert model.chat(HELLO, max_tokens=4)
    assert found(model) == finding
    model.close()


@pytest.mark.usefixtures("repacks")
def test_weights_as_they_are_that_crash_are_no_obstacle(tmp_path: Path, monkeypatch):
    model = small_model(tmp_path)
    seconds = iter((2.0, 1.0))  # so that they would be taken
    monkeypatch.setattr(model._opener, "_seconds", lambda _: next(seconds))
    monkeypatch.setenv("MEMLANE_FAULT", "segv@1:plain")
    finding = model.check()
    assert finding.rung.repack and finding.why == ()
    model.close()


def test_settings_that_compute_something_else_are_left(tmp_path: Path, monkeypatch):
    from agent.models.worker import opening

    monkeypatch.setattr(opening, "GAP", -1.0)  # so that nothing agrees well enough
    model = small_model(tmp_path)
    finding = model.check()
    assert finding.rung == Rung(repack=False, flash=False, threads=2)
    assert "computes something else" in finding.why[-1]
    assert len(finding.why) == 2
    model.close()


def test_a_model_that_runs_with_no_settings_says_so(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MEMLANE_FAULT", "segv@1:always")
    model = small_model(tmp_path)
    with pytest.raises(ModelCrashed, match="does not run on this machine"):
        model.chat(HELLO, max_tokens=4)
    assert Findings(tmp_path).find("anything") is None


def test_a_record_that_cannot_be_read_or_written_is_no_obstacle(tmp_path: Path):
    (tmp_path / FILE).write_text('{"x": {"rung": 3}, "y": ')
    model = small_model(tmp_path)
    assert model.chat(HELLO, max_tokens=4)
    model.close()
    assert Findings(tmp_path).find("x") is None
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    model = small_model(blocked)
    assert model.chat(HELLO, max_tokens=4)
    model.close()


def test_rungs_lead_from_fast_to_plain():
    assert [str(rung) for rung in rungs("chat", 4)] == [
        "weights repacked, flash attention, 4 threads",
        "no repacking, flash attention, 4 threads",
        "no repacking, no flash attention, 4 threads",
        "no repacking, no flash attention, 1 thread",
    ]
    assert len(rungs("rewards", 1)) == 2


@pytest.mark.parametrize("spelt", ["segv", "segv@x", "nova@3", "segv@3:often"])
def test_a_fault_is_spelt_right_or_refused(spelt: str):
    with pytest.raises(ValueError, match="MEMLANE_FAULT"):
        parse_fault(spelt)
    assert parse_fault("") is None


def test_native_faults_are_told_from_kills():
    assert "SIGSEGV" in process.NATIVE_FAULTS and "SIGKILL" not in process.NATIVE_FAULTS
