"""What an import keeps of a million lines: numbers as bits, records in a file."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.io.transfer.records import Record
from agent.io.transfer.spool import Numbers, Spool
from store.types import Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


@given(st.lists(st.integers(0, 100_000) | st.sampled_from([1 << 27, 10**17]), max_size=60))
def test_numbers_are_a_set(told: list[int]):
    numbers = Numbers()
    for number in told:
        numbers.add(number)
    assert len(numbers) == len(set(told))
    assert all(number in numbers for number in told)
    assert (100_001 in numbers, 10**16 in numbers) == (False, False)


def test_a_million_numbers_take_no_memory_to_speak_of():
    numbers = Numbers()
    for number in range(0, 1_000_000, 7):
        numbers.add(number)
    assert len(numbers._bits) < 300_000


def test_records_come_back_as_they_were_and_leave_no_file(tmp_path: Path):
    records = [
        Record(
            line,
            Memory(f"m{line}", text, "Event", "event.life", NOW, (Triple("me", "noted", text),)),
            f"raw {text}",
        )
        for line, text in enumerate(["plain", "\ud800 lone", "new\nline", "\u202eright to left"], 1)
    ]
    with closing(Spool(tmp_path)) as spool:
        for record in records:
            spool.add(record)
        assert list(spool.drain()) == records
        assert list(tmp_path.iterdir()) == []
