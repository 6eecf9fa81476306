"""Local chat model on llama.cpp's low-level API.

Owns one model and one context whose cache cells are shared by a few *prompt slots*. A slot is a
sequence that remembers which tokens lie in the cache; a new prompt goes to the slot that shares its
beginning, so each task's long few-shot prompt is read once and stays warm. What is read of the
fixed part of a prompt can also be kept on disk, for the next process (``llama_prefixes``).

Invariant: the cache of a slot holds at least ``slot.tokens``. Tokens are noted after they are
decoded and dropped before their cells are removed, so an interrupt at any moment leaves cells
too many at worst, and those are removed before the slot is used again.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import llama_cpp as ll
import numpy as np

from agent.errors import ModelError, PromptTooLong
from agent.models.adapters.llama.decoding import decode
from agent.models.adapters.llama.gguf import Weights, default_threads
from agent.models.adapters.llama.prefix_tree import common
from agent.models.adapters.llama.prefixes import KeptPrefixes
from agent.models.adapters.llama.reading_adapter import adapter_of
from agent.models.adapters.llama.sampling import Sampler, TextStream
from agent.models.adapters.llama.states import HiddenStates
from agent.models.adapters.llama.trial_text import TRIAL
from agent.ports import ChatTurn, Vectors

_BATCH = 512  # most tokens in one llama_decode
_READ_CHUNK = 128  # prompt tokens read at a time; an interrupt waits for one chunk only
_EXACT_CHUNK = 16  # smaller products are summed in another order
_NOT_FOUND = 1  # llama_decode found no free cells


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model made of a fixed prompt."""

    tokens: list[int]
    gaps: list[float]
    """By how many nats the most likely token was likelier than the one taken, at each step."""


@dataclass(slots=True)
class Slot:
    """A sequence of the cache and the tokens that lie in it."""

    sequence: int
    tokens: list[int] = field(default_factory=list)
    last_used: int = 0


