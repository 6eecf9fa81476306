"""Database schema as numbered migrations, which never change once released.

Rows of ``memories``, ``relations`` and ``entities`` are a fold over ``journal``: whoever reads the
journal from its first line gets the same rows (``MemoryGraph.verify`` proves it). Full text and
vectors are derived from the rows.
"""

from __future__ import annotations

from math import exp, log

from sqlite_utils import Database, Migrations

migrations = Migrations("memlane")


def _run(db: Database, *statements: str) -> None:
    # One statement at a time: executescript() would commit the migration's own transaction.
    for statement in statements:
        db.execute(statement)


@migrations()
def m001_taxonomy(db: Database) -> None:
    """Layers 1 and 2 of the graph."""
    _run(
        db,
        "CREATE TABLE types (name TEXT PRIMARY KEY, position INTEGER NOT NULL)",
        """CREATE TABLE subclasses (
            id TEXT PRIMARY KEY,
            type TEXT NOT NULL REFERENCES types(name),
            name TEXT NOT NULL,
            single INTEGER NOT NULL,
            examples TEXT NOT NULL,
            position INTEGER NOT NULL
        )""",
    )


@migrations()
def m002_sources(db: Database) -> None:
    """Raw text, stored before anything is extracted from it, and the turns of the chat."""
    _run(
        db,
        """CREATE TABLE sources (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            locator TEXT,
            content_hash TEXT NOT NULL,
            text TEXT NOT NULL,
            captured TEXT NOT NULL,
            place TEXT,
            status TEXT NOT NULL,
            error TEXT
        )""",
        "CREATE INDEX sources_locator ON sources(locator, id)",
        "CREATE INDEX sources_status ON sources(status)",
        """CREATE TABLE turns (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            text TEXT NOT NULL,
            route TEXT NOT NULL,
            reply TEXT NOT NULL,
            trace TEXT NOT NULL
        )""",
    )


@migrations()
def m003_graph(db: Database) -> None:
    """Layer 3: memories, entities, and the relations between entities that carry memories."""
    _run(
        db,
        """CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL,
            subclass TEXT NOT NULL REFERENCES subclasses(id),
            created TEXT NOT NULL,
            valid_from TEXT,
            valid_until TEXT,
            place TEXT,
            source INTEGER REFERENCES sources(id),
            status TEXT NOT NULL,
            replaced_by INTEGER REFERENCES memories(id) DEFERRABLE INITIALLY DEFERRED
        )""",
        "CREATE INDEX memories_source ON memories(source)",
        "CREATE INDEX memories_replaced_by ON memories(replaced_by)",
        "CREATE INDEX memories_subclass ON memories(subclass)",
        """CREATE TABLE entities (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            key TEXT NOT NULL UNIQUE
        )""",
        """CREATE TABLE relations (
            memory INTEGER NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            head INTEGER NOT NULL REFERENCES entities(id),
            name TEXT NOT NULL,
            tail INTEGER NOT NULL REFERENCES entities(id),
            PRIMARY KEY (memory, position)
        ) WITHOUT ROWID""",
        "CREATE INDEX relations_head ON relations(head, name)",
        "CREATE INDEX relations_tail ON relations(tail)",
    )


@migrations()
def m004_journal(db: Database) -> None:
    """The append-only journal of edits."""
    _run(
        db,
        """CREATE TABLE journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            batch INTEGER NOT NULL,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            actor TEXT NOT NULL,
            source INTEGER REFERENCES sources(id),
            undoes INTEGER UNIQUE REFERENCES journal(id),
            changes TEXT NOT NULL
        )""",
        "CREATE INDEX journal_batch ON journal(batch)",
        """CREATE TABLE journal_memories (
            entry INTEGER NOT NULL REFERENCES journal(id),
            memory INTEGER NOT NULL,
            PRIMARY KEY (memory, entry)
        ) WITHOUT ROWID""",
        """CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
           BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        """CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
           BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
    )


