"""Ingest of files: ``plan_changes`` plans, ``ingest_into`` executes.

Each file ends in one transaction of its own, so an interrupted run loses at most the file it was
at, and the next run takes up exactly what is missing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agent.errors import UnreadableSource
from agent.io.ignore_rules import FoundFile, Ignore
from agent.io.sources import calendars, contacts, notes, screenshots
from agent.io.sources.documents.read import (
    MAIL_SUFFIXES,
    MAX_BYTES,
    SUFFIXES,
    missing_reader,
    read_document,
)
from agent.io.sources.structured import Reader, remember_typed
from agent.io.transfer.formats.reading import TITLE
from agent.language.redaction import Redacted, redact, what_is_gone
from agent.memory.home import Home, Models
from agent.memory.remember import remember_as_said, remember_source
from agent.models.timing import Stopwatch
from agent.results import FileReport, FileStatus, Remembered
from store.errors import MemlaneError, StoreError
from store.graph import MemoryGraph
from store.maintenance.batch_undo import taken_back
from store.types import Source, SourceKind, SourceStatus, TextBox

DAY = 86_400
"""Seconds."""
MAX_NOTE_BYTES = 1_000_000
"""A larger text is no note: extracting it would take this model the better part of an hour."""
MAX_PICTURE_BYTES = 50_000_000
MAX_TYPED_BYTES = 50_000_000
OWN_EXPORT = (b"---\nkind: memory\n", b"---\nkind: source\n", b"---\nkind: subclass\n")
"""How the Markdown of ``memlane export`` begins: memories are not made of memories again."""

TYPED: dict[SourceKind, tuple[frozenset[str], Reader]] = {
    SourceKind.CALENDAR: (calendars.SUFFIXES, calendars.read_calendar),
    SourceKind.CONTACT: (contacts.SUFFIXES, contacts.read_contacts),
}
"""Sources that need no model: their endings and readers."""
DOCUMENTS = (SourceKind.DOCUMENT, SourceKind.MAIL)
_LIMITS = {
    SourceKind.NOTE: MAX_NOTE_BYTES,
    **dict.fromkeys(TYPED, MAX_TYPED_BYTES),
    **dict.fromkeys(DOCUMENTS, MAX_BYTES),
}


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file as it stands against the store; ``data`` is there when it has to be read."""

    path: Path
    status: FileStatus
    kind: SourceKind | None = None
    digest: str | None = None
    data: bytes | None = None
    reason: str | None = None
    known: Source | None = None


def plan_change(path: Path, graph: MemoryGraph, kind: SourceKind | None = None) -> FileChange:
    """Compare one file with what the store has of it. Reads the file; writes nothing.

    ``kind`` says what it is where its ending does not.
    """
    kind = kind or kind_of(path)
    try:
        if path.is_dir():
            return FileChange(path, "failed", reason="no permission to read this folder")
        if kind is None:
            if not path.exists():
                raise FileNotFoundError
            wanted = (
                "notes (.md .txt), screenshots (.png .jpg .jpeg .webp), documents (.pdf .docx "
                ".epub .html), mail (.eml .mbox), calendars (.ics) and contacts (.vcf)"
            )
            return FileChange(path, "skipped", reason=f"memlane reads {wanted}")
        if kind in DOCUMENTS and (missing := missing_reader(path)):
            return FileChange(path, "skipped", kind, reason=missing)
        limit = _LIMITS.get(kind, MAX_PICTURE_BYTES)
        if (size := path.stat().st_size) > limit:
            reason = f"{size:,} bytes; at most {limit:,} are read: split it into smaller files"
            return FileChange(path, "skipped", kind, reason=reason)
        data = path.read_bytes()
    except FileNotFoundError:
        return FileChange(path, "failed", kind, reason="there is no such file")
    except OSError as error:
        return FileChange(path, "failed", kind, reason=error.strerror or str(error))
    if kind is SourceKind.NOTE and data.startswith(OWN_EXPORT):
        reason = f"an export of memlane: memlane import {path}"
        return FileChange(path, "skipped", kind, reason=reason)
    if kind is SourceKind.NOTE and data.startswith(TITLE.encode()):
        return FileChange(path, "skipped", kind, reason="memlane wrote it from your memories")
    digest = hashlib.sha256(data).hexdigest()
    known = graph.sources.latest_from(locator_of(path))
    if known is None:
        return FileChange(path, "new", kind, digest, data)
    if known.content_hash != digest:
        return FileChange(path, "changed", kind, digest, data)
    if known.status is not SourceStatus.EXTRACTED:
        return FileChange(path, "new", kind, digest, data, known=known)
    # What the person took back does not come again by itself: a folder is ingested many times.
    if undo := taken_back(graph.journal, known.id):
        reason = f"undone by {undo.id}: memlane memories undo {undo.id} --batch"
        return FileChange(path, "unchanged", kind, digest, data, reason=reason, known=known)
    return FileChange(path, "unchanged", kind, digest, data, known=known)


