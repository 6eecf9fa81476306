"""What it costs that models live in processes of their own: speed, first word, memory.

``python -m benchmarks.worker_speed [--quick] [--rounds N]``. The same requests to the same weights
in this process (the adapters, called directly) and in a worker, one after the other and in turns,
so that a busy machine troubles both; the median of the ratios of neighbours counts. Bars: tokens
a second within 3 %, first word at most 15 ms later, rewards within 5 % and the same to the last
bit. ``memory``: what the encoder and the text reader take in a process, and what is left of that
after they were freed there.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from agent.config import Config, load_config
from agent.models.adapters.llama.language_model import LlamaModel
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import LocalLanguageModel, LocalRewardModel, reward_weights
from agent.models.registry import ModelRegistry
from agent.ports import ChatTurn, LanguageModel, RewardModel
from benchmarks.shared.common import ROOT, parser, progress, write_results

TOKENS = 48
"""Tokens of an answer."""
PAUSE_S = 1.0
"""Before each request: OpenMP's threads of the other process spin for a while after their work."""
NOTES = "\n".join(f"{n}. My neighbour {n} has {n + 2} bicycles and a dog." for n in range(1, 25))
QUESTIONS = ("bicycles", "dogs", "neighbours", "numbers", "houses", "wheels", "streets", "names")
STAGES = """
import gc, os, psutil, sys
from pathlib import Path
from agent.config import load_config
me = psutil.Process()
def told(stage): print(stage, me.memory_info().rss)
what = sys.argv[1]
if what == "encoder":
    from agent.models.lazy import LocalEmbedder
    told("before"); model = LocalEmbedder(load_config()); model.encode(["hello"]); told("loaded")
    model.free()
elif what == "reader_here":
    from agent.models.adapters.ocr import RapidReader
    told("before"); model = RapidReader(); model.read(Path(sys.argv[2])); told("loaded")
    del model
else:
    from agent.models.lazy import LocalReader
    told("before"); model = LocalReader(load_config()); model.read(Path(sys.argv[2]))
    told("loaded"); model.free()
gc.collect()
import ctypes
ctypes.CDLL(None).malloc_trim(0)
told("freed")
"""


def answered(model: LanguageModel, number: int) -> tuple[float, float, str]:
    """Milliseconds to the first word, tokens a second after it, and the answer.

    A worker sends what comes within 60 ms together, so pieces are not counted.
    """
    times: list[float] = []
    asked = f"Notes:\n{NOTES}\nTell me at length about {QUESTIONS[number % 8]} ({number})."
    turns = [ChatTurn("system", "Answer from the notes."), ChatTurn("user", asked)]
    time.sleep(PAUSE_S)
    began = time.perf_counter()
    said = model.chat(
        turns, max_tokens=TOKENS, on_text=lambda piece: times.append(time.perf_counter())
    )
    speed = (TOKENS - 1) / (time.perf_counter() - times[0])  # all answers are cut at TOKENS
    return 1000 * (times[0] - began), speed, said


def chat_speed(config: Config, rounds: int) -> dict[str, float]:
    registry = ModelRegistry(config.models_dir)
    path = registry.resolve_llm(config.llm)
    worker = LocalLanguageModel(config)
    answered(worker, -1)
    assert worker.finding is not None
    rung = worker.finding.rung
    rows: list[tuple[float, float, float, float]] = []
    same = 0
    with LlamaModel(
        path,
        sha256=registry.sha256(path),
        n_ctx=config.context,
        n_threads=rung.threads,
        repack=rung.repack,
        flash=rung.flash,
    ) as here:
        answered(here, -1)
        for number in range(rounds):
            models: list[LanguageModel] = [here, worker]
            if number % 2:
                models.reverse()
            seen = {id(model): answered(model, number) for model in models}
            (first, speed, said), (far_first, far_speed, far_said) = (
                seen[id(here)], seen[id(worker)],
            )  # fmt: skip
            same += said == far_said
            rows.append((first, far_first, speed, far_speed))
            progress(
                f"{number + 1} of {rounds}: first word {first:.0f} and {far_first:.0f} ms, "
                f"{speed:.1f} and {far_speed:.1f} tokens a second"
            )
    worker.free()
    return {
        "first_ms_here": statistics.median(row[0] for row in rows),
        "first_ms_worker": statistics.median(row[1] for row in rows),
        "first_ms_later": statistics.median(row[1] - row[0] for row in rows),
        "tokens_s_here": statistics.median(row[2] for row in rows),
        "tokens_s_worker": statistics.median(row[3] for row in rows),
        "tokens_s_ratio": statistics.median(row[3] / row[2] for row in rows),
        "same_answers": same / rounds,
    }


