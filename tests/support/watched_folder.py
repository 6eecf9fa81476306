"""A watched folder on a clock of its own, with a reader of pictures that sees what they hold."""

from __future__ import annotations

from pathlib import Path

from agent.io.watch import SETTLE, Watcher
from agent.ports import TextLine
from agent.session.session import Session


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """A reader that sees one line on every picture, unless it is half written."""

    def read(self, image: Path) -> list[TextLine]:
        text = image.read_text()
        return [TextLine(text, 0, 0, 100, 10, 1.0)]


class Folder:
    """A watched folder, its watcher, and a clock."""

    def __init__(self, path: Path, session: Session, clock: Clock) -> None:
        self.path, self.session, self.clock = path, session, clock
        self.watcher = Watcher(session, clock=clock, wait=lambda: "")

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def settle(self) -> list[str]:
        """Let everything settle, and say what became of each file."""
        told = []
        for _ in range(50):
            self.clock.now += SETTLE + 0.1
            while report := self.watcher.step():
                told.append(f"{report.status} {Path(report.path).name}")
            if not self.session.graph.watched.waiting():
                break
        return told

    def heard(self, *paths: Path) -> list[str]:
        self.watcher.hear(paths)
        return self.settle()

    @property
    def texts(self) -> list[str]:
        memories = self.session.graph.memories.list()
        return sorted(m.text for m in memories if m.status == "current")
