"""Nothing leaves the machine: whole days of work without a network, and under a guard."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.alone_work import ROOT, write_guard
from tests.support.residents import SECRET

ALONE = ("unshare", "--user", "--map-root-user", "--net")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text(f"{SECRET}\n")
    return folder


def namespaces_allowed() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0


@pytest.mark.parametrize("models", [False, pytest.param(True, marks=pytest.mark.llm)])
@pytest.mark.skipif(not namespaces_allowed(), reason="this system allows no network namespaces")
def test_all_of_it_works_with_loopback_alone_and_reaches_for_nothing_else(
    own_home: Path, tmp_path: Path, notes: Path, models: bool
):
    guard = tmp_path / "guard"
    words = [*ALONE, sys.executable, "-m", "tests.support.alone_work", str(notes), "--namespace"]
    words += ["--models"] if models else []
    environment = write_guard(guard, own_home)
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (guard / "reached").exists()


def test_under_the_guard_no_process_connects_out_of_the_home(
    own_home: Path, tmp_path: Path, notes: Path
):
    guard = tmp_path / "guard"
    words = [sys.executable, "-m", "tests.support.alone_work", str(notes)]
    environment = write_guard(guard, own_home)
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (guard / "reached").exists(), (guard / "reached").read_text()


def test_the_guard_hears_a_connection_and_a_name_that_is_looked_up(own_home: Path, tmp_path: Path):
    environment = write_guard(tmp_path / "guard", own_home)
    for call in ("create_connection(('192.0.2.1', 9), 1)", "getaddrinfo('a.invalid', 9)"):
        done = subprocess.run(
            [sys.executable, "-c", f"import socket; socket.{call}"],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert "a connection out of the home" in done.stderr


def test_libraries_are_told_to_stay_offline_before_they_are_imported():
    code = (
        "import agent.models.adapters, os, sys; "
        "assert not {'transformers', 'huggingface_hub'} & sys.modules.keys(); "
        "print(os.environ['HF_HUB_OFFLINE'], os.environ['DO_NOT_TRACK'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "1"], done.stderr
