"""Validation of messages, times and counts before anything is made of them."""

from __future__ import annotations

from datetime import datetime

from store.errors import InvalidInput

MAX_MESSAGE = 20_000
"""Characters of one message; a longer text is a file to ingest."""


YEARS = range(1000, 9001)
"""Beyond them a day before or a zone further the calendar ends."""
MAX_K = 10_000
"""Memories for one question: more than a home is asked for, and than fits any prompt."""


def checked_time(moment: datetime) -> datetime:
    """:raises InvalidInput: if it is too far away to be reckoned with."""
    if moment.year not in YEARS:
        raise InvalidInput(
            f"The year {moment.year} is out of range; use one from {YEARS[0]} to {YEARS[-1]}."
        )
    return moment


def checked_k(k: int) -> int:
    """:raises InvalidInput: if it is no number of memories to choose."""
    if not 0 < k <= MAX_K:
        raise InvalidInput(f"k must be at least 1 and at most {MAX_K:,}, not {k}.")
    return k


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