class LlamaModel:
    """A GGUF chat model; fulfils ``agent.ports.LanguageModel``. Callers take turns on a lock.

    ``sha256`` of the file goes into ``identity``. ``n_ctx`` tokens are shared by ``slots``
    prompts. ``repack`` lays weights out for faster generation, at the price of memory and of
    slower reading, and crashes on some processors (``models.worker.settings``); ``flash`` lets
    llama.cpp use flash attention where it can. ``kept`` has what was read of fixed parts before,
    the folder ``copies`` has files that are made from others on this machine.

    ``exact`` makes an answer depend on the prompt alone, to the last bit: every sequence has
    ``n_ctx`` cells of its own (memory!), no flash attention, no repacking, answers are not kept
    warm, and nothing is kept on disk. Otherwise the order of sums depends on what else is in the
    cache, and where two tokens are nearly as likely, a warm and a cold slot may choose differently.

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
        n_threads: int | None = None,
        repack: bool = False,
        flash: bool = True,
        exact: bool = False,
        kept: KeptPrefixes | None = None,
        copies: Path | None = None,
    ) -> None:
        self._context: Any = None
        self._lock = threading.RLock()
        self._busy = False
        self._exact = exact
        self._states: HiddenStates | None = None
        self._kept = None if exact else kept
        self._copies = copies
        self._threads, self._flash = n_threads or default_threads(), flash and not exact
        self._clock = itertools.count(1)
        self._identity = f"{path.name}:{sha256[:12]}"
        self._weights = Weights(path, repack=repack and not exact)
        params = ll.llama_context_default_params()
        params.n_seq_max = slots
        params.n_ctx = n_ctx * params.n_seq_max if exact else n_ctx
        params.n_batch = params.n_ubatch = _BATCH
        params.kv_unified = not exact
        if exact or not flash:
            params.flash_attn_type = ll.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.n_threads = params.n_threads_batch = self._threads
        try:
            self._context = self._weights.context(params)
        except ModelError:
            self.close()
            raise
        self._memory = ll.llama_get_memory(self._context)
        self._batch = ll.llama_batch_init(_BATCH, 0, 1)
        self._cells = int(ll.llama_n_ctx(self._context))
        per_slot = int(ll.llama_n_ctx_seq(self._context))
        self._limit = min(per_slot, self._weights.trained_context)
        self.slots = [Slot(sequence) for sequence in range(slots)]

    @property
    def identity(self) -> str:
        """File name and first 12 digits of the weights' SHA-256."""
        return self._identity

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
        on_scores: Callable[[Sequence[float]], None] | None = None,
        fixed: int = 0,
    ) -> str:
        """Complete the chat; see ``LanguageModel.chat``.

        The first ``fixed`` turns hold nothing that anybody told.
        ``on_text`` and ``on_scores`` must not call the model.

        :raises PromptTooLong: if prompt and ``max_tokens`` exceed the context.
        :raises ValueError: if ``grammar`` does not parse or has no ``root``.
        """
        with self._lock:
            self._check_open()
            prompt, implied_stop = self._weights.prompt(turns)
            begin = self._beginning(turns, fixed)
            with (
                Sampler(self._weights.vocab, temperature, seed, grammar) as sampler,
                self.prefilled(prompt, room=max_tokens, begin=begin) as slot,
            ):
                stream = TextStream([*stop, *implied_stop], on_text)
                return self._generate(slot, sampler, max_tokens, stream, on_scores)

    def states(
        self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int, fixed: int = 0
    ) -> Vectors:
        """Of each prompt the state of its last token behind a layer; see ``HiddenStateModel``.

        All prompts begin with the same ``fixed`` turns, which hold nothing that anybody told.
        """
        with self._lock:
            states = self._states_behind(layer)
            begin = self._beginning(prompts[0], fixed) if prompts else ()
            return states.read([self._weights.prompt(turns)[0] for turns in prompts], begin)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int, fixed: int = 0) -> Vectors:
        """Of each line of the last turn the state of its end; see ``HiddenStateModel``.

        The first ``fixed`` turns hold nothing that anybody told.
        """
        with self._lock:
            states = self._states_behind(layer)
            return states.along(*self._weights.lines(turns), self._beginning(turns, fixed))

    def _beginning(self, turns: Sequence[ChatTurn], fixed: int) -> Sequence[int]:
        """What of a prompt may be kept, as tokens."""
        return self._weights.beginning(turns, fixed) if self._kept and fixed else ()

    def _states_behind(self, layer: int) -> HiddenStates:
        self._check_open()
        if self._states is None or self._states.layer != layer:
            if self._states is not None:
                self._states.close()
            self._states = HiddenStates(
                self._weights,
                layer,
                threads=self._threads,
                flash=self._flash,
                adapter=adapter_of(self._identity),
                copies=self._copies,
                kept=self._kept,
            )
        return self._states

    def trial(
        self, size: int, steps: int, follow: Sequence[int] | None = None, skip: int = 0
    ) -> Trial:
        """Read a fixed prompt of ``size`` tokens and generate ``steps`` more, greedily.

        With ``follow`` these tokens are taken instead, so that two settings can be compared.
        With ``skip`` the prompt begins so many tokens later: it is another one.

        :raises ModelError: if a logit is no number.
        """
        with self._lock:
            prompt = self._weights.tokenize(TRIAL)[skip : skip + size]
            tokens: list[int] = []
            gaps: list[float] = []
            with self.prefilled(prompt, room=steps) as slot:
                for step in range(steps):
                    row = np.ctypeslib.as_array(
                        ll.llama_get_logits_ith(self._context, -1),
                        shape=(self._weights.vocabulary_size,),
                    )
                    if not np.isfinite(row).all():
                        raise ModelError("a logit is no number")
                    token = int(row.argmax()) if follow is None else follow[step]
                    tokens.append(token)
                    gaps.append(float(row.max() - row[token]))
                    self.extend(slot, [token])
            return Trial(tokens, gaps)

    @contextmanager
    def prefilled(
        self, tokens: Sequence[int], *, room: int, begin: Sequence[int] = ()
    ) -> Iterator[Slot]:
        """Lend a slot whose cache holds ``tokens``, with ``room`` cells free behind them.

        ``begin`` is what of them is fixed and may be kept on disk.
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
                if self._kept:
                    read = partial(self.extend, slot)
                    self._kept.hold(self._context, slot.sequence, slot.tokens, begin, read)
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
            code = decode(self._context, batch)
            while code == _NOT_FOUND and self._evict_oldest(but=slot):
                code = decode(self._context, batch)
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
            self._context = None
            if self._states is not None:
                self._states.close()
            self._states = None
            self._weights.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _generate(
        self,
        slot: Slot,
        sampler: Sampler,
        max_tokens: int,
        stream: TextStream,
        on_scores: Callable[[Sequence[float]], None] | None,
    ) -> str:
        scores: list[float] = []
        stopped = False
        for left in range(max_tokens, 0, -1):
            token = sampler.pick(self._context)
            if token is None or self._weights.ends(token):
                break
            stopped = stream.add(self._weights.piece(token))
            if stopped:
                break
            if on_scores:
                scores.append(self._log_probability(token))
            if left > 1:
                self.extend(slot, [token])
        if not stopped:
            stream.flush()
        if on_scores:
            on_scores(scores)
        return stream.text

    def _log_probability(self, token: int) -> float:
        """Of the token that was just picked, at temperature 1, in nats."""
        logits = ll.llama_get_logits_ith(self._context, -1)
        row = np.ctypeslib.as_array(logits, shape=(self._weights.vocabulary_size,))
        top = row.max()
        return float(row[token] - top - np.log(np.exp(row - top).sum()))

    def _choose_slot(self, tokens: Sequence[int]) -> tuple[Slot, int]:
        """The slot to read a prompt into, and how many leading tokens it already holds."""
        shared, slot = max(
            ((common(slot.tokens, tokens), slot) for slot in self.slots), key=lambda pair: pair[0]
        )
        # Trigger: a prompt that shares only its first words with another task's prompt.
        # Why: overwriting that slot would throw its long prompt away to save those few tokens.
        if 2 * shared >= min(len(tokens), len(slot.tokens)) and shared > 0:
            return slot, shared
        slot = min(self.slots, key=lambda slot: slot.last_used)
        return slot, common(slot.tokens, tokens)

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
