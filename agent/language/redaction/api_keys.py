"""Keys, tokens and recovery phrases with known formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby, product

Spans = Iterator[tuple[int, int]]

_KEY_BLOCK = re.compile(
    r"-----BEGIN (?P<what>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?"
    r"|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"
    r"|^PuTTY-User-Key-File-\d:(?:.*\n)*?Private-MAC:.*$",
    re.MULTILINE,
)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-(?:proj-|ant-|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}|[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|whsec_[A-Za-z0-9]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"
    r"|A(?:KIA|SIA|GPA|IDA|ROA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|do[oprt]_v1_[a-f0-9]{64}|shp(?:at|ca|pa"
    r"|ss)_[a-f0-9]{32}"
    r"|key-[a-f0-9]{32}|dckr_pat_[A-Za-z0-9_-]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}"
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r")"
)
_LABELLED_TOKEN = re.compile(
    r"(?<![A-Za-z])(?:(?:api|access|auth|secret|client|private|refresh|bearer|bot|personal|license"
    r"|encryption)"
    r"[ _-]?(?:access[ _-]?)?(?:key|token|secret)(?:[ _-]?id)?|token|secret|bearer)\b[\"']?"
    r"(?:\s*[:=]\s*|\s+is\s+|\s+)[\"'`]?(?P<value>[A-Za-z0-9_+/=.~-]{16,})",
    re.IGNORECASE,
)
_ANY_KEY = re.compile(
    r"(?:key|token|secret)[\"']?\s{0,3}[:=]\s{0,3}[\"'`]?(?P<value>[A-Za-z0-9_+/=.~-]{16,})",
    re.IGNORECASE,
)
# The words are looked ahead at: read, they would take the label of a second phrase along.
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|secret)[ _-]?(?:phrase|words|seed)\b\W{0,4}(?:is\s+)?"
    r"(?=(?P<value>(?:\d{0,2}[.)]?\s*[a-z]{3,8}[\s,]+){11,23}[a-z]{3,8})\b)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"(?P<word>[^\W\d_]+)[\s\d,.)]*")
_PHRASES = (12, 15, 18, 21, 24)
"""Words of a recovery phrase (BIP 39)."""
_MOST_WORDS = 60
"""Words of such lists in a row, above which they are no phrase."""


def blocks(text: str) -> Spans:
    return (match.span() for match in _KEY_BLOCK.finditer(text))


def tokens(text: str) -> Spans:
    yield from (match.span() for match in _TOKEN.finditer(text))
    for match in chain(_LABELLED_TOKEN.finditer(text), _ANY_KEY.finditer(text)):
        if re.search(r"\d", match["value"]) and re.search(r"[A-Za-z]", match["value"]):
            yield match.span("value")


def seeds(text: str) -> Spans:
    yield from (match.span("value") for match in _SEED.finditer(text))
    for run in _runs_of_words(text):
        yield from _phrases(run)


def _runs_of_words(text: str) -> Iterator[list[re.Match[str]]]:
    """Words that stand one after the other with nothing but spaces, commas and numbers between."""
    run: list[re.Match[str]] = []
    for word in _WORDS.finditer(text):
        if run and run[-1].end() != word.start():
            yield run
            run = []
        run.append(word)
    yield run


def _phrases(run: Sequence[re.Match[str]]) -> Spans:
    """The recovery phrases in a run of words: each one from a list, and their check bits right."""
    if len(run) < _PHRASES[0]:
        return
    words = [word["word"].lower() for word in run]
    for listed, check in _lists():
        known = [word in listed for word in words]
        for all_known, group in groupby(range(len(words)), known.__getitem__):
            at = list(group)
            if not all_known or not _PHRASES[0] <= len(at) <= _MOST_WORDS:
                continue
            for start, size in product(at, reversed(_PHRASES)):
                if start + size <= at[-1] + 1 and check(" ".join(words[start : start + size])):
                    yield run[start].start(), run[start + size - 1].end("word")
                    break


@cache
def _lists() -> tuple[tuple[frozenset[str], Callable[[str], bool]], ...]:
    """The words of each language that such phrases are made of, and their check."""
    from mnemonic import Mnemonic

    known = [Mnemonic(language) for language in Mnemonic.list_languages()]
    return tuple((frozenset(one.wordlist), one.check) for one in known)
