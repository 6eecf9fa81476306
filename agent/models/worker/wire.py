"""What a worker and its owner say to each other: JSON documents in frames, over two pipes.

A frame is a mark of four bytes, the length as four bytes (big-endian) and as many bytes of JSON.
Numbers survive exactly: JSON writes a double so that it is read back to the last bit.

========================================  ==================================================
owner to worker                           meaning
========================================  ==================================================
``{"id": 1, "do": "chat", ...}``          a request; one is worked on at a time
``{"cancel": 1}``                         stop it at the next step
========================================  ==================================================

========================================  ==================================================
worker to owner                           meaning
========================================  ==================================================
``{"id": 1, "beat": true}``               still at work
``{"id": 1, "text": "..."}``              a piece of an answer
``{"id": 1, "note": "..."}``              for the log
``{"id": 1, "done": ...}``                the result: the request is over
``{"id": 1, "error": KIND, "message": M}``  an error of ``agent.errors``: it is over
``{"id": 1, "cancelled": true}``          it was stopped: it is over
========================================  ==================================================
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

Message = Mapping[str, Any]
Json: TypeAlias = Any
"""What a JSON document holds; its shape depends on the request."""

MARK = b"mlw1"
LONGEST = 256 * 1024 * 1024
"""Bytes of the longest document: thousands of long prompts stay far below."""
_HEAD = struct.Struct(">4sI")
_OVER = ("done", "error", "cancelled")


class Nonsense(Exception):
    """What came over the pipe is no frame."""


def pack(message: Message) -> bytes:
    """A message as a frame. Lone surrogates in texts stay what they are."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _HEAD.pack(MARK, len(body)) + body


def is_over(message: Message) -> bool:
    """Whether a worker's message is the last one of its request."""
    return any(key in message for key in _OVER)


class Frames:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that are whole now.

        :raises Nonsense: at the first byte that cannot belong to a frame.
        """
        held = self._held
        held += data
        messages = []
        while held:
            if not MARK.startswith(held[: len(MARK)]):
                raise Nonsense("no frame begins there")
            if len(held) < _HEAD.size:
                break
            _, length = _HEAD.unpack_from(held)
            if length > LONGEST:
                raise Nonsense(f"a frame of {length} bytes")
            end = _HEAD.size + length
            if len(held) < end:
                break
            try:
                message = json.loads(held[_HEAD.size : end])
            except (ValueError, RecursionError) as error:
                raise Nonsense("a frame holds no JSON") from error
            if not isinstance(message, dict):
                raise Nonsense("a frame holds no object")
            messages.append(message)
            del held[:end]
        return messages
