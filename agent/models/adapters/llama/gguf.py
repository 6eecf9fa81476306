"""GGUF loading: vocabulary, chat template and tokenizer."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Trigger: another busy program on the same processors.
# Why: the threads of a matrix product wait for each other by spinning, so one that lost its
# processor keeps the others burning theirs; a token then took up to 100 times as long.
# Outcome: they spin briefly, then sleep; alone on the machine the 1.5B model is as fast.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import llama_cpp as ll

from agent.errors import ModelDamaged, ModelError, ModelMissing
from agent.ports import ChatTurn, Prompt

_PLACEHOLDER = re.compile(r"\x02(\d+)\x03")

_log_callback = ll.llama_log_callback(lambda *_: None)  # must live as long as the process


def silence() -> None:
    """Keep llama.cpp from writing to stderr."""
    ll.llama_log_set(_log_callback, ctypes.c_void_p(0))


class Weights:
    """The model of one file. ``repack`` lays weights out for faster generation of one text, at
    the price of memory and of slower reading.

    :raises ModelMissing: if there is no such file.
    :raises ModelDamaged: if llama.cpp cannot load it.
    """

    def __init__(self, path: Path, *, repack: bool) -> None:
        self.path = path
        self.model: Any = None
        if not path.is_file():
            raise ModelMissing(
                f"There is no model file at {path}. List the models with: memlane models list"
            )
        silence()
        ll.llama_backend_init()
        params = ll.llama_model_default_params()
        params.use_extra_bufts = repack
        self.model = ll.llama_model_load_from_file(os.fsencode(path), params)
        if not self.model:
            raise ModelDamaged(
                f"{path} cannot be loaded: it is damaged, or newer than this llama.cpp. "
                "Choose another (memlane models list) or: pip install -U llama-cpp-python"
            )
        self.vocab = ll.llama_model_get_vocab(self.model)
        self.vocabulary_size = int(ll.llama_vocab_n_tokens(self.vocab))
        self.trained_context = int(ll.llama_model_n_ctx_train(self.model))
        self._template: bytes | None = ll.llama_model_chat_template(self.model, None)

    def context(self, params: Any) -> Any:
        """A new llama.cpp context on these weights; free it before them.

        :raises ModelError: if there is no memory for it.
        """
        context = ll.llama_init_from_model(self.model, params)
        if not context:
            raise ModelError(
                f"No memory for a context of {params.n_ctx} tokens with {self.path.name}. "
                "Lower it (memlane config set context N), or choose a smaller model."
            )
        return context

    def close(self) -> None:
        """Free the weights. Closing twice is fine."""
        if self.model:
            ll.llama_model_free(self.model)
        self.model = None

    def ends(self, token: int) -> bool:
        """Whether the token ends the text."""
        return bool(ll.llama_vocab_is_eog(self.vocab, token))

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of ``text`` alone, with no begin token.

        Without ``special``, text that looks like a control token stays plain text.
        """
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        buffer = (ll.llama_token * size)()
        count = ll.llama_tokenize(self.vocab, data, len(data), buffer, size, False, special)
        if count < 0:
            raise ModelError(f"llama.cpp cannot tokenize a text of {len(data)} bytes.")
        return buffer[:count]

    def piece(self, token: int) -> bytes:
        """The bytes of one token; possibly a part of a character, empty for control tokens."""
        buffer = ctypes.create_string_buffer(1024)  # the longest tokens have some 200 bytes
        size = ll.llama_token_to_piece(self.vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(0, size)]

    def prompt(self, prompt: Prompt) -> tuple[list[int], list[str]]:
        """Tokens of a prompt, and the stop strings that its form asks for.

        A text is taken as it stands; turns take the form of the model's chat template, or of
        plain 'role:' paragraphs where it has none that llama.cpp knows. Control tokens count in
        the template only: contents are tokenized apart from it, so that a memory saying
        ``<|im_end|>`` ends nothing.
        """
        if isinstance(prompt, str):
            return self._begin() + self.tokenize(prompt), []
        parts, stops = self._parts(prompt)
        return self._tokens(parts, prompt), stops

    def beginning(self, turns: Sequence[ChatTurn], count: int) -> list[int]:
        """Tokens of a prompt up to where the content of turn ``count`` begins."""
        parts, _ = self._parts(turns)
        return self._tokens(parts[: 2 * parts[1::2].index(str(count)) + 1], turns)

    def lines(self, turns: Sequence[ChatTurn]) -> tuple[list[int], list[int], int]:
        """Tokens of turns up to the end of the last content, where each line of that ends, and
        where it begins."""
        parts, _ = self._parts(turns)
        tokens = self._tokens(parts[:-2], turns)
        start, ends = len(tokens), []
        for line in turns[-1].content.splitlines(keepends=True):
            tokens += self.tokenize(line)
            ends.append(len(tokens) - 1)
        return tokens, ends, start

    def _begin(self) -> list[int]:
        begins = ll.llama_vocab_get_add_bos(self.vocab)
        return [ll.llama_vocab_bos(self.vocab)] if begins else []

    def _tokens(self, parts: Sequence[str], turns: Sequence[ChatTurn]) -> list[int]:
        tokens = self._begin()
        for place, part in enumerate(parts):
            if place % 2:
                tokens += self.tokenize(turns[int(part)].content)
            else:
                tokens += self.tokenize(part, special=True)
        return tokens

    def _parts(self, turns: Sequence[ChatTurn]) -> tuple[list[str], list[str]]:
        """Template text at even places, numbers of turns at odd ones; the stop strings."""
        parts = self._apply_template(turns)
        if parts is not None:
            return parts, []
        # No template, or one that llama.cpp does not know.
        parts = ["".join(f"{turn.role}:\n\x02{i}\x03\n\n") for i, turn in enumerate(turns)]
        return _PLACEHOLDER.split("".join(parts) + "assistant:\n"), ["\n\nuser:", "\n\nsystem:"]

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


def default_threads() -> int:
    """Half of many processors (they are hyperthreads), all of few; llama.cpp's own rule."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return count if count <= 4 else count // 2
