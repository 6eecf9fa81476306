"""Form vocabulary, loaded from ``keys.toml``.

Owns the meaning of the table's columns; the table itself is data, so a new key or wording needs
no code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any


class Policy(StrEnum):
    """Whether memlane may put a value into a field of this key."""

    FILL = "fill"
    NEVER = "never"
    """Passwords, one-time codes, card security codes: no memory may hold or reveal them."""
    NOT_PERSONAL = "not-personal"
    """Searches, messages, coupons: about this visit, not about the person."""


@dataclass(frozen=True, slots=True)
class FormKey:
    """One kind of thing that fields ask for."""

    id: str
    phrases: tuple[str, ...]
    policy: Policy = Policy.FILL
    strict: bool = False
    """A word so general ('name') that other content words beside it mean another thing."""
    sensitive: bool = False
    """Identity and card numbers, health: a caller asks for consent before it hands them over."""
    standard: bool = True
    """Whether the id is a token of the HTML standard."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All keys, with what else is needed to recognise them."""

    keys: dict[str, FormKey]
    aliases: dict[str, str]
    """autocomplete token -> key, for tokens that are no key themselves."""
    modifiers: frozenset[str]
    """Words that may stand beside a strict phrase without changing what is asked."""
    mine: frozenset[str]
    """"My", in languages whose sentences no pattern reads."""
    roles: dict[str, tuple[str, ...]]
    """Whose data a field asks for when it is not the person's own -> words that name them."""
    wider: dict[str, tuple[str, ...]]
    """Role -> narrower roles that it also means: a spouse is a wife or a husband."""


@cache
def vocabulary() -> Vocabulary:
    """The table that ships with memlane."""
    # Late: who only reads a form and asks the resident process has no use for them.
    import tomllib
    from importlib.resources import files

    table = tomllib.loads(
        files("agent.applications.forms.matching").joinpath("keys.toml").read_text("utf-8")
    )
    return Vocabulary(
        keys={name: _key(name, row) for name, row in table["keys"].items()},
        aliases=dict(table["aliases"]),
        modifiers=frozenset(table["words"]["modifiers"].split()),
        mine=frozenset(word for words in table["mine"].values() for word in words.split()),
        roles={role: _phrases(words) for role, words in table["roles"].items()},
        wider={role: _phrases(words) for role, words in table["wider"].items()},
    )


def _key(name: str, row: dict[str, Any]) -> FormKey:
    return FormKey(
        id=name,
        phrases=_phrases(row["phrases"]),
        policy=Policy(row.get("policy", "fill")),
        strict=bool(row.get("strict", False)),
        sensitive=bool(row.get("sensitive", False)),
        standard=bool(row.get("standard", True)),
    )


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split("|") if phrase.strip())