def reward_speed(config: Config, rounds: int) -> dict[str, float]:
    """Entropies and likelihoods of prompts that are new in each round."""
    path, sha256 = reward_weights(config.reward_model, config)
    worker = LocalRewardModel(config, cached=False)
    seconds: dict[str, list[tuple[float, float]]] = {"entropy": [], "likelihood": []}
    same = True
    here = LlamaRewards(
        path, identity=sha256, n_ctx=config.context, n_threads=config.threads, batch=config.batch
    )
    with here:
        for number in range(-1, rounds):
            prompts = [
                f"Notes:\n{NOTES}\nUser: Round {number}, what of {what}?\nAssistant:"
                for what in QUESTIONS
            ]
            said = [f" They have {n} of them, and {number} more." for n in range(len(prompts))]

            def entropy(model: RewardModel, asked: Sequence[str] = prompts) -> list[bytes]:
                found = model.entropy(asked, samples=3, max_tokens=12)
                return [np.array(one.samples).tobytes() for one in found]

            def likelihood(
                model: RewardModel, asked: Sequence[str] = prompts, told: Sequence[str] = said
            ) -> list[bytes]:
                return [row.tobytes() for row in model.log_likelihood(asked, told)]

            works: dict[str, Callable[[RewardModel], list[bytes]]] = {
                "entropy": entropy, "likelihood": likelihood,
            }  # fmt: skip
            for what, work in works.items():
                models: list[RewardModel] = [here, worker]
                if number % 2:
                    models.reverse()
                timed = {}
                for model in models:
                    began = time.perf_counter()
                    given = work(model)
                    timed[id(model)] = (time.perf_counter() - began, given)
                same = same and timed[id(here)][1] == timed[id(worker)][1]
                if number >= 0:  # the round before the first warms both up
                    seconds[what].append((timed[id(here)][0], timed[id(worker)][0]))
            progress(f"rewards {number + 1} of {rounds}")
    worker.free()
    figures: dict[str, float] = {"rewards_identical": float(same)}
    for what, pairs in seconds.items():
        figures[f"{what}_s_here"] = statistics.median(pair[0] for pair in pairs)
        figures[f"{what}_s_worker"] = statistics.median(pair[1] for pair in pairs)
        figures[f"{what}_ratio"] = statistics.median(pair[1] / pair[0] for pair in pairs)
    return figures


def memory() -> dict[str, float]:
    """Megabytes beyond an empty process: with the model, and after it was freed."""
    figures = {}
    for what in ("encoder", "reader_here", "reader_worker"):
        picture = str(ROOT / "cli" / "assets" / "boarding-pass.png")
        done = subprocess.run(
            [sys.executable, "-c", STAGES, what, picture],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        stages = {k: int(v) / 1e6 for k, v in (line.split() for line in done.stdout.splitlines())}
        for stage in ("loaded", "freed"):
            figures[f"{what}_{stage}_mb"] = round(stages[stage] - stages["before"], 1)
        progress(f"{what}: {figures}")
    return figures


def start_speed(config: Config) -> dict[str, float]:
    """Seconds from nothing to the first word, as a command pays them: once in each process.

    ``restart`` are those of an answer from notes, whose prompt has a fixed part: ``read_s`` where
    that was never read before, ``kept_s`` where another process has read it.
    """
    figures = {}
    worker = "from agent.models.lazy import LocalLanguageModel; m = LocalLanguageModel(c)"
    hello = "[ChatTurn('user', 'Hello.')]"
    asked = "build_turns('Where do I live?', [], c.now())"
    scripts = {
        "cold_here_s": (
            "",
            "from agent.models.adapters.llama.language_model import LlamaModel; "
            "r = ModelRegistry(c.models_dir); "
            "p = r.resolve_llm(c.llm); "
            "m = LlamaModel(p, sha256=r.sha256(p), n_ctx=c.context, n_threads=c.threads)",
            hello,
        ),
        "cold_worker_s": ("", worker, hello),
        "restart_read_s": ("PromptCache(c.models_dir / FOLDER).clear(); ", worker, asked),
        "restart_kept_s": ("", worker, asked),
    }
    for name, (before, script, turns) in scripts.items():
        code = (
            "import time; from agent.config import load_config; from agent.models.registry import "
            "ModelRegistry; from agent.ports import ChatTurn; "
            "from agent.models.prompt_cache import FOLDER, PromptCache; "
            "from agent.answering.notes.prompt import build_turns; c = load_config(); "
            f"{before}began = time.perf_counter(); {script}; "
            f"m.chat({turns}, max_tokens=1); "
            "print(time.perf_counter() - began)"
        )
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", code],
                    cwd=ROOT, capture_output=True, text=True, check=True,
                ).stdout
            )
            for _ in range(3)
        ]  # fmt: skip
        figures[name] = statistics.median(times)
        progress(f"{name} {figures[name]:.2f}")
    return figures


def main() -> None:
    options = parser("worker_speed", __doc__ or "")
    options.add_argument("--rounds", type=int, default=24, help="how many requests of each kind")
    given = options.parse_args()
    # The adapters that are imported here set it; a process of memlane that starts workers does not
    # have it, so its workers do not inherit it either.
    os.environ.pop("GOMP_SPINCOUNT", None)
    rounds = 3 if given.quick else given.rounds
    with tempfile.TemporaryDirectory(prefix="memlane-worker-") as folder:
        asked = {"home": str(Path(folder) / "home")}
        config = load_config({**asked, "llm": "smollm2-135m"} if given.quick else asked)
        figures = {
            **chat_speed(config, rounds),
            **reward_speed(config, max(3, rounds // 3)),
            **({} if given.quick else start_speed(config)),
            **memory(),
        }
    told = {"quick": given.quick, "rounds": rounds, "llm": config.llm, "threads": config.threads}
    path = write_results("worker_speed", told, [0], figures)
    print(
        f"tokens a second {figures['tokens_s_ratio']:.3f} of in-process, first word "
        f"{figures['first_ms_later']:+.1f} ms, entropy {figures['entropy_ratio']:.3f} and "
        f"likelihood {figures['likelihood_ratio']:.3f} of the time, identical: "
        f"{bool(figures['rewards_identical'])}: {path}"
    )


if __name__ == "__main__":
    main()
