"""Streaming reader of import files, with format detection.

Nothing but the line at hand is kept in memory. A line that cannot be read becomes ``Rejected`` and
the next one is read.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from agent.errors import UnreadableSource
from agent.io.transfer.formats import markdown
from agent.io.transfer.records import HEAD, VERSION, Record, Rejected, from_document, from_line
from store.erasure.fingerprints import ZIP_ERRORS
from store.errors import InvalidInput, NewerStore
from store.journal import checked_text

FORMATS = (
    "jsonl", "markdown", "mcp", "chatgpt", "claude", "claude-code", "codex", "gemini-cli", "ics",
    "vcf",
)  # fmt: skip
TRANSCRIPTS = {
    "claude-code": "*.jsonl",
    "codex": "rollout-*.jsonl",
    "gemini-cli": "session-*.json*",
}
"""Those that are transcripts of coding agents, with the names that such files have."""
MAX_LINE = 64_000_000
"""Bytes of one line; a longer one is rejected instead of filling the memory."""
Bytes = Callable[[int], None]
"""Called with the bytes read so far."""


@dataclass(slots=True)
class Manifest:
    """What an export says of itself, and what reading it found."""

    counts: dict[str, int] = field(default_factory=dict)
    last_ids: dict[str, int] = field(default_factory=dict)
    sha256: str | None = None
    found_sha256: str | None = None
    """Of what was read; None until the end."""

    @property
    def altered(self) -> bool:
        """Whether the file is not what was exported."""
        return self.sha256 is not None and self.found_sha256 not in (None, self.sha256)


def detect_format(path: Path) -> str:
    """Which of ``FORMATS`` a file, folder or zip is, by its content.

    :raises UnreadableSource: if it is none of them, empty or not there.
    """
    try:
        if path.is_dir():
            if (path / "conversations.json").exists():
                return detect_format(path / "conversations.json")
            # Before notes: an agent keeps Markdown of its own beside its transcripts.
            for one in chain.from_iterable(map(path.rglob, TRANSCRIPTS.values())):
                with suppress(UnreadableSource):
                    if (form := detect_format(one)) in TRANSCRIPTS:
                        return form
            if next(path.rglob("*.md"), None):
                return "markdown"
            raise UnreadableSource(
                f"{path} contains no Markdown, no conversations.json and no transcripts."
            )
        with conversations_file(path) if zipfile.is_zipfile(path) else path.open("rb") as file:
            start = file.read(200_000)
    except OSError as error:
        raise unreadable(path, error) from error
    found = _by_start(start)
    if found is None:
        what = "is empty" if not start.strip() else "is none of them"
        raise UnreadableSource(
            f"memlane imports {', '.join(FORMATS)}; {path} {what}. Say what it is with --format."
        )
    return found


def unreadable(path: Path, error: OSError) -> UnreadableSource:
    return UnreadableSource(f"Cannot read {path}: {error.strerror or error}.")


def _by_start(start: bytes) -> str | None:
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    upper = text[:40].upper()
    if upper.startswith("BEGIN:VCALENDAR"):
        return "ics"
    if upper.startswith("BEGIN:VCARD"):
        return "vcf"
    if text.startswith("---"):
        return "markdown"
    if text.startswith("["):
        # The field names of the two exports; neither has the other's.
        places = {name: text.find(f'"{name}"') for name in ("mapping", "chat_messages")}
        found = [name for name, place in places.items() if place >= 0]
        if found:
            first = min(found, key=lambda name: places[name])
            return "chatgpt" if first == "mapping" else "claude"
        return None
    if '"sessionId"' in text[:1000] and '"projectHash"' in text[:1000]:
        return "gemini-cli"  # also over several lines
    # A broken line among many must not hide what the others are.
    for line in text.splitlines()[:50]:
        try:
            document = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(document, dict):
            if "kind" in document:
                return "jsonl"
            if document.get("type") in ("entity", "relation"):
                return "mcp"
            if "entities" in document or "relations" in document:
                return "mcp"
            if document.get("type") == "session_meta" and "payload" in document:
                return "codex"
            if "sessionId" in document and "type" in document:
                return "claude-code"
    return None


def conversations_file(path: Path) -> IO[bytes]:
    """The conversations.json inside a zip.

    :raises UnreadableSource: if the zip is broken or holds none.
    """
    try:
        archive = zipfile.ZipFile(path)
        names = [name for name in archive.namelist() if name.endswith("conversations.json")]
        if not names:
            raise UnreadableSource(f"{path} contains no conversations.json.")
        return archive.open(min(names, key=len))
    except ZIP_ERRORS as error:
        raise UnreadableSource(f"{path} is not a complete zip file ({error}).") from error


# ---- our own JSONL ------------------------------------------------------------------------


def read_jsonl(
    path: Path, manifest: Manifest, on_bytes: Bytes | None = None
) -> Iterator[Record | Rejected]:
    """The records of an export; ``manifest`` is filled in on the way.

    :raises NewerStore: if a newer memlane wrote the file.
    :raises UnreadableSource: if the file cannot be opened.
    """
    digest = hashlib.sha256()
    for number, raw in numbered_lines(path, on_bytes):
        if isinstance(raw, Rejected):
            yield raw
            continue
        head = _head(raw) if number == 1 else None
        if head is not None:
            _fill(manifest, head, path)
            continue
        digest.update(raw)
        text = raw.decode("utf-8", "surrogateescape").rstrip("\r\n")
        if not text.strip():
            continue
        try:
            raw.decode()
            yield Record(number, from_line(text.removeprefix("\ufeff")), text)
        except UnicodeDecodeError as error:
            yield Rejected(number, f"not UTF-8 at byte {error.start + 1}", text)
        except ValueError as error:
            yield Rejected(number, str(error), text)
    manifest.found_sha256 = digest.hexdigest()


def numbered_lines(
    path: Path, on_bytes: Bytes | None = None
) -> Iterator[tuple[int, bytes | Rejected]]:
    """Lines with their numbers from 1; one that is too long comes as ``Rejected``."""
    try:
        with path.open("rb") as file:
            number = done = 0
            while line := file.readline(MAX_LINE):
                number += 1
                done += len(line)
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                        done += len(rest)
                    yield number, Rejected(number, f"longer than {MAX_LINE:,} bytes", "")
                    continue
                if on_bytes and number % 200 == 0:
                    on_bytes(done)
                yield number, line
    except OSError as error:
        raise unreadable(path, error) from error


def _head(line: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and document.get("kind") == HEAD:
        return document
    return None


def _fill(manifest: Manifest, head: dict[str, Any], path: Path) -> None:
    number = head.get("version")
    if not isinstance(number, int) or number > VERSION:
        raise NewerStore(
            f"{path} has version {number!r} of the export format, this memlane reads up to "
            f"{VERSION}. Upgrade memlane."
        )
    manifest.sha256 = head.get("sha256") if isinstance(head.get("sha256"), str) else None
    for name in ("counts", "last_ids"):
        given = head.get(name)
        if isinstance(given, dict):
            numbers = {str(k): v for k, v in given.items() if type(v) is int and v >= 0}
            setattr(manifest, name, numbers)


# ---- Markdown -----------------------------------------------------------------------------


def read_markdown(path: Path, on_bytes: Bytes | None = None) -> Iterator[Record | Rejected]:
    """The documents of a Markdown file or of all below a folder, what is referred to first."""
    # Three looks: a memory names its source and subclass, which may stand in a later file.
    for wanted in ("subclass", "source", "memory"):
        done = 0
        for file in markdown_files(path):
            for item in _documents(file):
                if isinstance(item, Rejected):
                    if wanted == "memory":
                        yield item
                elif item.fields.get("kind", "memory") == wanted:
                    yield _record(item, wanted)
                elif wanted == "memory" and item.fields.get("kind") not in ("subclass", "source"):
                    kind = item.fields.get("kind")
                    yield Rejected(item.line, f"kind is {kind!r:.60}, not memory", item.raw)
            done += file.stat().st_size
            if on_bytes:
                on_bytes(done)


def markdown_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*.md") if file.is_file())


def _documents(file: Path) -> Iterator[markdown.Document | Rejected]:
    try:
        with file.open(encoding="utf-8", newline="\n", errors="surrogateescape") as lines:
            for item in markdown.read(lines):
                if isinstance(item, tuple):
                    yield Rejected(item[0], f"{file.name}: {item[1]}", item[2])
                else:
                    yield item
    except OSError as error:
        raise unreadable(file, error) from error


def _record(item: markdown.Document, kind: str) -> Record | Rejected:
    document = {"kind": kind, **item.fields}
    try:
        if kind == "source":
            document["text"] = item.body
        elif kind == "memory":
            document["text"] = checked_text(item.body)
        return Record(item.line, from_document(document), item.raw)
    except (ValueError, InvalidInput) as error:
        named = document.get("id")
        return Rejected(item.line, f"{named}: {error}" if named else str(error), item.raw)


# ---- other people's JSON ------------------------------------------------------------------


def json_array(file: IO[bytes], where: Path) -> Iterator[dict[str, Any] | Rejected]:
    """The objects of one large JSON array, one at a time in memory.

    :raises UnreadableSource: if it is no array, or breaks off.
    """
    decoder = json.JSONDecoder()
    text, number, started, ended = "", 0, False, False
    stream = _decoded(file, where)
    while True:
        text = text.lstrip(" \t\r\n\ufeff" if not started else " \t\r\n,")
        if not started and text:
            if text[0] != "[":
                raise UnreadableSource(f"{where} is not a JSON list of conversations.")
            text, started = text[1:], True
            continue
        if started and text.startswith("]"):
            return
        try:
            if not text:
                raise json.JSONDecodeError("nothing there", "", 0)
            item, end = decoder.raw_decode(text)
            number += 1
            text = text[end:]
            if isinstance(item, dict):
                yield cast("dict[str, Any]", item)
            else:
                yield Rejected(number, "not a JSON object", str(item)[:200])
        except RecursionError:
            raise UnreadableSource(f"{where}: entry {number + 1} is nested too deeply.") from None
        except json.JSONDecodeError as error:
            # Half an object ends where the text does; a real error stays when there is more.
            more = "" if ended else next(stream, "")
            ended = ended or not more
            if ended:
                raise UnreadableSource(
                    f"{where} is truncated or broken in entry {number + 1} ({error.msg}); "
                    f"the {number} before it can be read."
                ) from None
            # Twice as much each time, so that a long entry is not parsed again and again.
            while len(more) < len(text) and (block := next(stream, "")):
                more += block
            text += more


def _decoded(file: IO[bytes], where: Path) -> Iterator[str]:
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        while block := file.read(1 << 20):
            yield decoder.decode(block)
        yield decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        raise UnreadableSource(f"{where} is not UTF-8 text ({error.reason}).") from error
    except ZIP_ERRORS as error:
        raise UnreadableSource(f"{where} is not a complete zip file ({error}).") from error
