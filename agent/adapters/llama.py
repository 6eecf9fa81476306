"""A local chat model on llama.cpp's low-level API.

Owns one model and one context whose cache cells are shared by a few *prompt slots*. A slot is a
sequence that remembers which tokens lie in the cache; a new prompt goes to the slot that shares
its beginning, so each task's long few-shot prompt is read once and stays warm.

Invariant: the cache of a slot holds at least ``slot.tokens``. Tokens are noted after they are
decoded and dropped before their cells are removed, so an interrupt at any moment leaves cells
too many at worst, and those are removed before the slot is used again.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

# Trigger: another busy program on the same processors.
# Why: the threads of a matrix product wait for each other by spinning, so one that lost its
# processor keeps the others burning theirs; a token then took up to 100 times as long.
# Outcome: they spin briefly, then sleep; alone on the machine the 1.5B model is as fast.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import llama_cpp as ll

from agent.adapters.sampling import Sampler, TextStream
from agent.errors import ModelDamaged, ModelError, ModelMissing, PromptTooLong
from agent.ports import ChatTurn

logger = logging.getLogger("memlane.llama")

_BATCH = 512  # most tokens in one llama_decode
_READ_CHUNK = 128  # prompt tokens read at a time; an interrupt waits for one chunk only
_EXACT_CHUNK = 16  # smaller products are summed in another order
_NOT_FOUND = 1  # llama_decode found no free cells
_PLACEHOLDER = re.compile(r"\x02(\d+)\x03")

_verbose = False


def _on_log(level: int, text: bytes, _: object) -> None:
    if _verbose:
        logger.info(text.decode("utf-8", "replace").rstrip())


_log_callback = ll.llama_log_callback(_on_log)  # must live as long as the process


@dataclass(slots=True)
class Slot:
    """A sequence of the cache and the tokens that lie in it."""

    sequence: int
    tokens: list[int] = field(default_factory=list)
    last_used: int = 0


class LlamaModel:
    """A GGUF chat model; fulfils ``agent.ports.LanguageModel``. Callers take turns on a lock.

    ``sha256`` of the file goes into ``identity``. ``n_ctx`` tokens are shared by ``slots``
    prompts; ``scratch`` further sequence ids, from ``slots`` up, are left to code that batches
    on this context. ``repack`` lays weights out for faster generation, at the price of memory
    and of slower reading. ``exact`` makes an answer depend on the prompt alone, to the last bit:
    every sequence has ``n_ctx`` cells of its own (memory!), no flash attention, no repacking, and
    answers are not kept warm. Otherwise the order of sums depends on what else is in the cache,
    and where two tokens are nearly as likely, a warm and a cold slot may choose differently.

    :raises ModelMissing: if there is no such file.
    :raises ModelDamaged: if llama.cpp cannot load it.
    """

    def __init__(
        self,
        path: Path,
        *,
        sha256: str,
        n_ctx: int = 8192,
        slots: int = 4,
        scratch: int = 0,
        n_threads: int | None = None,
        repack: bool = True,
        exact: bool = False,
        verbose: bool = False,
    ) -> None:
        global _verbose
        _verbose = verbose
        self._model = self._context = None
        self._lock = threading.RLock()
        self._busy = False
        self._exact = exact
        self._clock = itertools.count(1)
        self._identity = f"{path.name}:{sha256[:12]}"
        if not path.is_file():
            raise ModelMissing(
                f"There is no model file at {path}. See what there is with: memlane models list"
            )
        ll.llama_log_set(_log_callback, ctypes.c_void_p(0))
        ll.llama_backend_init()
        model_params = ll.llama_model_default_params()
        model_params.use_extra_bufts = repack and not exact
        self._model = ll.llama_model_load_from_file(os.fsencode(path), model_params)
        if not self._model:
            raise ModelDamaged(
                f"{path} cannot be loaded: it is damaged, or newer than this llama.cpp. "
                "Choose another (memlane models list) or: pip install -U llama-cpp-python"
            )
        params = ll.llama_context_default_params()
        params.n_seq_max = slots + scratch
        params.n_ctx = n_ctx * params.n_seq_max if exact else n_ctx
        params.n_batch = params.n_ubatch = _BATCH
        params.kv_unified = not exact
        if exact:
            params.flash_attn_type = ll.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.n_threads = params.n_threads_batch = n_threads or _default_threads()
        self._context = ll.llama_init_from_model(self._model, params)
        if not self._context:
            self.close()
            raise ModelError(
                f"No memory for a context of {n_ctx} tokens with {path.name}. "
                "Lower the context size in the configuration, or choose a smaller model."
            )
        self._vocab = ll.llama_model_get_vocab(self._model)
        self._memory = ll.llama_get_memory(self._context)
        self._batch = ll.llama_batch_init(_BATCH, 0, 1)
        self._cells = int(ll.llama_n_ctx(self._context))
        per_slot = int(ll.llama_n_ctx_seq(self._context))
        self._limit = min(per_slot, int(ll.llama_model_n_ctx_train(self._model)))
        self._template: bytes | None = ll.llama_model_chat_template(self._model, None)
        self.slots = [Slot(sequence) for sequence in range(slots)]

    @property
    def identity(self) -> str:
        """File name and first 12 digits of the weights' SHA-256."""
        return self._identity

    @property
    def context_size(self) -> int:
        """The most tokens that a prompt and its answer may have together."""
        return self._limit

    @property
    def context(self) -> Any:
        """The raw context (and from it the model), for batches inside ``prefilled``."""
        return self._context

    def chat(
        self,
        turns: Sequence[ChatTurn],
        *,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> str:
        """Complete the chat; see ``LanguageModel.chat``.

        ``on_text`` must not call the model.

        :raises PromptTooLong: if prompt and ``max_tokens`` exceed the context.
        :raises ValueError: if ``grammar`` does not parse or has no ``root``.
        """
        with self._lock:
            self._check_open()
            prompt, implied_stop = self._prompt(turns)
            with (
                Sampler(self._vocab, temperature, seed, grammar) as sampler,
                self.prefilled(prompt, room=max_tokens) as slot,
            ):
                return self._generate(
                    slot, sampler, max_tokens, TextStream([*stop, *implied_stop], on_text)
                )

    def chat_tokens(self, turns: Sequence[ChatTurn]) -> list[int]:
        """The prompt as tokens, up to where the assistant begins to speak."""
        return self._prompt(turns)[0]

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of ``text`` alone, with no begin token.

        Without ``special``, text that looks like a control token stays plain text.
        """
        self._check_open()
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        buffer = (ll.llama_token * size)()
        count = ll.llama_tokenize(self._vocab, data, len(data), buffer, size, False, special)
        if count < 0:
            raise ModelError(f"llama.cpp cannot tokenize a text of {len(data)} bytes.")
        return buffer[:count]

    def count_tokens(self, text: str) -> int:
        """How many tokens ``text`` takes as the content of a turn."""
        return len(self.tokenize(text))

    def piece(self, token: int) -> bytes:
        """The bytes of one token; possibly a part of a character, empty for control tokens."""
        buffer = ctypes.create_string_buffer(1024)  # the longest tokens have some 200 bytes
        size = ll.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(0, size)]

    @contextmanager
    def prefilled(self, tokens: Sequence[int], *, room: int) -> Iterator[Slot]:
        """Lend a slot whose cache holds ``tokens``, with ``room`` cells free behind them.

        The logits of the last token are those that llama.cpp returns next. Holds the lock.

        :raises PromptTooLong: if both together exceed the context.
        """
        with self._lock:
            self._check_open()
            if self._busy:
                raise RuntimeError("on_text must not call the model")
            if not tokens:
                raise ValueError("the prompt is empty")
            if len(tokens) + room > self._limit:
                raise PromptTooLong(
                    f"The prompt has {len(tokens)} tokens and {room} are kept for the answer, but "
                    f"{self._identity.split(':')[0]} holds {self._limit}. Shorten the text."
                )
            slot, shared = self._choose_slot(tokens)
            # The last token is read again even if it is there: its logits are needed.
            again = _EXACT_CHUNK if self._exact else 1
            del slot.tokens[max(0, min(shared, len(tokens) - again)) :]
            slot.last_used = next(self._clock)
            self._busy = True
            try:
                self._trim(slot)
                self._free_cells(len(tokens) - len(slot.tokens) + room, but=slot)
                self.extend(slot, tokens[len(slot.tokens) :])
                yield slot
            finally:
                self._busy = False
                if self._exact:
                    del slot.tokens[len(tokens) :]
                self._trim(slot)

    def extend(self, slot: Slot, tokens: Sequence[int]) -> None:
        """Decode ``tokens`` at the end of a slot that ``prefilled`` lent.

        :raises ModelError: if llama.cpp fails; the slot then holds what was decoded before.
        """
        batch = self._batch
        start = 0
        while left := len(tokens) - start:
            size = left if left <= _READ_CHUNK else min(_READ_CHUNK, left - _EXACT_CHUNK)
            chunk = tokens[start : start + size]
            batch.n_tokens = size
            for i, token in enumerate(chunk):
                batch.token[i] = token
                batch.pos[i] = len(slot.tokens) + i
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = slot.sequence
                batch.logits[i] = False
            batch.logits[size - 1] = size == left
            code = ll.llama_decode(self._context, batch)
            while code == _NOT_FOUND and self._evict_oldest(but=slot):
                code = ll.llama_decode(self._context, batch)
            if code != 0:
                raise ModelError(f"llama.cpp could not decode (code {code}). Try again.")
            slot.tokens.extend(chunk)
            start += size

    def close(self) -> None:
        """Free model and context. Closing twice is fine; using it afterwards raises ModelError."""
        with self._lock:
            if self._context:
                ll.llama_batch_free(self._batch)
                ll.llama_free(self._context)
            if self._model:
                ll.llama_model_free(self._model)
            self._context = self._model = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _generate(self, slot: Slot, sampler: Sampler, max_tokens: int, stream: TextStream) -> str:
        for left in range(max_tokens, 0, -1):
            token = sampler.pick(self._context)
            if token is None or ll.llama_vocab_is_eog(self._vocab, token):
                break
            if stream.add(self.piece(token)):
                return stream.text
            if left > 1:
                self.extend(slot, [token])
        stream.flush()
        return stream.text

    def _prompt(self, turns: Sequence[ChatTurn]) -> tuple[list[int], list[str]]:
        """Prompt tokens, and the stop strings that the prompt's form asks for.

        Control tokens count in the template only: contents are tokenized apart from it, so that
        a memory saying ``<|im_end|>`` ends nothing.
        """
        parts = self._apply_template(turns)
        stops: list[str] = []
        if parts is None:
            # No template, or one that llama.cpp does not know.
            parts = ["".join(f"{turn.role}:\n\x02{i}\x03\n\n") for i, turn in enumerate(turns)]
            parts = _PLACEHOLDER.split("".join(parts) + "assistant:\n")
            stops = ["\n\nuser:", "\n\nsystem:"]
        tokens: list[int] = []
        if ll.llama_vocab_get_add_bos(self._vocab):
            tokens.append(ll.llama_vocab_bos(self._vocab))
        # Splitting puts template text at even places, numbers of turns at odd ones.
        for place, part in enumerate(parts):
            if place % 2:
                tokens += self.tokenize(turns[int(part)].content)
            else:
                tokens += self.tokenize(part, special=True)
        return tokens, stops

    def _apply_template(self, turns: Sequence[ChatTurn]) -> list[str] | None:
        if not self._template:
            return None
        messages = (ll.llama_chat_message * len(turns))(
            *(
                ll.llama_chat_message(turn.role.encode(), f"\x02{i}\x03".encode())
                for i, turn in enumerate(turns)
            )
        )
        size = 512 + 64 * len(turns)
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = ll.llama_chat_apply_template(
                self._template, messages, len(turns), True, buffer, size
            )
            if length <= size:
                break
            size = length
        if length < 0:
            return None
        parts = _PLACEHOLDER.split(buffer.raw[:length].decode("utf-8"))
        # A template may leave turns out; then it cannot carry this chat.
        return parts if sorted(map(int, parts[1::2])) == list(range(len(turns))) else None

    def _choose_slot(self, tokens: Sequence[int]) -> tuple[Slot, int]:
        """The slot to read a prompt into, and how many leading tokens it already holds."""
        shared, slot = max(
            ((_common(slot.tokens, tokens), slot) for slot in self.slots), key=lambda pair: pair[0]
        )
        # Trigger: a prompt that shares only its first words with another task's prompt.
        # Why: overwriting that slot would throw its long prompt away to save those few tokens.
        if 2 * shared >= min(len(tokens), len(slot.tokens)) and shared > 0:
            return slot, shared
        slot = min(self.slots, key=lambda slot: slot.last_used)
        return slot, _common(slot.tokens, tokens)

    def _free_cells(self, needed: int, *, but: Slot) -> None:
        while self._cells - sum(len(slot.tokens) for slot in self.slots) < needed:
            if not self._evict_oldest(but=but):
                return

    def _evict_oldest(self, *, but: Slot) -> bool:
        others = [slot for slot in self.slots if slot is not but and slot.tokens]
        if not others:
            return False
        oldest = min(others, key=lambda slot: slot.last_used)
        oldest.tokens.clear()
        self._trim(oldest)
        return True

    def _trim(self, slot: Slot) -> None:
        """Remove cells behind ``slot.tokens``."""
        if not ll.llama_memory_seq_rm(self._memory, slot.sequence, len(slot.tokens), -1):
            # Recurrent models cannot go back a part of the way.
            slot.tokens.clear()
            ll.llama_memory_seq_rm(self._memory, slot.sequence, -1, -1)

    def _check_open(self) -> None:
        if not self._context:
            raise ModelError(f"The model {self._identity} was closed. Open it again.")


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def _default_threads() -> int:
    """Half of many processors (they are hyperthreads), all of few; llama.cpp's own rule."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return count if count <= 4 else count // 2
