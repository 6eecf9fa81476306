"""Strings that a machine drew at random: keys and tokens of services that nobody listed."""

from __future__ import annotations

import re
from collections.abc import Iterator

Spans = Iterator[tuple[int, int]]

_STRING = re.compile(r"(?<![A-Za-z0-9/+_.~@-])[A-Za-z0-9][A-Za-z0-9_/+.~-]{19,}=*", re.ASCII)
_URL = re.compile(r"\bhttps?://[^\s\"'<>]{1,400}", re.IGNORECASE)
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LEAST = 20
_MOST_RUN = 2.8
"""Signs of one kind in a row, on average, in what chance made; in words, also joined ones, five."""


def random_strings(text: str) -> Spans:
    for match in _STRING.finditer(text):
        string = match.group()
        if is_random(string) and not _is_public(string) and not _in_link(text, match.start()):
            yield match.start(), match.start() + len(string.rstrip(".-"))
    for url in _URL.finditer(text):
        yield from _of_hook(url)


def is_random(string: str) -> bool:
    """Whether capitals, small letters and digits are mixed as only chance mixes them."""
    runs = _RUN.findall(string)
    size = sum(map(len, runs))
    kinds = (str.isupper, str.islower, str.isdigit)
    mixed = all(any(kind(sign) for sign in string) for kind in kinds)
    return mixed and size >= _LEAST and size / len(runs) <= _MOST_RUN


def _is_public(string: str) -> bool:
    """Whether it is there for all to see: a public key, or the sum of a file."""
    return string.startswith(("AAAA", "sha"))


def _in_link(text: str, at: int) -> bool:
    """Whether it is part of an address: that names a page, which may be for others to see."""
    before = text[max(0, at - 400) : at]
    return "://" in before and "://" in before.split()[-1] and not before[-1].isspace()


def _of_hook(url: re.Match[str]) -> Spans:
    """The last part of an address that takes orders from whoever knows it."""
    at = url.group().rfind("/") + 1
    if "hook" in url.group()[:at].lower() and is_random(url.group()[at:]):
        yield url.start() + at, url.end()
