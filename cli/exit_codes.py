"""Errors as one line on stderr and an exit code.

0 done, 1 the request could not be met, 2 wrong usage, 130 interrupted, 143 told to end. No
traceback reaches a user for bad input; ``--debug`` shows it. With ``--json`` what went wrong is a
JSON object on stdout too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from agent.errors import of_the_system
from cli.arguments import asked_for
from store.errors import InvalidInput, MemlaneError


class _Ended(BaseException):
    """SIGTERM came. What is stored is whole: what was not stored yet is done by the next run."""


@contextmanager
def _told_to_end() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, where nothing else listens to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise _Ended

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_code(work: Callable[[], object], arguments: Sequence[str]) -> int:
    """Do ``work`` and say how it went; a whole number that it returns is the code."""
    try:
        with _told_to_end():
            code = work()
    except KeyboardInterrupt:
        print("memlane: interrupted", file=sys.stderr)
        return 130
    except _Ended:
        print(
            "memlane: terminated (SIGTERM); saved data is safe. Run the command again.",
            file=sys.stderr,
        )
        return 143
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        # The last line of all: no traceback ever reaches a user; --debug shows it.
        if "--debug" in arguments:
            raise
        code, line = outcome(error)
        report(line, code, arguments)
        return code
    return code if isinstance(code, int) else 0


def report(line: str, code: int, arguments: Sequence[str]) -> None:
    """Say what went wrong: on stderr for people, with ``--json`` on stdout too."""
    print(f"memlane: {line}", file=sys.stderr)
    if asked_for("--json", arguments):
        print(error_document(line, code), flush=True)


def error_document(line: str, code: int) -> str:
    """What went wrong as one line of JSON; bytes of an argument that are no text as escapes."""
    shown = line.encode("utf-8", "backslashreplace").decode()
    return json.dumps({"error": shown, "exit_code": code}, ensure_ascii=False)


def outcome(error: Exception) -> tuple[int, str]:
    """The exit code of what went wrong, and what is said of it."""
    if isinstance(error, MemlaneError):
        return (2 if isinstance(error, InvalidInput) else 1), _one_line(error)
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        return 2, "A word of the command line has bytes that are no text (not UTF-8)."
    if isinstance(error, OSError):
        return 1, _one_line(of_the_system(error))
    return 1, (
        f"unexpected {type(error).__name__}: {_one_line(error)} "
        "(no stored data is lost; run again with --debug for a traceback)"
    )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
