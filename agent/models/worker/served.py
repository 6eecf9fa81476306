"""Inside a worker: the one model it serves, and what can be asked of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agent.config import injected_fault
from agent.models.prompt_cache import FOLDER, PromptCache
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import RewardCache
from agent.models.weight_files import COPIES, BatchSizes
from agent.models.worker.faults import Fault, parse_fault
from agent.models.worker.settings import Rung
from agent.ports import ChatTurn, Prompt, Vectors

if TYPE_CHECKING:
    from agent.models.adapters.llama.language_model import LlamaModel
    from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
    from agent.models.adapters.ocr import RapidReader

TOGETHER_S = 0.06
"""Pieces of an answer that come within this time go to the owner together."""
Request = dict[str, Any]
Answer = Callable[[Request], object]


class Speaker(Protocol):
    """The line to the owner."""

    def say(self, **message: object) -> None: ...
    def beat(self) -> None: ...
    def write(self, data: bytes) -> None: ...


class Served:
    """What a worker does: it opens one model, and then works with it."""

    def __init__(self, line: Speaker, number: int) -> None:
        self._line = line
        self._number = number
        self._fault: Fault | None = None
        self._steps = 0
        self._repacked = False
        self._answers: Mapping[str, Answer] = {
            "identify": self._identify,
            "open_chat": self._open_chat,
            "open_rewards": self._open_rewards,
            "open_reader": self._open_reader,
        }

    def do(self, what: str, request: Request) -> object:
        """:raises ValueError: if the worker cannot do that, or not before a model is open."""
        if what not in self._answers:
            raise ValueError(f"this worker does not do {what!r}")
        return self._answers[what](request)

    # ---- opening --------------------------------------------------------------------------

    def _identify(self, request: Request) -> object:
        """Model, build and processor as one string, without loading the model."""
        from agent.models.adapters.llama.rewards.fingerprint import fingerprint

        return fingerprint(request["sha256"], request["threads"])

    def _open_chat(self, request: Request) -> object:
        from agent.models.adapters.llama.language_model import LlamaModel
        from agent.models.adapters.llama.prefixes import KeptPrefixes
        from agent.models.adapters.llama.rewards.fingerprint import fingerprint

        rung = Rung(**request["rung"])
        self._watch(rung)
        models_dir, sha256 = Path(request["models_dir"]), str(request["sha256"])
        kept = KeptPrefixes(
            PromptCache(models_dir / FOLDER),
            f"{fingerprint(sha256, rung.threads)}; {rung}",
            lambda what: self._line.say(note=what),
        )
        model = LlamaModel(
            Path(request["path"]),
            sha256=sha256,
            n_ctx=request["context"],
            n_threads=rung.threads,
            repack=rung.repack,
            flash=rung.flash,
            kept=kept,
            copies=models_dir / COPIES,
        )
        chat = Chat(model, self._line)
        self._answers = {
            "chat": chat.chat,
            "states": chat.states,
            "line_states": chat.line_states,
            "trial": chat.trial,
        }
        return model.identity

    def _open_rewards(self, request: Request) -> object:
        from agent.models.adapters.llama.bf16_weights import unpacked
        from agent.models.adapters.llama.rewards.fingerprint import fingerprint
        from agent.models.adapters.llama.rewards.reward_model import LlamaRewards

        rung = Rung(**request["rung"])
        self._watch(rung)
        models_dir = Path(request["models_dir"])
        path, sha256 = Path(request["path"]), str(request["sha256"])
        copy = unpacked(path, models_dir / COPIES, sha256)
        if copy != path:
            path, sha256 = copy, ModelRegistry(models_dir).sha256(copy)
        # Without flash attention sums come out otherwise: such rewards have a name of their own.
        plain = "" if rung.flash else "+plain"
        cache = request["cache"]
        model = LlamaRewards(
            path,
            identity=f"{path.name}:{sha256[:12]}{plain}",
            n_ctx=request["context"],
            n_threads=rung.threads,
            cache=RewardCache(Path(cache), megabytes=request["megabytes"]) if cache else None,
            batch=request["batch"],
            # What others are compared with gives one score: it need not find batch sizes first.
            known=_OneSize()
            if request["once"]
            else BatchSizes(models_dir / "batches.json", fingerprint(sha256, rung.threads) + plain),
            flash=rung.flash,
        )
        rewards = Rewards(model)
        self._answers = {
            "entropy": rewards.entropy,
            "log_likelihood": rewards.log_likelihood,
            "choose": rewards.choose,
            "trial": rewards.trial,
        }
        return {"identity": model.identity, "batches": model.engine.sizes}

    def _open_reader(self, request: Request) -> object:
        from agent.models.adapters.ocr import RapidReader

        self._watch(None)
        reader = Reader(RapidReader(), self._step)
        self._answers = {"read": reader.read}
        return "rapidocr"

    # ---- at each step ---------------------------------------------------------------------

    def _watch(self, rung: Rung | None) -> None:
        """Notice every decode: a sign of life each, and an injected fault where one is due."""
        fault = parse_fault(injected_fault())
        if fault and fault.befalls(self._number, repacked=rung is not None and rung.repack):
            self._fault = fault
        if rung is not None:
            from agent.models.adapters.llama import decoding

            decoding.before_each = self._step

    def _step(self) -> None:
        self._steps += 1
        self._line.beat()
        if self._fault and self._steps == self._fault.at:
            self._fault.happen(self._line.write)


class Chat:
    """A language model."""

    def __init__(self, model: LlamaModel, line: Speaker) -> None:
        self._model = model
        self._line = line

    def chat(self, request: Request) -> object:
        turns = [ChatTurn(**turn) for turn in request.pop("turns")]
        scores: list[float] = []
        on_scores = scores.extend if request.pop("scores") else None
        if not request.pop("stream"):
            said = self._model.chat(turns, **request, on_scores=on_scores)
        else:
            pieces = Pieces(lambda text: self._line.say(text=text))
            said = self._model.chat(turns, **request, on_text=pieces.add, on_scores=on_scores)
            pieces.flush()
        return {"text": said, "scores": scores}

    def states(self, request: Request) -> object:
        prompts = [[ChatTurn(**turn) for turn in prompt] for prompt in request["prompts"]]
        states = self._model.states(prompts, layer=request["layer"], fixed=request["fixed"])
        return _rounded(states)

    def line_states(self, request: Request) -> object:
        turns = [ChatTurn(**turn) for turn in request["turns"]]
        layer, fixed = request["layer"], request["fixed"]
        return _rounded(self._model.line_states(turns, layer=layer, fixed=fixed))

    def trial(self, request: Request) -> object:
        began = time.process_time()
        trial = self._model.trial(
            request["tokens"], request["steps"], request.get("follow"), request.get("skip", 0)
        )
        seconds = time.process_time() - began
        return {"tokens": trial.tokens, "gaps": trial.gaps, "seconds": seconds}


def _rounded(states: Vectors) -> list[list[float]]:
    return [[round(value, 4) for value in row] for row in states.tolist()]


class Pieces:
    """Joins the pieces of an answer, so that the owner is not woken for each token.

    The owner runs on a processor that a thread of llama.cpp then has to give up: some 4 % of the
    speed on two cores. The first piece goes at once.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._held = ""
        self._last = float("-inf")

    def add(self, piece: str) -> None:
        self._held += piece
        if time.monotonic() - self._last >= TOGETHER_S:
            self.flush()

    def flush(self) -> None:
        """Send what is held, if anything is."""
        if self._held:
            self._send(self._held)
            self._held = ""
            self._last = time.monotonic()


