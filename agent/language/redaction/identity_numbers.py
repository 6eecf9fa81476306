"""Numbers by which a state knows a person, where their name stands before them.

Which numbers there are, what they are called and how they are checked is python-stdnum's.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

Spans = Iterator[tuple[int, int]]

_NUMBER = re.compile(r"(?<![\w.-])[A-Z]{0,6}[0-9](?:[ ./-]?[A-Z0-9]){6,20}(?![\w-])")
_WORD = re.compile(r"\w+")
_OF_A_PERSON = re.compile(
    r"\b(?:person(?:al)?|citizen|individuals?|identity|birth number|social (?:security|insurance)"
    r"|national (?:identification|identifier|number))\b",
    re.IGNORECASE,
)
_OF_A_FIRM = re.compile(
    r"\b(?:company|enterprise|business|organi[sz]ation|VAT|passport)\b", re.IGNORECASE
)
_NEAR = 60
"""Characters before a number in which its name stands."""
_MOST_WORDS, _MOST_AWAY = 6, 10
"""Words of a name, and from its first to the number."""


def identity_numbers(text: str) -> Spans:
    for match in _NUMBER.finditer(text):
        if sum(sign.isdigit() for sign in match.group()) < 6:
            continue
        before = text[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
        if any(check.is_valid(match.group()) for check in _named_in(before)):
            yield match.span()


def _named_in(text: str) -> Iterator[ModuleType]:
    """What checks the numbers that are named in a text."""
    words = _WORD.findall(text)[-_MOST_AWAY:]
    for at in range(len(words)):
        for size in range(1, _MOST_WORDS + 1):
            called = " ".join(words[at : at + size])
            # A short name is one only in capitals: 'SIN', 'PIN'.
            yield from _names().get(called if called.isupper() else called.casefold(), ())


@cache
def _names() -> dict[str, tuple[ModuleType, ...]]:
    """What checks such a number, by what it is called in English and at home."""
    import stdnum

    found: dict[str, tuple[ModuleType, ...]] = {}
    for info in pkgutil.walk_packages(stdnum.__path__, "stdnum."):
        if info.ispkg or info.name.count(".") != 2:
            continue
        module = import_module(info.name)
        about = (module.__doc__ or "").strip().partition("\n")[0]
        if _OF_A_PERSON.search(about) and not _OF_A_FIRM.search(about):
            for name in _called(about):
                found[name] = (*found.get(name, ()), module)
    return found


def _called(about: str) -> Iterator[str]:
    """The names in a line such as 'BSN (Burgerservicenummer, the Dutch citizen number).'"""
    for part in re.split(r"[,;()\"“”]", about):
        words = _WORD.findall(part)
        if words[:1] in (["the"], ["or"]):
            words = words[1:]
        if words[-1:] == ["No"]:
            words = words[:-1]
        name = " ".join(words)
        if name.isupper() and len(name) > 2:
            yield name
        elif len(name) > 4:
            yield name.casefold()
        # 'Dutch citizen number' is called so without its country.
        rest = " ".join(words[1:])
        if rest.islower() and len(words) > 2 and _OF_A_PERSON.search(rest):
            yield rest
