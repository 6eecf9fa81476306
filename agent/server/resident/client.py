"""Client of the resident process for commands.

Invariant: importing this loads no model, array or database. Every request is a connection of its
own, so closing it, as Ctrl-C does, is how the process hears that nobody waits any more.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import h11

from agent.codec import decode, encode
from agent.config import Config, load_config
from agent.errors import of_kind
from agent.results import Exchange, FileReport, FilledField, Remembered, Reply
from agent.server.resident.paths import Place, holder, is_mine
from agent.version import __version__
from store.errors import MemlaneError
from store.spaces import FOLDER, MAIN, home_of, names

if TYPE_CHECKING:
    from agent.applications.forms.fields import FormField
    from agent.io.ignore_rules import FoundFile

T = TypeVar("T")
_HELLO_S = 5.0
"""How long a process that is up may take to say so, before a command works without it."""
_CHUNK = 1 << 16
MATCHING = ("models_dir", "llm", "server_model", "embedder", "context", "keep_secrets", "ignore",
            "persona_share", "join_share")  # fmt: skip
"""Settings that have to be the process's own; ``policy`` and ``k`` travel with each request."""


class ResidentGone(MemlaneError):
    """The resident process went away, or did not answer, in the middle of a request."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a resident process says of itself before it is asked anything."""

    pid: int
    version: str
    code: str
    """The folder that its code was read from."""
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Running:
    """How a resident process is doing."""

    pid: int
    socket: str
    uptime_s: float
    queue: int
    """Texts that are stored and not made into memories yet."""
    loaded: tuple[str, ...]
    """The kinds of models whose weights are in memory now."""
    port: int | None = None
    version: str = __version__
    ends_after_minutes: int | None = None
    """Minutes without a request after which it ends by itself; None where it stays."""
    memory_mb: int | None = None
    """Memory that it takes with the processes of its models."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """Where the page is; ``port`` is None where it is closed."""

    port: int | None = None
    link: str | None = None
    """Its address with a code that opens it once."""


@dataclass(frozen=True, slots=True)
class BrowserPort:
    """Where the browser extension is answered; ``port`` is None where it is not."""

    port: int | None = None
    code: str | None = None
    """What the person types into the extension to pair it."""
    paired: str | None = None
    """The name of the browser that used the code."""


def settings_of(config: Config) -> dict[str, str]:
    """What of a configuration changes what a request gives, wherever it is worked out."""
    return {key: str(getattr(config, key)) for key in MATCHING}


def code_folder() -> str:
    return str(Path(__file__).resolve().parent.parent.parent.parent)


def connect(config: Config, notice: Callable[[str], None]) -> Client | None:
    """The resident process of this home, or None where the command has to do the work itself.

    ``notice`` gets the one line that says why, where a process runs and cannot be used.
    """
    place = Place(config.home)
    if not is_mine(place.socket):
        return None
    client = Client(config, place.socket, notice)
    try:
        hello = client.hello()
    except ConnectionRefusedError:
        return None  # left by a process that was killed
    except (OSError, MemlaneError):
        if holder(place.lock) is not None:
            notice("the resident process does not answer: working without it (memlane status)")
        return None
    if problem := _other(hello, config):
        notice(f"{problem}: working without it. To change that: memlane down && memlane up")
        return None
    return client


def held_key(home: Path) -> bytes | None:
    """The key of an encrypted home that a resident process holds, of whichever of its spaces."""
    root = home.parent.parent if home.parent.name == FOLDER else home
    for place in (home, *(home_of(root, name) for name in names(root))):
        path = Place(place).socket
        if not is_mine(path):
            continue
        with suppress(OSError, ValueError, MemlaneError):
            key = Client(load_config({"home": str(place), "space": MAIN}), path).key()
            if key is not None:
                return key
    return None


def _other(hello: Hello, config: Config) -> str | None:
    """Why a process is not the one that would give the same results."""
    if hello.version != __version__:
        return f"the resident process is memlane {hello.version}, this is {__version__}"
    if hello.code != code_folder():
        return f"the resident process runs the code of {hello.code}"
    for key, value in settings_of(config).items():
        if hello.settings.get(key) != value:
            return f"the resident process has {key} = {hello.settings.get(key)}, not {value}"
    return None


class Client:
    """The requests of ``agent.session.session.Session``, answered by the resident process."""

    def __init__(
        self, config: Config, path: Path, notice: Callable[[str], None] = lambda line: None
    ) -> None:
        self.config = config
        self._path = path
        self._notice = notice

    # ---- the same as a session ------------------------------------------------------------

    def respond(
        self,
        text: str,
        on_text: Callable[[str], None] | None = None,
        *,
        private: Sequence[Exchange] | None = None,
    ) -> Reply:
        """See ``Session.respond``."""
        said = None if private is None else tuple(private)
        return self._ask(Reply, "say", {"text": text, "private": said}, on_text)

    def ask(
        self,
        question: str,
        *,
        policy: str | None = None,
        k: int | None = None,
        use_llm: bool = True,
        private: bool = False,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """See ``Session.ask``."""
        asked = {"question": question, "policy": policy, "k": k, "use_llm": use_llm}
        asked["private"] = private
        return self._ask(Reply, "ask", asked, on_text)

    def prepare(self) -> None:
        """Let the process load its language model; returns when it has."""
        self._ask(type(None), "prepare", {})

    def recall(self, text: str, *, k: int) -> Reply:
        """See ``agent.session.recall``."""
        return self._ask(Reply, "recall", {"text": text, "k": k})

    def remember(
        self,
        text: str,
        *,
        at: datetime | None = None,
        place: str | None = None,
        expires: datetime | None = None,
        keep_secrets: bool = False,
        wait: bool = False,
    ) -> Remembered:
        """See ``Session.remember``; unless told to ``wait``, only stored (``queued``) perhaps."""
        told = {
            "text": text,
            "at": at,
            "place": place,
            "expires": expires,
            "keep_secrets": keep_secrets,
            "wait": wait,
        }
        return self._ask(Remembered, "remember", told)

    def fill(self, fields: Sequence[FormField], *, use_llm: bool = True) -> tuple[FilledField, ...]:
        """See ``Session.fill``."""
        asked = {"fields": tuple(fields), "use_llm": use_llm}
        return self._ask(tuple[FilledField, ...], "fill", asked)

    def ingest(
        self,
        paths: Sequence[Path],
        on_file: Callable[[int, Path], None] | None = None,
        *,
        found: Iterable[FoundFile] | None = None,
    ) -> Iterator[FileReport]:
        """See ``Session.ingest``; the process looks into the folders itself."""
        given = {str(path.absolute()): path for path in paths}
        for number, report in enumerate(self._each("ingest", {"paths": tuple(given)})):
            # The process has a folder of its own to be in, so names go there whole.
            named = given.get(report.path)
            if on_file:
                on_file(number + 1, Path(report.path))
            yield report if named is None else replace(report, path=str(named))

    def find(self, paths: Sequence[Path]) -> Iterator[FoundFile]:
        """See ``Session.find``."""
        from agent.io.ignore_rules import Ignore

        return Ignore(self.config.ignore, self.config.root).find(paths)

    def retry(self) -> Iterator[FileReport]:
        """See ``Session.retry``."""
        return self._each("retry", {})

    def web(
        self, *, port: int | None = None, hold: bool = False, stop: bool = False
    ) -> Generator[WebPage, None, None]:
        """Open the page of ``memlane web``, or close it; held, the iterator lasts as long as it."""
        asked = {"port": port, "hold": hold, "stop": stop}
        for event in self._events("POST", "/v1/web", asked):
            if "item" in event:
                yield decode(WebPage, event["item"], "web")

    def browser(
        self, *, pair: bool = False, port: int | None = None, hold: bool = False
    ) -> Generator[BrowserPort, None, None]:
        """Get a pairing code, and held, hear of its use; without ``pair`` look who is paired."""
        asked = {"pair": pair, "port": port, "hold": hold}
        for event in self._events("POST", "/v1/browser", asked):
            if "item" in event:
                yield decode(BrowserPort, event["item"], "browser")

    # ---- about the process ----------------------------------------------------------------

    def hello(self) -> Hello:
        """:raises OSError: if nobody listens, or does not answer in time."""
        (event,) = self._events("GET", "/v1/hello", timeout=_HELLO_S)
        return decode(Hello, event, "hello")

    def running(self) -> Running:
        (event,) = self._events("GET", "/v1/status", timeout=_HELLO_S)
        return decode(Running, event, "status")

    def key(self) -> bytes | None:
        """The key of an encrypted home, which the process holds. :raises OSError: if it is down."""
        for event in self._events("GET", "/v1/key", timeout=_HELLO_S):
            return bytes.fromhex(event["key"]) if event.get("key") else None
        return None

    # ---- on the wire ----------------------------------------------------------------------

    def _ask(
        self,
        kind: type[T],
        call: str,
        asked: Mapping[str, object],
        on_text: Callable[[str], None] | None = None,
    ) -> T:
        for event in self._events("POST", f"/v1/{call}", asked):
            if "result" in event:
                return decode(kind, event["result"], call)
            if on_text and "text" in event:
                on_text(event["text"])
        raise _gone()

    def _each(self, call: str, asked: Mapping[str, object]) -> Iterator[FileReport]:
        for event in self._events("POST", f"/v1/{call}", asked):
            if "item" in event:
                yield decode(FileReport, event["item"], call)
            elif "result" in event:
                return
        raise _gone()

    def _headers(self) -> list[tuple[str, str]]:
        config = self.config
        headers = [
            ("Host", "memlane"),
            ("Accept", "application/x-ndjson"),
            ("Content-Type", "application/json"),
            ("Memlane-Policy", config.policy),
            ("Memlane-K", str(config.k)),
            ("Connection", "close"),
        ]
        if config.fixed_now:
            headers.append(("Memlane-Now", config.fixed_now.isoformat()))
        return headers

    def _events(
        self,
        method: str,
        path: str,
        asked: Mapping[str, object] | None = None,
        timeout: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The JSON documents of an answer, one a line, each as soon as it is there.

        :raises OSError: if nobody listens.
        :raises MemlaneError: the error that the process says it met.
        """
        body = b"" if asked is None else json.dumps(encode(asked)).encode()
        headers = [*self._headers(), ("Content-Length", str(len(body)))]
        wire = h11.Connection(h11.CLIENT)
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as channel:
            channel.settimeout(timeout)
            channel.connect(str(self._path))
            request = h11.Request(method=method, target=path, headers=headers)
            parts = [wire.send(request), wire.send(h11.Data(data=body))]
            parts.append(wire.send(h11.EndOfMessage()))
            channel.sendall(b"".join(part for part in parts if part))
            for line in _lines(wire, channel):
                event = json.loads(line)
                if "error" in event:
                    raise _error(event["error"])
                if "notice" in event:
                    self._notice(event["notice"])
                else:
                    yield event


def _lines(wire: h11.Connection, channel: socket.socket) -> Iterator[bytes]:
    held = b""
    while True:
        try:
            event = wire.next_event()
            if event is h11.NEED_DATA:
                wire.receive_data(channel.recv(_CHUNK))
                continue
        except (h11.RemoteProtocolError, ConnectionError) as error:
            raise _gone() from error
        if isinstance(event, h11.Data):
            *whole, held = (held + bytes(event.data)).split(b"\n")
            yield from whole
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            if held:
                yield held
            return


def _gone() -> ResidentGone:
    return ResidentGone(
        "The resident process stopped before it answered. What it stored is kept; see: memlane "
        "status"
    )


def _error(said: Mapping[str, str]) -> MemlaneError:
    """The error that the process met, as its own kind: exit codes depend on it."""
    return of_kind(said["kind"])(said["message"])
