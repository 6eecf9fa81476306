"""What the extension asks and gets; the routes are generated from these types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.results import Value


@dataclass(frozen=True, slots=True)
class Pair:
    """Pair this extension by the code that the terminal shows."""

    code: str
    name: str
    """Of the browser, as the person knows it."""


@dataclass(frozen=True, slots=True)
class Token:
    """The token, which is told only once."""

    token: str


@dataclass(frozen=True, slots=True)
class Hello:
    """Is it memlane that listens? Asked before the token is shown."""

    nonce: str


@dataclass(frozen=True, slots=True)
class Proof:
    """HMAC-SHA-256 of the nonce by the token's hash, in hexadecimal."""

    proof: str


@dataclass(frozen=True, slots=True)
class FillPage:
    """Values for the fields of a page that can be seen."""

    page: str
    """HTML without scripts and without what was typed; each field begins with its number."""
    address: str
    """Of the tab, as the browser says it."""
    use_llm: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory that a value comes from."""

    memory: str
    text: str
    origin: str
    """'you said so', 'from a screenshot'."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A value, and the memories that it comes from."""

    value: Value
    shown: str
    """How the page shows it: the text of a choice."""
    element: int
    """The number of what is typed into, or chosen."""
    evidence: tuple[Evidence, ...]


Needs = Literal["", "consent", "refused", "card"]


@dataclass(frozen=True, slots=True)
class PageField:
    """One field, as it is shown before anything is typed."""

    element: int
    label: str
    offers: tuple[Offer, ...]
    """The first is filled in if ``filled``; the others are for the person to choose."""
    filled: bool
    key: str | None
    needs: Needs
    """What keeps the value back: a consent, a refused one, the permission for card fields."""
    consent: str
    """What the person agrees to, if they do."""
    note: str


@dataclass(frozen=True, slots=True)
class PageForm:
    """The fields of a page, and for which site consents count."""

    site: str
    fields: tuple[PageField, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agree:
    """What the person says to a sensitive field, or to card fields, of a site."""

    field: str
    site: str
    given: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that was filled in, and that the person changed."""

    label: str
    key: str | None
    was: str
    now: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Correct:
    """How these changes could be remembered; nothing is stored yet."""

    changes: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A sentence to remember, if the person agrees."""

    changes: tuple[int, ...]
    """Which changes it tells: all those of one memory are one sentence."""
    text: str
    replaces: str | None
    """The memory in whose place it would stand; None where it stands beside others."""
    old: str
    seen: str
    """The last journal line of that memory; it is not replaced if it has changed since."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """What could be remembered; a change that is in none is nothing to remember."""

    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class Accept:
    """Remember a proposal, as the person left its text."""

    text: str
    replaces: str | None
    seen: str


@dataclass(frozen=True, slots=True)
class Select:
    """Remember a text that was selected on a page."""

    text: str
    address: str
