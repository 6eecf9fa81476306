"""Strings that a machine drew at random: keys, tokens and passwords that nothing names."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote

from agent.language.redaction.letter_pairs import bits_per_pair

Spans = Iterator[tuple[int, int]]

# Also an option's value that stands right behind its letter: 'mysql -pVALUE'.
_STRING = re.compile(
    r"(?:(?<![A-Za-z0-9/+_.~@-])|(?<=\s-[A-Za-z]))[A-Za-z0-9][A-Za-z0-9_/+.~-]{13,}=*", re.ASCII
)
_PASSWORD = re.compile(
    r"(?<![A-Za-z0-9!#$%&*^?~+_.-])[A-Za-z0-9!#$%&*^?~+_-]{12,64}"
    r"(?![A-Za-z0-9!#$%&*^?~+_=-]|\.[A-Za-z0-9])",
    re.ASCII,
)
_SIGNS = re.compile(r"[!#$%&*^?]")
_URL = re.compile(r"\bhttps?://[^\s\"'<>]{1,400}", re.IGNORECASE)
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LEAST, _SURE = 14, 20
"""Signs of a string: that chance could have made it, and that few words are so long."""
_MOST_RUN, _MOST_RUN_SHORT = 2.8, 2.0
"""Signs of one kind in a row, on average, in what chance made; in words, also joined ones, five."""
_MOST_DOUBTFUL_RUN, _LEAST_BITS = 4.5, 5.3
"""Up to so many in a row chance made it too, if its letters follow one another as in no word."""


def random_strings(text: str) -> Spans:
    for match in _STRING.finditer(text):
        string = match.group()
        if is_random(string) and not _is_public(string) and not _in_link(text, match.start()):
            yield match.start(), match.start() + len(string.rstrip(".-"))
        elif _is_login(string):
            yield match.span()
    for match in _PASSWORD.finditer(text):
        if is_password(match.group()) and not _in_link(text, match.start()):
            yield match.start(), match.start() + len(match.group().rstrip("!?"))
    for url in _URL.finditer(text):
        yield from _of_hook(url)


def is_random(string: str) -> bool:
    """Whether capitals, small letters and digits are mixed as only chance mixes them."""
    runs = _RUN.findall(string)
    size = sum(map(len, runs))
    if not _is_mixed(string) or size < _LEAST:
        return False
    if size < _SURE:
        return size / len(runs) <= _MOST_RUN_SHORT and bits_per_pair(string) > _LEAST_BITS
    mean = size / len(runs)
    return mean <= _MOST_RUN or (mean <= _MOST_DOUBTFUL_RUN and bits_per_pair(string) > _LEAST_BITS)


def is_password(string: str) -> bool:
    """Whether signs are mixed in too, as in what a password manager makes."""
    string = string.rstrip("!?")  # of a sentence
    if not (_SIGNS.search(string) and _is_mixed(string)) or _is_escaped(string):
        return False
    mean = len(string) / len(re.findall(rf"{_RUN.pattern}|[^A-Za-z0-9]+", string))
    return mean <= _MOST_RUN_SHORT or (mean <= _MOST_RUN and bits_per_pair(string) > _LEAST_BITS)


def _is_escaped(string: str) -> bool:
    """Whether it is text as addresses have it, with '%20' for a space."""
    try:
        return unquote(string, errors="strict") != string
    except UnicodeDecodeError:
        return False


def _is_login(string: str) -> bool:
    """Whether it is 'NAME:PASSWORD' in base 64, as HTTP sends it."""
    try:
        told = b64decode(string, validate=True).decode()
    except ValueError:
        return False
    return bool(re.fullmatch(r"[\w.@+-]{1,64}:[!-~]{4,128}", told))


def _is_mixed(string: str) -> bool:
    kinds = (str.isupper, str.islower, str.isdigit)
    return all(any(kind(sign) for sign in string) for kind in kinds)


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
