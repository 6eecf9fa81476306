"""Rewards from a local model: entropy, likelihood and choice.

Between the port, which speaks of texts and chat turns, and the engine, which speaks of tokens:
what was computed before comes from the cache, and the rest goes to the engine in one piece.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from agent.errors import EmptyContinuation, ModelError
from agent.models.adapters.llama.gguf import Weights, default_threads
from agent.models.adapters.llama.rewards.batch_engine import MOST, Engine
from agent.models.adapters.llama.rewards.decode_tasks import Drawing, Sample
from agent.models.adapters.llama.trial_text import TRIAL
from agent.models.reward_cache import RewardCache, key
from agent.models.weight_files import KnownSizes
from agent.ports import ChatTurn, Entropy, Prompt

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class LlamaRewards:
    """A GGUF that gives rewards; fulfils ``agent.ports.RewardModel``. Callers take turns.

    ``identity`` names the weights in ``cache``. ``n_ctx`` tokens fit the cache cells together; at
    most ``batch`` are decoded at once, in sizes that ``known`` remembers.
    """

    def __init__(
        self,
        path: Path,
        *,
        identity: str,
        n_ctx: int = 8192,
        n_threads: int | None = None,
        cache: RewardCache | None = None,
        batch: int = MOST,
        known: KnownSizes | None = None,
        flash: bool = True,
    ) -> None:
        self._identity = identity
        self._cache = cache
        self._lock = threading.RLock()
        self._weights = Weights(path, repack=False)
        self._engine: Engine | None = None
        try:
            self._engine = Engine(
                self._weights,
                cells=n_ctx,
                threads=n_threads or default_threads(),
                batch=batch,
                known=known,
                flash=flash,
            )
        except ModelError:
            self.close()
            raise

    @property
    def identity(self) -> str:
        """Name and hash of the weights."""
        return self._identity

    @property
    def engine(self) -> Engine:
        """The token-level engine, for benchmarks.

        :raises ModelError: if the model was closed.
        """
        if self._engine is None:
            raise ModelError(f"The model {self._identity} was closed. Open it again.")
        return self._engine

    def tokens(self, prompt: Prompt) -> list[int]:
        """A prompt as the engine reads it."""
        return self._weights.prompt(prompt)[0]

    def trial(self, size: int, steps: int) -> list[float]:
        """Log-probabilities of the last ``steps`` tokens of a fixed text, behind ``size`` more.

        :raises ModelError: if one is no number.
        """
        with self._lock:
            engine = self.engine
            tokens = engine.weights.tokenize(TRIAL)[: size + steps]
            (scores,) = engine.score([tokens[:size]], [tokens[size:]])
            if not np.isfinite(scores).all():
                raise ModelError("a log-probability is no number")
            return [float(score) for score in scores]

    def entropy(
        self,
        prompts: Sequence[Prompt],
        *,
        samples: int = 5,
        max_tokens: int = 20,
        temperature: float = 0.7,
        seed: int = 0,
        tempered: bool = False,
    ) -> list[Entropy]:
        """Mean entropy a token over sampled answers; see ``RewardModel.entropy``."""
        if samples < 1 or max_tokens < 1 or temperature < 0:
            raise ValueError("samples and max_tokens are at least 1, temperature at least 0")
        if temperature == 0:
            samples = 1
        drawing = Drawing(max_tokens, temperature, seed)
        with self._lock:
            engine = self.engine
            asked = [tuple(self.tokens(prompt)) for prompt in prompts]
            keys = {
                tokens: key(self._identity, "entropy", tokens, (max_tokens, temperature, seed))
                for tokens in asked
            }
            # A row of the cache holds samples 0, 1, 2 ... as pairs (plain, tempered).
            none = np.zeros((0, 2), np.float32)
            known: dict[tuple[int, ...], NDArray[np.float32]] = {
                tokens: none if found is None else found.reshape(-1, 2)
                for tokens, found in zip(keys, self._find(list(keys.values())), strict=True)
            }
            for have in sorted({len(rows) for rows in known.values()}):
                if have >= samples:
                    continue
                lacking = [tokens for tokens, rows in known.items() if len(rows) == have]
                drawn = engine.sample(lacking, range(have, samples), drawing)
                fresh = {
                    tokens: np.vstack([known[tokens], _means(some)])
                    for tokens, some in zip(lacking, drawn, strict=True)
                }
                known |= fresh
                self._keep({keys[tokens]: rows for tokens, rows in fresh.items()})
        return [
            Entropy(tuple(float(v) for v in known[tokens][:samples, int(tempered)]))
            for tokens in asked
        ]

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        """Log-probability of each token of each continuation; see ``RewardModel``."""
        if len(prompts) != len(continuations):
            raise ValueError(f"{len(prompts)} prompts but {len(continuations)} continuations")
        with self._lock:
            engine = self.engine
            pairs = [
                (tuple(self.tokens(prompt)), tuple(self._weights.tokenize(text)))
                for prompt, text in zip(prompts, continuations, strict=True)
            ]
            if not all(continuation for _, continuation in pairs):
                raise EmptyContinuation("A continuation is empty: there is nothing to score.")
            keys = {pair: key(self._identity, "likelihood", *pair) for pair in pairs}
            known = dict(zip(keys, self._find(list(keys.values())), strict=True))
            lacking = [pair for pair, found in known.items() if found is None]
            scores = engine.score([p for p, _ in lacking], [c for _, c in lacking])
            fresh = dict(zip(lacking, scores, strict=True))
            self._keep({keys[pair]: score for pair, score in fresh.items()})
        return [np.asarray({**known, **fresh}[pair], np.float32) for pair in pairs]

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        """Probabilities over each prompt's options; see ``RewardModel.choose``."""
        if len(prompts) != len(options):
            raise ValueError(f"{len(prompts)} prompts but {len(options)} lists of options")
        if not all(given and all(option.strip() for option in given) for given in options):
            raise EmptyContinuation("There is an empty option, or none: nothing to choose from.")
        if by == "likelihood":
            return self._by_likelihood(prompts, options)
        return self._by_letter(prompts, options)

    def _by_likelihood(
        self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float64]]:
        flat = [
            (prompt, option if isinstance(prompt, str) else option.strip())
            for prompt, given in zip(prompts, options, strict=True)
            for option in given
        ]
        scores = iter(self.log_likelihood([p for p, _ in flat], [o for _, o in flat]))
        return [_softmax([float(next(scores).mean()) for _ in given]) for given in options]

    def _by_letter(
        self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float64]]:
        if max(map(len, options), default=0) > len(LETTERS):
            raise ValueError(f"at most {len(LETTERS)} options can be told apart by letter")
        asked: list[Prompt] = []
        letters: list[str] = []
        for prompt, given in zip(prompts, options, strict=True):
            for turn in range(len(given)):
                lettered = _with_letters(prompt, [*given[turn:], *given[:turn]])
                for letter in LETTERS[: len(given)]:
                    asked.append(lettered)
                    letters.append(f" {letter}" if isinstance(lettered, str) else letter)
        scores = iter(self.log_likelihood(asked, letters))
        chosen = []
        for given in options:
            total = np.zeros(len(given))
            for turn in range(len(given)):
                placed = _softmax([float(next(scores).sum()) for _ in given])
                total += np.roll(placed, turn)
            chosen.append(total / len(given))
        return chosen

    def _find(self, keys: Sequence[bytes]) -> list[NDArray[np.float32] | None]:
        return self._cache.find(keys) if self._cache else [None] * len(keys)

    def _keep(self, values: dict[bytes, NDArray[np.float32]]) -> None:
        if self._cache and values:
            self._cache.keep(values)

    def close(self) -> None:
        """Free the context and the weights. Closing twice is fine."""
        with self._lock:
            if self._engine:
                self._engine.close()
            self._weights.close()
            self._engine = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _means(samples: Sequence[Sample]) -> NDArray[np.float32]:
    """Mean entropy a token of each sample: (samples, 2), plain and tempered."""
    means = [
        (
            math.fsum(sample.plain) / len(sample.plain),
            math.fsum(sample.tempered) / len(sample.plain),
        )
        for sample in samples
    ]
    return np.array(means, np.float32)


def _softmax(scores: Sequence[float]) -> NDArray[np.float64]:
    shifted = np.exp(np.array(scores) - max(scores))
    return np.asarray(shifted / shifted.sum(), np.float64)


def _with_letters(prompt: Prompt, options: Sequence[str]) -> Prompt:
    """The prompt with its lettered options, up to where the letter stands."""
    lines = "\n".join(
        f"{letter}. {' '.join(option.split())}"
        for letter, option in zip(LETTERS, options, strict=False)
    )
    if isinstance(prompt, str):
        return f"{prompt.rstrip()}\n{lines}\nThe letter of the best answer is"
    if not prompt:
        raise ValueError("the prompt has no turn")
    *before, last = prompt
    asked = f"{last.content}\n{lines}\nAnswer with the letter of the best answer only."
    return (*before, ChatTurn(last.role, asked))
