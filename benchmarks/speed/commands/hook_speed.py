"""How long a coding agent waits for memlane's hook, against the hook's earlier entry.

``python -m benchmarks.hook_speed [--quick] [--count N] [--memories N]``. Each call is a process of
its own, as an agent starts it, and gets the message on standard input; the resident process is up,
without a language model. The earlier entry, at prompts, loaded the settings and the client in each
call and searched as ``ask --no-llm`` does; both take turns. Then the same call while no process is
up.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.speed.commands.resident import ROOMS, THINGS, fill_home, resident

BAR_MS = 150
TOOL = "claude-code"
EARLIER = (
    "import json, sys, cli.forwarding.forward; from agent.config import load_config; "
    "from agent.server.hooks.recall import connect, context_of; "
    "client = connect(load_config({'home': sys.argv[1]}), print); "
    "asked = json.load(sys.stdin)['prompt']; "
    "print(context_of(client.ask(asked, k=5, use_llm=False, private=True)))"
)
ORDERS = (
    "Rename the method parse to read in this module.",
    "Why is the build so slow?",
    "Add a retry to the client.",
)
"""Prompts that memory holds nothing for."""


def message(event: str, **more: str) -> str:
    base = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/srv/kayak"}
    return json.dumps({**base, "hook_event_name": event, **more})


def prompt(number: int) -> str:
    thing, room = THINGS[number % 10], ROOMS[number // 10 % 10]
    asked = f"Where is my {thing} number {number}, in the {room}?"
    text = asked if number % 2 else ORDERS[number // 2 % len(ORDERS)]
    return message("UserPromptSubmit", prompt=text)


def call(words: list[str], given: str) -> tuple[float, int]:
    """Milliseconds of one call, and the bytes that it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        words,
        input=given.encode(),
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return 1000 * (time.perf_counter() - began), len(done.stdout)


def main() -> None:
    options = parser("hook_speed", __doc__ or "")
    options.add_argument("--count", type=int, default=60, help="how often each message is sent")
    options.add_argument("--memories", type=int, default=1000)
    given = options.parse_args()
    count, memories = (8, 60) if given.quick else (given.count, given.memories)
    taken: dict[str, list[float]] = {}
    given_bytes, helped = 0, 0
    with tempfile.TemporaryDirectory(prefix="memlane-hook-") as folder:
        home = Path(folder) / "home"
        fill_home(home, memories)
        hook = [sys.executable, "-m", "cli.main", "--home", str(home), "hook", "run", TOOL]
        earlier = [sys.executable, "-c", EARLIER, str(home)]
        transcript = Path(folder) / "t.jsonl"
        transcript.write_text("{}\n")
        with resident(home, "--until-idle"):
            for words in (hook, earlier):
                call(words, prompt(1))  # loads what is needed
            for number in range(1, count + 1):
                messages = {
                    "prompt": prompt(number),
                    "start": message("SessionStart", source="startup"),
                    "end": message("SessionEnd", transcript_path=str(transcript)),
                }
                for name, text in messages.items():
                    ms, printed = call(hook, text)
                    taken.setdefault(name, []).append(ms)
                    given_bytes = max(given_bytes, printed)
                    helped += name == "prompt" and printed > 0
                before = call(earlier, messages["prompt"])[0]
                taken.setdefault("earlier_prompt", []).append(before)
                progress(f"{number} of {count}")
        os.environ["MEMLANE_RESIDENT"] = "no"  # the call would leave one behind
        for number in range(max(3, count // 10)):
            taken.setdefault("down", []).append(call(hook, prompt(number))[0])
            time.sleep(1.0)  # what it starts in the background has ended
    figures: dict[str, float | int] = {"bar_ms": BAR_MS, "most_bytes": given_bytes}
    figures["prompts_with_memories"] = helped
    for name, values in taken.items():
        figures[f"{name}_median_ms"] = statistics.median(values)
        figures[f"{name}_worst_ms"] = max(values)
    figures["ratio"] = figures["earlier_prompt_median_ms"] / figures["prompt_median_ms"]
    config = {"count": count, "memories": memories, "quick": given.quick}
    path = write_results("hook_speed", config, [0], figures)
    for name in ("prompt", "start", "end"):
        print(f"{name:<7} {figures[f'{name}_median_ms']:5.0f} ms (bar {BAR_MS}, worst "
              f"{figures[f'{name}_worst_ms']:.0f})")  # fmt: skip
    print(f"prompt, earlier entry {figures['earlier_prompt_median_ms']:.0f} ms; no process up "
          f"{figures['down_median_ms']:.0f} ms; at most {given_bytes} bytes: {path}")  # fmt: skip


if __name__ == "__main__":
    main()
