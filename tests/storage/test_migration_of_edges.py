"""What was kept of possible changes means the same after a migration."""

from __future__ import annotations

import pytest
from sqlite_utils import Database

from store.database.migrations import m024_change_edges, m026_calibrated_edges


def test_probabilities_that_were_too_sure_are_weighed_and_additions_are_left():
    db = Database(memory=True)
    m024_change_edges(db)
    rows = [(1, 2, "may_supersede", 0.4), (1, 3, "may_end", 1.0), (2, 3, "may_add", 0.7)]
    db.table("change_edges").insert_all(
        {"older": o, "newer": n, "change": c, "probability": p, "made": "2026-11-24"}
        for o, n, c, p in rows
    )
    m026_calibrated_edges(db)
    kept = [row["probability"] for row in db.table("change_edges").rows]
    assert kept == pytest.approx([0.110, 0.936, 0.7], abs=0.001)
