"""Hidden states of a llama.cpp model: what it has made of a prompt behind one of its layers.

What a model knows of a text stands in the state of the last token long before it picks a word, and
a linear classifier on that state says more than the probability of the word
(``benchmarks.state_probe``). The layers above the one that is read are not computed.

A context of its own keeps the chat's cache as it is. What prompts begin with is read once and stays
for the next call: of prompts that are read to their end in sequence 0, of those that are read line
by line in the last sequence. What of it is fixed can be kept on disk.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp as ll
import numpy as np
from llama_cpp._ggml import libggml

from agent.errors import ModelError, PromptTooLong
from agent.models.adapters.llama.decoding import decode
from agent.models.adapters.llama.gguf import Weights
from agent.models.adapters.llama.prefix_tree import common
from agent.models.adapters.llama.prefixes import KeptPrefixes
from agent.models.adapters.llama.reading_adapter import attach, version_of, widened
from agent.ports import Vectors

CELLS = 2048
"""Tokens that the beginning and the prompts of one batch may have together."""
BATCH = 128
SEQUENCES = 17
LINES = SEQUENCES - 1
"""The sequence with the beginning of prompts that are read along."""

libggml.ggml_get_name.restype = ctypes.c_char_p
libggml.ggml_get_name.argtypes = [ctypes.c_void_p]
libggml.ggml_nbytes.restype = ctypes.c_size_t
libggml.ggml_nbytes.argtypes = [ctypes.c_void_p]
libggml.ggml_backend_tensor_get.argtypes = [
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
]  # fmt: skip


class HiddenStates:
    """Reads prompts up to a layer, with an ``adapter`` if one is given.

    Where ``copies`` is a folder, the adapter is read from a faster copy in it.

    Not safe for two threads at once: the owner holds a lock.

    :raises ModelError: if the model has no such layer, or there is no memory for the context.
    :raises WeightsDamaged: if the adapter is not what was written.
    """

    def __init__(
        self,
        weights: Weights,
        layer: int,
        *,
        threads: int,
        flash: bool = True,
        adapter: Path | None = None,
        copies: Path | None = None,
        kept: KeptPrefixes | None = None,
    ) -> None:
        if not 0 <= layer < ll.llama_model_n_layer(weights.model) - 1:
            raise ModelError(f"{weights.path.name} has no layer {layer} whose states can be read.")
        self._weights = weights
        self._width = int(ll.llama_model_n_embd(weights.model))
        self.layer = layer
        version = version_of(adapter)
        if adapter and copies:
            adapter = widened(adapter, copies)
        name = f"{version}, {adapter.name}" if adapter else ""
        self._kept = kept and kept.of(f"up to layer {layer}, adapter {name}")
        self._name = b"l_out-%d" % layer
        self._read: Vectors | None = None
        # llama.cpp calls it as long as the context lives.
        self._callback = ll.ggml_backend_sched_eval_callback(self._on_tensor)
        params = ll.llama_context_default_params()
        params.n_ctx = CELLS
        params.n_batch = params.n_ubatch = BATCH
        params.n_seq_max = SEQUENCES
        params.kv_unified = True
        params.n_threads = params.n_threads_batch = threads
        if not flash:
            params.flash_attn_type = ll.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cb_eval = self._callback
        self._context = weights.context(params)
        if adapter:
            attach(adapter, weights.model, self._context)
        self._memory = ll.llama_get_memory(self._context)
        self._batch = ll.llama_batch_init(BATCH, 0, 1)
        self._trunks: dict[int, list[int]] = {0: [], LINES: []}

    def read(self, prompts: Sequence[Sequence[int]], begin: Sequence[int] = ()) -> Vectors:
        """The state of each prompt's last token: (n, width).

        All prompts begin with ``begin``, which is fixed.

        :raises PromptTooLong: if a prompt has more tokens than the context holds.
        """
        states = np.empty((len(prompts), self._width), np.float32)
        if not prompts:
            return states
        longest = max(map(len, prompts))
        if longest > CELLS - 1:
            raise PromptTooLong(f"A text of {longest} tokens is too long to be judged.")
        if longest + len(self._trunks[LINES]) > CELLS:
            self._grow_trunk((), LINES)
        shared = min(common(prompts[0], prompt) for prompt in prompts)
        # Each prompt has a token of its own, whose state is read.
        shared = min(shared, *(len(prompt) - 1 for prompt in prompts))
        self._grow_trunk(prompts[0][:shared], 0, begin)
        waiting = list(enumerate(prompts))
        while waiting:
            taken = [waiting.pop(0)]
            while waiting and self._fit([*taken, waiting[0]], shared):
                taken.append(waiting.pop(0))
            for number, state in self._behind_trunk(taken, shared):
                states[number] = state
        return states

    def along(
        self,
        tokens: Sequence[int],
        places: Sequence[int],
        start: int,
        begin: Sequence[int] = (),
    ) -> Vectors:
        """The states of the tokens at some places of one prompt, in their order: (n, width).

        What stands before ``start`` stays for the next prompt that begins so; ``begin``, the first
        part of that, is fixed.

        :raises PromptTooLong: if the prompt has more tokens than the context holds.
        """
        if len(tokens) > CELLS:
            raise PromptTooLong(f"A text of {len(tokens)} tokens is too long to be judged.")
        if len(tokens) + len(self._trunks[0]) > CELLS:
            self._grow_trunk((), 0)
        self._grow_trunk(tokens[:start], LINES, begin)
        states = np.empty((len(places), self._width), np.float32)
        ll.llama_memory_seq_cp(self._memory, LINES, 1, 0, start)
        try:
            for first in range(start, len(tokens), BATCH):
                rows = self._decode([(tokens[first : first + BATCH], 1)], first)
                for number, place in enumerate(places):
                    if first <= place < first + len(rows):
                        states[number] = rows[place - first]
        finally:
            ll.llama_memory_seq_rm(self._memory, 1, -1, -1)
        return states

    def close(self) -> None:
        """Free the context. Closing twice is fine."""
        if self._context:
            ll.llama_batch_free(self._batch)
            ll.llama_free(self._context)
        self._context = None

    def _fit(self, prompts: Sequence[tuple[int, Sequence[int]]], shared: int) -> bool:
        own = sum(len(prompt) - shared for _, prompt in prompts)
        room = CELLS - len(self._trunks[LINES])
        return own <= BATCH and len(prompts) < LINES and shared + own <= room

    def _grow_trunk(self, tokens: Sequence[int], sequence: int, begin: Sequence[int] = ()) -> None:
        """Let a sequence hold these tokens, which begin with ``begin``, and no others."""
        trunk = self._trunks[sequence]
        shared = common(trunk, tokens)
        del trunk[shared:]
        ll.llama_memory_seq_rm(self._memory, sequence, shared, -1)
        read = partial(self._extend, sequence)
        if self._kept and len(begin) <= len(tokens):
            self._kept.hold(self._context, sequence, trunk, begin, read)
        read(tokens[len(trunk) :])

    def _extend(self, sequence: int, tokens: Sequence[int]) -> None:
        trunk = self._trunks[sequence]
        for start in range(0, len(tokens), BATCH):
            left = tokens[start : start + BATCH]
            self._decode([(left, sequence)], len(trunk))
            trunk.extend(left)

    def _behind_trunk(
        self, prompts: Sequence[tuple[int, Sequence[int]]], shared: int
    ) -> list[tuple[int, Vectors]]:
        """The states of prompts that fit one batch; of a longer one, part by part."""
        found: list[tuple[int, Vectors]] = []
        own = [list(prompt[shared:]) for _, prompt in prompts]
        for sequence in range(1, len(prompts) + 1):
            ll.llama_memory_seq_cp(self._memory, 0, sequence, 0, shared)
        try:
            if len(prompts) == 1:
                for start in range(0, len(own[0]), BATCH):
                    rows = self._decode([(own[0][start : start + BATCH], 1)], shared + start)
                found.append((prompts[0][0], rows[-1]))
            else:
                rows = self._decode(list(zip(own, range(1, len(own) + 1), strict=True)), shared)
                ends = np.cumsum([len(tokens) for tokens in own]) - 1
                found += [
                    (number, rows[end]) for (number, _), end in zip(prompts, ends, strict=True)
                ]
        finally:
            for sequence in range(1, len(prompts) + 1):
                ll.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return found

    def _decode(self, parts: Sequence[tuple[Sequence[int], int]], position: int) -> Vectors:
        """Decode tokens of sequences from a position on; the states of all of them."""
        batch, count = self._batch, 0
        for tokens, sequence in parts:
            for offset, token in enumerate(tokens):
                batch.token[count] = token
                batch.pos[count] = position + offset
                batch.n_seq_id[count] = 1
                batch.seq_id[count][0] = sequence
                batch.logits[count] = False
                count += 1
        batch.n_tokens = count
        batch.logits[count - 1] = True
        self._read = None
        code = decode(self._context, batch)
        if code != 0 or self._read is None:
            for trunk in self._trunks.values():
                trunk.clear()
            ll.llama_memory_clear(self._memory, True)
            raise ModelError(f"llama.cpp could not decode (code {code}). Try again.")
        return self._read

    def _on_tensor(self, tensor: Any, ask: bool, _: Any) -> bool:
        """Called before each tensor (``ask``: is it wanted?) and when a wanted one is computed."""
        wanted = bool(libggml.ggml_get_name(tensor) == self._name)
        if ask:
            return wanted
        size = libggml.ggml_nbytes(tensor)
        rows = np.empty((size // 4 // self._width, self._width), np.float32)
        libggml.ggml_backend_tensor_get(tensor, rows.ctypes.data, 0, size)
        self._read = rows
        return False  # what lies above is not computed
