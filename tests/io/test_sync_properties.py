"""Three homes, edits in any order: in the end all hold the same, and nothing of the forgotten."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent.io.sync import run, segments
from agent.io.sync.keys import new_key
from agent.memory.editing.conflicts import Holds
from agent.memory.uncertain.pending_questions import settle_pair
from store.database.connection import Connection
from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Edit, Expire, Forget, Insert, Replace
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import SourceKind, Span, Status
from tests.support.syncing import Homes, draft, state_of

KEY = new_key()
EDITS = (
    "tell", "tell", "told twice", "replace", "amend", "amend", "expire", "pin", "soft", "undo",
    "undo sync", "erase", "erase", "answer", "decide",
)  # fmt: skip
STEP = st.tuples(st.integers(0, 2), st.sampled_from(EDITS), st.integers(0, 5))
SYNC = st.tuples(st.integers(0, 2), st.sampled_from(("sync", "kill", "early")), st.integers(0, 60))
STEPS = st.lists(st.one_of(STEP, STEP, SYNC), min_size=4, max_size=30)
SKEWS = st.tuples(*[st.integers(-9, 9).map(lambda days: timedelta(days=days))] * 3)


class Killed(BaseException):
    """Ends a run in the middle, as a kill does."""


@pytest.fixture(scope="module")
def empty() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        MemoryGraph.open(Path(folder) / "home").close()
        yield Path(folder) / "home"


class Lives:
    """What a person does on three machines."""

    def __init__(self, homes: Homes) -> None:
        self.homes = homes
        self.number = 0
        self.forgotten: set[str] = set()

    def text(self) -> str:
        """A sentence that nothing else says."""
        self.number += 1
        return f"Sentence zq{self.number:04d}xv of quokka{self.number * 7919:06d}."

    def do(self, home: int, what: str, pick: int) -> None:
        if what in ("sync", "kill", "early"):
            getattr(self, what)(home, pick)
            return
        graph, now = self.homes.graphs[home], self.homes.now(home)
        current = [m.id for m in graph.memories.list(Status.CURRENT)]
        chosen = current[pick % len(current)] if current else None
        # Later edits stand in the way, as they do for a person.
        with suppress(EditConflict, InvalidInput, UnknownId):
            self.edit(graph, now, what, pick, chosen)

    def edit(self, graph, now, what, pick, chosen) -> None:
        if what in ("tell", "told twice"):
            first, second = self.text(), self.text()
            raw = f"{first} {second}"
            source = graph.sources.add(SourceKind.CHAT, raw, now)
            spans = Span(0, len(first)), Span(len(first) + 1, len(raw))
            told = [
                Insert(draft(text, now, source=source.id, span=span))
                for text, span in zip((first, second), spans, strict=True)
            ]
            graph.apply(told[: 1 + (what == "told twice")], at=now, source=source.id)
        elif what == "undo":
            graph.undo(at=now)
        elif what == "undo sync":
            for entry in graph.journal.list(pick + 1)[:1]:
                graph.undo(entry.id, at=now)
        elif what in ("answer", "decide"):
            for pair in graph.questions.undecided(QuestionKind.HOLDS)[:1]:
                with graph.writing():
                    holds = list(Holds)[pick % 3] if what == "answer" else Holds.BOTH
                    settle_pair(graph, pair, holds, now)
        elif chosen is None:
            return
        elif what == "erase":
            done = graph.erase([chosen], at=now)
            assert done.verified, done
            self.forgotten |= set(done.plan.texts)
        else:
            edits: dict[str, Edit] = {
                "replace": Replace(chosen, draft(self.text(), now)),
                "amend": Amend(chosen, text=self.text()),
                "expire": Expire(chosen, now + timedelta(days=pick - 2)),
                "pin": Amend(chosen, pinned=bool(pick % 2)),
                "soft": Forget(chosen),
            }
            graph.apply([edits[what]], at=now, actor="user")

    def sync(self, home: int, pick: int) -> None:
        self.homes.sync(home)

    def early(self, home: int, pick: int) -> None:
        """Some segments have not come yet."""
        names = segments.names_in(self.homes.folder)
        with self.homes.hidden(names[pick % 3 :: 2]):
            self.homes.sync(home)

    def kill(self, home: int, pick: int) -> None:
        """The run ends at its n-th write into the database or the folder."""
        left = pick

        def counted(work: Callable[..., Any]) -> Callable[..., Any]:
            def working(*given: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Killed
                return work(*given, **named)

            return working

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Connection, "execute", counted(Connection.execute))
            patch.setattr(run, "put_file", counted(segments.put_file))
            patch.setattr(Path, "unlink", counted(Path.unlink))
            with suppress(Killed):
                self.homes.sync(home)
        self.homes.reopen(home)


@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS, skews=SKEWS)
def test_all_homes_come_to_hold_the_same_and_nothing_of_the_forgotten(steps, skews, empty: Path):
    with tempfile.TemporaryDirectory() as folder:
        homes = Homes(Path(folder), KEY, empty, skews)
        try:
            lives = Lives(homes)
            for step in steps:
                lives.do(*step)
            homes.settle()
            check(homes, lives.forgotten)
        finally:
            homes.close()


def check(homes: Homes, forgotten: set[str]) -> None:
    states = [state_of(graph) for graph in homes.graphs]
    assert states[0] == states[1] == states[2]
    assert [graph.verify() for graph in homes.graphs] == [(), (), ()]
    said = homes.segments()
    for text in forgotten:
        assert text not in said
        for number in range(3):
            assert text.encode() not in homes.bytes(number), (text, number)