def kind_of(path: Path) -> SourceKind | None:
    """What a file is by its ending; None for what memlane does not read."""
    suffix = path.suffix.lower()
    if suffix in notes.SUFFIXES:
        return SourceKind.NOTE
    if suffix in screenshots.SUFFIXES:
        return SourceKind.SCREENSHOT
    if suffix in SUFFIXES:
        return SourceKind.DOCUMENT
    if suffix in MAIL_SUFFIXES:
        return SourceKind.MAIL
    return next((kind for kind, (suffixes, _) in TYPED.items() if suffix in suffixes), None)


def locator_of(path: Path) -> str:
    """The absolute path as stored: bytes that are no text kept readable, no secret in its name."""
    whole = path.absolute()
    name = redact(whole.stem).text
    if name != whole.stem:
        # Files that differ in their secrets stay two; eight bits of a sum tell nobody a secret.
        mark = hashlib.blake2b(os.fsencode(whole.name), digest_size=1).hexdigest()
        whole = whole.with_name(f"{name} {mark}{whole.suffix}")
    return os.fsencode(whole).decode("utf-8", "backslashreplace")


def find(home: Home, paths: Sequence[Path]) -> Iterator[FoundFile]:
    """The files that would be looked at, and those that the home's rules leave aside."""
    return Ignore(home.config.ignore, home.config.root).find(paths)


