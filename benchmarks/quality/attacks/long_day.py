"""A day of use at speed: what a resident process holds on to, and what of the day is lost.

``python -m benchmarks.long_day [--messages N] [--files N] [--questions N]``. In each of 24 hours
some messages are said, files are read and questions asked. The clock goes forth and back by days
and by years, the process is killed, and for one hour the disk is full. The language model is a
stand-in. Bars: memory of the process that lives on grows by 10 % at most and its file handles do
not; nothing acknowledged lost; nothing left in the queue; every memory behind an answer is there;
the journal folds to the rows.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import psutil

from agent.config import Config, load_config
from agent.server.resident.client import Client, connect
from benchmarks.quality.attacks.attack_requests import attacked
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import NOW, Told, memories
from store.errors import MemlaneError, StoreFull
from store.graph import MemoryGraph

HOURS = 24
KILLED = (4, 8, 12)
"""Hours in which the process is killed: the one that lives on has half a day before it."""
FULL = 10
"""The hour in which the disk is full."""
SPARE, REFUSED = 300, 5
"""Messages to fill up what SQLite has of the disk already, until so many are refused."""
SHIFTS = {
    6: timedelta(days=-3),
    9: timedelta(days=30 * 365),
    16: timedelta(days=-40),
    20: timedelta(days=2),
}
"""What the clock is wrong by in an hour."""
SETTLED = 15
"""The hour from which the memory of the process is looked at: it has loaded what it needs."""
DISK_MB = 512
BIGGEST = 64 << 20
"""Bytes written at once to fill the disk."""


@dataclass(slots=True)
class Day:
    """What happened."""

    told: set[str] = field(default_factory=set)
    """Texts that were acknowledged."""
    read: int = 0
    unread: int = 0
    answered: int = 0
    evidence: set[str] = field(default_factory=set)
    refused: int = 0
    """Requests while the disk was full that were refused, as they should be."""
    unforeseen: list[str] = field(default_factory=list)
    memory_mb: dict[int, float] = field(default_factory=dict)
    handles: dict[int, int] = field(default_factory=dict)


def main() -> None:
    options = parser("long_day", __doc__ or "")
    for name, count in (("messages", 5_000), ("files", 2_000), ("questions", 2_000)):
        options.add_argument(f"--{name}", type=int, default=count)
    options.set_defaults(seeds=1)
    given = options.parse_args()
    counts = (given.messages, given.files, given.questions)
    if given.quick:
        counts = (48, 24, 24)
    with tempfile.TemporaryDirectory(prefix="memlane-day-") as folder, _disk(Path(folder)) as full:
        figures = _lived(Path(folder), counts, full)
    for key, value in figures.items():
        progress(f"{key}: {value}")
    config = dict(zip(("messages", "files", "questions"), counts, strict=True))
    write_results("long_day", {**config, "quick": given.quick}, [0], figures)


@contextmanager
def _disk(folder: Path) -> Iterator[bool]:
    """A small disk mounted at a folder, where this is allowed."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def _lived(folder: Path, counts: tuple[int, int, int], full: bool) -> dict[str, float | int | None]:
    home, notes = folder / "home", folder / "notes"
    notes.mkdir()
    day, began = Day(), time.monotonic()
    life = memories(counts[0] + counts[1] + SPARE)
    hours = [Hour(hour, life, counts, notes) for hour in range(HOURS)]
    for first, last in zip((0, *KILLED), (*KILLED, HOURS), strict=True):
        with attacked(home) as child:
            for hour in hours[first:last]:
                _hour(hour, home, day, child.pid, filler=folder / "filler" if full else None)
                progress(
                    f"hour {hour.number}: {day.memory_mb[hour.number]:.0f} MB, {len(day.told)} told"
                )
            if last == HOURS:
                queue = _drained(_client(home, NOW))
            else:
                child.kill()  # what is acknowledged is not all made into memories yet
    settled, last_mb = day.memory_mb[SETTLED], day.memory_mb[HOURS - 1]
    return _looked_at(home, day) | {
        "hours": HOURS,
        "kills": len(KILLED),
        "seconds": time.monotonic() - began,
        "queue_at_end": queue,
        "refused_on_full_disk": day.refused if full else None,
        "memory_settled_mb": settled,
        "memory_end_mb": last_mb,
        "memory_growth": last_mb / settled,
        "handles_settled": day.handles[SETTLED],
        "handles_end": day.handles[HOURS - 1],
    }


