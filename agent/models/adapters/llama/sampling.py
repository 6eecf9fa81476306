"""Sampling and detokenizing for the llama.cpp adapter."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Self

import llama_cpp as ll
import numpy as np

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""``llama_token_data``."""


class Sampler:
    """Picks the next token: greedy at temperature 0, else drawn; within a grammar if given."""

    def __init__(self, vocab: Any, temperature: float, seed: int, grammar: str | None) -> None:
        self._size = int(ll.llama_vocab_n_tokens(vocab))
        self._grammar = None
        if grammar is not None:
            if grammar.strip():
                self._grammar = ll.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
            if not self._grammar:
                raise ValueError("the grammar does not parse or has no root rule")
        self._chain = ll.llama_sampler_chain_init(ll.llama_sampler_chain_default_params())
        if temperature > 0:
            ll.llama_sampler_chain_add(self._chain, ll.llama_sampler_init_temp(temperature))
            # The largest seed means "random" to llama.cpp.
            dist = ll.llama_sampler_init_dist(seed % 0xFFFFFFFF)
            ll.llama_sampler_chain_add(self._chain, dist)
        else:
            ll.llama_sampler_chain_add(self._chain, ll.llama_sampler_init_greedy())

    def pick(self, context: Any) -> int | None:
        """The next token, or None if the grammar allows none."""
        token = int(ll.llama_sampler_sample(self._chain, context, -1))
        if self._grammar:
            # Asking the grammar about every token of the vocabulary is slow, so only about the
            # likely one. Drawing again where it is refused gives the same distribution.
            if not self._allows(token):
                chosen = self._pick_allowed(context)
                if chosen is None:
                    return None
                token = chosen
            ll.llama_sampler_accept(self._grammar, token)
        return token

    def _allows(self, token: int) -> bool:
        data = (ll.llama_token_data * 1)(ll.llama_token_data(token, 1.0, 0.0))
        array = ll.llama_token_data_array(data, 1, -1, False)
        ll.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return bool(np.isfinite(data[0].logit))

    def _pick_allowed(self, context: Any) -> int | None:
        data = (ll.llama_token_data * self._size)()
        view = np.frombuffer(memoryview(data).cast("B"), dtype=_TOKEN_DATA)
        view["id"] = np.arange(self._size)
        view["logit"] = np.ctypeslib.as_array(
            ll.llama_get_logits_ith(context, -1), shape=(self._size,)
        )
        array = ll.llama_token_data_array(data, self._size, -1, False)
        ll.llama_sampler_apply(self._grammar, ctypes.byref(array))
        if not np.isfinite(view["logit"]).any():
            return None
        ll.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        ll.llama_sampler_free(self._chain)
        if self._grammar:
            ll.llama_sampler_free(self._grammar)


class TextStream:
    """Joins token bytes to text, passing on only what can no longer become a stop string."""

    def __init__(self, stop: Sequence[str], on_text: Callable[[str], None] | None) -> None:
        self.text = ""
        self._held = ""
        self._stop = [text for text in stop if text]
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, piece: bytes) -> bool:
        """Take the bytes of one token; True when a stop string was reached."""
        self._held += self._decoder.decode(piece)
        found = [at for text in self._stop if (at := self._held.find(text)) >= 0]
        if found:
            self._emit(min(found))
            return True
        keep = max(
            (n for text in self._stop for n in range(len(text)) if self._held.endswith(text[:n])),
            default=0,
        )
        self._emit(len(self._held) - keep)
        return False

    def flush(self) -> None:
        """Pass on the rest. A character whose last bytes never came is dropped."""
        self._emit(len(self._held))

    def _emit(self, length: int) -> None:
        ready, self._held = self._held[:length], self._held[length:]
        self.text += ready
        if ready and self._on_text:
            self._on_text(ready)
