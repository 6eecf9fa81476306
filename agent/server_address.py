"""URLs of model servers and the loopback check.

Whatever the person says to memlane goes to such a server, so an address is read strictly: what is
checked here is what is connected to: no user, query or fragment, no other spelling of a host.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from store.errors import InvalidInput

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[a-z0-9._~-]+)*)/?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where an OpenAI-compatible server answers."""

    url: str
    """Without a slash at its end; the path is ``/v1`` where none was given."""
    host: str
    """A name or an IP address, without brackets."""

    @property
    def local(self) -> bool:
        """Whether it is a loopback address, which no other machine can answer on."""
        return is_loopback(self.host)


def looks_like_address(text: str) -> bool:
    """Whether a model was named by an address rather than by a name or a path."""
    return "://" in text


def parse_address(text: str) -> ServerAddress:
    """Read an address such as ``http://127.0.0.1:8080/v1``.

    :raises InvalidInput: if it is none, or holds more than scheme, host, port and path.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or not 0 < int(match["port"] or 80) < 65536:
        raise InvalidInput(
            f"{text!r} is not the address of a model server. Write it like http://127.0.0.1:8080/v1"
        )
    port = f":{match['port']}" if match["port"] else ""
    url = f"{match['scheme']}://{match['host']}{port}".lower() + (match["path"] or "/v1")
    return ServerAddress(url, match["host"].strip("[]").lower())


def is_loopback(host: str) -> bool:
    """Whether a host, as it is handed to the system, can only be this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
