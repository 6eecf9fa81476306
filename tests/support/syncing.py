"""Several homes of one person and the folder that they share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent.io.sync.capture import registers
from agent.io.sync.run import Synced, pair, synchronise
from agent.io.sync.segments import names_in, opened
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.sync.names import KEY
from store.sync.operations import to_document
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Draft, SourceKind, Span, Status
from tests.conftest import NOW
from tests.support.forgetting import bytes_of


def draft(text: str, at: datetime = NOW, **more: Any) -> Draft:
    return Draft(text, "preference.other", at, **more)


class Homes:
    """Homes by number, each with a clock of its own."""

    def __init__(self, root: Path, key: str, empty: Path, skews: Sequence[timedelta]) -> None:
        self.root, self.key, self.skews = root, key, skews
        self.folder = root / "folder"
        self.folder.mkdir()
        self.graphs: list[MemoryGraph] = []
        self.ticks = 0
        for number in range(len(skews)):
            shutil.copytree(empty, root / f"home{number}")
            self.graphs.append(self._opened(number))
            pair(self.graphs[number], self.folder, key)

    def _opened(self, number: int) -> MemoryGraph:
        graph = MemoryGraph.open(self.root / f"home{number}")
        graph._rows.db.conn.execute("PRAGMA synchronous = OFF")  # for the speed of the test
        return graph

    def now(self, number: int) -> datetime:
        """A later time than before, by the clock of this home."""
        self.ticks += 1
        return NOW + timedelta(minutes=self.ticks) + self.skews[number]

    def sync(self, number: int) -> Synced:
        done = synchronise(self.graphs[number], self.folder, self.now(number))
        assert done.swept
        return done

    def reopen(self, number: int) -> None:
        self.graphs[number].close()
        self.graphs[number] = self._opened(number)

    def settle(self) -> None:
        """Synchronise until nobody has anything to tell."""
        for _ in range(8):
            runs = [self.sync(number) for number in range(len(self.graphs))]
            if not any(done.told or done.read for done in runs):
                return
        raise AssertionError("the homes never come to rest")

    @contextmanager
    def hidden(self, names: Sequence[str]) -> Iterator[None]:
        """Segments that have not come to this machine yet."""
        aside = self.root / "aside"
        aside.mkdir(exist_ok=True)
        for name in names:
            (self.folder / name).replace(aside / name)
        try:
            yield
        finally:
            for path in aside.iterdir():
                path.replace(self.folder / path.name)

    def segments(self) -> str:
        """Everything that the folder says, decrypted."""
        return "\n".join(
            str(to_document(item))
            for name in names_in(self.folder)
            for item in opened((self.folder / name).read_bytes(), self.key)
        )

    def bytes(self, number: int) -> bytes:
        self.graphs[number].close()
        data = bytes_of(self.root / f"home{number}")
        self.graphs[number] = self._opened(number)
        return data

    def close(self) -> None:
        for graph in self.graphs:
            graph.close()


def state_of(graph: MemoryGraph) -> dict[str, Any]:
    """What a home knows, in words that mean the same in every home."""
    with graph.writing():
        found: dict[str, Any] = {
            graph.sync.memory_name(memory.id) or memory.id: registers(graph, memory)
            for memory in graph.memories.list()
        }
        for row in graph._rows.query(
            "SELECT gid, text, content_hash FROM sync_sources JOIN sources ON sources.id = source"
        ):
            found[row["gid"]] = row["text"], row["content_hash"]
        for one, other in graph.questions.undecided(QuestionKind.HOLDS):
            names = map(graph.sync.memory_name, (one, other))
            found[f"question {' '.join(map(str, names))}"] = True
    return found


def key_in(graph: MemoryGraph) -> str:
    key = graph.sync.state(KEY)
    assert key is not None
    return key


def tell(homes: Homes, home: int, *texts: str) -> list[str]:
    """Memories read off one message."""
    graph, now = homes.graphs[home], homes.now(home)
    source = graph.sources.add(SourceKind.CHAT, " ".join(texts), now)
    told, start = [], 0
    for text in texts:
        span = Span(start, start + len(text))
        told.append(Insert(draft(text, now, source=source.id, span=span)))
        start += len(text) + 1
    return [entry.memory for entry in graph.apply(told, at=now, source=source.id)]


def edit(homes: Homes, home: int, change: Amend | Replace | Forget | Expire | Insert) -> str:
    (entry,) = homes.graphs[home].apply([change], at=homes.now(home), actor="user")
    return entry.memory


def texts(homes: Homes, home: int) -> list[str]:
    return sorted(m.text for m in homes.graphs[home].memories.list(Status.CURRENT))


def saying(homes: Homes, home: int, text: str) -> str:
    (found,) = homes.graphs[home].memories.saying(text)
    return found.id


def nowhere(homes: Homes, text: str) -> None:
    assert text not in homes.segments()
    for number, graph in enumerate(homes.graphs):
        assert graph.prove_forgotten().left == ()
        assert text.encode() not in homes.bytes(number)


def alike(homes: Homes) -> None:
    homes.settle()
    first, *others = [state_of(graph) for graph in homes.graphs]
    assert all(other == first for other in others)
    assert not any(graph.verify() for graph in homes.graphs)
