"""Rows of layer 3: memories, entities and relations.

``set`` is the one place that writes them, and it is only called with a journal entry beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from store.errors import UnknownId
from store.journal import Change
from store.row_codecs import ROW, Table, entity_key, iso, memory_from_row, public_id, row_id
from store.types import Memory, Span, Status, Triple

_SELECT = f"""SELECT {", ".join(ROW)} FROM memories
    JOIN subclasses ON subclasses.id = memories.subclass
    LEFT JOIN sources ON sources.id = memories.source"""

_INSERT = """INSERT INTO memories
    (id, text, subclass, created, valid_from, valid_until, place, source, status, replaced_by,
     span_start, span_end, trust, pinned)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_UPDATE = """ ON CONFLICT(id) DO UPDATE SET text = excluded.text, subclass = excluded.subclass,
        created = excluded.created, valid_from = excluded.valid_from,
        valid_until = excluded.valid_until, place = excluded.place, source = excluded.source,
        status = excluded.status, replaced_by = excluded.replaced_by,
        span_start = excluded.span_start, span_end = excluded.span_end, trust = excluded.trust,
        pinned = excluded.pinned"""

_RELATIONS = """SELECT relations.memory, head.name AS head, relations.name, tail.name AS tail
    FROM relations JOIN entities AS head ON head.id = relations.head
    JOIN entities AS tail ON tail.id = relations.tail"""


_NEXT = "WHERE memories.id IN (SELECT id FROM memories WHERE id > ? ORDER BY id LIMIT ?)"
_FEW = 500
"""Up to this many memories their relations are looked up one by one, above it all are read."""


