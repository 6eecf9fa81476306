"""Gives generated command lines to ``memlane`` and says what was wrong with what came back.

Each line runs in a fork of this process, which has loaded everything: a hang can be ended, and
nothing of one line is left for the next but what it stored.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import given, seed, settings
from typer.core import TyperGroup
from typer.main import get_command

from benchmarks.quality.attacks.attack_inputs import LIMIT_S, lines
from benchmarks.quality.attacks.attack_requests import (
    GENERATED,
    PATIENCE_S,
    Outcome,
    TimeIsUp,
    attacked,
    environment,
)
from cli.app import app, run
from cli.forwarding.forward import relayed
from cli.importing import collecting_paused
from store.graph import MemoryGraph

FILES = ("a.txt", "a.png", "a.ics", "a.vcf", "a.jsonl", "a.md", "form.html", "deep.json")
_BYTES = {
    "a.jsonl": b'{"kind": "memory", "id": 5}\n' + b"[" * 100_000 + b'\n{"kind":\xff\n',
    "a.md": b"---\nid: m1\n---\n\x00\n---\n\xff\n",
    "form.html": b"<form>" + b"<div>" * 3000 + b"<input name=email><input pattern='(.*)*x' name=a>",
    "deep.json": b"[" * 100_000,
}
CODES = frozenset({0, 1, 2})


def attack_lines(home: Path, count: int, number: int, *, until: float = math.inf) -> Outcome:
    """Run ``count`` command lines, or as many as fit until the moment ``until`` of the clock.

    A resident process answers what the lines hand over to it.
    """
    found = Outcome()
    parser = get_command(app)
    assert isinstance(parser, TyperGroup)
    with attacked(home, "--hash"):
        folder = home.parent / "lines"
        _prepared(folder)

        @seed(number)
        @settings(GENERATED, max_examples=count)
        @given(lines(parser, FILES))
        def one(words: list[str]) -> None:
            if time.monotonic() > until:
                raise TimeIsUp
            code, out, err, seconds = run_line(words, home, folder)
            found.sent += 1
            found.slowest = max(found.slowest, seconds)
            said = wrong_output(words, code, out, err, seconds)
            (home.parent / "config.toml").unlink(missing_ok=True)  # what `config set` wrote
            found.note(said and f"{' '.join(words)[:160]!r}: {said}")

        with suppress(TimeIsUp):
            one()
    with MemoryGraph.open(home) as graph:
        for problem in graph.verify():
            found.note(problem)
    return found


def _prepared(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_bytes(_BYTES.get(name, b"\xff\x00BEGIN:VCARD\nI moved to Oslo.\n"))


def run_line(
    words: Sequence[str], home: Path, folder: Path
) -> tuple[int | None, bytes, bytes, float]:
    """The exit code, None where it had to be ended, what was printed, and the seconds.

    Seconds of its own work: what else the machine does is not its fault. One that waits for
    something uses none, and is ended after ``PATIENCE_S``.
    """
    began = time.monotonic()
    out, err = folder.parent / "out", folder.parent / "err"
    around = environment(home)
    child = os.fork()
    if child == 0:
        _be_the_line(words, around, folder, out, err)
    while time.monotonic() - began < PATIENCE_S:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            seconds = min(used.ru_utime + used.ru_stime, time.monotonic() - began)
            return code, out.read_bytes(), err.read_bytes(), seconds
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, out.read_bytes(), err.read_bytes(), time.monotonic() - began


def _be_the_line(
    words: Sequence[str], around: Mapping[str, str], folder: Path, out: Path, err: Path
) -> None:
    """What ``cli.main`` does, in this process, with its own input and output."""
    code: object = 99
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.update(around)
        for target, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), target)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # As Python has them where the words are no UTF-8.
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "strict")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", "backslashreplace")
        raw = [word.encode("utf-8", "surrogatepass") for word in words]
        given_words = [word.decode("utf-8", "surrogateescape") for word in raw]
        code = relayed(given_words)
        if code is None:
            with collecting_paused():
                code = run(given_words)
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as error:
        code = error.code or 0
    except BaseException as error:
        sys.stderr.write(f"Traceback: {type(error).__name__}: {error}\n")
    finally:
        os._exit(code if isinstance(code, int) else 0)


def wrong_output(
    words: Sequence[str], code: int | None, out: bytes, err: bytes, seconds: float
) -> str | None:
    """What is wrong with what a line gave; None if it is as it should be."""
    if code is None or seconds > LIMIT_S:
        return f"hung for {seconds:.0f} s"
    if (b"Traceback" in err and "--debug" not in words) or b"memlane: unexpected " in err:
        return err[-300:].decode("utf-8", "replace")
    if code not in CODES:
        return f"exit code {code}"
    if b"\x1b" in err or b"\x1b" in out:
        return "an escape sequence was printed"
    if code and not (out or err):
        return f"exit code {code} without a word"
    asks_json = "--json" in words and "--help" not in words and "export" not in words
    if asks_json and code == 0 and out and not is_json(out):
        return f"no JSON: {out[:200]!r}"
    return None


def is_json(out: bytes) -> bool:
    """Whether it is one JSON document."""
    try:
        json.loads(out)
    except ValueError:
        return False
    return True