@migrations()
def m005_derived(db: Database) -> None:
    """Full text and vectors, both derived from the memories."""
    _run(
        db,
        """CREATE VIRTUAL TABLE memories_fts USING fts5(
            text, content='memories', content_rowid='id', tokenize='porter unicode61'
        )""",
        """CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN
            INSERT INTO memories_fts(rowid, text) VALUES (new.id, new.text);
        END""",
        """CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories BEGIN
            INSERT INTO memories_fts(memories_fts, rowid, text)
            VALUES ('delete', old.id, old.text);
        END""",
        """CREATE TRIGGER memories_fts_update AFTER UPDATE OF text ON memories BEGIN
            INSERT INTO memories_fts(memories_fts, rowid, text)
            VALUES ('delete', old.id, old.text);
            INSERT INTO memories_fts(rowid, text) VALUES (new.id, new.text);
        END""",
        """CREATE TABLE vectors (
            memory INTEGER NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (model, memory)
        ) WITHOUT ROWID""",
        "CREATE INDEX vectors_memory ON vectors(memory)",
        # A vector belongs to a text: a changed text leaves no stale vector behind.
        """CREATE TRIGGER vectors_stale AFTER UPDATE OF text ON memories
           WHEN old.text <> new.text BEGIN
            DELETE FROM vectors WHERE memory = new.id;
        END""",
    )


@migrations()
def m006_provenance(db: Database) -> None:
    """Where in its source a memory was read, and how far that is trusted.

    Both are NULL in rows of before: the span is unknown, the trust follows from the source's kind.
    """
    _run(
        db,
        "ALTER TABLE memories ADD COLUMN span_start INTEGER",
        "ALTER TABLE memories ADD COLUMN span_end INTEGER",
        "ALTER TABLE memories ADD COLUMN trust TEXT",
    )


@migrations()
def m007_erasing(db: Database) -> None:
    """Forgetting for good: redacted journal lines, proofs without the text (docs/forgetting.md).

    A line of the journal may be changed only to redact it, and only while ``redacting`` holds a
    row, which the erasing transaction puts in and takes out.
    """
    _run(
        db,
        "ALTER TABLE journal ADD COLUMN redacted TEXT",
        "CREATE TABLE redacting (since TEXT NOT NULL)",
        "DROP TRIGGER journal_no_update",
        """CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
           WHEN NOT (EXISTS (SELECT 1 FROM redacting) AND new.redacted IS NOT NULL
               AND new.id = old.id AND new.batch = old.batch AND new.at = old.at
               AND new.kind = old.kind AND new.actor = old.actor AND new.source IS old.source
               AND new.undoes IS old.undoes)
           BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        """CREATE TABLE forgotten (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            entry INTEGER NOT NULL REFERENCES journal(id),
            swept INTEGER NOT NULL,
            last_source INTEGER NOT NULL,
            last_turn INTEGER NOT NULL,
            last_entry INTEGER NOT NULL
        )""",
        """CREATE TABLE forgotten_marks (
            forgotten INTEGER NOT NULL REFERENCES forgotten(id) ON DELETE CASCADE,
            mark BLOB NOT NULL,
            length INTEGER NOT NULL,
            sieve INTEGER NOT NULL,
            PRIMARY KEY (forgotten, mark)
        ) WITHOUT ROWID""",
        "CREATE INDEX memories_forgotten ON memories(id) WHERE status = 'forgotten'",
    )


@migrations()
def m010_runs_and_removed_subclasses(db: Database) -> None:
    """Which sources one ingest took in, and subclasses that the person took out of layer 2.

    A removed subclass keeps its row: history and the journal still name it.
    """
    _run(
        db,
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            what TEXT NOT NULL
        )""",
        """CREATE TABLE run_sources (
            run INTEGER NOT NULL REFERENCES runs(id),
            source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
            PRIMARY KEY (run, source)
        ) WITHOUT ROWID""",
        "CREATE INDEX IF NOT EXISTS journal_source ON journal(source)",
        "CREATE TABLE removed_subclasses (id TEXT PRIMARY KEY REFERENCES subclasses(id))",
    )


