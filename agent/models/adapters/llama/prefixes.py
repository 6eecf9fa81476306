"""Fixed beginnings of prompts, kept as llama.cpp's own state of a sequence.

Reading a few hundred tokens takes seconds on two cores, loading what came of them some
milliseconds. A state is written when the sequence holds the beginning and nothing else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp as ll

from agent.models.prompt_cache import PromptCache, key

LEAST = 32
"""Tokens of a beginning that is worth a file."""


def _nothing(_: str) -> None:
    pass


class KeptPrefixes:
    """The states that one model has kept.

    ``identity`` names all that a state depends on beside its tokens: weights, build, processor,
    settings. ``tell`` hears of what could not be used.
    """

    def __init__(
        self, cache: PromptCache, identity: str, tell: Callable[[str], None] = _nothing
    ) -> None:
        self._cache = cache
        self._identity = f"{identity}; state {ll.LLAMA_STATE_SEQ_VERSION}"
        self._tell = tell

    def of(self, what: str) -> KeptPrefixes:
        """Those of another context on the same weights."""
        return KeptPrefixes(self._cache, f"{self._identity}; {what}", self._tell)

    def hold(
        self,
        context: Any,
        sequence: int,
        held: list[int],
        tokens: Sequence[int],
        read: Callable[[Sequence[int]], None],
    ) -> None:
        """Let a sequence hold these tokens, if it holds but a part of them: ``held``.

        They are loaded, or else read and kept. ``read`` adds tokens to the sequence and to
        ``held``. A file that cannot be used is removed.
        """
        if len(tokens) < LEAST or len(held) >= len(tokens):
            return
        name = key(self._identity, tokens)
        state = self._find(name)
        if state is not None:
            held.clear()
            array = (ctypes.c_uint8 * len(state)).from_buffer(state)
            taken = ll.llama_state_seq_set_data(context, array, len(state), sequence)
            if taken == len(state) and _end(context, sequence) == len(tokens):
                held.extend(tokens)
                return
            ll.llama_memory_seq_rm(ll.llama_get_memory(context), sequence, -1, -1)
            self._unusable(name, f"llama.cpp does not take the state {name}")
        read(tokens[len(held) :])
        self._keep(context, sequence, name, len(tokens))

    def _find(self, name: str) -> memoryview | None:
        try:
            return self._cache.find(name)
        except ValueError as error:
            self._unusable(name, str(error))
            return None

    def _keep(self, context: Any, sequence: int, name: str, length: int) -> None:
        """Keep the state of a sequence of so many tokens."""
        if _end(context, sequence) != length:
            return
        size = ll.llama_state_seq_get_size(context, sequence)
        state = bytearray(size)
        array = (ctypes.c_uint8 * size).from_buffer(state)
        if ll.llama_state_seq_get_data(context, array, size, sequence) != size:
            self._tell("llama.cpp gives no state of a sequence")
        elif not self._cache.keep(name, state):
            self._tell(f"{self._cache.folder} cannot be written, or is too small")

    def _unusable(self, name: str, why: str) -> None:
        self._tell(f"{why}; it is made anew")
        self._cache.remove(name)


def _end(context: Any, sequence: int) -> int:
    """The position behind the last token of a sequence."""
    return int(ll.llama_memory_seq_pos_max(ll.llama_get_memory(context), sequence)) + 1
