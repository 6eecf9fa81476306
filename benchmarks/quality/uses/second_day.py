"""A newcomer's second day (docs/second-day.md), played again through the command line.

A person of ``samples/second_day.toml`` chats, has a vault of notes and six screenshots read, asks,
and fills five forms, in a home of their own, with the language model. Each step is a command as
people type it; nothing is called from inside.

- *remembered*: of what a turn of chat told, how much stands in a current memory after it;
  *kept wrongly*: what stands there and must not (moved, taken back, secret, private);
- *answers*: right, wrong, or "I don't know"; *refused*: of questions that nothing answers;
- *forms*: fields with the value that belongs there, with another one, and empty though it was told;
- *first answer*: seconds from ``memlane chat`` to the answer of a question, without a resident
  process and with the weights on disk.

``--no-llm`` plays the day without the language model: what was told in chat is stored as it was
said (``remember``), a question is right if its answer is among the first ``SHOWN`` memories, and
the chat itself is not judged. ``--day FILE`` plays the day of somebody else: of those in
``samples/days`` failures were looked at, those in ``samples/days_held`` are only measured with.
Their writers saw one page about the parts of a day and no code. ``--keep FOLDER`` leaves the home,
the vault, the screens and the forms there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from benchmarks.shared.common import SAMPLES, parser, progress, write_results

DAY = SAMPLES / "second_day.toml"
FIRST = "Where do I live?"
SHOWN = 3
REDACTED = "redacted]"
MONTH_FIRST = re.compile(r"\b([A-Z][a-z]{2,8})\.? (\d{1,2})\b")
"""'December 19' says what '19 December' says."""
INK, FAINT, PAPER = (24, 28, 40), (110, 116, 130), (250, 250, 247)


def main() -> None:
    options = parser("second_day", __doc__ or "")
    options.add_argument("--keep", type=Path, help="leave everything in this folder")
    options.add_argument(
        "--day", type=Path, default=DAY, help="the day to play (default: that one)"
    )
    options.add_argument("--only", nargs="*", choices=PARTS, help="only these parts")
    options.add_argument("--no-llm", action="store_true", help="without the language model")
    given = options.parse_args()
    day = tomllib.loads(given.day.read_text("utf-8"))
    if given.quick:
        day = {key: part[:3] if isinstance(part, list) else part for key, part in day.items()}
        day["form"] = day["form"][-1:]
    folder: AbstractContextManager[str] = (
        nullcontext(str(given.keep)) if given.keep else tempfile.TemporaryDirectory()
    )
    figures: dict[str, float | int | None] = {}
    with folder as path:
        command = Memlane(Path(path), day["now"], use_llm=not given.no_llm)
        try:
            for name, part in PARTS.items():
                if not given.only or name in given.only:
                    began = time.perf_counter()
                    counts = part(command, day)
                    figures |= {f"{name}_{what}": count for what, count in counts.items()}
                    figures[f"{name}_seconds"] = round(time.perf_counter() - began, 1)
                    progress(f"{name}: {dict(counts)}, {figures[f'{name}_seconds']} s")
        finally:
            command.run("down")
    in_part = given.quick or given.no_llm or bool(given.only)
    config = {**vars(given), "day": given.day.name, "quick": in_part}
    name = "second_day" if given.day == DAY else f"second_day_{given.day.stem}"
    write_results(name, config, (), figures)


@dataclass(frozen=True, slots=True)
class Memlane:
    """The command in a home of its own, at one time of one day."""

    folder: Path
    now: str
    use_llm: bool

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "cli.main", "--now", self.now, *words]

    def environment(self) -> dict[str, str]:
        own = {
            "MEMLANE_HOME": str(self.folder / "home"),
            "MEMLANE_CONFIG": str(self.folder / "config.toml"),
        }
        # In a build no process is left behind for the next command.
        return {key: value for key, value in os.environ.items() if key != "CI"} | own

    def run(self, *words: str) -> dict[str, Any]:
        """What a command prints with --json; {} for nothing."""
        done = subprocess.run(
            self.line(*words, "--json"),
            env=self.environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        return dict(json.loads(done.stdout)) if done.stdout.strip() else {}

    def without_llm(self) -> Sequence[str]:
        return () if self.use_llm else ("--no-llm",)

    def texts(self) -> list[str]:
        """The current memories."""
        return [memory["text"] for memory in self.run("list")["memories"]]


class Chat:
    """``memlane chat`` over a pipe; waits for the answer to each message."""

    def __init__(self, command: Memlane) -> None:
        self._process = subprocess.Popen(
            command.line("chat", "--json"),
            env=command.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def say(self, text: str) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def leave(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


# ---- the parts of the day ----


def chat(command: Memlane, day: Mapping[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    if not command.use_llm:
        for turn in day["chat"]:
            if "holds" in turn:
                command.run("remember", turn["say"], "--wait")
        return counts
    talk = Chat(command)
    for turn in day["chat"]:
        reply = talk.say(turn["say"])
        progress(f"> {turn['say']}\n{reply.get('text', reply)}")
        texts = command.texts()
        for wanted in turn.get("holds", ()):
            kept = any(_contains(text, wanted) for text in texts)
            counts.update(told=1, remembered=kept)
            _tell(kept, f"not remembered: {wanted}")
        for unwanted in turn.get("not", ()):
            kept = any(_contains(text, unwanted) for text in texts)
            counts.update(to_leave_out=1, kept_wrongly=kept)
            _tell(not kept, f"kept: {unwanted}")
        if "answer" in turn:
            counts[_verdict(_claim(reply), turn["answer"])] += 1
    talk.leave()
    home = b"".join(
        path.read_bytes() for path in (command.folder / "home").rglob("*") if path.is_file()
    )
    counts["secrets_in_home"] = sum(secret.encode() in home for secret in day["secrets"])
    return counts


def first_answer(command: Memlane, day: Mapping[str, Any]) -> dict[str, float]:
    if not command.use_llm:
        return {}
    command.run("down")
    began = time.perf_counter()
    talk = Chat(command)
    reply = talk.say(FIRST)
    taken = time.perf_counter() - began
    talk.leave()
    progress(f"{FIRST} {reply.get('text')}")
    return {"s": round(taken, 2)}


def vault(command: Memlane, day: Mapping[str, Any]) -> Counter[str]:
    folder = command.folder / "vault"
    for note in day["note"]:
        path = folder / note["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note["text"], "utf-8")
    return _read(command, folder)


def screens(command: Memlane, day: Mapping[str, Any]) -> Counter[str]:
    folder = command.folder / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    for screen in day["screen"]:
        draw(screen["lines"]).save(folder / screen["path"])
    return _read(command, folder)


def _read(command: Memlane, folder: Path) -> Counter[str]:
    before = set(command.texts())
    command.run("ingest", str(folder))
    after = set(command.texts())
    return Counter(memories=len(after - before), no_longer_current=len(before - after))


def questions(command: Memlane, day: Mapping[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for question in day["question"]:
        reply = command.run("ask", question["ask"], *command.without_llm())
        shown = "\n".join(choice["text"] for choice in reply["memories"][:SHOWN])
        told = reply["text"] if command.use_llm else shown
        verdict = _verdict("" if reply["abstained"] else told, question["answer"])
        counts[verdict] += 1
        progress(f"{verdict:8} {question['ask']} {told}")
    return counts


def forms(command: Memlane, day: Mapping[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for form in day["form"]:
        path = command.folder / f"{form['name']}.html"
        path.write_text(form["html"], "utf-8")
        for field in command.run("fill", str(path), "--consent", *command.without_llm())["fields"]:
            wanted = [part.casefold() for part in form["expected"][field["name"]].split("|")]
            value = field["value"]
            good = value is not None and str(value).casefold() in wanted
            counts.update(
                with_value=wanted != [""], right=good, wrong=value is not None and not good,
                empty=value is None and wanted != [""],
            )  # fmt: skip
            _tell(good or (value is None and wanted == [""]),
                  f"{form['name']} {field['label']}: {value!r}, not {wanted}")  # fmt: skip
    return counts


PARTS: dict[str, Callable[[Memlane, Mapping[str, Any]], Mapping[str, float]]] = {
    "chat": chat,
    "first_answer": first_answer,
    "vault": vault,
    "screens": screens,
    "forms": forms,
    "questions": questions,
}


# ---- judging ----


def _contains(text: str, wanted: str) -> bool:
    """Whether all parts ("+") stand in the text in one of their ways ("|"); "!" parts in none."""
    folded = text.casefold()

    def stands(part: str) -> bool:
        if part.startswith("!"):
            return not stands(part[1:])
        return any(way.strip() in folded for way in part.split("|"))

    return all(stands(part.strip()) for part in wanted.casefold().split(" + "))


def _claim(reply: Mapping[str, Any]) -> str:
    """What a reply claims; nothing where it only shows what comes nearest."""
    return "" if reply.get("abstained") else str(reply.get("text", ""))


def _verdict(text: str, wanted: str) -> str:
    # What was never kept is not told: that it was taken out is.
    silent = not text or text.startswith("I don't know") or REDACTED in text
    text = "\n".join((text, MONTH_FIRST.sub(r"\2 \1", text)))
    if wanted == "?":
        return "refused" if silent else "invented"
    if silent:
        return "unknown"
    return "right" if _contains(text, wanted) else "wrong"


def _tell(good: bool, what: str) -> None:
    if not good:
        progress(f"  {what}")


# ---- the screens ----


def draw(lines: Sequence[str]) -> Image.Image:
    """A phone's screen; the first line is its status bar, "> " is said to the person, "< " by."""
    picture = Image.new("RGB", (720, 260 + 84 * len(lines)), (226, 230, 236))
    pen = ImageDraw.Draw(picture)
    small, large = ImageFont.load_default(26), ImageFont.load_default(34)
    clock, _, rest = lines[0].partition("  ")
    pen.text((36, 18), clock, font=small, fill=INK)
    pen.text((684, 18), rest.strip(), font=small, fill=INK, anchor="ra")
    pen.rounded_rectangle((24, 70, 696, picture.height - 30), radius=24, fill=PAPER)
    pen.text((60, 100), lines[1], font=ImageFont.load_default(42), fill=INK)
    for y, line in _placed(lines[2:]):
        mark, text = line[:2], line[2:] if line[:2] in ("> ", "< ") else line
        width = int(pen.textlength(text, font=large))
        if mark == "> ":
            pen.rounded_rectangle((48, y - 12, 88 + width, y + 52), radius=22, fill=(218, 222, 230))
            pen.text((68, y), text, font=large, fill=INK)
        elif mark == "< ":
            pen.rounded_rectangle(
                (632 - width, y - 12, 672, y + 52), radius=22, fill=(190, 224, 196)
            )
            pen.text((652 - width, y), text, font=large, fill=INK)
        elif "   " in line:
            left, _, right = line.partition("   ")
            pen.text((60, y), left, font=large, fill=FAINT)
            pen.text((660, y), right.strip(), font=large, fill=INK, anchor="ra")
        else:
            pen.text((60, y), text, font=large, fill=INK)
    return picture


def _placed(lines: Iterable[str]) -> Iterable[tuple[int, str]]:
    return ((190 + 84 * number, line) for number, line in enumerate(lines))


if __name__ == "__main__":
    main()
