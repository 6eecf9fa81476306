"""``memlane lock`` and ``unlock``: encryption of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands.processes.resident import start, stop
from cli.context import Run
from cli.input.confirm import confirmed, interactive
from cli.input.passphrase import asked
from store.errors import HomeLocked, HomeUnavailable, InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.encryption.envelope import Envelope

FINAL = (
    "A lost passphrase is final: without it and without the recovery key nobody can read this home "
    "again."
)
WRITE_DOWN = "Write the recovery key down and keep it off this machine. It is shown only now:"


def lock(
    context: typer.Context,
    off: Annotated[bool, typer.Option("--off", help="Decrypt the home again.")] = False,
    keyring: Annotated[
        bool,
        typer.Option("--keyring", help="Keep the key in the system's keyring, not a passphrase."),
    ] = False,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Change the passphrase.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Encrypt the home, or lock an encrypted one.

    The first time it encrypts the home: database, caches and backups in it. It asks for a
    passphrase and shows the recovery key once. After that it locks the home: the resident process
    forgets the key. Needs: pip install '.[encrypted]' from the checkout.

    Examples: memlane lock; memlane lock --off.
    """
    run: Run = context.obj
    run.only_main("lock")
    if off + keyring + passphrase > 1:
        raise InvalidInput("--off, --keyring and --passphrase do not go together. Give one.")
    from store.database.connection import DATABASE_NAME
    from store.database.encryption.envelope import envelope_of

    if passphrase:
        _change(run)
        return
    envelope = envelope_of(run.config.home / DATABASE_NAME)
    if off:
        _decrypt(run, envelope, yes)
    elif envelope is None:
        _encrypt(run, keyring, yes)
    elif keyring:
        raise InvalidInput(
            "The home is encrypted already. To change where its key is kept, decrypt it first: "
            "memlane lock --off"
        )
    else:
        _lock(run, envelope)


def unlock(context: typer.Context) -> None:
    """Unlock an encrypted home.

    Asks for the passphrase (or the recovery key) and starts the resident process, which holds the
    key. It forgets it after 'idle_minutes' without a command, and on 'memlane lock' or 'memlane
    down'. From a pipe the passphrase is the first line.
    """
    run: Run = context.obj
    run.only_main("unlock")
    from agent.io.encryption import encrypt_spaces, finish, key_at_hand
    from agent.io.encryption import unlock as open_with
    from agent.server.resident.paths import Place, holder
    from store.database.connection import DATABASE_NAME
    from store.database.encryption.envelope import envelope_of

    home = run.config.home
    envelope = envelope_of(home / DATABASE_NAME)
    key = key_at_hand(home)  # says so where the home is not encrypted
    if key is None:
        open_with(home, asked(run, "Passphrase"))
    else:
        finish(home, key)
        encrypt_spaces(home, key)
    by_keyring = envelope is not None and envelope.passphrase is None
    if by_keyring and key is None:
        _back_into_keyring(run)
    pid = holder(Place(home).lock)
    if pid is None and not (by_keyring and key is not None):
        pid = start(run).pid
    minutes = run.config.idle_minutes
    held = "" if by_keyring else f" until it was idle for {minutes} minutes, or: memlane lock"
    run.emit(
        {"home": str(home), "encrypted": True, "locked": False, "pid": pid},
        lambda out: out.print(f"The home {home} is unlocked{held}."),
    )