class Rewards:
    """A reward model."""

    def __init__(self, model: LlamaRewards) -> None:
        self._model = model

    def entropy(self, request: Request) -> object:
        prompts = [_prompt(prompt) for prompt in request.pop("prompts")]
        return [entropy.samples for entropy in self._model.entropy(prompts, **request)]

    def log_likelihood(self, request: Request) -> object:
        prompts = [_prompt(prompt) for prompt in request["prompts"]]
        scores = self._model.log_likelihood(prompts, request["continuations"])
        return [score.tolist() for score in scores]

    def choose(self, request: Request) -> object:
        prompts = [_prompt(prompt) for prompt in request["prompts"]]
        chosen = self._model.choose(prompts, request["options"], by=request["by"])
        return [probabilities.tolist() for probabilities in chosen]

    def trial(self, request: Request) -> object:
        return {"scores": self._model.trial(request["tokens"], request["steps"])}


class Reader:
    """A text reader."""

    def __init__(self, reader: RapidReader, step: Callable[[], None]) -> None:
        self._reader = reader
        self._step = step

    def read(self, request: Request) -> object:
        self._step()
        lines = self._reader.read(Path(request["image"]))
        return [
            [line.text, line.left, line.top, line.right, line.bottom, line.confidence]
            for line in lines
        ]


class _OneSize:
    """Batch sizes for a model that is asked once: the largest alone."""

    def recall(self) -> tuple[int, ...]:
        from agent.models.adapters.llama.rewards.batch_engine import MOST

        return (MOST,)

    def remember(self, sizes: Sequence[int]) -> None:
        """Nothing was found."""


def _prompt(sent: str | list[dict[str, Any]]) -> Prompt:
    return sent if isinstance(sent, str) else [ChatTurn(**turn) for turn in sent]
