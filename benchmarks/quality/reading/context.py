"""Whether words that lean on the conversation are understood, and all others left alone.

``python -m benchmarks.context [--quick] [--show]``. Two samples of dialogues of our own: with *own*
the rules of ``agent/answering/question/references.py`` were developed; *heldout* was written
before the rules met it and was never used to change one. Figures of each: of the messages that
lean on what was said, how many were resolved right, how many wrong (the rest stayed as they were);
of those that stand by themselves, how many were left unharmed; microseconds a message."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.answering.question.references import in_context
from agent.results import Exchange
from benchmarks.shared.common import SAMPLES, parser, progress, write_results


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Exchanges, the message after them, and what it may mean; empty where it stands by itself."""

    before: tuple[Exchange, ...]
    message: str
    readings: tuple[str, ...]


def dialogues(path: Path) -> Iterator[Dialogue]:
    text = "\n".join(
        line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")
    )
    for block in re.split(r"\n\s*\n", text.strip()):
        said: list[list[str]] = []
        readings: tuple[str, ...] = ()
        for line in block.splitlines():
            mark, _, rest = line.partition(" ")
            if mark == "u":
                said.append([rest, ""])
            elif mark == "=":
                readings = tuple(part.strip() for part in rest.split("|") if part.strip())
            else:
                said[-1][1] += ("\n" if said[-1][1] else "") + (rest if mark == "m" else line)
        *before, (message, _) = said
        yield Dialogue(
            tuple(Exchange(said, answered) for said, answered in before), message, readings
        )


def _told(exchange: Exchange) -> Exchange:
    """As ``agent.answering.question.references.recent`` gives it: of what was told, the memory."""
    answered = exchange.answered.removeprefix("Noted: ").removesuffix("Noted.")
    return Exchange(exchange.said, "" if answered.startswith("I don't know") else answered)


def _plain(text: str) -> str:
    return text.casefold().replace("’", "'").strip(" .?!")


def measure(path: Path, *, show: bool) -> dict[str, float | int | None]:
    lean = right = wrong = alone = unharmed = 0
    times = []
    for one in dialogues(path):
        before = tuple(map(_told, one.before))
        began = time.perf_counter()
        found = in_context(one.message, before)
        times.append(time.perf_counter() - began)
        same = found == one.message
        if one.readings:
            lean += 1
            good = _plain(found) in map(_plain, one.readings)
            right += good
            wrong += not good and not same
        else:
            alone += 1
            unharmed += same
            good = same
        if show and not good:
            progress(f"{path.stem}: {one.message!r} -> {found!r}, meant {one.readings}")
    return {
        "leaning": lean,
        "resolved_right": right / lean,
        "resolved_wrong": wrong / lean,
        "standing_alone": alone,
        "unharmed": unharmed / alone,
        "median_us": 1e6 * statistics.median(times),
    }


def main() -> None:
    options = parser("context", __doc__ or "")
    options.add_argument("--show", action="store_true", help="print what went wrong in own")
    given = options.parse_args()
    figures: dict[str, float | int | None] = {}
    for name in ("own", "heldout"):
        found = measure(SAMPLES / f"context_{name}.txt", show=given.show and name == "own")
        figures |= {f"{name}_{key}": value for key, value in found.items()}
        print(f"{name:<8} " + ", ".join(f"{key} {value:.3g}" for key, value in found.items()))
    write_results("context", {"quick": given.quick}, [], figures)


if __name__ == "__main__":
    main()