@migrations()
def m011_learned(db: Database) -> None:
    """Question-answer pairs, judgements of answers, and the weights that came of them.

    Memories and turns are named without a foreign key (see ``side_tables.training_data``).
    """
    _run(
        db,
        """CREATE TABLE episodes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            question TEXT NOT NULL,
            answer TEXT NOT NULL,
            origin TEXT NOT NULL,
            turn INTEGER,
            failed TEXT,
            learned INTEGER NOT NULL
        )""",
        """CREATE TABLE episode_memories (
            episode INTEGER NOT NULL REFERENCES episodes(id) ON DELETE CASCADE,
            memory INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (episode, memory)
        ) WITHOUT ROWID""",
        """CREATE TABLE feedback (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            turn INTEGER NOT NULL UNIQUE,
            judgement TEXT NOT NULL,
            answer TEXT
        )""",
        """CREATE TABLE weights (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            policy TEXT NOT NULL,
            number INTEGER NOT NULL,
            at TEXT NOT NULL,
            by TEXT NOT NULL,
            inputs INTEGER NOT NULL,
            hidden INTEGER NOT NULL,
            outputs INTEGER NOT NULL,
            flat BLOB,
            state TEXT NOT NULL,
            before REAL,
            after REAL,
            continues INTEGER NOT NULL,
            active INTEGER NOT NULL,
            due INTEGER NOT NULL DEFAULT 0,
            figures TEXT NOT NULL,
            UNIQUE (policy, number)
        )""",
        """CREATE TABLE weights_memories (
            weights INTEGER NOT NULL REFERENCES weights(id) ON DELETE CASCADE,
            memory INTEGER NOT NULL,
            PRIMARY KEY (weights, memory)
        ) WITHOUT ROWID""",
    )


@migrations()
def m012_questions(db: Database) -> None:
    """Questions to the user, by the ids of memories (``side_tables.pending_questions``)."""
    _run(
        db,
        """CREATE TABLE questions (
            ask TEXT NOT NULL,
            first INTEGER NOT NULL,
            second INTEGER NOT NULL,
            raised TEXT NOT NULL,
            asked TEXT,
            PRIMARY KEY (ask, first, second)
        ) WITHOUT ROWID""",
    )


@migrations()
def m013_large_homes(db: Database) -> None:
    """Vectors as rows of a table, and relations by name.

    In the tree of a table WITHOUT ROWID a vector of 1,536 bytes lies on a page of its own beside
    its row, so that reading all of them read twice as many pages as there are bytes.
    """
    _run(
        db,
        """CREATE TABLE vectors_kept (
            id INTEGER PRIMARY KEY,
            memory INTEGER NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            UNIQUE (memory, model)
        )""",
        """INSERT INTO vectors_kept (memory, model, vector)
           SELECT memory, model, vector FROM vectors ORDER BY model, memory""",
        "DROP TRIGGER vectors_stale",
        "DROP TABLE vectors",
        "ALTER TABLE vectors_kept RENAME TO vectors",
        """CREATE TRIGGER vectors_stale AFTER UPDATE OF text ON memories
           WHEN old.text <> new.text BEGIN
            DELETE FROM vectors WHERE memory = new.id;
        END""",
        "CREATE INDEX relations_name ON relations(name)",
    )


@migrations()
def m014_kept_expiry(db: Database) -> None:
    """The end that the person gave with a text, kept with it until a memory is made of it."""
    _run(db, "ALTER TABLE sources ADD COLUMN expires TEXT")


@migrations()
def m015_layouts(db: Database) -> None:
    """Where on a screenshot its text stands, by the characters of the source's text."""
    _run(
        db,
        """CREATE TABLE layouts (
            source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            span_start INTEGER NOT NULL,
            span_end INTEGER NOT NULL,
            "left" REAL NOT NULL,
            top REAL NOT NULL,
            "right" REAL NOT NULL,
            bottom REAL NOT NULL,
            confidence REAL NOT NULL,
            PRIMARY KEY (source, number)
        ) WITHOUT ROWID""",
    )


