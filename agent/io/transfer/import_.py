"""Import of a file, with the format detected from its content.

An export goes into an empty home as it was, and is merged into one that has memories. A dry run
does the very same to a copy of the home and throws that away, so it changes nothing, holds no lock
and tells exactly what would happen.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.errors import UnreadableSource
from agent.io.transfer.formats.agent_transcripts import read_transcripts
from agent.io.transfer.formats.chat_exports import read_turns, store_turns
from agent.io.transfer.formats.mcp_memory import Place, import_mcp
from agent.io.transfer.merge import Merge
from agent.io.transfer.read import (
    FORMATS,
    TRANSCRIPTS,
    Bytes,
    Manifest,
    detect_format,
    read_jsonl,
    read_markdown,
)
from agent.io.transfer.rebuild import rebuild
from agent.io.transfer.records import KINDS
from agent.io.transfer.report import Tally
from agent.language.redaction import redact
from agent.ports import SecretReader
from store.database.connection import DATABASE_NAME, ensure_home, is_encrypted
from store.database.encryption.envelope import envelope_of, write_envelope
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.maintenance.backup import Rebuild, copy_database
from store.maintenance.left_overs import scratch_folder


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import."""

    path: Path
    format: str
    mode: str
    """``restored`` into an empty home, ``merged`` into one with memories, ``stored`` raw."""
    dry_run: bool
    tally: Tally
    run: str | None = None
    """By which all of it can be undone."""
    waiting: tuple[str, ...] = ()
    """Sources that are stored and not extracted yet."""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything that the file held, or should have held, has been taken in."""
        return not self.tally.rejected_count and not self.tally.new["missing"]


def checked_format(path: Path, form: str | None) -> str:
    """:raises InvalidInput: if ``form`` is none of ``FORMATS``. Detects it where it is None."""
    if not path.exists():
        raise UnreadableSource(f"There is no {path}.")
    if form is None:
        return detect_format(path)
    form = {"md": "markdown"}.get(form, form)
    if form not in FORMATS:
        raise InvalidInput(f"--format is one of {', '.join(FORMATS)}, not {form!r}.")
    return form


def import_file(
    path: Path,
    form: str,
    home: Path,
    at: datetime,
    place: Place,
    *,
    dry_run: bool = False,
    on_bytes: Bytes | None = None,
    keep_secrets: bool = False,
    secrets: SecretReader | None = None,
    rejected: Path | None = None,
) -> Imported:
    """Take in a file of ``form`` (not ics or vcf: those are ingested).

    Lines that cannot be read are kept in ``rejected``, by default beside the file.

    Secrets in what other programs wrote are taken out; memlane's own export comes back as it was.

    :raises MemlaneError: if the file cannot be opened or the home not be written.
    """

    def clean(text: str) -> str:
        return text if keep_secrets else redact(text, reader=secrets).text

    with home_to_use(home, dry_run) as used:
        kept = rejected or _beside(path, home)
        # In an encrypted home they would lie in plain; they stand in the file itself.
        plain = kept.parent == home and is_encrypted(home)
        tally = Tally(keep=None if dry_run or plain else kept)
        target = Rebuild(used)
        try:
            if form in ("chatgpt", "claude", *TRANSCRIPTS):
                read = read_transcripts if form in TRANSCRIPTS else read_turns
                turns = read(path, form, at)
                run, waiting = store_turns(turns, target.graph, tally, at, str(path), clean)
                return Imported(path, form, "stored", dry_run, tally, run, tuple(waiting))
            if form == "mcp":
                merge = Merge(target, tally, at, str(path.absolute()), f"Import of {path.name}.")
                import_mcp(path, merge, tally, at, place, clean)
                merge.finish()
                return Imported(path, form, "merged", dry_run, tally, merge.run)
            return _import_export(path, form, target, tally, at, dry_run, on_bytes)
        except BaseException:
            tally.forget_kept()
            raise
        finally:
            target.close()


def _import_export(
    path: Path,
    form: str,
    target: Rebuild,
    tally: Tally,
    at: datetime,
    dry_run: bool,
    on_bytes: Bytes | None,
) -> Imported:
    manifest = Manifest()
    items = (
        read_jsonl(path, manifest, on_bytes) if form == "jsonl" else read_markdown(path, on_bytes)
    )
    if target.is_empty():
        rebuild(target, items, manifest, tally, at)
        return Imported(path, form, "restored", dry_run, tally, warnings=_told(manifest, tally))
    merge = Merge(target, tally, at, str(path.absolute()), f"Import of {path.name}.")
    merge.take(items)
    merge.finish()
    return Imported(
        path, form, "merged", dry_run, tally, merge.run, warnings=_told(manifest, tally)
    )


def _told(manifest: Manifest, tally: Tally) -> tuple[str, ...]:
    """What the manifest says against the file."""
    warnings = []
    taken = {kind: tally.new[kind] + tally.unchanged[kind] + tally.left[kind] for kind in KINDS}
    missing = sum(max(0, manifest.counts.get(kind, 0) - taken[kind]) for kind in KINDS)
    missing -= tally.rejected_count
    if missing > 0:
        tally.new["missing"] = missing
        warnings.append(
            f"{missing:,} of the {sum(manifest.counts.values()):,} lines that were exported are "
            "missing: the file is truncated"
        )
    elif manifest.altered and not tally.rejected_count:
        warnings.append("the file has been changed since it was exported (its SHA-256 differs)")
    return tuple(warnings + tally.warnings)


def _beside(path: Path, home: Path) -> Path:
    """Where rejected lines go: beside the file, or into the home where nothing can be written."""
    if not path.name:  # `.`
        path = path.absolute()
    beside = path.parent / f"{path.name}.rejected"
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return beside
    except OSError:
        return home / beside.name


@contextmanager
def home_to_use(home: Path, dry_run: bool) -> Iterator[Path]:
    """The home, opened once so that it is there; or a copy of it that is thrown away."""
    if not dry_run:
        MemoryGraph.open(home).close()
        yield home
        return
    was_there = home.exists()
    try:
        with scratch_folder(ensure_home(home)) as scratch:
            if (home / DATABASE_NAME).exists():
                if envelope := envelope_of(home / DATABASE_NAME):
                    write_envelope(scratch / DATABASE_NAME, envelope)
                copy_database(home / DATABASE_NAME, scratch / DATABASE_NAME)
            MemoryGraph.open(scratch).close()
            yield scratch
    finally:
        if not was_there:
            with suppress(OSError):  # somebody has put something there since
                home.rmdir()
