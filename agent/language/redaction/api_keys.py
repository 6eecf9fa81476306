"""Keys, tokens and recovery phrases with known formats."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
# The words are looked ahead at: read, they would take the label of a second phrase along.
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|secret)[ _-]?(?:phrase|words|seed)\b\W{0,4}(?:is\s+)?"
    r"(?=(?P<value>(?:\d{0,2}[.)]?\s*[a-z]{3,8}[\s,]+){11,23}[a-z]{3,8})\b)",
    re.IGNORECASE,
)


def blocks(text: str) -> Spans:
    return (match.span() for match in _KEY_BLOCK.finditer(text))


def tokens(text: str) -> Spans:
    yield from (match.span() for match in _TOKEN.finditer(text))
    for match in _LABELLED_TOKEN.finditer(text):
        if re.search(r"\d", match["value"]) and re.search(r"[A-Za-z]", match["value"]):
            yield match.span("value")


def seeds(text: str) -> Spans:
    return (match.span("value") for match in _SEED.finditer(text))
