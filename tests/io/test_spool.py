"""What an import keeps of a million lines: records in a file."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from agent.io.transfer.records import Record
from agent.io.transfer.spool import Spool
from store.types import Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


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