def newest_first(found: Iterable[FoundFile]) -> list[FoundFile]:
    """Files in the order of reading: what was changed last, and of one day the smallest."""

    def order(file: FoundFile) -> tuple[float, int]:
        try:
            stat = file.path.stat()
        except OSError:
            return 0.0, 0  # nothing to be read: told at once
        return -(stat.st_mtime // DAY), stat.st_size

    return sorted(found, key=order)


def ingest_into(
    home: Home,
    paths: Sequence[Path],
    on_file: Callable[[int, Path], None] | None = None,
    *,
    found: Iterable[FoundFile] | None = None,
    kind: SourceKind | None = None,
) -> Iterator[FileReport]:
    """Take files into a home one by one with its settings, reporting each as it is done.

    ``found`` are the files of ``paths`` where somebody has looked already; ``kind`` says what they
    are where their endings do not.

    Dates in a file resolve against the time it was last changed (with a fixed clock against that).
    A file that cannot be read is reported and does not stop the others; an unusable store does.
    What is new or changed belongs to one run, which ``undo`` can take back as a whole.
    """
    graph, now = home.graph, home.config.now
    run: str | None = None
    for number, file in enumerate(find(home, paths) if found is None else found):
        path = file.path
        if on_file:
            on_file(number, path)
        if file.skipped is not None:
            yield FileReport(str(path), "skipped", reason=file.skipped)
            continue
        clock = Stopwatch()
        with clock.measure("read"):
            change = plan_change(path, graph, kind)
        if change.status in ("skipped", "failed", "unchanged"):
            source = change.known.id if change.known else None
            report = FileReport(str(path), change.status, 0, change.reason, source)
            yield replace(report, timing_ms=clock.total())
            continue
        run = run or graph.runs.start(now(), _common(paths))
        report = _ingest_file(change, home, run, clock)
        yield replace(report, run=run, timing_ms=clock.total())


def _common(paths: Sequence[Path]) -> str:
    """What a run was of: the file, or the folder that all files are in."""
    return os.path.commonpath([locator_of(path) for path in paths])


def _ingest_file(change: FileChange, home: Home, run: str, clock: Stopwatch) -> FileReport:
    path, stored, graph, config = change.path, change.known, home.graph, home.config
    now = config.now()
    try:
        if stored is None:
            captured = now if config.fixed_now is not None else _changed_at(path, now)
            assert change.data is not None and change.kind is not None
            with clock.measure("read"):
                scratch = graph.path.parent
                text, layout = _text_of(path, change.data, change.kind, home, scratch)
                # Entries of programs are known by their random names: exact code alone reads them.
                reader = None if change.kind in TYPED else home.secrets
                clean = Redacted(text, ()) if config.keep_secrets else redact(text, reader=reader)
            with clock.measure("store"), graph.writing():
                stored = graph.sources.add(
                    change.kind,
                    clean.text,
                    captured,
                    locator=locator_of(path),
                    digest=change.digest,
                    layout=[replace(box, span=clean.moved_span(box.span)) for box in layout],
                )
                graph.runs.add(run, stored.id)
        else:
            graph.runs.add(run, stored.id)
        with clock.measure("remember"):
            done, problems = _remember(stored, graph, home, now)
    except StoreError:
        raise
    except MemlaneError as error:
        return FileReport(
            str(path), "failed", 0, str(error), stored.id if stored is not None else None
        )
    return FileReport(
        str(path),
        change.status,
        sum(1 for entry in done.entries if entry.after is not None),
        _reason(done, problems),
        stored.id,
        done.entries,
    )


def _remember(
    source: Source, graph: MemoryGraph, models: Models, now: datetime
) -> tuple[Remembered, tuple[str, ...]]:
    """Take a stored source all the way; also gives a line for each entry that is unreadable."""
    if source.kind in TYPED:
        return remember_typed(source, TYPED[source.kind][1], graph, now)
    if source.kind is SourceKind.MANUAL:
        return remember_as_said(source, graph, models, now), ()
    return remember_source(source, graph, models, now), ()


def _reason(done: Remembered, problems: Sequence[str]) -> str | None:
    gone = what_is_gone(done.source.text)
    if problems:
        more = f" (and {len(problems) - 1} more such entries)" if len(problems) > 1 else ""
        return f"not read: {problems[0]}{more}" + f" {gone}" * bool(gone)
    return gone or (None if done.entries or done.unchanged else "nothing in it to remember")


def _text_of(
    path: Path, data: bytes, kind: SourceKind, models: Models, scratch: Path
) -> tuple[str, Sequence[TextBox]]:
    """The text of a file, and where on a picture it stands."""
    if kind in DOCUMENTS:
        return read_document(path, data, kind, models.reader, scratch), ()
    if kind is SourceKind.NOTE:
        return notes.read_note(path, data), ()
    if kind in TYPED:
        # Lines that were folded for their length (RFC 5545 3.1) could part a secret.
        return re.sub(r"\r?\n[ \t]", "", notes.read_note(path, data)), ()
    try:
        return screenshots.read_screenshot(path, models.reader)
    except FileNotFoundError as error:
        raise UnreadableSource(f"{path} vanished while it was read.") from error


def _changed_at(path: Path, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(int(path.stat().st_mtime), tz=now.tzinfo)
    except (OSError, OverflowError, ValueError):
        return now


def retry(
    graph: MemoryGraph,
    models: Models,
    now: datetime,
    tells: Callable[[str], bool],
    only: Collection[str] | None = None,
) -> Iterator[FileReport]:
    """Take up every source (or ``only`` those) whose extraction failed or was interrupted.

    ``tells`` says whether a chat message tells something; a question that was kept when a model
    was missing gives no memories.
    """
    for source in graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED):
        if only is not None and source.id not in only:
            continue
        name = source.locator or f"{source.kind} {source.id}"
        clock = Stopwatch()
        try:
            if source.kind is SourceKind.CHAT and not tells(source.text):
                graph.sources.mark(source.id, SourceStatus.EXTRACTED)
                yield FileReport(name, "new", 0, "nothing in it to remember", source.id)
                continue
            with clock.measure("remember"):
                done, problems = _remember(source, graph, models, now)
        except StoreError:
            raise
        except MemlaneError as error:
            yield FileReport(name, "failed", 0, str(error), source.id)
            continue
        made = sum(1 for entry in done.entries if entry.after is not None)
        reason = _reason(done, problems) if problems else None
        report = FileReport(name, "new", made, reason, source.id, done.entries)
        yield replace(report, timing_ms=clock.total())
