"""Redaction of secrets before storage (docs/ingest.md).

A secret opens something by itself: a card number, a bank account, a key, a password, a one-time
code, a token. What merely names something (a passport, a booking, a phone) is none: forms need it.
Pure: text in, text out; no model. Invariants: what is redacted is in no field of the result; doing
it twice changes nothing; it takes time linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent.language.redaction.api_keys import blocks, seeds, tokens
from agent.language.redaction.card_numbers import cards, ibans
from agent.language.redaction.identity_numbers import identity_numbers
from agent.language.redaction.one_time_codes import one_time, security_codes
from agent.language.redaction.passwords import passwords, pins
from agent.language.redaction.random_strings import random_strings
from store.types import Span


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    kinds: tuple[str, ...]
    """What each of them was, in the order of the text: 'card number', 'password', ..."""
    cuts: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each in the old text, and the length of what stands there now."""

    def moved(self, position: int) -> int:
        """Where a position of the old text is now; one inside a secret goes to its start."""
        index = bisect_right(self.cuts, position, key=lambda cut: cut[0])
        shift = sum(length - (end - start) for start, end, length in self.cuts[:index])
        if index:
            start, end, length = self.cuts[index - 1]
            if start <= position < end:
                return start + shift - (length - (end - start))
        return position + shift

    def moved_span(self, span: Span) -> Span:
        """Where a stretch of the old text is now; a stretch that was a secret has its mark."""
        end = self.moved(span.end)
        for first, last, length in self.cuts:
            if first < span.end < last:
                end += length
        return Span(self.moved(span.start), end)


def what_is_gone(text: str) -> str:
    """One line for the person about the marks in a text; empty where nothing was taken out."""
    counts = Counter(_MARK.findall(text))
    names = [kind if n == 1 else f"{n} {kind}s" for kind, n in counts.items()]
    return f"Not stored: {', '.join(names)}." if names else ""


def with_gaps(text: str) -> str:
    """An answer; where a secret is missing in it, with a line on why and how to keep one."""
    if not _MARK.search(text):
        return text
    return (
        f"{text}\nmemlane took that out before it stored what you told. To keep such a text whole: "
        "memlane remember --keep-secrets TEXT"
    )


def redact(text: str, kept: str = "") -> Redacted:
    """The text with ``[KIND redacted]`` in place of every secret that is found.

    What stands in ``kept`` too stays: an edit does not take what was kept on purpose.
    """
    found: list[tuple[int, int, str]] = []
    for kind, search in _SEARCHES:
        found += [
            (start, end, kind)
            for start, end in search(text)
            if not kept or text[start:end] not in kept
        ]
    found.sort(key=lambda span: (span[0], -span[1]))
    pieces: list[str] = []
    kinds: list[str] = []
    cuts: list[tuple[int, int, int]] = []
    at = 0
    for start, end, kind in found:
        if start < at:
            if end > at and cuts:  # two that overlap: both go
                first, _, length = cuts[-1]
                cuts[-1] = (first, end, length)
                at = end
            continue
        mark = f"[{kind} redacted]"
        pieces += [text[at:start], mark]
        kinds.append(kind)
        cuts.append((start, end, len(mark)))
        at = end
    if not kinds:
        return Redacted(text, ())
    return Redacted("".join([*pieces, text[at:]]), tuple(kinds), tuple(cuts))


_SEARCHES: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("private key", blocks),
    ("card number", cards),
    ("bank account", ibans),
    ("identity number", identity_numbers),
    ("card security code", security_codes),
    ("access token", tokens),
    ("access token", random_strings),
    ("recovery phrase", seeds),
    ("password", passwords),
    ("PIN", pins),
    ("one-time code", one_time),
)

_MARK = re.compile(rf"\[({'|'.join(dict.fromkeys(kind for kind, _ in _SEARCHES))}) redacted\]")
