"""Persona lines with evidence and manual corrections (Persona-DB 2.1).

A line is what memories together say of the person: *distilled* from them, *induced* from those, or
the *cache* of fixed categories by which profiles are matched. Invariants: a line counts only while
every memory that it rests on holds and says what it said when the line was made; a line without any
evidence left is gone; what the person wrote in place of a line, or took out, stays over refreshes.
Memories are named by id and without a foreign key, as in ``side_tables.training_data``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.errors import UnknownId
from store.row_codecs import Table, iso, public_id, row_id
from store.tables.sources import content_hash, still_says
from store.types import Memory, Status


class PersonaLayer(StrEnum):
    """The layers above the history, lowest first."""

    DISTILLED = "distilled"
    """What several memories say together."""
    INDUCED = "induced"
    """What several distilled lines let one guess."""
    CACHE = "cache"
    """Fixed categories: values, topics, profession."""


class LineStatus(StrEnum):
    """What a line is worth now."""

    FRESH = "fresh"
    STALE = "stale"
    """A memory behind it changed or ended; it is remade at the next refresh and not used until."""
    DROPPED = "dropped"
    """The person took it out."""
    GONE = "gone"
    """Nothing that it rests on is left."""


@dataclass(frozen=True, slots=True)
class PersonaLine:
    """One line of the persona. It is inferred, never told: say so wherever it is shown."""

    id: str
    layer: PersonaLayer
    category: str
    """Of the cache: which of the fixed categories; of other layers the subclass it is about."""
    text: str
    evidence: tuple[str, ...]
    """Memories that it rests on, by id."""
    made: datetime
    by: str
    """The language model, ``rules``, or ``you`` where the person wrote it."""
    standing: LineStatus
    hidden: bool = False
    """Whether something that it rests on is forgotten, so that its words are not shown."""


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line that a refresh made, not yet stored."""

    layer: PersonaLayer
    slot: str
    """What it was made from, by which it is found again: the group's first memory, a category."""
    basis: str
    """Hash of everything that it was made from: another one means that it is to be remade."""
    category: str
    text: str
    """Empty where nothing could be said: it is not tried again before the basis changes."""
    evidence: tuple[Memory, ...]
    by: str
    vector: NDArray[np.float32] | None = None


