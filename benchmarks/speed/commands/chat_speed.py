"""How soon a chat answers: its first word, against llama.cpp's own for the same prompt.

``python -m benchmarks.chat_speed [--quick] [--count N] [--memories N]``. One conversation in a home
with ``--memories`` memories: questions, and now and then something told, whose prompts must not
cost the answers theirs. Each question is measured twice, one after the other so that a busy machine
troubles both: through ``Session.respond``, from the message to the first piece of the answer; and
by ``llama_cpp.Llama``, which reads the very same tokens and keeps what the question before had in
common with them, to its first piece. The bar: the first is within 10 % of the second and the time
to select together. What of the rest is spent where is told too: settling, detecting. ``cold`` is
llama.cpp's time with nothing kept.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import llama_cpp

from agent.answering.answer import MAX_ANSWER_TOKENS
from agent.config import Config, load_config
from agent.models.adapters.llama.language_model import LlamaModel
from agent.models.lazy import LocalLanguageModel
from agent.models.registry import ModelRegistry
from agent.models.weight_files import COPIES
from agent.ports import ChatTurn, Decoding, Vectors
from agent.session.session import Session, open_session
from benchmarks.shared.common import parser, progress, write_results

BAR = 1.10
THINGS = "bicycle kayak piano camera tent laptop jacket guitar drone telescope".split()
ROOMS = "cellar attic garage kitchen office hall studio shed cabin boat".split()
PEOPLE = "Mia Tom Lena Kenji Olaf Rosa Ines Felix Greta Bruno".split()
TELL_EVERY = 4
"""After so many questions something is told: its prompts use the cache as well."""


@dataclass
class Recorder:
    """A language model that remembers what it was last asked.

    It tells hidden states as well: without them a session goes without its reader of notes.
    """

    model: LlamaModel
    asked: Sequence[ChatTurn] = ()
    loaded = True

    @property
    def identity(self) -> str:
        return self.model.identity

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        self.asked = turns
        return self.model.chat(turns, **decoding)

    def states(self, prompts: Sequence[Sequence[ChatTurn]], *, layer: int) -> Vectors:
        return self.model.states(prompts, layer=layer)

    def line_states(self, turns: Sequence[ChatTurn], *, layer: int) -> Vectors:
        return self.model.line_states(turns, layer=layer)


@dataclass
class Plain:
    """llama.cpp through its package's high-level class, as a careful user would set it up."""

    llama: Any
    first: list[float] = field(default_factory=list)

    def first_ms(self, tokens: Sequence[int]) -> float:
        """Milliseconds to the first piece; what it shares with the prompt before is kept."""
        began = time.perf_counter()
        pieces = self.llama.create_completion(
            list(tokens), max_tokens=MAX_ANSWER_TOKENS, temperature=0.0, stream=True
        )
        for piece in pieces:
            if piece["choices"][0]["text"]:
                return 1000 * (time.perf_counter() - began)
        raise SystemExit("llama.cpp said nothing")


def questions(number: int) -> str:
    thing, person = THINGS[number % 10], PEOPLE[number * 3 % 10]
    return (f"Where is my {thing}?", f"What does {person} collect?")[number % 2]


def fill_home(session: Session, memories: int) -> None:
    for number in range(memories):
        thing, room, person = THINGS[number % 10], ROOMS[number // 10 % 10], PEOPLE[number % 10]
        if number < 10:
            session.remember(f"My {thing} is in the {room}.")
        elif number < 20:
            session.remember(f"{person} collects old {THINGS[number * 7 % 10]}s.")
        else:
            session.remember(f"Box {number} with {thing} parts is in the {room} at {person}'s.")


def heard(respond: Callable[[Callable[[str], None]], Any]) -> tuple[Any, float | None]:
    """What comes of a message, and the milliseconds until its first piece was heard."""
    times: list[float] = []
    began = time.perf_counter()
    reply = respond(lambda piece: times.append(time.perf_counter()))
    return reply, 1000 * (times[0] - began) if times else None


def measure(config: Config, count: int, memories: int) -> dict[str, float | int | None]:
    registry = ModelRegistry(config.models_dir)
    path = registry.resolve_llm(config.llm)
    rows: list[dict[str, float]] = []
    unheard = 0
    found = LocalLanguageModel(config)
    finding = found.check()
    assert finding is not None
    found.free()
    with LlamaModel(
        path,
        sha256=registry.sha256(path),
        n_ctx=config.context,
        n_threads=config.threads,
        repack=finding.rung.repack,
        flash=finding.rung.flash,
        copies=config.models_dir / COPIES,
    ) as model:
        recorder = Recorder(model)
        plain = Plain(
            llama_cpp.Llama(
                str(path), n_ctx=config.context, n_threads=config.threads,
                n_threads_batch=config.threads, flash_attn=True, verbose=False,
            )
        )  # fmt: skip
        with open_session(config, llm=recorder) as session:
            fill_home(session, memories)
            session.respond("Where is my piano?")  # loads the encoder, fills both caches
            plain.first_ms(model._weights.prompt(recorder.asked)[0])
            for number in range(count):
                text = questions(number)
                reply, first = heard(partial(session.respond, text))
                if first is None:  # it was answered without a word of the model
                    unheard += 1
                    continue
                tokens, _ = model._weights.prompt(recorder.asked)
                row = {"first_ms": first, "select_ms": reply.timing_ms["select"]}
                row["settle_ms"] = reply.timing_ms["settle"]
                row["detect_ms"] = reply.timing_ms["detect"]
                row["llama_ms"] = plain.first_ms(tokens)
                row["prompt_tokens"] = len(tokens)
                row["ratio"] = first / (row["llama_ms"] + row["select_ms"])
                rows.append(row)
                progress(
                    f"{number + 1} of {count}: " + ", ".join(f"{k} {v:.2f}" for k, v in row.items())
                )
                if number % TELL_EVERY == TELL_EVERY - 1:
                    session.respond(
                        f"My neighbour {PEOPLE[number % 10]} plays the cello on Mondays."
                    )
            last, _ = model._weights.prompt(recorder.asked)
        plain.llama.reset()
        cold = plain.first_ms(last)
        plain.llama.close()
    figures: dict[str, float | int | None] = {
        f"{key}_median": statistics.median(row[key] for row in rows) for key in rows[0]
    }
    return {
        **figures,
        "ratio_worst": max(row["ratio"] for row in rows),
        "within_bar": sum(row["ratio"] <= BAR for row in rows) / len(rows),
        "cold_ms": cold,
        "measured": len(rows),
        "without_a_word": unheard,
        "bar": BAR,
    }


def main() -> None:
    options = parser("chat_speed", __doc__ or "")
    options.add_argument("--count", type=int, default=24, help="how many questions")
    options.add_argument("--memories", type=int, default=200)
    given = options.parse_args()
    count, memories = (4, 30) if given.quick else (given.count, given.memories)
    with tempfile.TemporaryDirectory(prefix="memlane-chat-") as folder:
        home = Path(folder) / "home"
        figures = measure(load_config({"home": str(home)}), count, memories)
    config = {"count": count, "memories": memories, "quick": given.quick}
    path = write_results("chat_speed", config, [0], figures)
    first, plain, select = (figures[f"{what}_ms_median"] for what in ("first", "llama", "select"))
    print(
        f"first word {first:.0f} ms; llama.cpp {plain:.0f} ms and {select:.0f} ms to select: "
        f"ratio {figures['ratio_median']:.3f} (bar {BAR}): {path}"
    )


if __name__ == "__main__":
    main()
