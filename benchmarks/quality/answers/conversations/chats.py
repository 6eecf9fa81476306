"""Three months of chat, told as people type and asked as they ask: what is answered right?

Each chat was written by somebody who had never seen the code, in one voice: thirty messages and
thirty questions in the order of time (``samples/chats_held``; those in ``samples/chats`` are for
development, and a chat moves there once its failures were read). The alternative pastes the dated
messages (with four examples, and what BM25 finds nearest where not all fit) into the same model.

- *right*: all of the strings that an answer must have and none that is out of date; of a question
  about what was never told, that nothing is claimed;
- *stale*: a string that is out of date; *wrong*: claimed and not right;
- *right_by_the_sentence*: the same without the words of the person that stand beside a sentence;
- *untold*: the questions about what was never told, of which *silent* get no answer;
- *stored*: messages that tell something of which a memory was made; *idle*: small talk of which
  none was.

A chat takes five to ten minutes.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.answering.answer import admits_nothing
from agent.answering.replies import without_excerpts
from agent.config import load_config
from agent.results import Reply, Route
from agent.session.session import Session, open_session
from benchmarks.quality.answers.pasting import answer_by_pasting
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers, TokenCount
from benchmarks.shared.simulated_lives.lives import at, fresh

CHATS = ROOT / "benchmarks" / "samples" / "chats"
HELD = ROOT / "benchmarks" / "samples" / "chats_held"


@dataclass(frozen=True, slots=True)
class Step:
    """A message that is told (``tells``: whether there is anything to remember) or a question."""

    at: datetime
    text: str
    asks: bool
    tells: bool
    every: tuple[str, ...]
    some: tuple[str, ...]
    none: tuple[str, ...]
    untold: bool

    def right(self, said: str, silent: bool) -> bool:
        """Whether an answer is right; ``silent`` where it claims nothing."""
        if self.untold:
            return silent
        text = said.lower()
        found = all(one in text for one in self.every)
        return found and (not self.some or any(one in text for one in self.some))

    def stale(self, said: str) -> bool:
        """Whether an answer tells what is out of date."""
        return any(one in said.lower() for one in self.none)


def read_chat(path: Path) -> tuple[Step, ...]:
    """The steps of a chat, in order of time."""
    return tuple(_steps(path.read_text(encoding="utf-8")))


def _steps(text: str) -> Iterator[Step]:
    for row in map(json.loads, text.splitlines()):
        yield Step(
            datetime.fromisoformat(row["now"]),
            row["text"],
            asks=row["do"] == "ask",
            tells=row.get("route") == "update",
            every=tuple(row.get("all", ())),
            some=tuple(row.get("any", ())),
            none=tuple(row.get("none", ())),
            untold=row.get("abstain", False),
        )


def main() -> None:
    options = parser("chats", __doc__ or "")
    options.add_argument("--folder", type=Path, default=HELD, help="of chats")
    options.add_argument("--only", nargs="*", default=[], help="these chats")
    options.add_argument("--arms", nargs="*", default=["ours", "pasted"])
    given = options.parse_args()
    paths = [p for p in sorted(given.folder.glob("*.jsonl")) if p.stem in (given.only or [p.stem])]
    paths = paths[:1] if given.quick else paths
    counts: Counter[str] = Counter()
    with open_session(load_config()) as models:
        models.llm = kept = KeptAnswers(models.llm)
        count = TokenCount(models.config)
        for path in paths:
            steps = read_chat(path)[: 8 if given.quick else None]
            own: Counter[str] = Counter()
            if "ours" in given.arms:
                with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
                    _ours(steps, home, own)
            if "pasted" in given.arms:
                _pasted(steps, kept, count, own)
            progress(f"{path.stem}: {dict(sorted(own.items()))}")
            counts.update(own)
    config = {
        "quick": given.quick or bool(given.only),
        "folder": given.folder.name,
        "chats": [path.stem for path in paths],
        "model": kept.identity,
    }
    write_results("chats", config, [0], figures(counts))


def _ours(steps: Sequence[Step], home: Session, counts: Counter[str]) -> None:
    for step in steps:
        there = at(home, step.at)
        if step.asks:
            reply = there.ask(step.text)
            silent = is_silent(reply)
            _count("ours", step, reply.text, silent, counts)
            sentence = without_excerpts(reply.text)
            counts["ours.right_by_the_sentence"] += _right(step, sentence, silent)
        else:
            stored = there.respond(step.text).route is Route.UPDATE
            counts["told.n" if step.tells else "idle.n"] += 1
            counts["told.stored" if step.tells else "idle.left"] += stored is step.tells


def is_silent(reply: Reply) -> bool:
    """Whether an answer claims nothing."""
    return reply.abstained or admits_nothing(reply.text)


def _pasted(
    steps: Sequence[Step], llm: KeptAnswers, count: TokenCount, counts: Counter[str]
) -> None:
    told: list[tuple[datetime, str]] = []
    for step in steps:
        if not step.asks:
            told.append((step.at, step.text))
            continue
        said = answer_by_pasting(llm, told, step.text, step.at, count, examples=True)
        _count("pasted", step, said, admits_nothing(said), counts)


def _count(arm: str, step: Step, said: str, silent: bool, counts: Counter[str]) -> None:
    right = _right(step, said, silent)
    counts[f"{arm}.n"] += 1
    counts[f"{arm}.right"] += right
    counts[f"{arm}.stale"] += not silent and step.stale(said)
    counts[f"{arm}.wrong"] += not (right or silent)
    if step.untold:
        counts[f"{arm}.untold.n"] += 1
        counts[f"{arm}.untold.silent"] += silent
    progress(f"  {arm} {'ok' if right else 'BAD'}: {step.text} -> {said[:110]!r}")


def _right(step: Step, said: str, silent: bool) -> bool:
    return step.right(said, silent) and (silent or not step.stale(said))


def figures(counts: Mapping[str, int]) -> dict[str, float]:
    """The shares, and how many questions and messages they are of."""
    found: dict[str, float] = {}
    for key, n in counts.items():
        group, dot, name = key.rpartition(".")
        if name == "n":
            found[key] = n
        elif dot and counts.get(f"{group}.n"):
            found[key] = n / counts[f"{group}.n"]
    return found


if __name__ == "__main__":
    main()
