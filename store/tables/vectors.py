"""Stored vectors of memories, with the identity of their model.

Derived from the rows: a vector leaves with its memory, and with its text when that changes.
Vectors of different models never mix; a changed model finds its vectors missing and makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from store.row_codecs import Table, public_id, row_id

Vector = NDArray[np.float32]


def product(vectors: Vector, vector: Vector) -> Vector:
    """``vectors @ vector``, by one thread.

    For one question BLAS is bound by memory, and its threads wait for each other: up to 16 ms for
    10,000 vectors beside a busy model, against 2.
    """
    found: Vector = np.einsum("ij,j->i", vectors, vector)
    return found


def highest(values: Vector, count: int) -> NDArray[np.intp]:
    """Places of the highest values, in no order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, len(values) - count)[len(values) - count :]


class VectorTable(Table):
    """The vectors of one home."""

    def put(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store unit vectors by memory id."""
        with self._rows.writing():
            self._rows.execute_many(
                "INSERT OR REPLACE INTO vectors (memory, model, vector) VALUES (?, ?, ?)",
                (
                    (
                        row_id("m", memory, "memory"),
                        model,
                        np.ascontiguousarray(vector, dtype="<f4").tobytes(),
                    )
                    for memory, vector in vectors.items()
                ),
            )

    def put_of_texts(self, model: str, encoded: Iterable[tuple[str, str, Vector]]) -> None:
        """Store unit vectors of memories, each with the text that was encoded.

        A memory that says something else by now, or is gone, gets none.
        """
        with self._rows.writing():
            self._rows.execute_many(
                """INSERT OR REPLACE INTO vectors (memory, model, vector)
                   SELECT id, ?, ? FROM memories WHERE id = ? AND text = ?""",
                (
                    (
                        model,
                        np.ascontiguousarray(vector, dtype="<f4").tobytes(),
                        row_id("m", memory, "memory"),
                        text,
                    )
                    for memory, text, vector in encoded
                ),
            )

    def of(self, model: str) -> dict[str, Vector]:
        """Vectors of one model by memory id."""
        rows = self._rows.query("SELECT memory, vector FROM vectors WHERE model = ?", [model])
        return {
            public_id("m", row["memory"]): np.frombuffer(row["vector"], dtype="<f4") for row in rows
        }

    def of_some(self, model: str, keys: Sequence[int]) -> dict[int, Vector]:
        """Vectors of one model for some memories, both by row number."""
        marks = ",".join(str(int(key)) for key in keys)
        rows = self._rows.tuples(
            f"SELECT memory, vector FROM vectors WHERE model = ? AND memory IN ({marks})", [model]
        )
        return {key: np.frombuffer(blob, dtype="<f4") for key, blob in rows}

    def dimension(self, model: str) -> int:
        """Numbers in a vector of this model; 0 where there are none yet."""
        rows = self._rows.query("SELECT vector FROM vectors WHERE model = ? LIMIT 1", [model])
        return len(rows[0]["vector"]) // 4 if rows else 0

    def blocks(
        self, model: str, size: int = 2000, every: int = 1
    ) -> Iterator[tuple[list[int], Vector]]:
        """All vectors of one model, many at a time: row numbers and a matrix with their rows.

        With ``every`` a sample: of so many one.
        """
        dimension = self.dimension(model)
        rows = self._rows.tuples(
            "SELECT memory, vector FROM vectors WHERE model = ? AND id % ? = 0", [model, every]
        )
        while some := list(islice(rows, size)):
            # A broken one is left out here; ``problems`` names it.
            whole = [(key, blob) for key, blob in some if len(blob) == 4 * dimension]
            joined = b"".join(blob for _, blob in whole)
            yield (
                [key for key, _ in whole],
                np.frombuffer(joined, dtype="<f4").reshape(len(whole), dimension),
            )

    def count(self, model: str) -> int:
        """How many vectors there are of one model."""
        rows = self._rows.query("SELECT count(*) AS n FROM vectors WHERE model = ?", [model])
        return int(rows[0]["n"])

    def keys(self, model: str) -> Iterator[int]:
        """Row numbers of the memories that have a vector of one model."""
        # Off the index: the rows are as large as their vectors.
        rows = self._rows.tuples("SELECT memory FROM vectors WHERE model = ?", [model])
        return (key for (key,) in rows)

    def last(self) -> int:
        """The number of the vector that was stored last; 0 where there is none."""
        return int(self._rows.query("SELECT max(id) AS n FROM vectors")[0]["n"] or 0)

    def since(self, model: str, number: int, latest: int = -1) -> set[int]:
        """Row numbers of the memories whose vector of ``model`` came after that of ``number``.

        With ``latest`` of these at most so many, those that came last.
        """
        rows = self._rows.tuples(
            """SELECT memory FROM vectors WHERE id > ? AND model = ?
               ORDER BY id DESC LIMIT ?""",
            [number, model, latest],
        )
        return {key for (key,) in rows}

    def missing(self, model: str, newest: int | None = None) -> tuple[str, ...]:
        """Ids of memories that have no vector of ``model`` yet; or the ``newest`` of them."""
        rows = self._rows.tuples(
            f"""SELECT id FROM memories WHERE NOT EXISTS
               (SELECT 1 FROM vectors WHERE vectors.memory = memories.id AND model = ?)
               ORDER BY id {"" if newest is None else f"DESC LIMIT {int(newest)}"}""",
            [model],
        )
        return tuple(public_id("m", key) for (key,) in rows)

    def count_bare(self) -> int:
        """How many memories have no vector of any model."""
        rows = self._rows.query(
            """SELECT count(*) AS n FROM memories WHERE NOT EXISTS
               (SELECT 1 FROM vectors WHERE vectors.memory = memories.id)"""
        )
        return int(rows[0]["n"])

    def problems(self) -> list[str]:
        """What is wrong with stored vectors: broken length, or no unit vector."""
        found = []
        dimensions: dict[str, int] = {}
        for row in self._rows.query("SELECT model, memory, vector FROM vectors"):
            name = f"vector of {public_id('m', row['memory'])} by {row['model']}"
            if len(row["vector"]) % 4 or not row["vector"]:
                found.append(f"{name}: {len(row['vector'])} bytes are not a float32 array")
                continue
            vector = np.frombuffer(row["vector"], dtype="<f4")
            if dimensions.setdefault(row["model"], vector.size) != vector.size:
                found.append(f"{name}: {vector.size} dimensions, others have another number")
            elif not abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3:
                found.append(f"{name}: not of unit length")
        return found
