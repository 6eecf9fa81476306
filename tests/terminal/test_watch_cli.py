"""``memlane watch`` as people type it, and the settings that go with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.config import load_config
from agent.config_edit import set_in_file
from store.errors import InvalidInput

ROOT = Path(__file__).parents[2]


def test_folders_are_added_listed_and_removed(memlane, tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    result = memlane("watch", str(notes), "--json")
    assert result.code == 0
    assert result.json["watching"][0]["path"] == str(notes)
    assert result.json["queue"] == 0
    assert str(notes) in memlane("watch", "--list").out
    assert memlane("watch", "--remove", str(notes), "--json").json["watching"] == []
    assert "No folder is watched" in memlane("watch", "--list").out


@pytest.mark.parametrize("arguments", [(), ("/no/such/folder",), ("--remove", "/no/such/folder")])
def test_wrong_requests_get_one_line(memlane, arguments: tuple[str, ...]):
    result = memlane("watch", *arguments)
    assert result.code == 2
    assert len(result.err.splitlines()) == 1


def test_in_the_foreground_it_ends_by_a_signal(tmp_path: Path, own_home: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", "from cli.app import main; main()", "watch", str(notes),
         "--foreground", "--json"],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not (own_home / "watch.lock").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f'"path": "{notes}"' in out


def test_settings_of_lists_and_switches(own_home: Path, monkeypatch: pytest.MonkeyPatch):
    assert load_config().ignore == ()
    assert not load_config().keep_secrets
    set_in_file("ignore", "*.log; private/")
    set_in_file("keep_secrets", "yes")
    assert load_config().ignore == ("*.log", "private/")
    assert load_config().keep_secrets
    monkeypatch.setenv("MEMLANE_KEEP_SECRETS", "no")
    assert not load_config().keep_secrets
    with pytest.raises(InvalidInput, match="yes or no"):
        set_in_file("watch_on_battery", "perhaps")