class PersonaTable(Table):
    """The refined layers of one home."""

    # ---- reading --------------------------------------------------------------------------

    def lines(
        self, now: datetime, *layers: PersonaLayer, everything: bool = False
    ) -> tuple[PersonaLine, ...]:
        """Lines in the order of the layers; dropped and gone ones only with ``everything``."""
        wanted = layers or tuple(PersonaLayer)
        evidence = self._evidence()
        lines = []
        for row in self._rows.query("SELECT * FROM persona_lines WHERE text <> '' ORDER BY id"):
            line = _line(row, evidence.get(row["id"], []), now)
            shown = line.standing in (LineStatus.FRESH, LineStatus.STALE)
            if line.layer in wanted and (shown or everything):
                lines.append(line)
        return tuple(sorted(lines, key=lambda line: wanted.index(line.layer)))

    def get(self, line: str, now: datetime) -> PersonaLine:
        """:raises UnknownId: if there is no such line (any more)."""
        key = row_id("p", line, "persona line")
        rows = self._rows.query("SELECT * FROM persona_lines WHERE id = ? AND text <> ''", [key])
        if rows:
            found = _line(rows[0], self._evidence().get(key, []), now)
            if found.standing is not LineStatus.GONE:
                return found
        raise UnknownId(f"There is no persona line {line}. `memlane persona show` lists them.")

    def _evidence(self) -> dict[int, list[dict[str, Any]]]:
        rows = self._rows.query(
            """SELECT line, memory, digest, status, valid_until, memories.text AS text
               FROM persona_evidence LEFT JOIN memories ON memories.id = memory
               ORDER BY line, memory"""
        )
        found: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            found.setdefault(row["line"], []).append(row)
        return found

    def bases(self) -> dict[tuple[PersonaLayer, str], str]:
        """What each slot was last made from, dropped and wordless ones too."""
        rows = self._rows.query("SELECT layer, slot, basis FROM persona_lines ORDER BY id")
        return {(PersonaLayer(row["layer"]), row["slot"]): row["basis"] for row in rows}

    def vectors(self, model: str) -> dict[str, NDArray[np.float32]]:
        """Unit vectors of the lines that have one of this encoder, by line."""
        rows = self._rows.query(
            "SELECT id, vector FROM persona_lines WHERE model = ? AND vector IS NOT NULL", [model]
        )
        return {public_id("p", row["id"]): np.frombuffer(row["vector"], "<f4") for row in rows}

    def without_vector(self, model: str) -> dict[str, str]:
        """What lines say that have no vector of this encoder yet, by line."""
        rows = self._rows.query(
            """SELECT id, coalesce(hand, text) AS said FROM persona_lines
               WHERE coalesce(hand, text) <> '' AND (model IS NOT ? OR vector IS NULL)""",
            [model],
        )
        return {public_id("p", row["id"]): row["said"] for row in rows}

    def embed(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store vectors of lines, in place of those of another encoder."""
        with self._rows.writing():
            for line, vector in vectors.items():
                self._rows.execute(
                    "UPDATE persona_lines SET model = ?, vector = ? WHERE id = ?",
                    (model, vector.astype("<f4").tobytes(), row_id("p", line, "persona line")),
                )

    # ---- refreshing -----------------------------------------------------------------------

    def put(self, made: Iterable[NewLine], *, at: datetime, model: str) -> tuple[str, ...]:
        """Store what a refresh made in place of what its slots held; returns the lines' ids.

        A slot in which the person wrote or dropped a line keeps that; only its evidence follows.
        """
        ids = []
        with self._rows.writing():
            for one in made:
                ids.append(public_id("p", self._put(one, at, model)))
        return tuple(ids)

    def _put(self, made: NewLine, at: datetime, model: str) -> int:
        rows = self._rows.query(
            "SELECT id, hand, dropped FROM persona_lines WHERE layer = ? AND slot = ?",
            [made.layer, made.slot],
        )
        by_hand = bool(rows) and (rows[0]["hand"] is not None or rows[0]["dropped"])
        vector = None if made.vector is None else made.vector.astype("<f4").tobytes()
        fresh = (made.basis, made.category, made.text, made.by, iso(at), model, vector)
        if by_hand:
            key = int(rows[0]["id"])
            self._rows.execute("UPDATE persona_lines SET basis = ? WHERE id = ?", (made.basis, key))
        elif rows:
            key = int(rows[0]["id"])
            self._rows.execute(
                """UPDATE persona_lines SET basis = ?, category = ?, text = ?, "by" = ?, made = ?,
                       model = ?, vector = ? WHERE id = ?""",
                (*fresh, key),
            )
        else:
            key = self._rows.execute(
                """INSERT INTO persona_lines
                       (layer, slot, basis, category, text, "by", made, model, vector, dropped)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)""",
                (made.layer, made.slot, *fresh),
            )
        if made.evidence or not by_hand:
            self._rows.execute("DELETE FROM persona_evidence WHERE line = ?", [key])
        for memory in made.evidence:
            self._rows.execute(
                "INSERT INTO persona_evidence VALUES (?, ?, ?)",
                (key, row_id("m", memory.id, "memory"), content_hash(memory.text)),
            )
        return key

    def prune(self, slots: Collection[tuple[PersonaLayer, str]], now: datetime) -> int:
        """Delete lines of slots that are no more, and lines without evidence; returns how many.

        What the person wrote or dropped outlives its slot as long as any of its evidence stands.
        """
        evidence, gone = self._evidence(), 0
        with self._rows.writing():
            for row in self._rows.query("SELECT * FROM persona_lines"):
                line = _line(row, evidence.get(row["id"], []), now)
                by_hand = row["hand"] is not None or row["dropped"]
                kept = by_hand or (PersonaLayer(row["layer"]), row["slot"]) in slots
                bare = bool(line.text) and line.standing is LineStatus.GONE
                if not kept or bare:
                    self._rows.execute("DELETE FROM persona_lines WHERE id = ?", [row["id"]])
                    gone += bool(row["text"])
        return gone

    # ---- by hand --------------------------------------------------------------------------

    def correct(
        self, line: str, text: str, *, at: datetime, model: str, vector: NDArray[np.float32] | None
    ) -> None:
        """Let the line say this from now on. :raises UnknownId: if there is no such line."""
        self._by_hand(line, text, dropped=False, at=at, model=model, vector=vector)

    def drop(self, line: str, *, at: datetime) -> None:
        """Never use this line, nor remake it. :raises UnknownId: if there is no such line."""
        self._by_hand(line, None, dropped=True, at=at, model=None, vector=None)

    def _by_hand(
        self,
        line: str,
        text: str | None,
        *,
        dropped: bool,
        at: datetime,
        model: str | None,
        vector: NDArray[np.float32] | None,
    ) -> None:
        key = row_id("p", self.get(line, at).id, "persona line")
        with self._rows.writing():
            self._rows.execute(
                """INSERT INTO persona_changes (line, at, hand, dropped, model, vector)
                   SELECT id, ?, hand, dropped, model, vector FROM persona_lines WHERE id = ?""",
                (iso(at), key),
            )
            if dropped:
                self._rows.execute("UPDATE persona_lines SET dropped = 1 WHERE id = ?", [key])
                return
            blob = None if vector is None else vector.astype("<f4").tobytes()
            self._rows.execute(
                "UPDATE persona_lines SET hand = ?, dropped = 0, model = ?, vector = ? "
                "WHERE id = ?",
                (text, model, blob, key),
            )

    def undo(self, line: str | None, now: datetime) -> PersonaLine:
        """Take back the last thing done by hand, to this line or at all.

        :raises UnknownId: if there is nothing to take back.
        """
        wanted = None if line is None else row_id("p", line, "persona line")
        with self._rows.writing():
            rows = self._rows.query(
                """SELECT * FROM persona_changes WHERE line = coalesce(?, line)
                   ORDER BY id DESC LIMIT 1""",
                [wanted],
            )
            if not rows:
                what = "a persona line" if line is None else line
                raise UnknownId(f"There is no manual change of {what} to undo.")
            (last,) = rows
            # What it was made of may have changed meanwhile: the next refresh makes it anew.
            self._rows.execute(
                "UPDATE persona_lines SET hand = ?, dropped = ?, model = ?, vector = ?, "
                "basis = '' WHERE id = ?",
                (last["hand"], last["dropped"], last["model"], last["vector"], last["line"]),
            )
            self._rows.execute("DELETE FROM persona_changes WHERE id = ?", [last["id"]])
        return self.get(public_id("p", last["line"]), now)


def _there(row: Mapping[str, Any]) -> bool:
    """Whether a memory of the evidence is still remembered, current or as history."""
    return row["status"] is not None and row["status"] != Status.FORGOTTEN


def _line(
    row: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]], now: datetime
) -> PersonaLine:
    hand = row["hand"]
    left = [one for one in evidence if _there(one)]
    if not left:
        standing = LineStatus.GONE
    elif row["dropped"]:
        standing = LineStatus.DROPPED
    elif hand is not None or all(still_says(one, now) for one in evidence):
        standing = LineStatus.FRESH  # the person's own words need no remaking
    else:
        standing = LineStatus.STALE
    return PersonaLine(
        public_id("p", row["id"]),
        PersonaLayer(row["layer"]),
        row["category"],
        row["text"] if hand is None else hand,
        tuple(public_id("m", one["memory"]) for one in left),
        datetime.fromisoformat(row["made"]),
        row["by"] if hand is None else "you",
        standing,
        hidden=len(left) < len(evidence) and hand is None,
    )
