"""What the resident process saves and what it costs.

``python -m benchmarks.resident [--quick] [--count N] [--kills N]``. Each command is a process of
its own, as a user's is: ``ask --no-llm``, ``fill`` and ``remember`` of a home with ``--memories``
memories, with the process up (models loaded) and without it, end to end with the interpreter's
start. Then the process alone: the share of a core it takes when nothing is asked, what freeing the
encoder gives back, and with ``--kills`` whether anything acknowledged is lost by kill -9.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.config import load_config
from agent.server.resident.client import Client, connect
from agent.session.session import open_session
from benchmarks.shared.common import parser, progress, write_results
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.types import SourceStatus, Status

BAR_MS = 150
IDLE_BAR = 0.01
THINGS = "bicycle kayak locker piano garden laptop jacket bookshelf camera tent".split()
ROOMS = "cellar attic garage kitchen office hall studio shed cabin boat".split()
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Resident:
    """A resident process that ``memlane up --foreground`` is."""

    home: Path
    process: subprocess.Popen[bytes]

    def client(self) -> Client:
        deadline = time.monotonic() + 60
        while (found := connect(load_config({"home": str(self.home)}), progress)) is None:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit("the resident process did not come up")
            time.sleep(0.05)
        return found

    def cpu_s(self) -> float:
        """Processor seconds that it has used, in all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        """Memory of its own that it holds."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1000
        raise SystemExit("no RssAnon on this system")


@contextmanager
def resident(home: Path, *options: str, **environment: str) -> Iterator[Resident]:
    words = [sys.executable, "-m", "cli.app", "--home", str(home), "up", "--foreground", *options]
    with subprocess.Popen(
        words, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
    ) as process:
        up = Resident(home, process)
        up.client()
        try:
            yield up
        finally:
            process.terminate()
            process.wait(20)


def milliseconds(home: Path, *words: str) -> float:
    """Wall time of one command."""
    began = time.perf_counter()
    subprocess.run(
        [str(Path(sys.executable).with_name("memlane")), "--home", str(home), *words],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return 1000 * (time.perf_counter() - began)


def commands(number: int) -> dict[str, tuple[str, ...]]:
    thing, room = THINGS[number % 10], ROOMS[number // 10 % 10]
    return {
        "ask": ("--json", "ask", "--no-llm", f"Where is my {thing} number {number}?"),
        "ask_text": ("ask", "--no-llm", f"What is in the {room}?"),
        "fill": ("--json", "fill", "--field", "First name", "--field", "City", "--field", "E-mail"),
        "remember": ("--json", "remember", f"My spare {thing} number {number} is in the {room}."),
    }


def fill_home(home: Path, memories: int) -> None:
    with open_session(load_config({"home": str(home)})) as session:
        session.remember("My name is Iris Keller.")
        session.remember("I live in Oslo.")
        session.remember("My e-mail address is iris@example.org.")
        for number in range(memories - 3):
            thing, room = THINGS[number % 10], ROOMS[number // 10 % 10]
            session.remember(f"My {thing} number {number} is in the {room}.")


def timed(home: Path, count: int, first: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {}
    for number in range(first, first + count):
        for name, words in commands(number).items():
            taken.setdefault(name, []).append(milliseconds(home, *words))
    return taken


def lost_by_kills(home: Path, kills: int) -> tuple[int, int]:
    """How many texts were acknowledged while it was killed, and how many of them are lost."""
    rng = random.Random(0)
    acknowledged: list[str] = []
    for trial in range(kills):
        with resident(home) as up:
            timer = threading.Timer(rng.uniform(0.0, 3.0), up.process.kill)
            timer.start()
            try:
                for number in range(10_000):
                    text = f"My crate {trial}-{number} is in the {ROOMS[number % 10]}."
                    up.client().remember(text)
                    acknowledged.append(text)
            except (MemlaneError, OSError, SystemExit):
                pass
            timer.join()
        progress(f"{trial + 1} of {kills} kills, {len(acknowledged)} acknowledged")
    with resident(home) as up:
        while up.client().running().queue:
            time.sleep(0.2)
    with MemoryGraph.open(home) as graph:
        kept = {source.text for source in graph.sources.list(SourceStatus.EXTRACTED)}
        stored = {memory.text for memory in graph.memories.list(Status.CURRENT)}
        for problem in graph.verify():
            progress(problem)
    return len(acknowledged), sum(not {text} <= kept & stored for text in acknowledged)


def main() -> None:
    options = parser("resident", __doc__ or "")
    options.add_argument("--count", type=int, default=30, help="how often each command is run")
    options.add_argument("--memories", type=int, default=1000)
    options.add_argument("--idle", type=float, default=30.0, help="seconds to watch it idle")
    options.add_argument("--kills", type=int, default=0, help="how often it is killed")
    given = options.parse_args()
    count, memories = (5, 100) if given.quick else (given.count, given.memories)
    idle = 20.0 if given.quick else given.idle
    figures: dict[str, float | int | None] = {"bar_ms": BAR_MS, "idle_bar": IDLE_BAR}
    with tempfile.TemporaryDirectory(prefix="memlane-resident-") as folder:
        home = Path(folder) / "home"
        fill_home(home, memories)
        with resident(home) as up:
            timed(home, 1, 0)  # loads what is needed
            with_it = timed(home, count, 1)
            used, began = up.cpu_s(), time.monotonic()
            time.sleep(idle)
            figures["idle_core_share"] = (up.cpu_s() - used) / (time.monotonic() - began)
            figures["loaded_mb"] = up.megabytes()
        without = timed(home, max(3, count // 10), count + 1)
        for name, taken in with_it.items():
            figures[f"{name}_median_ms"] = statistics.median(taken)
            figures[f"{name}_worst_ms"] = max(taken)
            figures[f"{name}_without_median_ms"] = statistics.median(without[name])
        with resident(home, MEMLANE_IDLE_MINUTES="1") as up:
            figures["unloaded_mb"] = up.megabytes()
            up.client().ask("Where is my kayak?", use_llm=False)
            before = up.megabytes()
            while up.client().running().loaded and not given.quick:
                time.sleep(1)
            figures["freed_mb"] = before - up.megabytes()
        if given.kills:
            told, lost = lost_by_kills(home, given.kills)
            figures |= {"kills": given.kills, "acknowledged": told, "lost": lost}
    config = {"count": count, "memories": memories, "idle_s": idle, "quick": given.quick}
    path = write_results("resident", config, [0], figures)
    for name in with_it:
        print(f"{name:<9} {figures[f'{name}_median_ms']:6.0f} ms with it (bar {BAR_MS}), "
              f"{figures[f'{name}_without_median_ms']:6.0f} ms without")  # fmt: skip
    print(f"idle: {100 * (figures['idle_core_share'] or 0):.2f} % of a core: {path}")


if __name__ == "__main__":
    main()
