"""memlane beside other local memory systems: ``python -m benchmarks.peers --peer NAME=PATH ...``.

The same work for each, in one run, one after the other, a process and a new folder each: 100
messages are added one by one, then 50 questions are asked. They are 50 episodes of
``samples/voices``, each of two messages of which the second often changes the first, and its
question. No system uses a language model, and nothing is installed or downloaded. NAME is one of
``peer_systems.SYSTEMS``, PATH the Python that it is installed in (of *mcp_memory* its script, which
node runs); without PATH it is looked for in this Python. *mem0* and *engraphis_minilm* get the
sentence encoder of memlane; their Python needs sentence-transformers. mem0 stores messages as they
stand here: by default it asks a language model what to store. What a system cannot do is left out
and said, not counted as zero.

``NAME.found``: the share of questions with an answer among the first five texts. ``NAME.stale``:
that have a value which no longer holds before the first text with the answer, or without one.
``NAME.kept``: the share of messages that are among the first five found by their own words.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.config import BUILT_IN_ENCODER, load_config
from agent.models.registry import ModelRegistry
from benchmarks.shared.common import ROOT, SAMPLES, parser, progress, write_results
from benchmarks.speed.peer_systems import SYSTEMS

QUESTIONS = 50
LIMIT_S = 3600.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "ORT_DISABLE_TELEMETRY": "1"}
"""For the libraries of every system: none looks for a model or reports its use."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Two messages and what is asked after them."""

    messages: tuple[str, str]
    question: str
    answers: tuple[str, ...]
    stale: tuple[str, ...]


def episodes(count: int) -> list[Episode]:
    """Episodes of two messages, in turn from each voice."""
    by_voice = []
    for file in sorted((SAMPLES / "voices").glob("*.jsonl")):
        read = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        by_voice.append([one for one in read if len(one["messages"]) == 2 and one.get("question")])
    turns = (one[turn] for turn in range(count) for one in by_voice if turn < len(one))
    return [
        Episode(
            (one["messages"][0][1], one["messages"][1][1]),
            one["question"]["q"],
            tuple(one["question"]["answer"]),
            tuple(one["question"].get("stale", ())),
        )
        for one, _ in zip(turns, range(count), strict=False)
    ]


def judged(asked: Sequence[Episode], done: dict[str, Any]) -> dict[str, float | None]:
    """The figures of what one system found."""
    figures: dict[str, float | None] = {
        name: done[name] for name in ("start_s", "add_s", "ask_s", "peak_mb")
    }
    figures["kb"] = done["bytes"] / 1024
    messages = [message for one in asked for message in one.messages]
    kept = [
        any(says(text, (message[:60],)) for text in texts)
        for message, texts in zip(messages, done["kept"], strict=True)
    ]
    figures["kept"] = statistics.fmean(kept)
    if done["cannot"] is not None:
        return figures | {"ask_s": None, "found": None, "stale": None}
    found, stale = [], []
    for one, texts in zip(asked, done["found"], strict=True):
        right = next((n for n, text in enumerate(texts) if says(text, one.answers)), None)
        found.append(right is not None)
        before = texts[: len(texts) if right is None else right]
        stale.append(any(says(text, one.stale) for text in before))
    return figures | {"found": statistics.fmean(found), "stale": statistics.fmean(stale)}


def says(text: str, values: Sequence[str]) -> bool:
    folded = " ".join(text.casefold().split())
    return any(" ".join(value.casefold().split()) in folded for value in values)


def run(name: str, path: str, work: dict[str, list[str]], encoder: Path) -> dict[str, Any] | str:
    """What a system did, or why it could not."""
    script = Path(__file__).with_name("peer_systems.py")
    # Not in the folder of ours: its packages would be found before those of the system.
    python = path if path and name != "mcp_memory" else sys.executable
    env = {**os.environ, "PEER_SCRIPT": path, "PEER_ENCODER": str(encoder)}
    env |= {"MEMLANE_RESIDENT": "no", **OFFLINE}
    if name == "memlane":
        env["PYTHONPATH"] = str(ROOT)
    else:
        env.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [python, "-P", str(script), name, folder],
                input=json.dumps(work),
                capture_output=True,
                text=True,
                env=env,
                cwd=folder,
                timeout=LIMIT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:300] if done.stderr.strip() else "it failed"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    options = parser("peers", __doc__ or "")
    options.add_argument("--peer", nargs="*", default=[], metavar="NAME=PATH")
    options.add_argument("--show", action="store_true", help="print what each found first")
    args = options.parse_args()
    paths = {"memlane": ""} | {
        name: path for name, _, path in (p.partition("=") for p in args.peer)
    }
    if unknown := paths.keys() - SYSTEMS.keys():
        raise SystemExit(f"No such system: {min(unknown)}. Known: {', '.join(SYSTEMS)}.")
    asked = episodes(5 if args.quick else QUESTIONS)
    work = {
        "messages": [message for one in asked for message in one.messages],
        "questions": [one.question for one in asked],
    }
    encoder = ModelRegistry(load_config().models_dir).resolve_embedder(BUILT_IN_ENCODER)
    figures: dict[str, float | int | None] = {}
    said: dict[str, str] = {}
    versions: dict[str, str] = {}
    for name, path in paths.items():
        done = run(name, path, work, encoder)
        if isinstance(done, str):
            said[name] = done
            progress(f"{name} did not run: {done}")
            continue
        versions[name] = done["version"]
        if done["cannot"] is not None:
            said[name] = done["cannot"]
        if args.show:
            for one, texts in list(zip(asked, done["found"], strict=True))[:5]:
                progress(f"{one.question} {one.answers} -> {texts}")
        own = judged(asked, done)
        progress(f"{name}: {own}")
        figures |= {f"{name}.{key}": value for key, value in own.items()}
    settings = {"quick": args.quick, "systems": list(paths), "versions": versions, "said": said}
    settings |= {"messages": len(work["messages"]), "questions": len(asked)}
    settings["command"] = "python -m benchmarks.peers --peer NAME=PATH ..."
    write_results("peers", {**settings, "load_average": os.getloadavg()[2]}, [0], figures)


if __name__ == "__main__":
    main()
