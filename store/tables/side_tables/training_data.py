"""Training data: question-answer pairs, judgements and policy weights.

Invariants: a pair is used only while every memory that it rests on holds and says what it said when
the pair was made, so a soft forgetting takes it away and an undo brings it back; of what was
forgotten for good no pair, no judgement and no number of a network is left
(``store.erasure.learned``). Memories are named by id and without a foreign key: undoing an insert
and doing it again must leave what was learned in between alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from store.errors import UnknownId
from store.row_codecs import Table, iso, public_id, row_id
from store.tables.sources import content_hash, still_says
from store.types import Memory, Status

KEPT_WEIGHTS = 30
"""Numbered weights of a policy that ``train --rollback`` can return to."""


class PairOrigin(StrEnum):
    """Where a question-answer pair came from."""

    WRITTEN = "written"
    """The local model wrote it from memories (EMG-RAG appendix A.1)."""
    JUDGED = "judged"
    """A question of the person whose answer they called good."""
    CORRECTED = "corrected"
    """A question of the person with the answer that they gave themselves (section 4.4)."""


class AnswerJudgement(StrEnum):
    """What a person may say of an answer."""

    GOOD = "good"
    BAD = "bad"
    ANSWER = "answer"
    """The right answer is another, and they gave it."""


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A question, its answer, and the memories that the answer needs (EMG-RAG Table 1, step 3)."""

    id: str
    at: datetime
    """The moment that it is asked at."""
    question: str
    answer: str
    memories: tuple[str, ...]
    """Empty where nobody knows which they are."""
    origin: PairOrigin
    turn: str | None = None
    """The exchange it came from."""
    learned: bool = False
    """Whether online learning has used it."""


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Weights of a policy that a training made, with what it found."""

    policy: str
    number: int
    """1, 2, ...; 0 is the start that memlane ships."""
    at: datetime
    by: str
    """``train`` or ``feedback``."""
    shape: tuple[int, int, int]
    """Inputs, hidden units, outputs."""
    flat: bytes | None
    """The numbers, 8 bytes each, little-endian; None where they lost or were removed."""
    state: str
    """``kept``, ``lost`` (they did not beat the old ones) or ``removed`` (what they were trained
    on was forgotten for good)."""
    before: float | None
    """Mean value on held-back episodes with the old weights, and with these."""
    after: float | None
    continues: int
    """The number of the weights that the training began from."""
    active: bool = False
    figures: Mapping[str, Any] = field(default_factory=dict)


class TrainingTable(Table):
    """Everything learned in one home."""

    # ---- pairs ----------------------------------------------------------------------------

    def add_pair(
        self,
        question: str,
        answer: str,
        memories: Sequence[Memory],
        *,
        origin: PairOrigin,
        at: datetime,
        turn: str | None = None,
    ) -> str:
        """Keep a verified pair; returns its id. A new one of a turn takes the old one's place."""
        with self._rows.writing():
            if turn is not None:
                self.drop_pairs_of(turn)
            key = self._insert_pair(question, answer, origin, at, turn, None, memories)
        return public_id("q", key)

    def add_failure(self, memories: Sequence[Memory], reason: str, *, at: datetime) -> None:
        """Note that no good pair came of these memories, so that they are not asked again."""
        with self._rows.writing():
            self._insert_pair("", "", PairOrigin.WRITTEN, at, None, reason, memories)

    def _insert_pair(
        self,
        question: str,
        answer: str,
        origin: PairOrigin,
        at: datetime,
        turn: str | None,
        failed: str | None,
        memories: Sequence[Memory],
    ) -> int:
        key = self._rows.execute(
            """INSERT INTO episodes (at, question, answer, origin, turn, failed, learned)
               VALUES (?, ?, ?, ?, ?, ?, 0)""",
            (iso(at), question, answer, origin, turn and row_id("t", turn, "turn"), failed),
        )
        for memory in memories:
            self._rows.execute(
                "INSERT INTO episode_memories VALUES (?, ?, ?)",
                (key, row_id("m", memory.id, "memory"), content_hash(memory.text)),
            )
        return key

    def drop_pairs_of(self, turn: str) -> None:
        """Learn nothing from this exchange."""
        with self._rows.writing():
            self._rows.execute("DELETE FROM episodes WHERE turn = ?", [row_id("t", turn, "turn")])

    def pairs(self, now: datetime) -> tuple[QuestionAnswer, ...]:
        """The pairs that may be learned from at ``now``, oldest first."""
        needed = self._needed("WHERE episodes.failed IS NULL")
        rows = self._rows.query("SELECT * FROM episodes WHERE failed IS NULL ORDER BY id")
        pairs = []
        for row in rows:
            rests_on = needed.get(row["id"], [])
            if all(still_says(memory, now) for memory in rests_on):
                memories = tuple(public_id("m", memory["memory"]) for memory in rests_on)
                pairs.append(_pair(row, memories))
        return tuple(pairs)

    def _needed(self, where: str = "") -> dict[int, list[dict[str, Any]]]:
        rows = self._rows.query(
            f"""SELECT episode, memory, digest, status, valid_until, memories.text AS text
                FROM episode_memories
                JOIN episodes ON episodes.id = episode
                LEFT JOIN memories ON memories.id = memory {where} ORDER BY episode, memory"""
        )
        found: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            found.setdefault(row["episode"], []).append(row)
        return found

    def tried(self) -> frozenset[frozenset[str]]:
        """Sets of memories that a pair was written from, or that gave none."""
        return frozenset(
            frozenset(public_id("m", row["memory"]) for row in rows)
            for rows in self._needed("WHERE episodes.origin = 'written'").values()
        )

    def failures(self) -> dict[str, int]:
        """How many written pairs were dropped, by reason."""
        rows = self._rows.query(
            """SELECT failed, count(*) AS n FROM episodes WHERE failed IS NOT NULL
               GROUP BY failed ORDER BY failed"""
        )
        return {row["failed"]: row["n"] for row in rows}

    def mark_learned(self, pairs: Iterable[str]) -> None:
        """Online learning has used them."""
        with self._rows.writing():
            for pair in pairs:
                self._rows.execute(
                    "UPDATE episodes SET learned = 1 WHERE id = ?", [row_id("q", pair, "pair")]
                )

    # ---- judgements -----------------------------------------------------------------------

    def add_judgement(
        self, turn: str, judgement: AnswerJudgement, answer: str | None, *, at: datetime
    ) -> None:
        """Keep what the person says of an answer, in place of what they said of it before."""
        key = row_id("t", turn, "turn")
        with self._rows.writing():
            self._rows.execute("DELETE FROM feedback WHERE turn = ?", [key])
            self._rows.execute(
                "INSERT INTO feedback (at, turn, judgement, answer) VALUES (?, ?, ?, ?)",
                (iso(at), key, judgement, answer),
            )

    def judgements(self) -> dict[str, AnswerJudgement]:
        """What was said of which exchange."""
        rows = self._rows.query("SELECT turn, judgement FROM feedback ORDER BY id")
        return {public_id("t", row["turn"]): AnswerJudgement(row["judgement"]) for row in rows}

    # ---- weights --------------------------------------------------------------------------

    def add_weights(self, weights: StoredWeights, memories: Collection[str]) -> StoredWeights:
        """Keep what a training made, under the next number; returns it with that number.

        Active ones take over at once. ``memories`` are all that they were made with; those of the
        weights that they continue count too.
        """
        with self._rows.writing():
            (last,) = self._rows.query(
                "SELECT coalesce(max(number), 0) AS n FROM weights WHERE policy = ?",
                [weights.policy],
            )
            number = int(last["n"]) + 1
            self._rows.execute("UPDATE weights SET due = 0 WHERE policy = ?", [weights.policy])
            if weights.active:
                self._rows.execute(
                    "UPDATE weights SET active = 0 WHERE policy = ?", [weights.policy]
                )
            key = self._rows.execute(
                """INSERT INTO weights (policy, number, at, by, inputs, hidden, outputs, flat,
                       state, before, after, continues, active, figures)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    weights.policy, number, iso(weights.at), weights.by, *weights.shape,
                    weights.flat, weights.state, weights.before, weights.after, weights.continues,
                    int(weights.active), json.dumps(dict(weights.figures)),
                ),
            )  # fmt: skip
            if weights.flat is not None:
                for memory in memories:
                    self._rows.execute(
                        "INSERT OR IGNORE INTO weights_memories VALUES (?, ?)",
                        (key, row_id("m", memory, "memory")),
                    )
                self._rows.execute(
                    """INSERT OR IGNORE INTO weights_memories
                       SELECT ?, memory FROM weights_memories JOIN weights ON weights.id = weights
                       WHERE policy = ? AND number = ?""",
                    (key, weights.policy, weights.continues),
                )
            self._prune(weights.policy)
        return self.weights(weights.policy, number)

    def _prune(self, policy: str) -> None:
        self._rows.execute(
            """DELETE FROM weights WHERE policy = ? AND active = 0 AND id NOT IN
               (SELECT id FROM weights WHERE policy = ? ORDER BY number DESC LIMIT ?)""",
            (policy, policy, KEPT_WEIGHTS),
        )

    def history(self, policy: str | None = None) -> tuple[StoredWeights, ...]:
        """What trainings made, oldest first, of one policy or of all."""
        where = "" if policy is None else "WHERE policy = ?"
        rows = self._rows.query(
            f"SELECT * FROM weights {where} ORDER BY id", [] if policy is None else [policy]
        )
        return tuple(map(_weights, rows))

    def weights(self, policy: str, number: int) -> StoredWeights:
        """:raises UnknownId: if the policy has none of this number."""
        for found in self.history(policy):
            if found.number == number:
                return found
        raise UnknownId(
            f"{policy} has no weights number {number}. `memlane train --status` lists them."
        )

    def active(self, policy: str) -> StoredWeights | None:
        """The weights in use; None where the shipped start is."""
        rows = self._rows.query("SELECT * FROM weights WHERE policy = ? AND active = 1", [policy])
        return _weights(rows[0]) if rows else None

    def activate(self, policy: str, number: int) -> StoredWeights | None:
        """Use these weights from now on; number 0 is the shipped start.

        :raises UnknownId: if there are none of this number, or their numbers are gone.
        """
        with self._rows.writing():
            chosen = None if number == 0 else self.weights(policy, number)
            if chosen is not None and chosen.flat is None:
                why = (
                    "did worse than the weights before them and were not kept"
                    if chosen.state == "lost"
                    else "were removed, because a memory behind them was forgotten for good"
                )
                raise UnknownId(
                    f"The weights {number} of {policy} {why}. `memlane train --status` lists those "
                    "that are left."
                )
            self._rows.execute("UPDATE weights SET active = 0 WHERE policy = ?", [policy])
            if chosen is None:
                return None
            self._rows.execute(
                "UPDATE weights SET active = 1 WHERE policy = ? AND number = ?", (policy, number)
            )
        return self.weights(policy, number)

    def due(self) -> dict[str, str]:
        """Policies to be trained again, and why: what they learned from was forgotten."""
        found: dict[str, str] = {}
        for row in self._rows.query(
            """SELECT DISTINCT policy FROM weights
               JOIN weights_memories ON weights.id = weights_memories.weights
               LEFT JOIN memories ON memories.id = memory
               WHERE active = 1 AND (memories.id IS NULL OR status = ?)""",
            [Status.FORGOTTEN],
        ):
            found[row["policy"]] = "its weights were trained on a memory that is forgotten"
        for row in self._rows.query("SELECT DISTINCT policy FROM weights WHERE due = 1"):
            found[row["policy"]] = (
                "its weights were removed with a memory that was forgotten for good; the shipped "
                "weights are in use"
            )
        return found


def _pair(row: Mapping[str, Any], memories: tuple[str, ...]) -> QuestionAnswer:
    return QuestionAnswer(
        public_id("q", row["id"]),
        datetime.fromisoformat(row["at"]),
        row["question"],
        row["answer"],
        memories,
        PairOrigin(row["origin"]),
        row["turn"] and public_id("t", row["turn"]),
        bool(row["learned"]),
    )


def _weights(row: Mapping[str, Any]) -> StoredWeights:
    return StoredWeights(
        row["policy"],
        row["number"],
        datetime.fromisoformat(row["at"]),
        row["by"],
        (row["inputs"], row["hidden"], row["outputs"]),
        row["flat"],
        row["state"],
        row["before"],
        row["after"],
        row["continues"],
        bool(row["active"]),
        json.loads(row["figures"]),
    )
