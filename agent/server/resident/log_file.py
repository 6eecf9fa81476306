"""Log file of the resident process, rotated, without user text.

It names requests, sources by id, kinds of errors and how long things took. What was said, asked or
remembered goes into it only with ``--debug``.
"""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

MOST_BYTES = 1_000_000
KEPT = 3
"""Older logs that stay beside the present one."""


class _Private(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.fchmod(file, 0o600)
        return open(file, "a", encoding="utf-8")


def open_log(path: Path, *, debug: bool) -> logging.Handler:
    """Send the log of this process to ``path``; close the handler when done."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handler = _Private(path, maxBytes=MOST_BYTES, backupCount=KEPT)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("memlane")
    ours.setLevel(logging.DEBUG if debug else logging.INFO)
    ours.addHandler(handler)
    ours.propagate = False
    if debug:
        logging.getLogger("uvicorn").addHandler(handler)
    else:
        # Its tracebacks could quote a request.
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    return handler
