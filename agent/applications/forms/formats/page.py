"""Page model: fields and their positions in the HTML."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.applications.forms.fields import FormField


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag of the page, by the characters where it stands."""

    start: int
    raw: str
    value: str = ""
    """What an option or a radio button submits."""

    @property
    def end(self) -> int:
        return self.start + len(self.raw)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a field is filled: its own tag, and the tags of its choices."""

    tag: Tag
    choices: tuple[Tag, ...] = ()
    closes: int | None = None
    """Where the content of a textarea ends."""


@dataclass(frozen=True, slots=True)
class Page:
    """What was read of a page: its fields in document order, and where each stands."""

    fields: tuple[FormField, ...] = ()
    spots: tuple[Spot, ...] = ()
    frames: int = 0
    """Frames, which hold pages of their own."""


def host_of(address: str) -> str:
    """The host of an absolute web address, without 'www.'; empty for any other text."""
    try:
        parts = urlsplit(address.strip())
        host = parts.hostname or ""
    except ValueError:
        return ""
    return host.lower().removeprefix("www.") if parts.scheme in ("http", "https", "") else ""
