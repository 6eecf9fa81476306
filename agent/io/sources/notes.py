"""Notes: Markdown and plain text files."""

from __future__ import annotations

from pathlib import Path

from agent.errors import UnreadableSource

SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text"})


def read_note(path: Path, data: bytes) -> str:
    """The text of a note. UTF-8, with or without mark; else what its bytes can mean as text.

    :raises UnreadableSource: if the file is empty or holds no text.
    """
    if not data.strip():
        raise UnreadableSource(f"{path} is empty.")
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    if b"\x00" in data[:4096]:
        raise UnreadableSource(f"{path} is not a text file.")
    # Every byte means something in Latin-1, so a stray byte costs one letter and not the note.
    return data.decode("latin-1")
