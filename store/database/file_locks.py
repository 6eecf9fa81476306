"""Locks between processes, on open files; the system releases them however their holder ends.

The only module that may import ``fcntl``, and not at its top (``tests/test_architecture.py``).
portalocker does the same on every system, but it is the way on Windows alone: its import takes
45 ms, and every command opens a database. filelock has no shared lock on a file of ours.
"""

from __future__ import annotations

import sys
import time

_STEP_S = 0.01


def lock(file: int, *, shared: bool = False, seconds: float = 0.0) -> bool:
    """Lock an open file until it is closed; False if another process has it for ``seconds``.

    :raises OSError: if the file system has no locks.
    """
    deadline = time.monotonic() + seconds
    while not _tried(file, shared):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_STEP_S)
    return True


def _tried(file: int, shared: bool) -> bool:
    if sys.platform == "win32":
        import portalocker
        from portalocker import LockFlags

        how = LockFlags.SHARED if shared else LockFlags.EXCLUSIVE
        try:
            portalocker.lock(file, how | LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked:
            return False
        except portalocker.LockException as error:
            raise OSError(str(error)) from error
        return True
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
