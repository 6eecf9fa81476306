"""Kills of whatever writes, at any moment, under a stream of writes: is what was acknowledged kept?

A round starts one of four (the resident process, a plain writer, one that changes memories in every
way, a backup), lets it acknowledge, kills it with SIGKILL after a random time and counts. At the
end the home is read: every acknowledged text is there once, every acknowledged change holds, and
the home verifies. Several homes are attacked at once, each with a share of the kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from agent.config import load_config
from agent.server.resident.client import Client, connect
from benchmarks.quality.attacks.attack_edits import acknowledged
from benchmarks.quality.attacks.attack_requests import Outcome, attacked, environment
from benchmarks.shared.common import ROOT
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.types import Status

LONGEST_S = 1.5
"""The latest moment of a kill in a round."""
WRITER = """
import sys
from pathlib import Path
from datetime import datetime
from store.graph import MemoryGraph
from store.types import SourceKind
home, name = Path(sys.argv[1]), sys.argv[2]
with MemoryGraph.open(home) as graph:
    for number in range(10_000):
        text = f"My box {name}-{number} holds {number} books."
        graph.sources.add(SourceKind.MANUAL, text, datetime.now().astimezone())
        print(text, flush=True)
"""
"""A plain writer: each line that it prints is acknowledged."""
_EDITOR = ["-m", "benchmarks.attack_edits"]
WRITERS = 8
"""Commands that write at once."""
HOMES = 4
"""Homes that are attacked at once."""


def attack_kills(
    home: Path, count: int, number: int, *, until: float
) -> tuple[Outcome, Counter[str]]:
    """Kill ``count`` writers, or as many as fit; also how many of which kind."""
    shares = [count // HOMES + (share < count % HOMES) for share in range(HOMES)]
    homes = [home.parent / str(share) / home.name for share in range(HOMES)]
    all_found, all_killed = Outcome(), Counter[str]()
    with ThreadPoolExecutor(HOMES) as hands:
        attacks = [
            hands.submit(_attack, one, share, f"{number}-{at}", until)
            for at, (one, share) in enumerate(zip(homes, shares, strict=True))
        ]
        for done in attacks:
            found, killed = done.result()
            all_killed += killed
            all_found.sent += found.sent
            all_found.acknowledged |= found.acknowledged
            all_found.lost += found.lost
            for wrong, times in found.wrong.items():
                all_found.wrong[wrong] = all_found.wrong.get(wrong, 0) + times
    return all_found, all_killed


def _attack(home: Path, count: int, name: str, until: float) -> tuple[Outcome, Counter[str]]:
    found, killed, rng = Outcome(), Counter[str](), random.Random(name)
    told: set[str] = set()
    changed: dict[str, str] = {}

    def edit(home: Path, name: str, after: float) -> set[str]:
        nonlocal changed
        changed |= acknowledged(_killed(_EDITOR, home, name, after))
        return set()

    rounds: tuple[tuple[str, Callable[[Path, str, float], set[str]]], ...] = (
        ("resident", _resident),
        ("writer", _plain),
        ("editor", edit),
        ("backup", _backup),
    )
    for turn in range(count):
        if time.monotonic() > until:
            break
        kind, run = rounds[turn % len(rounds)]
        told |= run(home, f"{name}-{turn}", rng.uniform(0.0, LONGEST_S))
        killed[kind] += 1
        found.sent += 1
    with MemoryGraph.open(home) as graph:
        kept = Counter(source.text for source in graph.sources.list())
        found.acknowledged = told | changed.keys()
        found.lost = len(told - kept.keys())
        for problem in graph.verify():
            found.note(problem)
        if twice := sum(1 for text in told if kept[text] > 1):
            found.note(f"{twice} acknowledged texts are there twice")
        _check_changes(found, changed, Counter(m.text for m in graph.memories.list(Status.CURRENT)))
    return found, killed


def _check_changes(found: Outcome, changed: dict[str, str], held: Counter[str]) -> None:
    for text, state in changed.items():
        if held[text] > 1:
            found.note("a memory is there twice")
        if state == "+" and not held[text]:
            found.lost += 1
        if state == "-" and held[text]:
            found.note("a memory is there that was changed or forgotten")


def _resident(home: Path, name: str, after: float) -> set[str]:
    told: set[str] = set()
    with attacked(home, "--hash") as child:
        timer = threading.Timer(after, child.kill)
        timer.start()
        with suppress(MemlaneError, OSError):
            client = connect(load_config({"home": str(home)}), lambda line: None)
            while client is not None:
                told.add(_told(client, f"My box {name}-{len(told)} holds {len(told)} books."))
        timer.join()
        child.wait()
    return told


def _told(client: Client, text: str) -> str:
    client.remember(text)
    return text


def _plain(home: Path, name: str, after: float) -> set[str]:
    return set(_killed(["-c", WRITER], home, name, after))


def _killed(program: list[str], home: Path, name: str, after: float) -> list[str]:
    """The whole lines that a program said before it was killed."""
    words = [sys.executable, *program, str(home), name]
    with subprocess.Popen(
        words, cwd=ROOT, env=environment(home), stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        first = child.stdout.readline()  # it has opened the home
        time.sleep(after)
        child.send_signal(signal.SIGKILL)
        *whole, _ = (first + child.stdout.read()).split("\n")  # half a line acknowledges nothing
    return whole


def attack_writers(home: Path, count: int, *, until: float) -> Outcome:
    """Some commands at once tell something, without the resident process; ``count`` times."""
    found = Outcome()
    (home.parent / "files").mkdir(parents=True, exist_ok=True)
    for run in range(count):
        if time.monotonic() < until:
            told, seconds = _all_tell(home, run)
            found.sent += WRITERS
            found.acknowledged |= told
            found.note(f"{WRITERS - len(told)} writers failed" if len(told) < WRITERS else None)
            found.slowest = max(found.slowest, seconds)
    with MemoryGraph.open(home) as graph:
        kept = Counter(source.text for source in graph.sources.list())
        for problem in graph.verify():
            found.note(problem)
    found.lost = sum(kept[text] != 1 for text in found.acknowledged)
    return found


def _all_tell(home: Path, run: int) -> tuple[set[str], float]:
    """What was told, and the seconds until the last command was done."""
    words = [sys.executable, "-m", "cli.main", "remember"]
    texts = [f"My shelf {run}-{number} holds {number} books." for number in range(WRITERS)]
    began = time.monotonic()
    children = [
        subprocess.Popen(
            [*words, text],
            cwd=ROOT,
            env=environment(home),
            stdout=subprocess.DEVNULL,
        )
        for text in texts
    ]
    told = {text for text, child in zip(texts, children, strict=True) if not child.wait(600)}
    return told, time.monotonic() - began


def _backup(home: Path, name: str, after: float) -> set[str]:
    """Nothing is acknowledged by a backup that is killed; the home must stay what it is."""
    words = [sys.executable, "-m", "cli.main", "backup"]
    with subprocess.Popen(
        words, cwd=ROOT, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        time.sleep(after)
        os.kill(child.pid, signal.SIGKILL)
    return set()
