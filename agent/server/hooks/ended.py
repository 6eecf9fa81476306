"""Ended sessions of coding agents whose transcripts the person has not reviewed yet.

Invariant: no word of a transcript is kept here, only where it lies and what was decided (as
hashes). It is in the home's cache, which forgetting empties; in an encrypted home it is sealed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.codec import decode, encode
from store.database.connection import DATABASE_NAME, ensure_home
from store.database.encryption.sealed import sealer_of
from store.database.whole_files import whole_file
from store.erasure.secure_delete import CACHE_FOLDER
from store.errors import InvalidInput

_DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that has ended."""

    tool: str
    transcript: str
    folder: str
    """Where the agent worked."""
    reviewed: float = 0.0
    """When the transcript was last changed, of that state in which all was decided."""


class EndedSessions:
    """Those of one home: a file for each.

    :raises HomeLocked: if the home is encrypted and this process has no key.
    """

    def __init__(self, home: Path) -> None:
        self._folder = ensure_home(home) / CACHE_FOLDER / "ended"
        self._sealer = sealer_of(home / DATABASE_NAME)

    def put(self, ended: Ended) -> None:
        """Keep a session, in place of what was known of it.

        :raises OSError: if it cannot be written.
        """
        self._write(ended.transcript, encode(ended))

    def all(self) -> list[Ended]:
        """The sessions whose transcripts are still there, except for those without news."""
        found: list[Ended] = []
        for file in sorted(self._folder.glob("*")):
            with suppress(OSError, ValueError, InvalidInput):
                document = self._read(file)
                if not isinstance(document, dict):
                    continue  # the decisions
                ended = decode(Ended, document)
                transcript = Path(ended.transcript)
                if not transcript.is_file():
                    file.unlink(missing_ok=True)
                elif transcript.stat().st_mtime > ended.reviewed:
                    found.append(ended)
        return found

    def decided(self) -> frozenset[str]:
        """The keys of all sentences that the person accepted or dropped."""
        with suppress(OSError, ValueError, InvalidInput):
            return frozenset(decode(tuple[str, ...], self._read(self._file(_DECIDED))))
        return frozenset()

    def decide(self, keys: Collection[str]) -> None:
        """Remember that the person decided on these sentences."""
        self._write(_DECIDED, sorted({*self.decided(), *keys}))

    def _file(self, name: str) -> Path:
        if self._sealer:
            return self._folder / self._sealer.name(name)
        return self._folder / hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()

    def _read(self, file: Path) -> object:
        data = file.read_bytes()
        return json.loads(self._sealer.open(data) if self._sealer else data)

    def _write(self, name: str, document: object) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(document)
        with whole_file(self._file(name)) as file:
            file.write(self._sealer.seal(text) if self._sealer else text.encode())
