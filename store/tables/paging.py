"""Paged queries of the graph for the web page.

Reads only, and never the whole graph: each look has a limit and says how much more there is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from store.row_codecs import Table, entity_key, iso, public_id

_HOLDS = """memories.status = 'current'
    AND (memories.valid_until IS NULL OR julianday(memories.valid_until) > julianday(?))"""
"""What may be stated as current at a moment; stored times carry offsets, julianday() reads them."""
_WHEN = "coalesce(memories.valid_from, memories.created)"
_HAPPENS = """CASE WHEN valid_from IS NULL AND valid_until IS NOT NULL AND status = 'current'
    THEN replace(datetime(substr(valid_until, 1, 19), '-1 second'), ' ', 'T')
        || substr(valid_until, 20)
    ELSE coalesce(valid_from, created) END"""
"""When what a memory tells happens: what ends by itself happens on its last day, by the clock that
it was told by."""
_WHOLE_SENTENCE = "noted"
"""The relation of a memory in which nothing but its whole sentence was found."""
_PAIRS_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity beside another one."""

    key: str
    name: str
    type: str
    """The type of most memories that join the two."""
    memories: int
    """How many memories join them."""
    relations: tuple[str, ...]
    onward: int
    """How many memories it has in all: what there is to walk on to."""
    newest: str
    """The newest of the memories that join them."""


