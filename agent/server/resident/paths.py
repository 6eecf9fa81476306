"""Paths of the resident process: socket, lock, token and log.

Invariants: everything lies in the home (0700) and is 0600 itself. The lock is the truth: who holds
it is the resident process, and the system lets go of it however that process ends, so neither a
stale socket nor a stale number can look alive.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from store.database.file_locks import lock
from store.database.whole_files import whole_file
from store.errors import HomeUnavailable, StoreBusy

LONGEST_SOCKET = 103
"""Bytes that the address of a Unix socket may have on every system (macOS has the shortest)."""
_PATIENCE_S = 0.5
SHOWS_UP_S = 10.0
"""How long a process that is being started may take until it holds the lock."""
START_S = 60.0
"""How long a command waits for one. Loading the same models beside it takes longer, the longer the
busier the machine is."""
_STEP_S = 0.05
_ANNOUNCED = b"starting"


@dataclass(frozen=True, slots=True)
class Place:
    """The files of a home's resident process."""

    home: Path

    @property
    def socket(self) -> Path:
        """In the home; of a home whose path is too long for one under ``/tmp``, named after it.

        Not where ``XDG_RUNTIME_DIR`` says: a log-in and a timer would look in two places.
        """
        path = self.home / "memlane.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET:
            return path
        import hashlib  # late, as secrets below: every command imports this module

        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(f"/tmp/memlane-{os.getuid()}") / f"{name}.sock"

    @property
    def lock(self) -> Path:
        return self.home / "resident.lock"

    @property
    def token(self) -> Path:
        return self.home / "token"

    @property
    def log(self) -> Path:
        return self.home / "logs" / "resident.log"


def bind(place: Place) -> socket.socket:
    """A listening socket that only this user can reach. Call it with the lock held.

    :raises HomeUnavailable: if the socket cannot be made, or lies where others could put theirs.
    """
    path = place.socket
    try:
        if path.parent != place.home:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = path.parent.stat()
            if found.st_uid != os.getuid() or found.st_mode & 0o077:
                raise HomeUnavailable(
                    f"{place.home} is too long for a socket, and others can access {path.parent}. "
                    f"Restrict it (chmod go= '{path.parent}') or choose a shorter --home DIR."
                )
        with suppress(FileNotFoundError):
            path.unlink()  # of a process that was killed: we hold the lock
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)  # 0600 from its first moment
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HomeUnavailable(f"Cannot make the socket {path}: {reason}.") from error
    return listening


def is_mine(path: Path) -> bool:
    """Whether there is a socket that this user made."""
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()


class Lock:
    """Held by the resident process as long as it lives; the file tells its number."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> None:
        """:raises StoreBusy: if another resident process runs for this home."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise HomeUnavailable(f"Cannot write {self._path}: {error.strerror}.") from error
        # Whoever looks whether it is held holds it for a moment too.
        if not lock(file, seconds=_PATIENCE_S):
            os.close(file)
            pid = holder(self._path)
            raise StoreBusy(
                f"memlane is already running for {self._path.parent} (process {pid}). "
                "See it with: memlane status"
            )
        # The number first: at no moment is the file empty for whoever waits for this process.
        size = os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        os.ftruncate(file, size)
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None


def announce(place: Place) -> None:
    """Write down that a process is being started for this home: what comes next waits for it."""
    with suppress(OSError), place.lock.open("ab") as file:
        if lock(file.fileno()):  # else it is there
            file.truncate(0)
            file.write(_ANNOUNCED)


def wait_for_start(place: Place) -> None:
    """Wait until a process that is being started can be reached, or does not come up."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and _is_starting(place):
        time.sleep(_STEP_S)


def _is_starting(place: Place) -> bool:
    if is_mine(place.socket):
        return False
    try:
        age = time.time() - place.lock.stat().st_mtime
        held, told = _read(place.lock)
    except OSError:
        return False
    if held and told.isdigit():
        return 0 <= age < START_S
    return 0 <= age < SHOWS_UP_S and told == _ANNOUNCED


def holder(path: Path) -> int | None:
    """The process that holds the lock; None if nobody does."""
    try:
        held, told = _read(path)
    except OSError:
        return None
    return int(told) if held and told.isdigit() else None


def _read(path: Path) -> tuple[bool, bytes]:
    """Whether somebody holds a lock, and the first line of its file. :raises OSError:"""
    with path.open("rb") as file:
        return not lock(file.fileno(), shared=True), file.readline(32).strip()


def ensure_token(place: Place) -> str:
    """The secret that a client over TCP has to show; made once, 0600."""
    import secrets

    while True:
        with suppress(FileNotFoundError):
            place.token.chmod(0o600)
            if token := place.token.read_text(encoding="ascii").strip():
                return token
        with whole_file(place.token) as file:  # an empty token would let anybody in
            file.write(f"{secrets.token_urlsafe(32)}\n".encode())
