"""Questions to the user, until decided.

By the ids of memories alone, so that forgetting has nothing to clean here: a question about what
was erased, replaced or taken back is simply never asked. Memories are named without a foreign key,
because an import may bring a question before its memory.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from store.row_codecs import Table, iso, public_id, row_id

MemoryPair = tuple[str, str]
"""Two memories by id: the older and the newer, or the first that name each of two names."""


class QuestionKind(StrEnum):
    """What is asked about two memories."""

    HOLDS = "holds"
    """Which of them holds, since both cannot."""
    MERGE = "merge"
    """Whether whom they name is one."""
    SPLIT = "split"
    """Whether the one whom they name is two."""


class PendingQuestionTable(Table):
    """The open and the asked questions of one home."""

    def put(self, ask: QuestionKind, pair: MemoryPair, at: datetime) -> None:
        """Keep a question to be asked; one that was kept before stays as it is."""
        self._rows.execute(
            "INSERT OR IGNORE INTO questions (ask, first, second, raised) VALUES (?, ?, ?, ?)",
            (ask, *_keys(pair), iso(at)),
        )

    def undecided(self, ask: QuestionKind) -> tuple[MemoryPair, ...]:
        """Pairs that are both current and not decided, oldest first."""
        return self._pairs(ask, "1")

    def waiting(self, ask: QuestionKind, again: datetime) -> tuple[MemoryPair, ...]:
        """Of those what nobody was asked about yet, then what was last asked by ``again``."""
        condition = "(asked IS NULL OR julianday(asked) <= julianday(?))"
        return self._pairs(ask, condition, again.isoformat())

    def _pairs(self, ask: QuestionKind, condition: str, *values: str) -> tuple[MemoryPair, ...]:
        rows = self._rows.query(
            f"""SELECT first, second FROM questions
               JOIN memories AS one ON one.id = first AND one.status = 'current'
               JOIN memories AS other ON other.id = second AND other.status = 'current'
               WHERE ask = ? AND decided IS NULL AND {condition}
               ORDER BY asked IS NOT NULL, raised, second""",
            [ask, *values],
        )
        return tuple((public_id("m", row["first"]), public_id("m", row["second"])) for row in rows)

    def was_asked(self, ask: QuestionKind, pair: MemoryPair) -> bool:
        """Whether the person was asked this before."""
        return bool(
            self._rows.query(
                """SELECT 1 FROM questions
                   WHERE ask = ? AND first = ? AND second = ? AND asked IS NOT NULL""",
                [ask, *_keys(pair)],
            )
        )

    def mark_asked(self, ask: QuestionKind, pair: MemoryPair, at: datetime) -> None:
        """Remember when the person was asked."""
        self._mark("asked", ask, pair, at)

    def decide(self, ask: QuestionKind, pair: MemoryPair, at: datetime) -> None:
        """Remember that the person decided it, so that it is not asked again."""
        self._mark("decided", ask, pair, at)

    def _mark(self, column: str, ask: QuestionKind, pair: MemoryPair, at: datetime) -> None:
        with self._rows.writing():
            self.put(ask, pair, at)
            self._rows.execute(
                f"UPDATE questions SET {column} = ? WHERE ask = ? AND first = ? AND second = ?",
                (iso(at), ask, *_keys(pair)),
            )


def _keys(pair: MemoryPair) -> tuple[int, int]:
    first, second = (row_id("m", memory, "memory") for memory in pair)
    return first, second
