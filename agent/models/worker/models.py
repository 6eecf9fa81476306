"""Models that live in workers, behind the ports of ``agent.ports``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from agent.models.fixed_turns import count_fixed
from agent.models.worker.opening import GgufOpener
from agent.models.worker.settings import Finding
from agent.models.worker.worker import Worker
from agent.ports import ChatTurn, Decoding, Entropy, Prompt, Sampling, TextLine, Vectors


class InWorker:
    """A model in a worker of its own."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def close(self) -> None:
        """Give the memory back; the next use starts the worker again."""
        self.worker.close()


class _Gguf(InWorker):
    """One that runs with settings which were found on this machine."""

    def __init__(self, worker: Worker, opener: GgufOpener) -> None:
        super().__init__(worker)
        self._opener = opener

    @property
    def finding(self) -> Finding | None:
        """What it runs with; None before it was loaded."""
        return self._opener.finding

    def check(self) -> Finding:
        """Find the settings again.

        :raises ModelError: if the model cannot be loaded, or runs with none.
        """
        self.worker.reopen(self._opener.check)
        assert self._opener.finding is not None
        return self._opener.finding


class WorkerLanguageModel(_Gguf):
    """A language model in a worker; fulfils ``agent.ports.LanguageModel``."""

    @property
    def identity(self) -> str:
        """File name and first digits of the hash; known without loading it."""
        return self._opener.model

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        """Complete the chat; see ``LanguageModel.chat``."""
        on_text, on_scores = decoding.pop("on_text", None), decoding.pop("on_scores", None)
        asked = {
            **decoding,
            "turns": [asdict(turn) for turn in turns],
            "fixed": count_fixed(turns),
            "stream": on_text is not None,
            "scores": on_scores is not None,
        }
        said = self.worker.call("chat", asked, on_text)
        if on_scores:
            on_scores(said["scores"])
        return str(said["text"])

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        """States of the prompts' last tokens; see ``HiddenStateModel.states``."""
        asked = {
            "prompts": [_sent(prompt) for prompt in prompts],
            "layer": layer,
            "fixed": min(map(count_fixed, prompts), default=0),
        }
        return np.array(self.worker.call("states", asked), np.float32)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        """States of the ends of lines; see ``HiddenStateModel.line_states``."""
        asked = {"turns": _sent(turns), "layer": layer, "fixed": count_fixed(turns)}
        return np.array(self.worker.call("line_states", asked), np.float32)


class WorkerRewards(_Gguf):
    """A reward model in a worker; fulfils ``agent.ports.RewardModel``."""

    @property
    def identity(self) -> str:
        """Name and hash of the weights that are really used (a copy, for a small model)."""
        return str(self.worker.opened()["identity"])

    @property
    def batches(self) -> tuple[int, ...]:
        """Numbers of tokens that are decoded at once, as found exact on this machine."""
        return tuple(self.worker.opened()["batches"])

    def entropy(self, prompts: Sequence[Prompt], **sampling: Unpack[Sampling]) -> list[Entropy]:
        """Mean entropy a token over sampled answers; see ``RewardModel.entropy``."""
        asked = {**sampling, "prompts": [_sent(prompt) for prompt in prompts]}
        return [Entropy(tuple(values)) for values in self.worker.call("entropy", asked)]

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        """Log-probability of each token of each continuation; see ``RewardModel``."""
        asked: dict[str, Any] = {
            "prompts": [_sent(prompt) for prompt in prompts],
            "continuations": list(continuations),
        }
        return [np.array(row, np.float32) for row in self.worker.call("log_likelihood", asked)]

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        """Probabilities over each prompt's options; see ``RewardModel.choose``."""
        asked: dict[str, Any] = {
            "prompts": [_sent(prompt) for prompt in prompts],
            "options": [list(given) for given in options],
            "by": by,
        }
        return [np.array(row, np.float64) for row in self.worker.call("choose", asked)]


class WorkerReader(InWorker):
    """OCR in a worker; fulfils ``agent.ports.TextReader``."""

    def read(self, image: Path) -> list[TextLine]:
        """Lines in reading order; see ``TextReader.read``."""
        rows = self.worker.call("read", {"image": str(image.absolute())})
        return [TextLine(str(row[0]), *map(float, row[1:])) for row in rows]


def _sent(prompt: Prompt) -> str | list[dict[str, Any]]:
    return prompt if isinstance(prompt, str) else [asdict(turn) for turn in prompt]
