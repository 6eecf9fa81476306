"""Redaction of secrets before storage (docs/ingest.md).

A secret opens something by itself: a card number, a bank account, a key, a password, a one-time
code, a token. What merely names something (a passport, a booking, a phone) is none: forms need it.
What has a form of its own (a card number, a key of a service) is found by exact code; the rest by
labels and by the secret reader, where there is one. Invariants: what is redacted is in no field of
the result; it takes time linear in the text; without the reader, doing it twice changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stdnum import imei, luhn

from agent.language.redaction.api_keys import blocks, seeds, tokens
from agent.language.redaction.card_numbers import cards, ibans
from agent.language.redaction.identity_numbers import identity_numbers
from agent.language.redaction.one_time_codes import one_time, security_codes
from agent.language.redaction.passwords import passwords, pins
from agent.language.redaction.random_strings import random_strings
from agent.ports import SecretReader
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


def redact(text: str, kept: str = "", reader: SecretReader | None = None) -> Redacted:
    """The text with ``[KIND redacted]`` in place of every secret that is found.

    What stands in ``kept`` too stays: an edit does not take what was kept on purpose. ``reader``
    finds those that only the words around them show, and has a say in what a label calls one:
    'PASSWORD! she was thrilled' tells none.
    """
    read = None if reader is None else reader.secrets(text)
    found = [
        (start, end, kind)
        for kind, search in _SEARCHES
        for start, end in search(text)
        if read is None or search not in _BY_LABEL or _touches(read.perhaps, start, end)
    ]
    if read is not None:
        marks = [mark.span() for mark in _MARK.finditer(text)]
        found += [
            (start, end, kind)
            for start, end, kind in read.sure
            if not _touches(marks, start, end) and _can_be(kind, text[start:end])
        ]
    if kept:
        found = [secret for secret in found if text[secret[0] : secret[1]] not in kept]
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


def _touches(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch shares something with one of the spans, which are in order."""
    before = bisect_right(spans, start, key=lambda span: span[0])
    near = spans[max(0, before - 1) : before + 1]
    return any(first < end and last > start for first, last in near)


def _can_be(kind: str, value: str) -> bool:
    """Whether a number is right as what the words around it say."""
    digits = "".join(sign for sign in value if sign.isdigit())
    if kind == "card number":
        return bool(luhn.is_valid(digits))
    return kind != "identity number" or not imei.is_valid(digits)


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
_BY_LABEL = (passwords, pins, one_time)
"""Searches that go by what a value is called. Alone they touch most of the harmless texts that are
touched (``benchmarks.secrets``, ``false_people_rules``), and the reader sees that."""

_MARK = re.compile(rf"\[({'|'.join(dict.fromkeys(kind for kind, _ in _SEARCHES))}) redacted\]")
