"""What rewards cost: the engine against an ``eval`` loop and ``create_completion``.

``python -m benchmarks.rewards [--quick]``. On both models of DESIGN.md, for each seed:

- *utility*: RUMS utility of one question with 10 candidate memories: no memory, every single one,
  and all pairs of the best five; 5 samples of 20 tokens at temperature 0.7.
- *likelihood*: one reference answer under 32 sampled sets of 5 memories out of 20 (PURPLE).

Ours is timed whole. The plain ways are timed on every PART-th prompt, chosen by seed, and scaled by
the number of prompts: a prompt costs them the same each time. Where ours works on a bfloat16 copy
of the file (``adapters/llama/bf16_weights.py``), the plain loop is timed on the file, as
people run it today, and ``_on_the_copy`` as well. ``floor`` is the unique prompt tokens over the
measured speed of reading 512 at once plus the unique sampled tokens over the measured speed of
decoding 55 sequences at once, both measured beside each run; a figure ``x_floor`` is ours over it.
``peak_over_file_gb`` is the peak resident memory of a process that does ours alone, less the model
file that the person has.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from pathlib import Path

import llama_cpp as ll
import numpy as np

from agent.config import load_config
from agent.models.adapters.llama.gguf import default_threads
from agent.models.adapters.llama.prefix_tree import common
from agent.models.adapters.llama.rewards.decode_tasks import Drawing
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.registry import ModelRegistry
from agent.ports import Prompt
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.reward_prompts import answering, plain
from benchmarks.speed.rewards_cost.plain_llama import Completions, EvalLoop
from benchmarks.speed.rewards_cost.rewards_own import CASES, Case

MODELS = ("smollm2-135m", "qwen2.5-coder-1.5b")
SAMPLES, TOKENS, TEMPERATURE = 5, 20, 0.7
CANDIDATES, PAIRED = 10, 5
SETS, CHOSEN, RECORDS = 32, 5, 20
PART = 5
Tokens = list[int]
Pair = tuple[Tokens, Tokens]
Figures = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class Speeds:
    """Tokens a second, of the weights as the engine loads them."""

    read: float
    decode: float

    @classmethod
    def between(cls, before: Speeds, after: Speeds) -> Speeds:
        """What held while something ran between two measurements."""
        return cls((before.read + after.read) / 2, (before.decode + after.decode) / 2)


def main() -> None:
    options = parser("rewards", __doc__ or "")
    options.add_argument("--models", nargs="+", default=list(MODELS), help="names or GGUF paths")
    options.add_argument("--child", nargs=2, help="internal: measure the memory of one model")
    given = options.parse_args()
    if given.child:
        print(json.dumps(peak(Path(given.child[0]), given.quick)))
        return
    threads = default_threads()
    models = given.models[:1] if given.quick else given.models
    seeds = range(1 if given.quick else given.seeds)
    figures: Figures = {}
    for name in models:
        path = ModelRegistry(load_config().models_dir).resolve_llm(name)
        figures |= {f"{name}_{k}": v for k, v in measure(path, seeds, threads, given.quick).items()}
        figures[f"{name}_peak_over_file_gb"] = over_file(path, given.quick)
    config = {
        "quick": given.quick, "models": models, "threads": threads, "samples": SAMPLES,
        "tokens": TOKENS, "temperature": TEMPERATURE, "candidates": CANDIDATES, "sets": SETS,
        "chosen": CHOSEN, "records": RECORDS, "plain_ways_on_one_prompt_of": PART,
        "llama_cpp_python": ll.__version__,
    }  # fmt: skip
    write_results("rewards", config, list(seeds), figures)
    for key, value in figures.items():
        print(f"{key:60} {value:.2f}")


def measure(path: Path, seeds: Sequence[int], threads: int, quick: bool) -> Figures:
    """Medians and spreads of one model's figures."""
    rows: list[dict[str, float]] = []
    for seed in seeds:
        row, asked, pairs = ours(path, CASES[seed % len(CASES)], seed, threads)
        step = PART * (4 if quick else 1)
        some, few = asked[seed % PART :: step], pairs[seed % PART :: step]
        for way, seconds in plain_ways(path, some, few, threads).items():
            # Scaled from the prompts that were timed to all: each costs the plain ways the same.
            task = way.split("_", 1)[0]
            share = len(some) / len(asked) if task == "utility" else len(few) / len(pairs)
            row[f"{way}_s"] = seconds / share
            row[f"{way.replace('_', '_faster_than_', 1)}"] = row[f"{way}_s"] / row[f"{task}_s"]
        progress(f"{path.name} seed {seed}: " + ", ".join(f"{k} {v:.2f}" for k, v in row.items()))
        rows.append(row)
    figures: Figures = {}
    for key in rows[0]:
        values = [row[key] for row in rows]
        figures[key] = statistics.median(values)
        if "faster" in key or "x_floor" in key:
            figures[f"{key}_min"], figures[f"{key}_max"] = min(values), max(values)
    return figures


