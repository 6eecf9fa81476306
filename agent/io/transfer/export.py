"""Export as JSONL (complete), Markdown (to read), notes (Markdown with the fields) or GraphML.

One moment of the home is written, also while others change it. The file gets its name when it is
whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from agent.io.transfer.formats import graphml, markdown, reading
from agent.io.transfer.records import HEAD, KINDS, NAMES, VERSION, Row, Value, to_document, to_line
from store.database.whole_files import whole_file
from store.errors import HomeUnavailable
from store.maintenance.backup import HomeSnapshot, moment
from store.types import Memory, Source, Status, Subclass

Progress = Callable[[int, int], None]
"""Called with (records done, records in all)."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    format: str
    counts: dict[str, int]
    files: int
    sha256: str | None
    """Of everything below the manifest line (JSONL)."""


def records(now: HomeSnapshot) -> Iterator[Value | Row]:
    """All that is stored, in the order of ``KINDS``."""
    yield from now.graph.subclasses(everything=True)
    yield from now.sources()
    yield from now.entries()
    yield from now.graph.memories.each()
    yield from now.graph.turns.last(limit=-1)
    for table, values in now.other_rows():
        yield Row(table, values)


def _total(now: HomeSnapshot) -> int:
    tables = ("subclasses", "sources", "journal", "memories", "turns")
    return sum(
        int(now.connection.query(f"SELECT count(*) AS n FROM {table}")[0]["n"]) for table in tables
    )


def export_jsonl(
    home: Path, out: Path | IO[str], at: datetime, on_record: Progress | None = None
) -> Exported:
    """Write every record as a line below a manifest with counts and SHA-256.

    :raises HomeUnavailable: if ``out`` cannot be written.
    """
    counts: Counter[str] = Counter({kind: 0 for kind in KINDS})
    digest = hashlib.sha256()
    with moment(home) as now, _body(out) as body:
        total = _total(now)
        for number, value in enumerate(records(now), 1):
            line = to_line(value) + "\n"
            digest.update(line.encode())
            body.write(line)
            counts[NAMES[type(value)]] += 1
            if on_record and number % 500 == 0:
                on_record(number, max(total, number))
        manifest = {
            "kind": HEAD,
            "version": VERSION,
            "exported": at.isoformat(),
            "memlane": version("memlane"),
            "counts": dict(counts),
            "last_ids": now.last_ids(),
            "sha256": digest.hexdigest(),
        }
        body.seek(0)
        with _whole_file(out) as file:
            file.write(json.dumps(manifest, ensure_ascii=False) + "\n")
            while block := body.read(1 << 20):
                file.write(block)
    return Exported("jsonl", dict(counts), 1, digest.hexdigest())


@contextmanager
def _body(out: Path | IO[str]) -> Iterator[IO[str]]:
    """A file without a name for what comes below the manifest, which is known at the end."""
    folder = out.absolute().parent if isinstance(out, Path) else None
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="", dir=folder) as body:
            yield body
    except OSError as error:
        raise _cannot_write(out if isinstance(out, Path) else Path("-"), error) from error


# ---- Markdown -----------------------------------------------------------------------------


def export_reading(
    home: Path, out: Path | IO[str], at: datetime, on_record: Progress | None = None
) -> Exported:
    """Write the memories as one document for people; what is hidden is left out.

    :raises HomeUnavailable: if ``out`` cannot be written.
    """
    with moment(home) as now:
        memories = now.graph.memories.list()
        sources = {source.id: source for source in now.sources()}
        lines = reading.document(memories, sources, now.graph.subclasses(), at)
        with _whole_file(out) as file:
            file.writelines(lines)
    if on_record:
        on_record(len(memories), len(memories))
    return Exported("markdown", {"memory": len(memories)}, 1, None)


