"""The plain ways to an entropy or a likelihood with llama-cpp-python: the yardsticks of ours.

Each is written as a careful user of the library's high-level class would: weights repacked for
its own fastest generation, the processors' threads as ours, logits computed for the last token
only where that suffices, and entropies in numpy.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

LOGPROBS = 20
"""How many log-probabilities a completion returns a token; an entropy of the best 20 alone."""


class EvalLoop:
    """``reset``, ``eval`` of the whole prompt, then ``eval`` of one token at a time."""

    def __init__(self, path: Path, threads: int, n_ctx: int = 2048) -> None:
        self.llama: Any = ll.Llama(
            str(path), n_ctx=n_ctx, n_threads=threads, n_threads_batch=threads,
            flash_attn=True, verbose=False,
        )  # fmt: skip

    def _row(self) -> NDArray[np.float32]:
        pointer: Any = ll.llama_get_logits_ith(self.llama.ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.llama.n_vocab(),))

    def entropy(self, prompt: list[int], max_tokens: int, temperature: float, seed: int) -> float:
        """Mean entropy a token, in nats, of one sampled continuation."""
        rng = np.random.default_rng(seed)
        end = self.llama.token_eos()
        self.llama.reset()
        self.llama.eval(prompt)
        entropies: list[float] = []
        while True:
            shifted = self._row() - self._row().max()
            weights = np.exp(shifted)
            total = float(weights.sum())
            entropies.append(math.log(total) - float((weights * shifted).sum()) / total)
            tempered = np.cumsum(np.exp(shifted / temperature))
            token = int(np.searchsorted(tempered, rng.random() * tempered[-1], side="right"))
            if token == end or len(entropies) == max_tokens:
                return math.fsum(entropies) / len(entropies)
            self.llama.eval([token])

    def log_likelihood(self, prompt: list[int], continuation: list[int]) -> list[float]:
        """Log-probability of each token of the continuation."""
        # One token at a time: logits of all tokens would cost a vocabulary's product each.
        self.llama.reset()
        self.llama.eval(prompt)
        found = []
        for place, token in enumerate(continuation):
            shifted = self._row() - self._row().max()
            found.append(float(shifted[token]) - math.log(float(np.exp(shifted).sum())))
            if place + 1 < len(continuation):
                self.llama.eval([token])
        return found

    def close(self) -> None:
        self.llama.close()


class Completions:
    """``create_completion`` with log-probabilities, one call a sample.

    It keeps the prompt of the call before by itself, so its samples of one prompt stand together.
    """

    def __init__(self, path: Path, threads: int, n_ctx: int = 512) -> None:
        # The library keeps the logits of all n_ctx tokens where log-probabilities are asked for.
        self.llama: Any = ll.Llama(
            str(path), n_ctx=n_ctx, n_threads=threads, n_threads_batch=threads,
            flash_attn=True, logits_all=True, verbose=False,
        )  # fmt: skip

    def entropy(self, prompt: list[int], max_tokens: int, temperature: float, seed: int) -> float:
        """Mean entropy a token of the ``LOGPROBS`` likeliest, of one sampled continuation."""
        done = self.llama.create_completion(
            prompt, max_tokens=max_tokens, temperature=temperature, seed=seed, logprobs=LOGPROBS,
            top_k=0, top_p=1.0, min_p=0.0, repeat_penalty=1.0,
        )  # fmt: skip
        best = done["choices"][0]["logprobs"]["top_logprobs"]
        means = [-math.fsum(math.exp(p) * p for p in token.values()) for token in best if token]
        return math.fsum(means) / max(1, len(means))

    def close(self) -> None:
        self.llama.close()
