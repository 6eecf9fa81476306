"""The index that is kept between edits says what a freshly read one says, whatever was written."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from store.derived.partitions import HISTORY, PartitionIndex
from store.derived.vector_index import MemoryIndex
from store.errors import EditConflict
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert, Replace
from store.types import Draft, Status, Triple

NOW = datetime(2024, 5, 8, 9, tzinfo=UTC)
PLACES = ("event.life", "preference.sports", "attribute.address")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[MemoryGraph]:
    with MemoryGraph.open(tmp_path / "home") as opened:
        yield opened


def vector(text: str) -> np.ndarray:
    made = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(16)
    return np.asarray(made / np.linalg.norm(made), dtype=np.float32)


def draft(text: str, subclass: str = PLACES[0], valid_until: datetime | None = None) -> Draft:
    return Draft(text, subclass, NOW, (Triple("me", "says", text),), valid_until=valid_until)


def add(
    graph: MemoryGraph,
    *texts: str,
    subclass: str = PLACES[0],
    valid_until: datetime | None = None,
) -> list[str]:
    entries = graph.apply(
        [Insert(draft(text, subclass, valid_until)) for text in texts],
        at=NOW,
        model="e",
        vectors={text: vector(text) for text in texts},
    )
    return [entry.memory for entry in entries]


def fresh(graph: MemoryGraph, now: datetime) -> MemoryIndex:
    made = MemoryIndex(graph._rows, graph.memories, graph.vectors, "e")
    return made.advance(now)


def assert_as_read_anew(graph: MemoryGraph, now: datetime) -> None:
    kept, anew = graph.index("e", now), fresh(graph, now)
    for history in (False, True):
        memories, vectors = kept.standing(history=history)
        assert memories == anew.standing(history=history)[0]
        read = anew.standing(history=history)[1]
        assert np.array_equal(vectors, read) or vectors.size == read.size == 0
        assert memories == tuple(
            m
            for m in graph.memories.list()
            if m.status is not Status.FORGOTTEN
            and m.id not in graph.vectors.missing("e")
            and (history or m.holds_at(now))
        )
    assert kept.lacks_vectors == anew.lacks_vectors
    probe = vector("probe")
    found, wanted = (i.nearest(probe, probes=2, count=4) for i in (kept, anew))
    assert [m.memory for m in found] == [m.memory for m in wanted]


def edited_at_random(graph: MemoryGraph, seed: int) -> Iterator[datetime]:
    """Sixty edits of every kind; gives the time after each."""
    rng = random.Random(seed)
    now, undone = NOW, 0
    for number in range(60):
        current = [m for m in graph.memories.list(Status.CURRENT)]
        one = rng.choice(current).id if current else None
        text = f"memory {number}"
        kind = rng.choice(
            ("insert", "insert", "replace", "expire", "amend", "forget", "undo", "bare")
        )
        if kind == "insert" or one is None:
            ends = rng.choice((None, now + timedelta(days=rng.randrange(1, 9))))
            add(graph, text, subclass=rng.choice(PLACES), valid_until=ends)
        elif kind == "replace":
            edit = Replace(one, draft(text, rng.choice(PLACES)))
            graph.apply([edit], at=NOW, model="e", vectors={text: vector(text)})
        elif kind == "expire":
            graph.apply([Expire(one, now + timedelta(days=rng.randrange(-3, 4)))], at=NOW)
        elif kind == "amend":
            # A text without its vector, or another subclass.
            new = rng.choice((Amend(one, text=text), Amend(one, subclass=rng.choice(PLACES))))
            graph.apply([new], at=NOW)
        elif kind == "forget":
            graph.apply([Forget(one)], at=NOW)
        elif kind == "undo":
            try:
                graph.undo(at=NOW)
                undone += 1
            except EditConflict:
                pass
        else:
            missing = graph.vectors.missing("e")
            made = {m: vector(graph.memories.get(m).text) for m in missing}
            graph.vectors.put("e", made)
        now += timedelta(days=rng.choice((0, 0, 1, -1)))
        yield now
    assert undone


@pytest.mark.parametrize("seed", range(6))
def test_kept_in_step_with_every_kind_of_edit(graph: MemoryGraph, seed: int):
    for now in islice(edited_at_random(graph, seed), 0, None, 3):
        assert_as_read_anew(graph, now)
    assert graph.verify() == ()


def test_what_is_left_out_gives_its_place_to_the_next(graph: MemoryGraph):
    ids = [add(graph, f"memory {n}", subclass=PLACES[n % 3])[0] for n in range(9)]
    (over,) = add(graph, "memory 9", valid_until=NOW - timedelta(days=1))
    found = graph.index("e", NOW)
    probe = vector("probe")
    best = [match.memory.id for match in found.nearest(probe, probes=9, count=9)]
    assert sorted(best) == ids
    (some,) = found.nearest_to_each(
        probe[None], probes=9, count=3, without=[*best[:2], over, "m99"]
    )
    assert [match.memory.id for match in some] == best[2:5]
    (none,) = found.nearest_to_each(probe[None], probes=9, count=3, without=ids)
    assert none == []


def test_what_another_process_wrote_is_taken_over(graph: MemoryGraph):
    add(graph, "one")
    graph.index("e", NOW)
    with MemoryGraph.open(graph.path.parent) as other:
        add(other, "two", "three")
        other.undo(at=NOW)
    assert_as_read_anew(graph, NOW)
    assert len(graph.index("e", NOW)) == 2


def test_what_was_rolled_back_is_not_kept(graph: MemoryGraph):
    add(graph, "one")
    with pytest.raises(RuntimeError), graph.writing():
        add(graph, "never")
        assert len(graph.index("e", NOW)) == 2
        raise RuntimeError
    add(graph, "another, at the same time and with the number of the lost line")
    assert_as_read_anew(graph, NOW)
    assert len(graph.index("e", NOW)) == 2


def test_forgotten_for_good_leaves_the_index(graph: MemoryGraph):
    one, two = add(graph, "The first thing I ever told.", "The second thing I ever told.")
    graph.view(NOW, "e")
    graph.erase([one], at=NOW)
    assert_as_read_anew(graph, NOW)
    assert graph.index("e", NOW).vector(one) is None
    assert [m.id for m in graph.view(NOW, "e").memories] == [two]


def test_another_model_has_vectors_of_its_own(graph: MemoryGraph):
    (one,) = add(graph, "one")
    assert len(graph.index("other", NOW)) == 0
    assert graph.index("other", NOW).lacks_vectors
    graph.vectors.put("other", {one: np.full(4, 0.5, np.float32)})
    assert len(graph.index("other", NOW)) == 1
    assert graph.view(NOW, "other").vectors.shape == (1, 4)


def test_time_moves_both_ways(graph: MemoryGraph):
    add(graph, "for a day", valid_until=NOW + timedelta(days=1))
    for days, holds in ((0, 1), (1, 0), (5, 0), (0, 1), (-3, 1), (1, 0)):
        assert len(graph.index("e", NOW + timedelta(days=days))) == holds


def test_partitions_keep_vectors_and_centres_while_members_come_and_go():
    rng = random.Random(0)
    index, wanted = PartitionIndex(16), dict[int, tuple[str, np.ndarray]]()
    for number in range(400):
        if wanted and rng.random() < 0.4:
            key = rng.choice(list(wanted))
            index.drop(key)
            del wanted[key]
        else:
            wanted[number] = rng.choice((*PLACES, HISTORY)), vector(str(number))
            index.put(number, *wanted[number])
    assert sorted([*index.keys(), *index.keys(HISTORY)]) == sorted(wanted)
    for key, (name, own) in wanted.items():
        assert index.partition_of(key) == name
        found = index.vector(key)
        assert found is not None and np.array_equal(found, own)
    probe = vector("probe")
    means = {name: np.mean([v for n, v in wanted.values() if n == name], axis=0) for name in PLACES}
    centres = sorted(PLACES, key=lambda name: -means[name] @ probe / np.linalg.norm(means[name]))
    assert index.nearest_partitions(probe, 3) == centres
    best = sorted(
        (k for k, (n, _) in wanted.items() if n in centres[:2]),
        key=lambda k: -float(wanted[k][1] @ probe),
    )
    assert [key for key, _ in index.nearest(probe, probes=2, count=5)] == best[:5]