def ours(
    path: Path, case: Case, seed: int, threads: int
) -> tuple[dict[str, float], list[Tokens], list[Pair]]:
    """Seconds of both tasks and of their floors, and the tokens that the plain ways get."""
    row: dict[str, float] = {}
    with open_rewards(path, threads) as rewards:
        measured = [speeds(rewards)]
        began = time.perf_counter()
        prompts = utility(rewards, case, seed)
        row["utility_s"] = time.perf_counter() - began
        measured.append(speeds(rewards))
        scored = sets(case, seed)
        began = time.perf_counter()
        rewards.log_likelihood([p for p, _ in scored], [r for _, r in scored])
        row["likelihood_s"] = time.perf_counter() - began
        measured.append(speeds(rewards))
        asked = [rewards.tokens(prompt) for prompt in prompts]
        tokenize = rewards.engine.weights.tokenize
        pairs = [(rewards.tokens(prompt), tokenize(said)) for prompt, said in scored]
        first = Speeds.between(*measured[:2])
        row["utility_floor_s"] = utility_floor(rewards, asked, seed, first)
        second = Speeds.between(*measured[1:])
        row["likelihood_floor_s"] = _tree([[*p, *said[:-1]] for p, said in pairs]) / second.read
        row["read_tokens_per_s"], row["decode_tokens_per_s"] = second.read, first.decode
        row["prompts"], row["prompt_tokens"] = len(asked), sum(map(len, asked))
    for task in ("utility", "likelihood"):
        row[f"{task}_x_floor"] = row[f"{task}_s"] / row[f"{task}_floor_s"]
    return row, asked, pairs


def plain_ways(
    path: Path, asked: Sequence[Tokens], pairs: Sequence[Pair], threads: int
) -> dict[str, float]:
    """Seconds of each plain way for the given prompts."""
    seconds: dict[str, float] = {}
    for file in dict.fromkeys((path, _used(path))):
        suffix = "" if file == path else "_on_the_copy"
        loop = EvalLoop(file, threads)
        began = time.perf_counter()
        for prompt, number in product(asked, range(SAMPLES)):
            loop.entropy(prompt, TOKENS, TEMPERATURE, number)
        seconds[f"utility_loop{suffix}"] = time.perf_counter() - began
        began = time.perf_counter()
        for prompt, continuation in pairs:
            loop.log_likelihood(prompt, continuation)
        seconds[f"likelihood_loop{suffix}"] = time.perf_counter() - began
        loop.close()
    completions = Completions(path, threads)
    began = time.perf_counter()
    for prompt, number in product(asked, range(SAMPLES)):
        completions.entropy(prompt, TOKENS, TEMPERATURE, number)
    seconds["utility_completion"] = time.perf_counter() - began
    completions.close()
    return seconds


def open_rewards(path: Path, threads: int) -> LlamaRewards:
    """The engine as the product opens it."""
    return LlamaRewards(_used(path), identity=path.name, n_threads=threads)


def _used(path: Path) -> Path:
    return reward_weights(path, load_config())[0]