class Hour:
    """What is done in an hour."""

    def __init__(
        self, number: int, life: list[Told], counts: tuple[int, int, int], notes: Path
    ) -> None:
        messages, files, questions = counts
        self.number = number
        self.said = life[:messages][number::HOURS]
        self.spare = life[messages + files :]
        self.files = {
            notes / f"{at}.md": one.memory
            for at, one in list(enumerate(life[messages : messages + files]))[number::HOURS]
        }
        known = life[:messages]
        rng = random.Random(number)
        share = questions // HOURS + (number < questions % HOURS)
        self.asked = [rng.choice(known) for _ in range(share)]


def _hour(hour: Hour, home: Path, day: Day, process: int, filler: Path | None) -> None:
    client = _client(
        home, NOW + timedelta(hours=hour.number) + SHIFTS.get(hour.number, timedelta())
    )
    full = hour.number == FULL and filler is not None
    for path, text in hour.files.items():
        path.write_text(f"# Note\n\n{text}\n", "utf-8")
    if full and filler:
        _fill(filler)
    _said(client, day, [*hour.said, *hour.spare] if full else hour.said, full)
    if full and filler:
        filler.unlink()
    _read(client, day, hour.files)
    _asked(client, day, [one.question for one in hour.asked])
    now = psutil.Process(process)
    day.memory_mb[hour.number] = now.memory_info().rss / 1e6
    day.handles[hour.number] = now.num_fds()


def _fill(path: Path) -> None:
    size = BIGGEST
    with path.open("wb", buffering=0) as file:
        while size:
            try:
                if file.write(b"\0" * size) < size:
                    size //= 2
            except OSError:
                size //= 2


def _said(client: Client, day: Day, said: list[Told], full: bool) -> None:
    for number, one in enumerate(said):
        # What changes something told before goes through the router, as in a chat.
        text = one.changes[0] if number % 5 == 4 else one.memory
        say: Callable[[str], object] = client.respond if number % 5 > 2 else client.remember
        try:
            say(text)
        except MemlaneError as error:
            if full and isinstance(error, StoreFull):
                day.refused += 1
                if day.refused == REFUSED:
                    break
            else:
                day.unforeseen.append(f"{type(error).__name__}: {error}")
        else:
            day.told.add(text)


def _read(client: Client, day: Day, files: dict[Path, str]) -> None:
    if not files:
        return
    try:
        for report in client.ingest(list(files)):
            if report.reason:
                day.unread += 1
            else:
                day.read += 1
    except MemlaneError as error:
        day.unforeseen.append(f"{type(error).__name__}: {error}")


def _asked(client: Client, day: Day, questions: list[str]) -> None:
    for question in questions:
        try:
            reply = client.ask(question)
        except MemlaneError as error:
            day.unforeseen.append(f"{type(error).__name__}: {error}")
        else:
            day.answered += 1
            day.evidence |= {choice.memory.id for choice in reply.memories}


def _client(home: Path, now: datetime) -> Client:
    config: Config = replace(load_config({"home": str(home)}), fixed_now=now)
    client = connect(config, progress)
    assert client is not None, "the process does not answer"
    return client


def _drained(client: Client, seconds: float = 300.0) -> int:
    """What is still queued when there has been time for it."""
    until = time.monotonic() + seconds
    while (queue := client.running().queue) and time.monotonic() < until:
        with suppress(MemlaneError):
            list(client.retry())
        time.sleep(0.5)
    return queue


def _looked_at(home: Path, day: Day) -> dict[str, float | int | None]:
    with MemoryGraph.open(home) as graph:
        kept = [source.text for source in graph.sources.list()]
        there = graph.memories.found(sorted(day.evidence))
        problems = graph.verify()
        count = sum(graph.memories.counts().values())
    for wrong in (*problems, *day.unforeseen[:20]):
        progress(wrong)
    return {
        "acknowledged": len(day.told),
        "lost": len(day.told - set(kept)),
        "files_read": day.read,
        "files_not_read": day.unread,
        "answered": day.answered,
        "evidence": len(day.evidence),
        "evidence_not_there": len(day.evidence - there.keys()),
        "problems": len(problems),
        "unforeseen_errors": len(day.unforeseen),
        "memories": count,
    }


if __name__ == "__main__":
    main()