@migrations()
def m016_watching(db: Database) -> None:
    """Watched folders and the state of each file in them (``side_tables.watch_queue``).

    No column holds text of a file: what went wrong with a stored one is told by its source.
    """
    _run(
        db,
        "CREATE TABLE watched (path TEXT PRIMARY KEY, since TEXT NOT NULL, more INTEGER NOT NULL)",
        """CREATE TABLE watched_files (
            path TEXT PRIMARY KEY,
            folder TEXT NOT NULL,
            state TEXT NOT NULL,
            size INTEGER,
            changed INTEGER,
            due REAL NOT NULL,
            tries INTEGER NOT NULL,
            at TEXT NOT NULL,
            source INTEGER,
            reason TEXT
        )""",
        "CREATE INDEX watched_files_due ON watched_files(state, due)",
        "CREATE INDEX watched_files_folder ON watched_files(folder)",
        "CREATE INDEX sources_content ON sources(content_hash)",
    )


@migrations()
def m017_form_consents(db: Database) -> None:
    """Consents to sensitive fields, by field and site (``side_tables.form_consents``)."""
    _run(
        db,
        """CREATE TABLE form_consents (
            field TEXT NOT NULL,
            site TEXT NOT NULL,
            given INTEGER NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (field, site)
        ) WITHOUT ROWID""",
    )


@migrations()
def m018_notified(db: Database) -> None:
    """Which reminders were shown on the desktop (``store.tables.side_tables.shown_reminders``)."""
    _run(
        db,
        """CREATE TABLE notified (
            memory INTEGER NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
            occasion TEXT NOT NULL,
            shown TEXT NOT NULL,
            PRIMARY KEY (memory, occasion)
        ) WITHOUT ROWID""",
    )


@migrations()
def m019_confirmations(db: Database) -> None:
    """Changes that other programs asked for (``side_tables.programs.mcp_confirmations``)."""
    _run(
        db,
        """CREATE TABLE confirmations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            code TEXT NOT NULL,
            client TEXT NOT NULL,
            action TEXT NOT NULL,
            memory INTEGER NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            digest TEXT NOT NULL,
            until REAL NOT NULL
        )""",
    )


@migrations()
def m022_personas(db: Database) -> None:
    """The refined layers of the persona, their evidence, and what was done to them by hand.

    Memories are named without a foreign key (see ``store.tables.side_tables.personas``).
    """
    _run(
        db,
        """CREATE TABLE persona_lines (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            layer TEXT NOT NULL,
            slot TEXT NOT NULL,
            basis TEXT NOT NULL,
            category TEXT NOT NULL,
            text TEXT NOT NULL,
            hand TEXT,
            dropped INTEGER NOT NULL,
            "by" TEXT NOT NULL,
            made TEXT NOT NULL,
            model TEXT,
            vector BLOB,
            UNIQUE (layer, slot)
        )""",
        """CREATE TABLE persona_evidence (
            line INTEGER NOT NULL REFERENCES persona_lines(id) ON DELETE CASCADE,
            memory INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (line, memory)
        ) WITHOUT ROWID""",
        """CREATE TABLE persona_changes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            line INTEGER NOT NULL REFERENCES persona_lines(id) ON DELETE CASCADE,
            at TEXT NOT NULL,
            hand TEXT,
            dropped INTEGER NOT NULL,
            model TEXT,
            vector BLOB
        )""",
    )


@migrations()
def m023_persona_consents(db: Database) -> None:
    """Homes that may read this one's views (``side_tables.sharing_consents``), a row each."""
    _run(
        db,
        """CREATE TABLE persona_consents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            home TEXT NOT NULL UNIQUE,
            peer TEXT,
            mine TEXT NOT NULL,
            at TEXT NOT NULL,
            withdrawn TEXT,
            signature TEXT NOT NULL
        )""",
    )


@migrations()
def m024_change_edges(db: Database) -> None:
    """Possible changes between memories (``store.tables.side_tables.change_edges``)."""
    _run(
        db,
        """CREATE TABLE change_edges (
            older INTEGER NOT NULL,
            newer INTEGER NOT NULL,
            change TEXT NOT NULL,
            probability REAL NOT NULL,
            made TEXT NOT NULL,
            dismissed TEXT,
            PRIMARY KEY (older, newer)
        ) WITHOUT ROWID""",
        "CREATE INDEX change_edges_newer ON change_edges(newer)",
    )


