"""Nothing leaves the machine: whole days of work without a network, and under a guard."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.alone_work import ROOT, write_guard
from tests.support.residents import SECRET

ALONE = ("unshare", "--user", "--map-root-user", "--net", "--mount")
BUILDING = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_RUNNING_UNIT_TESTS")
"""Variables with which some libraries report nothing: a person does not set them."""


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
    environment = write_guard(guard, own_home) | {"HOME": str(tmp_path)}
    for name in BUILDING:
        environment.pop(name, None)
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (guard / "reached").exists(), (guard / "reached").read_text()
    # What onnxruntime would report later is kept there.
    assert not list(tmp_path.rglob("onnxruntime.db"))


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


@pytest.mark.skipif(not namespaces_allowed(), reason="this system allows no network namespaces")
def test_a_name_that_compiled_code_looks_up_is_heard(tmp_path: Path):
    code = (
        "import subprocess; from pathlib import Path; from tests.support import alone_work; "
        f"alone_work.loopback_up(); alone_work.hear_names(Path({str(tmp_path / 'reached')!r})); "
        "subprocess.run(['getent', 'ahosts', 'a.invalid'], timeout=60)"
    )
    done = subprocess.run(
        [*ALONE, sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "invalid" in (tmp_path / "reached").read_text()


def test_libraries_are_told_to_stay_offline_before_they_are_imported():
    code = (
        "import agent.models.adapters, os, sys; "
        "assert not {'transformers', 'huggingface_hub'} & sys.modules.keys(); "
        "print(*map(os.environ.get, ('HF_HUB_OFFLINE', 'DO_NOT_TRACK', 'ORT_DISABLE_TELEMETRY')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "1", "1"], done.stderr
