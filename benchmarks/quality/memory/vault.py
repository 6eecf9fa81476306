"""A vault of notes and screens: what is remembered of it, what replaces what, what is answered.

The files of ``vault`` (20 notes, six screens) are read into an empty home on one day. No note of it
supersedes another, so every replacement and every end of a memory is wrong.

- *replacements*: memories that are no longer current after all files were read;
- *bare*: memories that are no sentence or belong to nobody, by a plain test: no verb and nothing
  before a colon that says what it is about, or marks of a table or a template left in it. The texts
  are in ``build/benchmarks/vault.memories.txt``, to be counted by hand as well;
- *shown*: of the questions without the language model, those whose answer is among the first
  ``SHOWN`` memories; *answered*: with it, the answers that hold what a right one holds and nothing
  wrong. Of questions that no file answers, those that are refused.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.config import load_config
from agent.extraction.own_words import has_verb
from agent.language.sentences import content
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import Case, case_of
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh
from store.types import Memory, Status

QUESTIONS = ROOT / "benchmarks" / "samples" / "vault.jsonl"
SHOWN = 3
QUICK = ("Health.md", "Priya Raman.md", "2026-11-16.md")


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its verdicts."""

    kind: str
    shown: bool
    right: bool | None
    """None where the language model was not asked."""
    wrong: bool = False
    """An answer, and not the right one."""


def main() -> None:
    options = parser("vault", __doc__ or "")
    options.add_argument("--no-llm", action="store_true", help="only the questions without it")
    options.add_argument("--questions", type=Path, default=QUESTIONS)
    options.add_argument("--every", type=int, default=1, help="ask the model every Nth question")
    given = options.parse_args()
    config = {
        "quick": given.quick or given.no_llm or given.every > 1 or given.questions != QUESTIONS
    }
    folder = given.data / "vault"
    cases = [case_of(json.loads(line), "vault") for line in _lines(given.questions)]
    with open_session(load_config()) as models, tempfile.TemporaryDirectory() as work:
        vault = _copied(folder if folder.is_dir() else given.data, Path(work), quick=given.quick)
        with fresh(models, Path(work) / "home") as session:
            session = at(session, min(case.asked for case in cases))
            began = time.monotonic()
            files = list(session.ingest([vault]))
            seconds = time.monotonic() - began
            figures = _memories(session, len(files), seconds)
            asked = cases[:3] if given.quick else cases
            rows = list(_answers(asked, session, 0 if given.no_llm else given.every))
    write_results("vault", config, [0], figures | _shares(rows))


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip()]


def _copied(folder: Path, work: Path, *, quick: bool) -> Path:
    """The notes and screens of a vault; of these only a few for a quick run."""
    target = work / "vault"
    for path in sorted(folder.rglob("*")):
        if (
            path.is_file()
            and path.parent != folder
            and "forms" not in path.parts
            and (not quick or path.name in QUICK)
        ):
            place = target / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    return target


def _memories(session: Session, files: int, seconds: float) -> dict[str, float]:
    memories = session.graph.memories.list(*Status)
    gone = [memory for memory in memories if memory.status is not Status.CURRENT]
    bare = [memory for memory in memories if is_bare(memory)]
    told = [
        f"{memory.id} {memory.status} {memory.created:%Y-%m-%d} {memory.text}"
        f"{'   <- bare' if memory in bare else ''}"
        for memory in memories
    ]
    folder = ROOT / "build" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vault.memories.txt").write_text("\n".join(told) + "\n", "utf-8")
    for memory in gone:
        progress(f"{memory.status} by {memory.replaced_by}: {memory.text}")
    return {
        "files": files,
        "seconds_a_file": seconds / max(1, files),
        "memories": len(memories),
        "replacements": len(gone),
        "bare": len(bare) / max(1, len(memories)),
    }


def is_bare(memory: Memory) -> bool:
    """Whether a memory says nothing by itself, as far as its form tells."""
    lead, colon, _ = memory.text.partition(": ")
    if any(mark in memory.text for mark in ("|", "{{", "[ ]")) or len(content(memory.text)) < 2:
        return True
    return not (has_verb(memory.text) or (colon and content(lead)))


def _answers(cases: Iterable[Case], session: Session, every: int) -> Iterator[Answered]:
    for number, case in enumerate(cases):
        then = at(session, case.asked)
        listed = then.ask(case.question, use_llm=False)
        chosen = listed.selection.chosen if listed.selection else ()
        texts = [choice.memory.text for choice in chosen[:SHOWN]]
        absent = case.kind == "absent"
        shown = listed.abstained if absent else any(case.holds(text) for text in texts)
        right = wrong = None
        said = "-"
        if every and number % every == 0:
            reply = then.ask(case.question)
            said = "I don't know." if reply.abstained else reply.text
            right = reply.abstained if absent else case.judge(said) == "current"
            wrong = not right and not reply.abstained
        progress(f"{case.id} shown={shown} right={right} {case.question} -> {said}")
        yield Answered(case.kind, shown, right, bool(wrong))


def _shares(rows: list[Answered]) -> dict[str, float]:
    """Shares by kind of question, and of all that the files answer."""
    figures: dict[str, float] = {}
    kinds = Counter(row.kind for row in rows)
    for kind in ("all", *kinds):
        members = [
            row for row in rows if row.kind == kind or (kind == "all" != row.kind != "absent")
        ]
        asked = [row for row in members if row.right is not None]
        figures[f"{kind}.n"] = len(members)
        figures[f"{kind}.shown"] = sum(row.shown for row in members) / max(1, len(members))
        if asked:
            figures[f"{kind}.asked"] = len(asked)
            figures[f"{kind}.answered"] = sum(bool(row.right) for row in asked) / len(asked)
            figures[f"{kind}.wrong"] = sum(row.wrong for row in asked) / len(asked)
    return figures


if __name__ == "__main__":
    main()
