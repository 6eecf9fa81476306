"""Watch loop: folders, queue on disk, ingest (docs/ingest.md).

``Watcher.hear`` and ``look`` put files into the queue, ``step`` takes one out; ``run`` does both
until it is told to stop. What a file gives is decided by ``agent.io.ingest`` alone, so a file that
is looked at twice gives nothing twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event

from agent.io.ignore_rules import NAME, FoundFile, Ignore
from agent.io.ingest import ingest_into, kind_of, locator_of, plan_change
from agent.io.platform_events import BUSY, changes, why_wait
from agent.io.sources.documents.read import missing_reader
from agent.memory.home import Home
from agent.results import FileReport
from store.database.file_locks import lock
from store.errors import EditConflict, InvalidInput, MemlaneError, StoreError
from store.tables.side_tables.watch_queue import FileState, WatchedFile, WatchedFolder

SETTLE = 2.0
"""Seconds for which a file must look the same before it is read: it may be half written."""
QUEUE = 5_000
"""Most files that wait at once; what finds no place is found when there is some again."""
TRIES = 6
"""How often a file is tried before it is left until it changes."""
BACK_OFF = 5.0
"""Seconds until the second try; twice as long for each that follows."""
LONGEST = 3600.0
"""Seconds between two tries at most."""
LOOK = 600.0
"""Seconds after which all folders are looked through, for what nobody told of."""
AT_ONCE = 20.0
"""Seconds of work after which changes are listened to again."""

SLICE = 30.0
"""Seconds after which a file is read though the machine is busy: some machines always are."""

Watch = Callable[[list[Path], Event], Iterator[set[Path]]]


class Watcher:
    """Takes the files of the watched folders into memory, one after the other."""

    def __init__(
        self,
        home: Home,
        *,
        clock: Callable[[], float] = time.time,
        wait: Callable[[], str] | None = None,
    ) -> None:
        self.home = home
        self.table = home.graph.watched
        self.paused = ""
        """Why nothing is taken in at the moment; empty where nothing is in the way."""
        self._clock = clock
        self._wait = wait or (lambda: why_wait(home.config.watch_on_battery))
        self._ignore: Ignore | None = None
        self._taken = clock()
        """When a file was read last."""
        self._rest = 0.0
        """When the store can be tried again, after it could not be written."""
        self._trouble: dict[Path, str] = {}
        """Folders whose rules cannot be understood, and why; told once."""

    # ---- into the queue -------------------------------------------------------------------

    def begin(self) -> None:
        """What a fresh start does: failed files get another chance, and everything is looked at."""
        failed = self.table.in_state(FileState.FAILED)
        self.table.put(replace(file, state=FileState.WAITING, tries=0, due=0.0) for file in failed)
        self.look()

    def look(self) -> None:
        """Compare every watched folder with what is known of it."""
        self._ignore = None  # rules may have changed too
        self._trouble = {}
        for folder in self.table.folders():
            # A folder that is not there (a drive that is not plugged in) has deleted nothing.
            if folder.path.is_dir():
                self._look_at(folder)

    def _look_at(self, folder: WatchedFolder) -> None:
        known = self.table.files(folder.path)
        room = QUEUE - self.table.waiting()
        fresh: list[WatchedFile] = []
        seen: set[Path] = set()
        try:
            found = list(self._rules().find([folder.path]))
        except InvalidInput as error:
            self._trouble[folder.path] = str(error)
            return
        for file in found:
            seen.add(file.path)
            if file.skipped is None and (row := self._changed(file.path, folder.path, known)):
                fresh.append(row)
        # One that left the rules' reach is not gone: what came from it stands.
        gone = [row for path, row in known.items() if path not in seen and not path.exists()]
        fresh += [self._again(row) for row in gone if row.state is not FileState.GONE]
        self.table.put(fresh[: max(0, room)])
        self.table.mark_more(folder.path, len(fresh) > room)

    def hear(self, paths: Iterable[Path]) -> None:
        """Take note of paths that changed, appeared or went."""
        fresh: list[WatchedFile] = []
        folders = self.table.folders()
        room = QUEUE - self.table.waiting()
        for path in sorted(paths):
            if path.name == NAME:
                self.look()
                continue
            holders = [f for f in folders if path.is_relative_to(f.path)]
            if not holders:
                continue
            folder = max(holders, key=lambda f: len(f.path.parts))
            rows = self._heard(path, folder.path)
            if len(fresh) + len(rows) > room:
                self.table.mark_more(folder.path, True)
                continue
            fresh += rows
        self.table.put(fresh)

    def _heard(self, path: Path, folder: Path) -> list[WatchedFile]:
        if not path.exists():
            known = (self.table.get(below) for below in self.table.below(path))
            return [self._again(row) for row in known if row is not None]
        try:
            if path == folder or self._rules().why(path, folder) is not None:
                return []
            found = list(self._rules().find([path], folder))
        except InvalidInput as error:
            self._trouble[folder] = str(error)
            return []
        known_here = {f.path: row for f in found if (row := self.table.get(f.path))}
        rows = (self._changed(f.path, folder, known_here) for f in found if f.skipped is None)
        return [row for row in rows if row is not None]

    def _changed(
        self, path: Path, folder: Path, known: dict[Path, WatchedFile]
    ) -> WatchedFile | None:
        """The row of a file that is new, or looks otherwise than it did; None if it does not."""
        # A document whose reader is missing is found when the extra is there.
        if kind_of(path) is None or missing_reader(path) or not is_text(path):
            return None
        stat = _stat(path)
        row = known.get(path)
        if stat is None or (row is not None and (row.size, row.changed) == stat):
            return None
        due = self._clock() + SETTLE
        now = self.home.config.now()
        return WatchedFile(path, folder, FileState.WAITING, *stat, due, 0, now, None, None)

    def _again(self, row: WatchedFile) -> WatchedFile:
        """The row of a file that is not there any more, to be looked for once more."""
        # Later than what appears, so that a file that was moved is found at its new place first.
        due = self._clock() + 3 * SETTLE
        return replace(row, state=FileState.WAITING, due=due, tries=0)

    def _rules(self) -> Ignore:
        config = self.home.config
        self._ignore = self._ignore or Ignore(config.ignore, config.root)
        return self._ignore

    # ---- out of the queue -----------------------------------------------------------------

    def step(self) -> FileReport | None:
        """Take in the file whose turn it is; None where there is none, or it still changes."""
        now = self._clock()
        if now < self._rest <= now + LONGEST:
            return None
        row = self.table.next_due(now, LONGEST + SETTLE)
        if row is None:
            return None
        try:
            return self._take(row)
        except StoreError as error:
            # Trigger: the disk is full, or another process holds the database.
            # Why: that is no fault of the file, and its row cannot be written either.
            # Outcome: everything rests for a while; the queue is as it was.
            self._rest = now + 60
            self.paused = str(error)
            return FileReport(str(row.path), "failed", 0, str(error))

    def _take(self, row: WatchedFile) -> FileReport | None:
        stat = _stat(row.path)
        if stat is None:
            return self._gone(row)
        if stat != (row.size, row.changed):
            self.table.put(
                [replace(row, size=stat[0], changed=stat[1], due=self._clock() + SETTLE)]
            )
            return None
        if (moved := self._moved(row)) is not None:
            return moved
        try:
            (report,) = ingest_into(self.home, [row.path], found=[FoundFile(row.path)])
        except StoreError:
            raise
        except Exception as error:
            # One file that nobody foresaw must not keep the others from being read.
            said = str(error) if isinstance(error, MemlaneError | EditConflict) else ""
            report = FileReport(str(row.path), "failed", 0, said or type(error).__name__)
        self.table.put([self._after(row, report)])
        return report

    def _after(self, row: WatchedFile, report: FileReport) -> WatchedFile:
        # What a stored file failed of is told by its source; the text of a file stays out of here.
        reason = None if report.source else report.reason
        done = replace(row, source=report.source, reason=reason, at=self.home.config.now())
        if report.status == "skipped":
            return replace(done, state=FileState.SKIPPED)
        if report.status != "failed":
            return replace(done, state=FileState.DONE, tries=0)
        tries = row.tries + 1
        if tries >= TRIES:
            return replace(done, state=FileState.FAILED, tries=tries)
        due = self._clock() + min(LONGEST, BACK_OFF * 2 ** (tries - 1))
        return replace(done, tries=tries, due=due)

    def _gone(self, row: WatchedFile) -> FileReport | None:
        if not row.folder.is_dir():
            # The whole folder is away: a drive that was pulled out deletes nothing.
            self.table.put([replace(row, due=self._clock() + LOOK)])
            return None
        if self.home.graph.sources.latest_from(locator_of(row.path)) is None:
            self.table.drop(row.path)
            return None
        now = self.home.config.now()
        self.table.put([replace(row, state=FileState.GONE, size=None, changed=None, at=now)])
        return FileReport(str(row.path), "unchanged", 0, "deleted; what came from it is kept")

    def _moved(self, row: WatchedFile) -> FileReport | None:
        """Take a file that only has another place now for what it is; None if it is another."""
        graph = self.home.graph
        change = plan_change(row.path, graph)
        if change.status != "new" or change.known is not None or change.digest is None:
            return None
        for old in graph.sources.same_content(change.digest):
            if old.locator is None or old.kind is not change.kind or Path(old.locator).exists():
                continue
            graph.sources.relocate(old.locator, locator_of(row.path))
            self.table.drop(Path(old.locator))
            now = self.home.config.now()
            self.table.put([replace(row, state=FileState.DONE, source=old.id, at=now)])
            return FileReport(str(row.path), "unchanged", 0, f"moved from {old.locator}", old.id)
        return None

    # ---- on and on ------------------------------------------------------------------------

    def run(
        self,
        stop: Event,
        on_report: Callable[[FileReport], None] = lambda report: None,
        watch: Watch = changes,
    ) -> None:
        """Watch until ``stop`` is set; folders may be added and removed meanwhile.

        :raises StoreError: only where the database cannot be opened at the start.
        """
        told: dict[Path, str] = {}
        self.begin()
        while not stop.is_set():
            watched = self._present()
            looked = self._clock()
            for batch in watch(list(watched), stop):
                with suppress(StoreError):  # heard again when the folders are looked through
                    if batch:
                        self.hear(batch)
                    self.work(stop, on_report)
                    if self._trouble != told:
                        told = dict(self._trouble)
                        for folder, why in told.items():
                            on_report(FileReport(str(folder), "failed", 0, why))
                    late = not 0 <= self._clock() - looked < LOOK
                    if late or self._present() != watched or self._has_room():
                        self.look()
                        break
                if stop.is_set():
                    break

    def work(self, stop: Event, on_report: Callable[[FileReport], None]) -> None:
        """Take in what is due, for a while."""
        until = time.monotonic() + AT_ONCE
        while not stop.is_set() and time.monotonic() < until:
            if self.table.next_due(self._clock(), LONGEST + SETTLE) is None:
                self.paused = ""
                return
            self.paused = self._wait()
            if self.paused and not self._has_slice():
                return
            report = self.step()
            self._taken = self._clock()
            if report is not None:
                on_report(report)
            elif self._clock() < self._rest:
                return

    def _has_slice(self) -> bool:
        """Whether a file may be read in spite of a busy machine: the last one is a while ago."""
        return self.paused == BUSY and not 0 <= self._clock() - self._taken < SLICE

    def _present(self) -> tuple[Path, ...]:
        return tuple(f.path for f in self.table.folders() if f.path.is_dir())

    def _has_room(self) -> bool:
        return self.table.waiting() < QUEUE // 2 and any(f.more for f in self.table.folders())


def _stat(path: Path) -> tuple[int, int] | None:
    """Size and time of change; None where there is no such file."""
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return 0, 0  # it is there and may not be looked at: reading it will say so
    return stat.st_size, stat.st_mtime_ns


def is_text(path: Path) -> bool:
    """Whether the name can be kept: one whose bytes are no text cannot be found again by it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def only_watcher(home: Path) -> Iterator[None]:
    """Hold the right to watch for this home; it ends with the process, however that ends.

    :raises InvalidInput: if another process has it.
    """
    with (home / "watch.lock").open("w") as file:
        os.chmod(file.name, 0o600)
        if not lock(file.fileno()):
            raise InvalidInput(
                "Another memlane process is already watching (memlane status). Stop it first."
            )
        yield