def export_markdown(
    home: Path, out: Path | IO[str], at: datetime, on_record: Progress | None = None
) -> Exported:
    """Write every memory as a document; the sources they were read from and own subclasses too.

    A path that ends in ``.md`` gets all in one file, any other is a folder with a file a memory,
    in folders by type and subclass. History (the journal) and chat are in JSONL only.

    :raises HomeUnavailable: if ``out`` cannot be written.
    """
    folder = None
    if isinstance(out, Path) and out.suffix.lower() not in (".md", ".markdown"):
        folder = out
    counts: Counter[str] = Counter({"subclass": 0, "source": 0, "memory": 0})
    with moment(home) as now:
        total = _total(now)

        def documents() -> Iterator[tuple[str, str]]:
            for number, value in enumerate(_told(now), 1):
                counts[NAMES[type(value)]] += 1
                if on_record and number % 100 == 0:
                    on_record(number, max(total, number))
                yield _place(value), as_document(value)

        if folder is None:
            with _whole_file(out) as file:
                for _, text in documents():
                    file.write(text)
        else:
            _write_folder(folder, documents())
    files = 1 if folder is None else sum(counts.values())
    return Exported("notes", dict(counts), files, None)


def export_graphml(
    home: Path, out: Path | IO[str], at: datetime, on_record: Progress | None = None
) -> Exported:
    """Write people and things as nodes and the relations of memories as edges.

    Forgotten memories, and those without a relation, are not in it.

    :raises HomeUnavailable: if ``out`` cannot be written.
    """
    with moment(home) as now:
        memories = now.graph.memories.list(Status.CURRENT, Status.REPLACED)
    graph = graphml.graph_of(memories)
    with _whole_file(out) as file:
        file.writelines(graphml.lines(graph))
    counts = {"entity": len(graph), "relation": graph.number_of_edges()}
    return Exported("graphml", counts, 1, None)


def _told(now: HomeSnapshot) -> Iterator[Memory | Source | Subclass]:
    # Memories first: they are what a person opens the file for.
    yield from now.graph.memories.each()
    yield from now.sources()
    yield from now.graph.subclasses(everything=True)


def as_document(value: Memory | Source | Subclass) -> str:
    """One Markdown document: the text of a memory or source is its body."""
    fields = to_document(value)
    body = str(fields.pop("text", ""))
    return markdown.write(fields, body)


def _place(value: Memory | Source | Subclass) -> str:
    match value:
        case Memory():
            return f"{value.subclass.replace('.', '/')}/{value.id}.md"
        case Source():
            return f"sources/{value.id}.md"
        case Subclass():
            return f"subclasses/{value.id}.md"


def _write_folder(out: Path, documents: Iterator[tuple[str, str]]) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HomeUnavailable(f"{out} already exists. Choose another --output, or remove it.")
    scratch = out.with_name(f".{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        scratch.mkdir(mode=0o700)
        for name, text in documents:
            # A subclass of the person's own may be named as it likes; a path may not.
            path = scratch.joinpath(*(_safe(part) for part in name.split("/")))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _private(path) as file:
                file.write(text)
        if out.exists():
            out.rmdir()
        scratch.rename(out)
    except OSError as error:
        raise _cannot_write(out, error) from error
    finally:
        if scratch.exists():
            import shutil

            shutil.rmtree(scratch, ignore_errors=True)


def _safe(part: str) -> str:
    clean = "".join(c if c.isalnum() or c in "-_." else "_" for c in part)
    return clean.lstrip(".")[:100] or "_"


@contextmanager
def _whole_file(out: Path | IO[str]) -> Iterator[IO[str]]:
    """A text file that is there whole or not at all, readable by its owner alone; or a stream."""
    if not isinstance(out, Path):
        yield out
        return
    try:
        with whole_file(out) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            yield text
            text.detach()  # what is written is flushed; the file is closed by whoever opened it
    except OSError as error:
        raise _cannot_write(out, error) from error


def _private(path: Path) -> IO[str]:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8", newline="")


def _cannot_write(path: Path, error: OSError) -> HomeUnavailable:
    reason = error.strerror or str(error)
    if isinstance(error, BrokenPipeError):
        raise error  # the reader of our output went away, as `| head` does
    return HomeUnavailable(f"Cannot write {path}: {reason}. Choose another --output.")