@migrations()
def m025_decided_questions(db: Database) -> None:
    """When the user decided a question: until then it is asked again."""
    _run(db, "ALTER TABLE questions ADD COLUMN decided TEXT")


@migrations()
def m026_calibrated_edges(db: Database) -> None:
    """Probabilities of changes mean what they say: those kept so far were too sure.

    The weights are those of the statement reader alone (``alone`` of
    ``readers/data/second_reader.npz``), beside what else a sentence changes on average.
    """
    kept = db.execute(
        "SELECT older, newer, probability FROM change_edges WHERE change != 'may_add'"
    )
    for older, newer, probability in kept.fetchall():
        held = min(max(probability, 1e-3), 1 - 1e-3)
        score = 0.654 * log(held / (1 - held)) - 1.83
        db.execute(
            "UPDATE change_edges SET probability = ? WHERE older = ? AND newer = ?",
            [1 / (1 + exp(-score)), older, newer],
        )


@migrations()
def m027_pinned(db: Database) -> None:
    """Memories that the person wants kept, and the days of which a digest was shown."""
    _run(
        db,
        "ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE notified_days (day TEXT PRIMARY KEY) WITHOUT ROWID",
    )


@migrations()
def m028_paired_browsers(db: Database) -> None:
    """Browsers whose extension may ask (``store.tables.side_tables.programs.paired_browsers``)."""
    _run(
        db,
        """CREATE TABLE paired_browsers (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            origin TEXT NOT NULL UNIQUE,
            digest TEXT NOT NULL,
            port INTEGER NOT NULL,
            paired TEXT NOT NULL
        )""",
    )


@migrations()
def m029_sync(db: Database) -> None:
    """What several homes of one person tell each other (``store.sync``, docs/sync.md).

    ``sync_state`` has the key, so that an encrypted home encrypts it. ``sync_operations`` keeps the
    body of an operation only while it may hold: texts that were replaced are in the journal alone.
    """
    _run(
        db,
        "CREATE TABLE sync_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE sync_memories (
            gid TEXT PRIMARY KEY,
            memory INTEGER UNIQUE,
            copy_of TEXT,
            says TEXT,
            what TEXT,
            ends TEXT,
            pinned TEXT,
            dirty INTEGER NOT NULL,
            untold INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID""",
        "CREATE INDEX sync_memories_dirty ON sync_memories(dirty) WHERE dirty = 1",
        "CREATE INDEX sync_memories_copy ON sync_memories(copy_of)",
        """CREATE TABLE sync_operations (
            id TEXT PRIMARY KEY,
            gid TEXT NOT NULL,
            register TEXT NOT NULL,
            says TEXT,
            body TEXT,
            segment TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX sync_operations_gid ON sync_operations(gid)",
        "CREATE INDEX sync_operations_says ON sync_operations(says) WHERE says IS NOT NULL",
        """CREATE TABLE sync_forgotten (
            id TEXT PRIMARY KEY,
            gid TEXT,
            says TEXT,
            said TEXT NOT NULL,
            at TEXT NOT NULL,
            segment TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX sync_forgotten_gid ON sync_forgotten(gid)",
        "CREATE INDEX sync_forgotten_says ON sync_forgotten(says)",
        """CREATE TABLE sync_sources (
            gid TEXT PRIMARY KEY,
            source INTEGER UNIQUE,
            blanks TEXT NOT NULL,
            segment TEXT
        ) WITHOUT ROWID""",
        """CREATE TABLE sync_pairs (
            kind TEXT NOT NULL,
            first TEXT NOT NULL,
            second TEXT NOT NULL,
            body TEXT NOT NULL,
            segment TEXT,
            dirty INTEGER NOT NULL,
            PRIMARY KEY (kind, first, second)
        ) WITHOUT ROWID""",
        "CREATE TABLE sync_segments (name TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE TABLE sync_holds (
            segment TEXT NOT NULL,
            about TEXT NOT NULL,
            blanks TEXT,
            PRIMARY KEY (segment, about)
        ) WITHOUT ROWID""",
        "CREATE INDEX sync_holds_about ON sync_holds(about)",
        "CREATE TABLE sync_unswept (since TEXT NOT NULL)",
    )
