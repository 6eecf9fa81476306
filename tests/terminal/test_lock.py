"""``memlane lock`` and ``unlock`` as a person or a script uses them."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, cast

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from agent.config import load_config
from agent.io.encryption import encrypt
from agent.memory.gloss import Glosses
from agent.models.lazy import open_cache
from agent.server.resident.client import held_key
from agent.server.resident.paths import Place, holder
from agent.server.resident.service import Desk
from agent.server.resident.starting.until_idle import end_when_idle
from cli.commands.processes import lock as commands
from store.database.connection import is_encrypted
from store.database.encryption.envelope import key_of_words, new_key
from store.database.encryption.keys import forget_keys, hold
from tests.conftest import Result, ScriptedModel

Memlane = Callable[..., Result]
PASSPHRASE = "nine green otters"
TOLD = "My locker at the Quixotl pool opens with 4711-zebra."


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No key of another test, no keyring of this machine, and no process that stays."""
    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]  # untyped
    monkeypatch.setattr(commands, "start", lambda run: SimpleNamespace(pid=1))
    forget_keys()
    yield
    forget_keys()


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes lines to standard input, as a pipe does."""

    def lines(*words: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{word}\n" for word in words)))

    return lines


@pytest.fixture
def told(own_home: Path) -> Path:
    from tests.storage.test_backup import tell

    tell(own_home, TOLD)
    return own_home


def test_a_home_is_locked_and_unlocked(told: Path, memlane: Memlane, typing):
    assert "encrypted no: " in memlane("status").out
    typing(PASSPHRASE)
    done = memlane("lock", "--yes")
    assert done.code == 0, done.err
    assert "final" in done.err and "Exports and backups outside" in done.out
    words = next(line for line in done.out.splitlines() if len(line.split()) == 24)
    key = key_of_words(words)
    assert key and key_of_words(words.replace(words.split()[3], "zoo")) is None

    said = memlane("list", "--json")
    assert said.code == 1 and "memlane unlock" in said.json["error"]
    assert "yes, locked" in memlane("status").out
    assert memlane("status", "--json").json["locked"] is True
    typing("nine green otter")
    assert memlane("unlock").code == 2
    assert memlane("list").code == 1
    typing(PASSPHRASE)
    assert memlane("unlock", "--json").json["locked"] is False
    assert "Quixotl" in memlane("list").out
    assert "yes, unlocked" in memlane("status").out

    forget_keys()
    assert memlane("lock").code == 0
    typing(words)
    assert memlane("unlock").code == 0
    assert memlane("lock", "--off").code == 2  # nobody says yes
    assert memlane("lock", "--off", "--yes").code == 0
    forget_keys()
    assert "Quixotl" in memlane("list").out
    assert not is_encrypted(told)


def test_all_spaces_are_locked_and_unlocked_with_the_home(told: Path, memlane: Memlane, typing):
    memlane("spaces", "add", "work")
    memlane("--space", "work", "remember", "My desk at Quixotl has number 12.")
    memlane("spaces", "allow", "main", "--see", "work")
    assert memlane("backup").code == 0
    typing(PASSPHRASE)
    assert memlane("lock", "--yes").code == 0
    work = told / "spaces" / "work"
    assert is_encrypted(told) and is_encrypted(work)
    for path in told.rglob("*"):
        assert not path.is_file() or b"Quixotl" not in path.read_bytes(), path
    assert "memlane unlock" in memlane("--space", "work", "list").err
    assert memlane("spaces", "add", "club").code == 1, "without the key nothing is made"
    typing(PASSPHRASE)
    assert memlane("unlock").code == 0
    assert "number 12" in memlane("--space", "work", "list").out
    assert memlane("spaces", "add", "club").code == 0
    assert memlane("--space", "club", "remember", "My cello is old.").code == 0
    assert is_encrypted(told / "spaces" / "club")
    (backup,) = (told / "backups").glob("memlane-*.zip")
    assert memlane("restore", str(backup), "--yes").code == 0
    assert "number 12" in memlane("--space", "work", "list").out
    typing(PASSPHRASE, "two blue otters swim")
    assert memlane("lock", "--passphrase").code == 0
    forget_keys()
    assert memlane("lock").code == 0
    typing("two blue otters swim")
    assert memlane("unlock").code == 0
    assert "cello" in memlane("--space", "club", "list").out
    assert memlane("doctor", "--quick").code == 0
    assert memlane("lock", "--off", "--yes").code == 0
    forget_keys()
    assert "number 12" in memlane("--space", "work", "list").out
    assert not any(map(is_encrypted, (told, work, told / "spaces" / "club")))


def test_doctor_finds_words_that_lie_in_plain(told: Path, memlane: Memlane):
    key = new_key()
    encrypt(told, key, PASSPHRASE)
    hold(key)

    def check() -> dict[str, object]:
        checks = memlane("doctor", "--quick", "--json").json["checks"]
        return next(one for one in checks if one["name"] == "encryption")

    assert check()["ok"] and "in any byte" in str(check()["detail"])
    (told / "copied.txt").write_text(TOLD)
    assert not check()["ok"] and "copied.txt" in str(check()["detail"])


def test_without_a_terminal_it_asks_for_yes_and_a_passphrase(told: Path, memlane: Memlane, typing):
    typing(PASSPHRASE)
    assert memlane("lock").code == 2
    typing()
    assert "standard input" in memlane("lock", "--yes").err
    typing("short")
    refused = memlane("lock", "--yes")
    assert refused.code == 2 and "at least 8" in refused.err and not refused.out
    assert "not encrypted" in memlane("unlock").err
    assert "not encrypted" in memlane("lock", "--off").err
    assert "not encrypted" in memlane("lock", "--passphrase").err
    assert not is_encrypted(told)


def test_json_has_the_recovery_key(told: Path, memlane: Memlane, typing):
    typing(PASSPHRASE)
    done = memlane("lock", "--yes", "--json").json
    assert done["encrypted"] and done["locked"] and key_of_words(done["recovery_key"])


def test_the_passphrase_is_changed(told: Path, memlane: Memlane, typing):
    encrypt(told, new_key(), PASSPHRASE)
    typing(PASSPHRASE, "ten blue herons")
    assert memlane("lock", "--passphrase").code == 0
    forget_keys()
    typing(PASSPHRASE)
    assert memlane("unlock").code == 2
    typing("ten blue herons")
    assert memlane("unlock").code == 0


def test_a_copy_that_a_killed_decryption_left_goes_when_it_is_locked(told: Path, memlane: Memlane):
    encrypt(told, new_key(), PASSPHRASE)
    left = told / ".memlane-killed"
    left.mkdir()
    (left / "memlane.db").write_text(TOLD)
    assert memlane("lock").code == 0
    assert not left.exists()


def test_without_the_extra_it_says_what_to_install(
    told: Path, memlane: Memlane, typing, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    typing(PASSPHRASE)
    done = memlane("lock", "--yes")
    assert done.code == 1 and "pip install '.[encrypted]'" in done.err and not done.out


# ---- the keyring --------------------------------------------------------------------------


class InMemory(KeyringBackend):
    """A keyring that keeps what it is told."""

    priority: ClassVar[float] = 1
    kept: ClassVar[dict[tuple[str, str], str]] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


def test_a_machine_without_a_keyring_says_so(told: Path, memlane: Memlane):
    done = memlane("lock", "--keyring", "--yes")
    assert done.code == 1 and "keyring cannot be used" in done.err
    assert "Use a passphrase: memlane lock" in done.err
    assert not is_encrypted(told)


def test_with_a_keyring_commands_ask_nothing(told: Path, memlane: Memlane, typing):
    keyring.set_keyring(InMemory())  # type: ignore[no-untyped-call]  # untyped
    InMemory.kept.clear()
    words = memlane("lock", "--keyring", "--yes", "--json").json["recovery_key"]
    forget_keys()
    assert "Quixotl" in memlane("list").out
    assert "stays in the system's keyring" in memlane("lock").err
    InMemory.kept.clear()  # another machine
    forget_keys()
    assert memlane("list").code == 1
    typing(words)
    assert memlane("unlock").code == 0
    forget_keys()
    assert "Quixotl" in memlane("list").out


# ---- what is not written in plain ---------------------------------------------------------


def test_nothing_but_the_database_keeps_words(
    told: Path, memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    key = new_key()
    encrypt(told, key, PASSPHRASE)
    hold(key)
    said = "Meine Tante wohnt in Quixotlhausen am Fluss."
    glosses = Glosses(told, ScriptedModel(["My aunt lives in Quixotlhausen."]))
    assert glosses.make(said) == glosses.known(said) == "My aunt lives in Quixotlhausen."
    (file,) = (told / "cache" / "glosses").iterdir()
    assert b"Quixotl" not in file.read_bytes()
    file.write_bytes(b"damaged")
    assert glosses.known(said) is None
    assert not open_cache(told, 1).path.exists()
    monkeypatch.setenv("EDITOR", "true")
    refused = memlane("memories", "edit", "m1")
    assert refused.code == 2 and "--text" in refused.err
    assert not (told / "edits").exists()


def test_a_backup_asks_for_its_passphrase_in_a_new_home(
    told: Path, memlane: Memlane, typing, tmp_path: Path
):
    key = new_key()
    encrypt(told, key, PASSPHRASE)
    hold(key)
    file, new = tmp_path / "one.zip", tmp_path / "new"
    assert memlane("backup", "--out", str(file)).code == 0
    forget_keys()
    typing("ten blue herons")
    assert memlane("--home", str(new), "restore", str(file), "--yes").code == 2
    typing(PASSPHRASE)
    assert memlane("--home", str(new), "restore", str(file), "--yes").code == 0
    assert is_encrypted(new) and "Quixotl" in memlane("--home", str(new), "list").out


# ---- the resident process -----------------------------------------------------------------


def test_the_resident_process_holds_the_key_until_it_is_locked(told: Path):
    encrypt(told, new_key(), PASSPHRASE)
    forget_keys()
    environment = {**os.environ, "MEMLANE_RESIDENT": "yes"}

    def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cli.main", *words],
            input=text, capture_output=True, text=True, env=environment,
        )  # fmt: skip

    try:
        assert "locked" in run("up").stderr
        assert "passphrase" in run("up", "--install").stderr
        done = run("--debug", "unlock", text=f"{PASSPHRASE}\n")
        assert done.returncode == 0, done.stderr
        assert held_key(told) is not None
        assert "Quixotl" in run("list").stdout
        assert "ends after" in run("status").stdout
        assert run("lock").returncode == 0
        assert holder(Place(told).lock) is None and held_key(told) is None
        assert run("list").returncode == 1
    finally:
        if pid := holder(Place(told).lock):
            os.kill(pid, signal.SIGKILL)
    assert b"Quixotl" not in Place(told).log.read_bytes()


def test_a_process_that_holds_the_key_ends_though_folders_are_watched(
    told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ended: list[float] = []

    async def watches() -> bool:
        return True

    used = SimpleNamespace(
        config=load_config(), forgets_key=True, idle_s=lambda: 1e6, watches=watches
    )
    ending = end_when_idle(cast(Desk, used), lambda: ended.append(time.time()))
    asyncio.run(asyncio.wait_for(ending, 60))
    assert ended
