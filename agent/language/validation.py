"""Validation of messages before anything is stored."""

from __future__ import annotations

from store.errors import InvalidInput

MAX_MESSAGE = 20_000
"""Characters of one message; a longer text is a file to ingest."""


def checked_message(text: str) -> str:
    """:raises InvalidInput: if there is no text in it, or too much for a message."""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").strip()
    if not clean:
        raise InvalidInput("The text is empty: say something, or see memlane --help.")
    if len(clean) > MAX_MESSAGE:
        raise InvalidInput(
            f"The text has {len(clean):,} characters; a message may have {MAX_MESSAGE:,}. "
            "Save it as a .txt file and run: memlane ingest FILE"
        )
    return clean
