"""What kind of change the statement reader's probabilities come to."""

from __future__ import annotations

import numpy as np
import pytest

from agent.memory.editing.judges.by_reader import judged_as
from agent.ports import RELATIONS
from store.tables.side_tables.change_edges import ChangeKind


@pytest.mark.parametrize(
    ("chances", "kind"),
    [
        ({"supersedes": 0.3, "ends": 0.2, "refines": 0.4}, ChangeKind.SUPERSEDES),
        ({"ends": 0.3, "supersedes": 0.2, "refines": 0.4}, ChangeKind.ENDS),
        ({"supersedes": 0.2, "corrects": 0.1, "refines": 0.5}, ChangeKind.REFINES),
    ],
)
def test_a_part_is_changed_only_where_that_is_likelier_than_the_whole(
    chances: dict[str, float], kind: ChangeKind
):
    row = np.array([chances.get(name, 0.0) for name in RELATIONS], np.float32)
    judged = judged_as(row)
    assert judged.change is kind
    assert judged.changed == pytest.approx(sum(chances.values()))