class MemoryTable(Table):
    """The memories of one home."""

    def get(self, memory: str) -> Memory:
        """:raises UnknownId: if there is none with this id."""
        for memory_row in self._read("WHERE memories.id = ?", [row_id("m", memory, "memory")]):
            return memory_row
        raise UnknownId(f"There is no memory {memory}. `memlane memories list` shows them.")

    def of(self, ids: Sequence[str]) -> tuple[Memory, ...]:
        """Several memories, in the order given.

        :raises UnknownId: if there is none with one of the ids.
        """
        keys = [row_id("m", memory, "memory") for memory in ids]
        found = self.found(ids)
        if len(found) < len(set(keys)):
            gone = next(memory for memory in ids if memory not in found)
            raise UnknownId(f"There is no memory {gone}. `memlane memories list` shows them.")
        return tuple(found[public_id("m", key)] for key in keys)

    def found(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Those of several memories that there are, by id."""
        keys = [row_id("m", memory, "memory") for memory in ids]
        found: dict[str, Memory] = {}
        for start in range(0, len(keys), _FEW):
            marks = ",".join(map(str, keys[start : start + _FEW]))
            found.update((m.id, m) for m in self._read(f"WHERE memories.id IN ({marks})"))
        return found

    def list(self, *statuses: Status) -> tuple[Memory, ...]:
        """Memories in the order of their ids: all, or those of the given statuses."""
        marks = ",".join("?" * len(statuses))
        where = f"WHERE memories.status IN ({marks})" if statuses else ""
        triples = self._triples(None)
        # One row at a time: all rows of 100,000 memories beside the memories are 100 MB.
        rows = self._rows.tuples(f"{_SELECT} {where} ORDER BY memories.id", statuses)
        return tuple(memory_from_row(row, triples.pop(row[0], ())) for row in rows)

    def each(self) -> Iterator[Memory]:
        """Every memory in the order of ids, a few at a time: a million in memory are 2 GB."""
        last = 0
        while some := tuple(self._read(_NEXT, [last, _FEW])):
            yield from some
            last = row_id("m", some[-1].id, "memory")

    def newest(self, count: int, subclasses: Collection[str]) -> tuple[Memory, ...]:
        """The newest memories of some subclasses, of every status, oldest first."""
        marks = ",".join("?" * len(subclasses))
        rows = self._rows.tuples(
            f"SELECT id FROM memories WHERE subclass IN ({marks}) ORDER BY id DESC LIMIT ?",
            [*subclasses, count],
        )
        return self.of([public_id("m", key) for key in sorted(key for (key,) in rows)])

    def made_from(self, source: str) -> tuple[Memory, ...]:
        """Memories that were made from this source."""
        key = row_id("s", source, "source")
        return tuple(self._read("WHERE memories.source = ?", [key]))

    def read_near(self, source: str, stretch: Span, place: int, limit: int) -> tuple[Memory, ...]:
        """Current memories read from a stretch of a source, the nearest to ``place`` first."""
        rows = self._rows.query(
            """SELECT id FROM memories WHERE source = ? AND status = 'current'
               AND span_start >= ? AND span_start < ? ORDER BY abs(span_start - ?), id LIMIT ?""",
            [row_id("s", source, "source"), stretch.start, stretch.end, place, limit],
        )
        return self.of([public_id("m", row["id"]) for row in rows])

    def amended(self, sources: Iterable[str]) -> tuple[Memory, ...]:
        """Memories of these sources that were amended once."""
        keys = [row_id("s", source, "source") for source in sources]
        marks = ",".join("?" * len(keys))
        return tuple(
            self._read(
                f"""WHERE memories.source IN ({marks}) AND EXISTS
                    (SELECT 1 FROM journal_memories JOIN journal ON journal.id = entry
                     WHERE memory = memories.id AND kind = 'amend')""",
                keys,
            )
        )

    def told_at(self, place: str, limit: int) -> tuple[Memory, ...]:
        """The latest current memories that were told at a place."""
        rows = self._rows.query(
            """SELECT id FROM memories WHERE place = ? AND status = 'current'
               ORDER BY id DESC LIMIT ?""",
            [place, limit],
        )
        return self.of([public_id("m", row["id"]) for row in rows])

    def saying(self, text: str) -> tuple[Memory, ...]:
        """Memories of every status whose text is this, case aside."""
        return tuple(self._read("WHERE memories.text = ? COLLATE NOCASE", [text]))

    def replaced_by(self, ids: Collection[str]) -> tuple[Memory, ...]:
        """Memories that one of these took the place of."""
        keys = [row_id("m", memory, "memory") for memory in ids]
        marks = ",".join("?" * len(keys))
        return tuple(self._read(f"WHERE memories.replaced_by IN ({marks})", keys))

    def search(self, text: str, limit: int = 20) -> tuple[Memory, ...]:
        """Full-text search over memories of every status, best first."""
        words = [f'"{word}"' for word in text.replace('"', " ").replace("\0", " ").split()]
        if not words:
            return ()
        rows = self._rows.query(
            "SELECT rowid AS id FROM memories_fts WHERE memories_fts MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(words), limit),
        )
        return self.of([public_id("m", row["id"]) for row in rows])

    def in_slot(self, head: str, relations: Sequence[str], limit: int) -> tuple[str, ...]:
        """Ids of the latest current memories with one of the relations at the entity of a key."""
        # With one name SQLite takes the latest off the index; with two it reads and sorts them all.
        names = tuple(dict.fromkeys(relations))
        marks = ",".join("?" * len(names))
        rows = self._rows.query(
            f"""SELECT memories.id FROM relations JOIN memories ON memories.id = relations.memory
                WHERE head = (SELECT id FROM entities WHERE key = ?) AND relations.name IN ({marks})
                AND status = 'current' ORDER BY relations.memory DESC LIMIT ?""",
            [head, *names, limit],
        )
        return tuple(public_id("m", row["id"]) for row in rows)

    def mentioning(self, words: str, limit: int) -> tuple[Memory, ...]:
        """The latest current memories whose text holds these words in a row."""
        quoted = '"' + words.replace('"', " ").replace("\0", " ") + '"'
        rows = self._rows.query(
            """SELECT memories.id FROM memories_fts
               JOIN memories ON memories.id = memories_fts.rowid
               WHERE memories_fts MATCH ? AND status = 'current'
               ORDER BY memories_fts.rowid DESC LIMIT ?""",
            [quoted, limit],
        )
        return self.of([public_id("m", row["id"]) for row in rows])

    def counts(self) -> dict[str, int]:
        """How many memories have which status."""
        rows = self._rows.query("SELECT status, count(*) AS n FROM memories GROUP BY status")
        return {row["status"]: row["n"] for row in rows}

    def neighbours(self, entity: str) -> tuple[tuple[Triple, str], ...]:
        """The relations at an entity, each with the id of the memory it carries."""
        key = entity_key(entity)
        rows = self._rows.query(
            f"{_RELATIONS} WHERE head.key = ? OR tail.key = ? ORDER BY relations.memory",
            [key, key],
        )
        return tuple(
            (Triple(r["head"], r["name"], r["tail"]), public_id("m", r["memory"])) for r in rows
        )

    def entity(self, name: str) -> str | None:
        """An entity's name as it was first spelt; None where no relation names it."""
        rows = self._rows.query("SELECT name FROM entities WHERE key = ?", [entity_key(name)])
        return str(rows[0]["name"]) if rows else None

    def entity_names(self) -> tuple[str, ...]:
        """The names of all entities, in the order they were first told."""
        rows = self._rows.query("SELECT name FROM entities ORDER BY id")
        return tuple(row["name"] for row in rows)

    def relation_names(self) -> tuple[str, ...]:
        """Every name of a relation."""
        # From one name to the next in the index: DISTINCT would read every relation.
        rows = self._rows.query(
            """WITH RECURSIVE names(name) AS (
                   SELECT min(name) FROM relations
                   UNION ALL
                   SELECT (SELECT min(name) FROM relations WHERE name > names.name)
                   FROM names WHERE names.name IS NOT NULL
               ) SELECT name FROM names WHERE name IS NOT NULL"""
        )
        return tuple(row["name"] for row in rows)

    def with_relations(self, names: Collection[str]) -> tuple[Memory, ...]:
        """Memories of every status that carry a relation of one of these names."""
        marks = ",".join("?" * len(names))
        rows = self._rows.query(
            f"SELECT DISTINCT memory FROM relations WHERE name IN ({marks})", tuple(names)
        )
        return self.of([public_id("m", row["memory"]) for row in rows])

    def _read(self, where: str, parameters: Sequence[object] = ()) -> Iterator[Memory]:
        rows = list(self._rows.tuples(f"{_SELECT} {where} ORDER BY memories.id", parameters))
        triples = self._triples([row[0] for row in rows]) if rows else {}
        for row in rows:
            yield memory_from_row(row, triples.get(row[0], ()))

    def _triples(self, keys: Sequence[int] | None) -> dict[int, tuple[Triple, ...]]:
        """The relations of some memories; None or many: of all."""
        only = ""
        if keys is not None and len(keys) <= _FEW:
            only = f"WHERE relations.memory IN ({','.join(map(str, keys))})"
        triples: dict[int, tuple[Triple, ...]] = {}
        # The same names come again and again: one string each is kept of them.
        shared: dict[str, str] = {}
        for memory, *names in self._rows.tuples(
            f"{_RELATIONS} {only} ORDER BY relations.memory, relations.position"
        ):
            triple = Triple(*(shared.setdefault(name, name) for name in names))
            triples[memory] = (*triples.get(memory, ()), triple)
        return triples

    # ---- writing --------------------------------------------------------------------------

    def add(self, memories: Sequence[Memory]) -> None:
        """Make the rows of new memories, in a few statements however many they are."""
        keys = [row_id("m", memory.id, "memory") for memory in memories]
        pairs = list(zip(keys, memories, strict=True))
        self._rows.execute_many(_INSERT, [_values(key, memory) for key, memory in pairs])
        self._relate([(key, memory.triples) for key, memory in pairs])

    def set(self, change: Change) -> None:
        """Make the rows of one memory what ``change.after`` says."""
        key = row_id("m", change.memory, "memory")
        after = change.after
        before_triples = () if change.before is None else change.before.triples
        after_triples = () if after is None else after.triples
        if after is not None:
            self._rows.execute(_INSERT + _UPDATE, _values(key, after))
        if before_triples != after_triples:
            self._set_relations(key, after_triples, had_some=bool(before_triples))
        if after is None:
            self._rows.execute("DELETE FROM memories WHERE id = ?", [key])

    def _set_relations(self, memory: int, triples: Sequence[Triple], *, had_some: bool) -> None:
        old: Sequence[dict[str, int]] = ()
        if had_some:
            old = self._rows.query("SELECT head, tail FROM relations WHERE memory = ?", [memory])
            self._rows.execute("DELETE FROM relations WHERE memory = ?", [memory])
        self._relate([(memory, triples)])
        # An entity lives as long as a relation names it.
        for entity in {row[end] for row in old for end in ("head", "tail")}:
            self._rows.execute(
                """DELETE FROM entities WHERE id = ?
                   AND NOT EXISTS (SELECT 1 FROM relations WHERE head = entities.id)
                   AND NOT EXISTS (SELECT 1 FROM relations WHERE tail = entities.id)""",
                [entity],
            )

    def _relate(self, told: Sequence[tuple[int, Sequence[Triple]]]) -> None:
        """Write the relations of memories that have none."""
        entities = self._ensure_entities(
            end for _, triples in told for t in triples for end in (t.head, t.tail)
        )
        self._rows.execute_many(
            "INSERT INTO relations VALUES (?, ?, ?, ?, ?)",
            [
                (key, n, entities[entity_key(t.head)], t.relation, entities[entity_key(t.tail)])
                for key, triples in told
                for n, t in enumerate(triples)
            ],
        )

    def _ensure_entities(self, names: Iterable[str]) -> dict[str, int]:
        """The row numbers of entities by key; one that is new gets its first spelling."""
        spelt: dict[str, str] = {}
        for name in names:
            spelt.setdefault(entity_key(name), name)
        found: dict[str, int] = {}
        left = iter(spelt)
        while some := list(islice(left, _FEW)):
            marks = ",".join("?" * len(some))
            found.update(
                self._rows.tuples(f"SELECT key, id FROM entities WHERE key IN ({marks})", some)
            )
        if new := [key for key in spelt if key not in found]:
            first = self._rows.next_id("entities")
            found.update((key, number) for number, key in enumerate(new, first))
            self._rows.execute_many(
                "INSERT INTO entities (id, name, key) VALUES (?, ?, ?)",
                [(found[key], spelt[key], key) for key in new],
            )
        return found


def _values(key: int, memory: Memory) -> tuple[object, ...]:
    """What ``_INSERT`` takes."""
    return (
        key,
        memory.text,
        memory.subclass,
        iso(memory.created),
        iso(memory.valid_from),
        iso(memory.valid_until),
        memory.place,
        memory.source and row_id("s", memory.source, "source"),
        memory.status,
        memory.replaced_by and row_id("m", memory.replaced_by, "memory"),
        memory.span and memory.span.start,
        memory.span and memory.span.end,
        memory.trust,
        memory.pinned,
    )