def utility(rewards: LlamaRewards, case: Case, seed: int) -> list[str]:
    """RUMS utility of singles and of the best pairs; returns the prompts it asked for."""
    order = np.random.default_rng(seed).permutation(len(case.memories))[:CANDIDATES]
    memories = [case.memories[i] for i in order]
    first = [plain(case.question), *(plain(case.question, [m]) for m in memories)]
    none, *single = entropies(rewards, first, seed)
    best = sorted(np.argsort([none - one for one in single])[-PAIRED:])
    second = [plain(case.question, [memories[a], memories[b]]) for a, b in combinations(best, 2)]
    entropies(rewards, second, seed)
    return first + second


def entropies(rewards: LlamaRewards, prompts: Sequence[str], seed: int) -> list[float]:
    found = rewards.entropy(
        prompts, samples=SAMPLES, max_tokens=TOKENS, temperature=TEMPERATURE, seed=seed
    )
    return [one.mean for one in found]


def sets(case: Case, seed: int) -> list[tuple[Prompt, str]]:
    """32 sampled sets of 5 of 20 records, each in the records' own order, with the reference."""
    rng = np.random.default_rng(seed)
    drawn = [sorted(rng.choice(RECORDS, CHOSEN, replace=False)) for _ in range(SETS)]
    return [
        (answering(case.question, [case.memories[i] for i in one]), case.reference) for one in drawn
    ]


def utility_floor(
    rewards: LlamaRewards, asked: Sequence[Tokens], seed: int, speed: Speeds
) -> float:
    """Seconds that reading and decoding would take at the measured speeds, each token once."""
    drawn = rewards.engine.sample(asked, range(SAMPLES), Drawing(TOKENS, TEMPERATURE, seed))
    # A sample's last token is never read, and what samples agree on is decoded once.
    steps = sum(_tree([sample.tokens[:-1] for sample in samples]) for samples in drawn)
    return _tree(asked) / speed.read + steps / speed.decode


def _tree(tokens: Sequence[Sequence[int]]) -> int:
    """Unique tokens: those of the prefix tree."""
    ordered = sorted(map(tuple, tokens))
    shared = sum(common(one, other) for one, other in pairwise(ordered))
    return sum(map(len, ordered)) - shared


def speeds(rewards: LlamaRewards, runs: int = 3) -> Speeds:
    """How fast llama.cpp itself reads 512 tokens and decodes 55 sequences, on the same weights."""
    weights = rewards.engine.weights
    params = ll.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = 2048, 512, 512, 64
    params.kv_unified = True
    params.flash_attn_type = ll.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.n_threads = params.n_threads_batch = default_threads()
    context = weights.context(params)
    batch = ll.llama_batch_init(512, 0, 1)

    def tokens_per_second(count: int, apart: bool) -> float:
        ll.llama_memory_clear(ll.llama_get_memory(context), True)
        batch.n_tokens = count
        for i in range(count):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = 500 + i, 0 if apart else i, 1
            batch.seq_id[i][0], batch.logits[i] = i if apart else 0, apart or i == count - 1
        began = time.perf_counter()
        assert ll.llama_decode(context, batch) == 0
        return count / (time.perf_counter() - began)

    tokens_per_second(55, True)
    found = Speeds(
        statistics.median(tokens_per_second(512, False) for _ in range(runs)),
        statistics.median(tokens_per_second(55, True) for _ in range(2 * runs)),
    )
    ll.llama_batch_free(batch)
    ll.llama_free(context)
    return found


def peak(path: Path, quick: bool) -> float:
    """Gigabytes that this process had resident at most while it did both tasks."""
    with open_rewards(path, default_threads()) as rewards:
        utility(rewards, CASES[0], 0)
        if not quick:
            pairs = sets(CASES[0], 0)
            rewards.log_likelihood([p for p, _ in pairs], [r for _, r in pairs])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def over_file(path: Path, quick: bool) -> float:
    """Peak resident memory of a process of its own, less the model file, in gigabytes."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.rewards", "--child", str(path), "-"]
        + ["--quick"] * quick,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(json.loads(done.stdout)) - path.stat().st_size / 1e9


if __name__ == "__main__":
    main()
