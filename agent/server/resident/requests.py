"""Request types of the resident process; its routes are generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.applications.forms.fields import FormField
from agent.results import Exchange, FileReport, FilledField, Remembered, Reply
from agent.server.resident.client import BrowserPort, WebPage


@dataclass(frozen=True, slots=True)
class Say:
    """One chat message through the router."""

    text: str
    private: tuple[Exchange, ...] | None = None
    """What was said in private before: nothing of this message is stored or logged. None: it is."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """Load the language model for what will be asked; answered when it is there, or cannot be."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to answer from memory."""

    question: str
    policy: str | None = None
    k: int | None = None
    use_llm: bool = True
    private: bool = False
    """Whether nothing is stored of it."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories for a text, without an answer; nothing is stored of it."""

    text: str
    k: int


@dataclass(frozen=True, slots=True)
class Remember:
    """One fact to keep as it stands. Acknowledged once it is stored, unless told to wait."""

    text: str
    at: datetime | None = None
    place: str | None = None
    expires: datetime | None = None
    keep_secrets: bool = False
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """Fields of a form to fill from memory; a field without evidence comes back null."""

    fields: tuple[FormField, ...]
    use_llm: bool = True


@dataclass(frozen=True, slots=True)
class Ingest:
    """Files and folders to take into memory, by absolute path."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Retry:
    """Take up again what could not be extracted before."""


@dataclass(frozen=True, slots=True)
class Web:
    """Open the page of ``memlane web`` on a port of this machine, or close it."""

    port: int | None = None
    """None: the one it is open at, else a free one."""
    hold: bool = False
    """Close it when whoever asked goes away."""
    stop: bool = False


@dataclass(frozen=True, slots=True)
class Browser:
    """Pair a browser's extension, or look which browsers are paired, and close what none needs."""

    pair: bool = False
    port: int | None = None
    """None: the one of the paired browsers, else the usual one."""
    hold: bool = False
    """Go on until the code is used, too old, or whoever asked goes away."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of this machine's own user to work out and to show (``POST /v1/command``)."""

    words: tuple[str, ...]
    folder: str
    """Where it was given: names of files are meant from there."""
    settings: Mapping[str, str]
    """What of its environment decides on settings."""
    screen: Mapping[str, str]
    """What of its environment decides on how things look."""
    columns: int
    terminal: bool
    """Whether its output goes to a screen."""
    person: bool
    """Whether somebody could be asked."""
    began: float
    """When it was given, by the clock of ``time.monotonic``, which all processes share."""
    stdin: str = ""
    """Of a hook, the message of the tool."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command line printed, and its exit code."""

    out: str
    err: str
    code: int


@dataclass(frozen=True, slots=True)
class Call:
    """One thing that can be asked: ``POST /v1/NAME`` with ``asked``, answered by ``given``."""

    name: str
    asked: type[Any]
    given: Any
    items: bool = False
    """Whether ``given`` comes again and again, once for each file."""


CALLS = (
    Call("say", Say, Reply),
    Call("prepare", Prepare, type(None)),
    Call("ask", Ask, Reply),
    Call("recall", Recall, Reply),
    Call("remember", Remember, Remembered),
    Call("fill", Fill, tuple[FilledField, ...]),
    Call("ingest", Ingest, FileReport, items=True),
    Call("retry", Retry, FileReport, items=True),
    Call("web", Web, WebPage, items=True),
    Call("browser", Browser, BrowserPort, items=True),
)


COMMAND = Call("command", CommandLine, Printed)
"""Not one of the ``CALLS``: it may name files, so only the socket in the home has it."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a command's own settings say, beside what it asks."""

    now: datetime | None = None
    """A clock that stands still (``--now``)."""
    policy: str | None = None
    k: int | None = None