def _encrypt(run: Run, keyring: bool, yes: bool) -> None:
    from agent.io.encryption import encrypt, encrypt_spaces, refuse_plain_files
    from store.database.driver import sqlcipher
    from store.database.encryption.envelope import checked_passphrase, new_key, recovery_words
    from store.database.encryption.keys import put_into_keyring

    home = run.config.home
    sqlcipher()
    for one in _homes(home):
        refuse_plain_files(one)
    if not yes and not interactive(run):
        raise InvalidInput(f"{FINAL} Add --yes to confirm; the passphrase is read from a pipe.")
    run.note(FINAL.replace("passphrase", "keyring") if keyring else FINAL)
    key = new_key()
    typed = None
    if keyring:
        put_into_keyring(key)
    else:
        typed = checked_passphrase(asked(run, "New passphrase", twice=True))
    words = recovery_words(key)
    if not run.json:
        run.out.print(f"{WRITE_DOWN}\n\n  {words}\n")
    if not confirmed(run, f"Is it written down? Encrypt {home} now?", yes=yes, otherwise=FINAL):
        run.err.print("Nothing was changed.")
        return
    _stop_all(run)
    with run.status("encrypting"):
        encrypt(home, key, typed)
        encrypt_spaces(home, key)
    how = "the keyring has its key." if keyring else "locked. Unlock it: memlane unlock"
    locked = not keyring
    run.emit(
        {"home": str(home), "encrypted": True, "locked": locked, "recovery_key": words},
        lambda out: out.print(
            f"The home {home} is encrypted and {how}\n"
            "Exports and backups outside of it stay as they are."
        ),
    )


def _homes(root: Path) -> list[Path]:
    """The folders of all spaces."""
    from store.spaces import home_of, names

    return [home_of(root, name) for name in names(root)]


def _stop_all(run: Run) -> None:
    """End the resident processes of all spaces: each holds the key, and has a database open."""
    from dataclasses import replace

    from store.spaces import home_of, names

    for name in names(run.config.root):
        stop(replace(run.config, home=home_of(run.config.root, name), space=name))


def _lock(run: Run, envelope: Envelope) -> None:
    from agent.io.encryption import is_whole, open_in
    from store.database.connection import DATABASE_NAME
    from store.maintenance.left_overs import remove_left_overs

    home = run.config.home
    if not envelope.finished or not is_whole(home):
        raise HomeLocked(f"The encryption of {home} was interrupted. Finish it: memlane unlock")
    _stop_all(run)
    for one in _homes(home):
        remove_left_overs(one)  # a killed decryption leaves a plain copy
    if others := [pid for one in _homes(home) for pid in open_in(one / DATABASE_NAME)]:
        numbers = ", ".join(map(str, others))
        run.note(f"still open in process {numbers}, which keeps the key until it ends")
    in_keyring = envelope.passphrase is None
    if in_keyring:
        run.note("the key stays in the system's keyring: lock that too, or log out")
    run.emit(
        {"home": str(home), "encrypted": True, "locked": not in_keyring, "open_in": others},
        lambda out: out.print(f"The home {home} is locked."),
    )


def _decrypt(run: Run, envelope: Envelope | None, yes: bool) -> None:
    from agent.io.encryption import decrypt, key_at_hand
    from agent.io.encryption import unlock as open_with

    home = run.config.home
    if envelope is None:
        raise HomeUnavailable(f"The home {home} is not encrypted.")
    if not confirmed(
        run,
        f"Decrypt {home}, so that its files can be read without a key?",
        yes=yes,
        otherwise=f"That would make {home} readable without a key. Add --yes to confirm.",
    ):
        run.err.print("Nothing was changed.")
        return
    key = key_at_hand(home) or open_with(home, asked(run, "Passphrase"))
    _stop_all(run)
    with run.status("decrypting"):
        decrypt(home, key)
    run.emit(
        {"home": str(home), "encrypted": False},
        lambda out: out.print(
            f"The home {home} is decrypted. Backups that were made while it was encrypted keep "
            "their passphrase."
        ),
    )


def _change(run: Run) -> None:
    from agent.io.encryption import change_passphrase, refuse_plain

    home = run.config.home
    refuse_plain(home)
    old = asked(run, "Passphrase or recovery key")
    change_passphrase(home, old, asked(run, "New passphrase", twice=True))
    run.emit(
        {"home": str(home), "encrypted": True, "changed": True},
        lambda out: out.print(
            "The passphrase is changed. Earlier backups keep the old one; the recovery key is the "
            "same."
        ),
    )


def _back_into_keyring(run: Run) -> None:
    """After the keyring lost the key and the recovery key brought it back."""
    from agent.io.encryption import key_at_hand
    from store.database.encryption.keys import put_into_keyring

    if key := key_at_hand(run.config.home):
        try:
            put_into_keyring(key)
        except HomeUnavailable as error:
            run.note(f"{error} --passphrase")
