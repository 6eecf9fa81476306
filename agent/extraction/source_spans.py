"""Source span and trust of each memory (docs/trust.md).

Both are found after extraction by comparing words, so they hold for whatever the model wrote: the
shortest run of sentences or lines that holds most of what the memory says. No model, no guess: a
memory that shares too little with its source has no span.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from agent.language.email_headers import NAMES
from agent.language.sentences import content, numbers, sentence_places
from store.erasure.fingerprints import occurrences
from store.types import Source, SourceKind, Span, Trust, trust_of_kind

LEAST = 0.34
"""Share of what a memory says, by weight, that its span must hold."""
WIDEST = 8
"""Most lines or sentences in a span; a labelled screen spreads one fact over several."""
PER_LINE = 0.15
"""What a further line must add to the share, so that a span stays short."""


class SourceMap:
    """A source's text, cut into sentences and lines that know their place.

    ``said`` are all sentences that were read from it: words that most of them share (the name of
    the hotel on a booking) tell little about where one of them stood.
    """

    def __init__(self, source: Source, said: Iterable[str] = ()) -> None:
        self._source = source
        self.text = source.text
        self._sentences = tuple(said)

    def locate(self, sentence: str) -> Span | None:
        """The stretch of the source that ``sentence`` was read from; None if nothing matches.

        What was typed by hand is its own evidence as a whole.
        """
        if self._source.kind is SourceKind.MANUAL:
            return _trimmed(self.text, Span(0, len(self.text)))
        if exact := next(iter(occurrences(sentence, self.text)), None):
            return _with_end(self.text, exact)
        return self._best(_terms(sentence))

    def trust(self, span: Span | None) -> Trust:
        """What may be claimed for a memory of this span: others' words are others'.

        Without a span in a text that quotes somebody, it may be theirs.
        """
        own = trust_of_kind(self._source.kind)
        if own.rank <= Trust.RELAYED.rank:
            return own
        others = self._foreign
        theirs = any(span.overlaps(other) for other in others) if span else bool(others)
        return Trust.RELAYED if theirs else own

    @cached_property
    def _said(self) -> Counter[str]:
        return Counter(term for sentence in self._sentences for term in _terms(sentence))

    @cached_property
    def _foreign(self) -> tuple[Span, ...]:
        return foreign(self.text)

    @cached_property
    def _units(self) -> tuple[tuple[Span, frozenset[str]], ...]:
        spans = (Span(start, end) for start, end in sentence_places(self.text))
        return tuple((span, _terms(span.of(self.text))) for span in spans)

    @cached_property
    def _where(self) -> dict[str, list[int]]:
        """The units that say each word."""
        where: dict[str, list[int]] = defaultdict(list)
        for number, (_, terms) in enumerate(self._units):
            for term in terms:
                where[term].append(number)
        return where

    def _best(self, wanted: frozenset[str]) -> Span | None:
        # A word that the source or its memories say often tells little about the place.
        weight = {
            term: (2.0 if any(c.isdigit() for c in term) else 1.0)
            / len(self._where[term])
            / max(1, self._said[term]) ** 2
            for term in wanted
            if term in self._where
        }
        lost = sum(0.5 / max(1, self._said[term]) ** 2 for term in wanted if term not in weight)
        total = sum(weight.values()) + lost
        starts = sorted({unit for term in weight for unit in self._where[term]})
        best: tuple[float, int, int] | None = None
        for start in starts:
            held: set[str] = set()
            for end in range(start, min(start + WIDEST, len(self._units))):
                new = (self._units[end][1] & weight.keys()) - held
                if not new:
                    continue
                held |= new
                share = sum(weight[term] for term in held) / total
                score = share - PER_LINE * (end - start)
                if share >= LEAST and (best is None or score > best[0] + 1e-9):
                    best = (score, start, end)
        if best is None:
            return None
        return Span(self._units[best[1]][0].start, self._units[best[2]][0].end)


def _terms(text: str) -> frozenset[str]:
    return frozenset(content(text) | numbers(text)) - {"i", "my"}


def _trimmed(text: str, span: Span) -> Span | None:
    said = span.of(text)
    start = span.start + len(said) - len(said.lstrip())
    end = start + len(said.strip())
    return Span(start, end) if end > start else None


def _with_end(text: str, span: Span) -> Span:
    """With the full stop that belongs to it."""
    return Span(span.start, span.end + (text[span.end : span.end + 1] in tuple(".!?。！？")))


# ---- others' words ------------------------------------------------------------------------

_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_FORWARD = re.compile(
    r"^[ \t>*_]*(?:-{2,}[ \t]*(?:original message|forwarded message|forwarded by|weitergeleitete"
    r" nachricht|ursprüngliche nachricht|message transféré|mensaje reenviado|转发邮件|原始邮件)"
    r"|begin forwarded message\b|(?:fwd?|wg|tr|rv):[ \t]"
    r"|on .{4,80} wrote:[ \t]*$|am .{4,80} schrieb .{2,60}:[ \t]*$"
    r"|le .{4,80} a écrit[ \t]?:[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER = re.compile(
    r"^[ \t*_]*(from|von|de|发件人)[*_]*[ \t]*[:：].+\n"
    rf"(?:[ \t*_]*(?:{NAMES})[*_]*[ \t]*[:：].*\n?){{1,6}}",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*)?end (?:of )?(?:the )?(?:forwarded|original|quoted)[ \w]*", re.I | re.M
)


def foreign(text: str) -> tuple[Span, ...]:
    """The stretches of a text that are somebody else's words.

    Lines that begin with ``>``; and what follows a forwarding line or an e-mail's header, up to a
    line that says the forwarded text ends, else up to the end.
    """
    found = [Span(*match.span()) for match in _QUOTED.finditer(text)]
    for pattern in (_FORWARD, _HEADER):
        for match in pattern.finditer(text):
            over = _END.search(text, match.end())
            found.append(Span(match.start(), over.start() if over else len(text)))
    return tuple(sorted(found))