@dataclass(frozen=True, slots=True)
class EntityPair:
    """Two entities that a memory joins, by their keys."""

    head: str
    tail: str
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of something, and how much there is in all."""

    ids: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Month:
    """How much is remembered of a month such as 2024-05."""

    month: str
    memories: int


class GraphPager(Table):
    """Looks into the memories of one home."""

    # ---- the graph ------------------------------------------------------------------------

    def around(
        self, entity: str, now: datetime, *, limit: int, offset: int = 0, type: str | None = None
    ) -> tuple[tuple[Neighbour, ...], int]:
        """The entities beside one, best joined first, and how many there are in all.

        Whole sentences are left out where there is anything else: as names they say a fact again.
        """
        named = self._has_names(entity, now)
        rows = self._rows.query(
            f"""WITH own AS (SELECT id FROM entities WHERE key = ?),
                ends AS (
                    SELECT memory, tail AS other, name FROM relations WHERE head IN own
                    UNION ALL
                    SELECT memory, head, name FROM relations WHERE tail IN own),
                kinds AS (
                    SELECT other, type, count(DISTINCT memory) AS n, max(memory) AS newest,
                        group_concat(DISTINCT ends.name) AS relations
                    FROM ends JOIN memories ON memories.id = memory
                    JOIN subclasses ON subclasses.id = memories.subclass
                    WHERE other NOT IN own AND {_HOLDS} AND (? OR ends.name <> '{_WHOLE_SENTENCE}')
                    GROUP BY other, type),
                joined AS (
                    SELECT other, sum(n) AS n, max(newest) AS newest,
                        substr(max(printf('%012d', n) || type), 13) AS type,
                        group_concat(relations) AS relations
                    FROM kinds GROUP BY other)
                SELECT entities.key, entities.name, joined.type, n, relations, other, newest,
                    count(*) OVER () AS total
                FROM joined JOIN entities ON entities.id = other
                WHERE ? IS NULL OR joined.type = ?
                ORDER BY n DESC, newest DESC LIMIT ? OFFSET ?""",
            (entity_key(entity), iso(now), not named, type, type, limit, offset),
        )
        found = tuple(
            Neighbour(
                row["key"],
                row["name"],
                row["type"],
                row["n"],
                _names(row["relations"]),
                self._count_of(row["other"], now),
                public_id("m", row["newest"]),
            )
            for row in rows
        )
        return found, rows[0]["total"] if rows else 0

    def _has_names(self, entity: str, now: datetime) -> bool:
        """Whether a relation other than a whole sentence joins an entity to something."""
        rows = self._rows.query(
            f"""WITH own AS (SELECT id FROM entities WHERE key = ?)
                SELECT 1 FROM relations JOIN memories ON memories.id = memory
                WHERE (head IN own OR tail IN own) AND relations.name <> ? AND {_HOLDS} LIMIT 1""",
            (entity_key(entity), _WHOLE_SENTENCE, iso(now)),
        )
        return bool(rows)

    def best_joined(self, now: datetime) -> str | None:
        """The entity with the most memories; None where no memory that holds names one."""
        # The count of relations is off the indexes, and no memories are more: those of a few
        # entities are counted.
        found, most = 0, 0
        for entity, relations in self._rows.tuples(
            """SELECT entity, sum(n) AS n FROM (
                   SELECT head AS entity, count(*) AS n FROM relations GROUP BY head
                   UNION ALL SELECT tail, count(*) FROM relations GROUP BY tail)
               GROUP BY entity ORDER BY n DESC, entity"""
        ):
            if relations < most or (relations == most and entity > found):
                break
            count = self._count_of(entity, now)
            if count > most or (count == most and entity < found):
                found, most = entity, count
        names = self._rows.query("SELECT name FROM entities WHERE id = ?", [found])
        return str(names[0]["name"]) if names else None

    def _count_of(self, entity: int, now: datetime) -> int:
        rows = self._rows.query(
            f"""SELECT count(*) AS n FROM memories WHERE id IN (
                    SELECT memory FROM relations WHERE head = ?
                    UNION SELECT memory FROM relations WHERE tail = ?) AND {_HOLDS}""",
            (entity, entity, iso(now)),
        )
        return int(rows[0]["n"])

    def between(self, keys: Collection[str], now: datetime) -> tuple[EntityPair, ...]:
        """How some entities are joined among themselves."""
        marks = ",".join("?" * len(keys))
        rows = self._rows.query(
            f"""SELECT one.key AS head, other.key AS tail,
                    group_concat(DISTINCT relations.name) AS relations
                FROM entities AS one JOIN relations ON relations.head = one.id
                JOIN entities AS other ON other.id = relations.tail
                JOIN memories ON memories.id = relations.memory
                WHERE one.key IN ({marks}) AND other.key IN ({marks}) AND one.id <> other.id
                AND {_HOLDS} GROUP BY one.id, other.id LIMIT {_PAIRS_SHOWN}""",
            (*keys, *keys, iso(now)),
        )
        return tuple(EntityPair(row["head"], row["tail"], _names(row["relations"])) for row in rows)

    def of_entity(
        self,
        entity: str,
        now: datetime,
        *,
        beside: str | None = None,
        limit: int,
        offset: int = 0,
    ) -> Page:
        """The memories at an entity, or those that join it to another; the latest first."""
        joined = (
            """AND memories.id IN (SELECT memory FROM relations JOIN entities
               ON entities.id IN (head, tail) WHERE entities.key = ?)"""
            if beside is not None
            else ""
        )
        other = () if beside is None else (entity_key(beside),)
        rows = self._rows.query(
            f"""WITH own AS (SELECT id FROM entities WHERE key = ?)
                SELECT memories.id, count(*) OVER () AS total FROM memories
                WHERE memories.id IN (SELECT memory FROM relations WHERE head IN own
                    UNION SELECT memory FROM relations WHERE tail IN own)
                AND {_HOLDS} {joined}
                ORDER BY julianday({_WHEN}) DESC, memories.id DESC LIMIT ? OFFSET ?""",
            (entity_key(entity), iso(now), *other, limit, offset),
        )
        return _found(rows)

    # ---- time -----------------------------------------------------------------------------

    def in_time(
        self,
        *,
        before: str | None = None,
        since: str | None = None,
        type: str | None = None,
        limit: int,
        offset: int = 0,
    ) -> Page:
        """Memories by the day that what they tell happens, the latest first.

        With ``before`` (2024-06-01) those of earlier days; with ``since`` those of that day and
        later ones, the next first.

        What was replaced or is over is part of a life too; what was forgotten is not.
        """
        order = "DESC" if since is None else "ASC"
        rows = self._rows.query(
            f"""SELECT memories.id, count(*) OVER () AS total FROM memories
                JOIN subclasses ON subclasses.id = memories.subclass
                WHERE status <> 'forgotten' AND (? IS NULL OR type = ?)
                AND (? IS NULL OR {_HAPPENS} < ?) AND (? IS NULL OR {_HAPPENS} >= ?)
                ORDER BY julianday({_HAPPENS}) {order}, memories.id {order} LIMIT ? OFFSET ?""",
            (type, type, before, before, since, since, limit, offset),
        )
        return _found(rows)

    def months(self, type: str | None = None) -> tuple[Month, ...]:
        """How much there is of each month, by the calendar it was told in; oldest first."""
        rows = self._rows.query(
            f"""SELECT substr({_HAPPENS}, 1, 7) AS month, count(*) AS n FROM memories
                JOIN subclasses ON subclasses.id = memories.subclass
                WHERE status <> 'forgotten' AND (? IS NULL OR type = ?)
                GROUP BY month ORDER BY month""",
            (type, type),
        )
        return tuple(Month(row["month"], row["n"]) for row in rows)

    def types(self, now: datetime) -> dict[str, int]:
        """How many memories of each type hold at a moment."""
        rows = self._rows.query(
            f"""SELECT type, count(*) AS n FROM memories
                JOIN subclasses ON subclasses.id = memories.subclass
                WHERE {_HOLDS} GROUP BY type""",
            [iso(now)],
        )
        return {row["type"]: row["n"] for row in rows}

    # ---- search ---------------------------------------------------------------------------

    def find(self, text: str, *, limit: int) -> Page:
        """Memories with all of these words (the last one may be begun only), else with some.

        What holds comes first; what was forgotten is not found.
        """
        parts = text.replace("\0", " ").split()
        words = ['"' + word.replace('"', "") + '"' for word in parts if word.strip('"')]
        if not words:
            return Page((), 0)
        for query in (" ".join(words) + " *", " OR ".join(words)):
            rows = self._rows.query(
                """SELECT memories.id, count(*) OVER () AS total FROM memories_fts
                   JOIN memories ON memories.id = memories_fts.rowid
                   WHERE memories_fts MATCH ? AND status <> 'forgotten'
                   ORDER BY status <> 'current', rank LIMIT ?""",
                (query, limit),
            )
            if rows:
                return _found(rows)
        # Languages that put no spaces between words.
        rows = self._rows.query(
            """SELECT id, count(*) OVER () AS total FROM memories
               WHERE text LIKE ? ESCAPE '\\' AND status <> 'forgotten'
               ORDER BY status <> 'current', id DESC LIMIT ?""",
            (f"%{_literally(text.strip())}%", limit),
        )
        return _found(rows)

    def find_entities(self, text: str, *, limit: int) -> tuple[str, ...]:
        """Names of entities that begin with this, then those with a word that does."""
        begun = _literally(entity_key(text))
        if not begun:
            return ()
        rows = self._rows.query(
            """SELECT name FROM entities WHERE key LIKE ? ESCAPE '\\' OR key LIKE ? ESCAPE '\\'
               ORDER BY key LIKE ? ESCAPE '\\' DESC,
               (SELECT count(*) FROM relations WHERE head = entities.id)
               + (SELECT count(*) FROM relations WHERE tail = entities.id) DESC, id LIMIT ?""",
            (f"{begun}%", f"% {begun}%", f"{begun}%", limit),
        )
        return tuple(row["name"] for row in rows)


def _names(joined: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(joined.split(",")))


def _literally(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _found(rows: list[dict[str, int]]) -> Page:
    ids = tuple(public_id("m", row["id"]) for row in rows)
    return Page(ids, rows[0]["total"] if rows else 0)
