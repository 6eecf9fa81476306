"""Simulated lives: four weeks of edits, and what is stated as current or past (EMG-RAG, Table 3).

``lives_world`` writes lives from a seed and a bank of templates; the bank ``train`` is what memlane
is developed on, ``test`` has other topics, values and wordings and is run for the report only.

*Stated as current.* Of the memories selected for a question, best first, the first one that names
any value the fact ever had states that value, unless its own words deny it or it is marked as over.

- *stale*: that value does not hold at the moment of asking, though the question is in the present;
  or, where nothing holds any more (an expired voucher, a past appointment, a taste given up), any
  selected memory states a value. Of all questions in the present whose fact has changed or ended.
- *lost*: no selected memory names the value that holds. Of all questions that have such a value.
- *as of right*: the first memory that names a value names the one that held at the time asked
  about; for 'when did I move' it names the day or begins on it.

Measured *given right extraction*: gold memories and relations as drafts; the product plans and
applies the edits and selects without a language model. ``lives_end_to_end`` measures the same from
raw text. Yardsticks get the same gold memories, appended without edits: ``append`` (top-k),
``newest`` (those top-k, the newest first), ``parts`` (top-k inside the three nearest partitions, as
M-RAG) and ``all`` (everything, by similarity).
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from agent.applications.forms.fields import FormField
from agent.config import load_config
from agent.language.dates import find_times, resolve_text
from agent.memory.editing.compare import negated
from agent.memory.remember import store_drafts
from agent.ports import Vectors
from agent.results import Mark
from agent.session.session import Session, open_session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.shared.simulated_lives.lives_world import Asked, Life, Told, write_life
from store.types import Draft

BANKS = {"train": TRAIN, "test": TEST}
K = 5
PROBES = 3
PRESENT = ("now", "form", "chain", "reminder", "taste")
"""Kinds of questions in the present that have an answer."""
ENDED = ("gone", "untaste")


@dataclass(frozen=True, slots=True)
class Line:
    """A selected memory: what it says, from which told fact, and whether it is marked as over."""

    text: str
    key: str
    over: bool = False
    begins: str = ""


class Tally:
    """Counts of hits by name; a rate is hits over tries."""

    def __init__(self) -> None:
        self._hits: dict[str, float] = defaultdict(float)
        self._tries: dict[str, int] = defaultdict(int)

    def add(self, name: str, hit: float) -> None:
        self._hits[name] += hit
        self._tries[name] += 1

    def figures(self) -> dict[str, float | int | None]:
        rates: dict[str, float | int | None] = {
            name: self._hits[name] / self._tries[name] for name in sorted(self._tries)
        }
        return rates | {f"{name}_n": self._tries[name] for name in sorted(self._tries)}


def main() -> None:
    options = parser("lives", __doc__ or "")
    options.add_argument("--bank", choices=["train", "test", "both"], default="both")
    options.add_argument("--lives", type=int, default=8, help="lives of each bank")
    options.add_argument("--show", action="store_true", help="failures of the training bank")
    given = options.parse_args()
    lives = 1 if given.quick else given.lives
    names = ["train", "test"] if given.bank == "both" else [given.bank]
    tally = Tally()
    with open_session(load_config()) as models:
        for name in names:
            for seed in range(lives):
                life = write_life(BANKS[name], seed)
                progress(f"{name} {seed}: {len(life.told)} told, {len(life.asked)} asked")
                run_product(life, models, tally, name, show=given.show and name == "train")
                run_yardsticks(life, models, tally, name)
    config = {"quick": given.quick, "lives": lives, "k": K, "banks": names}
    report("lives", config, list(range(lives)), tally)


def report(name: str, config: dict[str, object], seeds: list[int], tally: Tally) -> None:
    """Write the figures and print those of all weeks together."""
    figures = tally.figures()
    write_results(name, config, seeds, figures)
    for figure, value in figures.items():
        if not figure.endswith("_n") and "week" not in figure:
            print(f"{figure:45} {value:.3f}  n={figures[figure + '_n']}")


# ---- the product, given right extraction ----------------------------------------------------


def run_product(life: Life, models: Session, tally: Tally, bank: str, *, show: bool) -> None:
    """Count what the product selects at the end of each week."""
    for asked, lines in product_lines(life, models):
        wrong = score(asked, lines, tally, f"{bank}.product", evidence=True)
        if wrong and show:
            progress(f"{wrong}: {asked.at:%m-%d} {asked.text!r} right={set(asked.right)} "
                     f"wrong={set(asked.wrong)}\n    "
                     + "\n    ".join(line.text for line in lines))  # fmt: skip


def product_lines(life: Life, models: Session) -> Iterator[tuple[Asked, list[Line]]]:
    """Store gold drafts as they are told; what is selected for each question of each week."""
    keys: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        waiting = list(life.told)
        for asked in life.asked:
            while waiting and waiting[0].at <= asked.at:
                told = waiting.pop(0)
                source = session.graph.sources.add(told.kind, told.raw, told.at)
                keys[source.id] = told.key
                draft = gold_draft(told, source.id)
                store_drafts([draft], source, session.graph, session, told.at)
            yield asked, selected(session, asked, keys)


def fresh(models: Session, home: Path) -> Session:
    """A session on an empty home with the models that are loaded already."""
    config = replace(models.config, home=home)
    return open_session(
        config, llm=models.llm, embedder=models.embedder, statements=models.statements
    )


def at(session: Session, moment: datetime) -> Session:
    config = replace(session.config, fixed_now=moment)
    return Session(
        config,
        session.graph,
        llm=session.llm,
        embedder=session.embedder,
        statements=session.statements,
    )


def gold_draft(told: Told, source: str) -> Draft:
    """The memory as right extraction gives it."""
    return Draft(
        text=resolve_text(told.text, told.at),
        subclass=told.subclass,
        created=told.at,
        triples=told.triples,
        valid_from=told.valid_from,
        valid_until=told.valid_until,
        source=source,
    )


def selected(session: Session, asked: Asked, keys: dict[str, str]) -> list[Line]:
    there = at(session, asked.at)
    if asked.kind == "form":
        (field,) = there.fill([FormField(asked.text, asked.text)], use_llm=False)
        key = next((keys[session.graph.memories.get(m).source or ""] for m in field.memories), "")
        return [Line(str(field.value), key)] if field.value else []
    reply = there.ask(asked.text, k=K, use_llm=False)
    return [
        Line(
            choice.memory.text,
            keys[choice.memory.source or ""],
            _over(reply.marks.get(choice.memory.id)),
            _begins(reply.marks.get(choice.memory.id)),
        )
        for choice in reply.memories
    ]


def _over(mark: Mark | None) -> bool:
    return mark is not None and mark.standing.over


def _begins(mark: Mark | None) -> str:
    return f"{mark.start:%Y-%m-%d}" if mark is not None and mark.start else ""


# ---- yardsticks: the same memories, never edited --------------------------------------------


def run_yardsticks(life: Life, models: Session, tally: Tally, bank: str) -> None:
    """Count what the yardsticks select."""
    for asked, way, lines in yardstick_lines(life, models):
        score(asked, lines, tally, f"{bank}.{way}", evidence=True)


def yardstick_lines(life: Life, models: Session) -> Iterator[tuple[Asked, str, list[Line]]]:
    """Every told memory kept as it is; the same questions, other ways of choosing, by name."""
    texts = [resolve_text(told.text, told.at) for told in life.told]
    vectors = models.embedder.encode(texts)
    questions = models.embedder.encode([asked.text for asked in life.asked])
    ways: dict[str, Callable[[Sequence[int], Vectors], list[int]]] = {
        "append": lambda rows, q: _top(rows, q, vectors)[:K],
        "newest": lambda rows, q: sorted(_top(rows, q, vectors)[:K], reverse=True),
        "parts": lambda rows, q: _parts(rows, q, vectors, life.told)[:K],
        "all": lambda rows, q: _top(rows, q, vectors),
    }
    for asked, vector in zip(life.asked, questions, strict=True):
        rows = [row for row, told in enumerate(life.told) if told.at <= asked.at]
        for way, choose in ways.items():
            lines = [Line(texts[row], life.told[row].key) for row in choose(rows, vector)]
            yield asked, way, lines


def _top(rows: Sequence[int], question: Vectors, vectors: Vectors) -> list[int]:
    return sorted(rows, key=lambda row: -float(vectors[row] @ question))


def _parts(
    rows: Sequence[int], question: Vectors, vectors: Vectors, told: Sequence[Told]
) -> list[int]:
    parts: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        parts[told[row].subclass].append(row)
    centres = {name: np.mean(vectors[own], axis=0) for name, own in parts.items()}
    near = sorted(centres, key=lambda name: -float(centres[name] @ question))[:PROBES]
    return _top([row for name in near for row in parts[name]], question, vectors)


# ---- judging --------------------------------------------------------------------------------


def score(
    asked: Asked, lines: Sequence[Line], tally: Tally, name: str, *, evidence: bool = False
) -> str:
    """Count one question; returns what was wrong with it, '' if nothing."""
    wrong = ""
    weekly = f"{name}.week{asked.week + 1}"
    if asked.kind in ("asof", "when"):
        right = _asof_right(asked, lines)
        for at in (name, weekly):
            tally.add(f"{at}.asof_right", right)
        wrong = "" if right else "AS OF"
    else:
        stale, lost = _stale(asked, lines), _lost(asked, lines)
        for at in (name, weekly):
            if asked.changed:
                tally.add(f"{at}.stale", stale)
            if asked.kind in PRESENT:
                tally.add(f"{at}.lost", lost)
        wrong = "STALE" if stale and asked.changed else "LOST" if lost else ""
    if evidence and asked.gold and asked.kind != "form":
        found = {line.key for line in lines}
        hits = len(found & asked.gold)
        precision, recall = hits / max(1, len(found)), hits / len(asked.gold)
        tally.add(f"{name}.evidence_precision", precision)
        tally.add(f"{name}.evidence_recall", recall)
        both = precision + recall
        tally.add(f"{name}.evidence_f1", 2 * precision * recall / both if both else 0.0)
    return wrong


def is_right(asked: Asked, lines: Sequence[Line]) -> bool:
    """Nothing stale, nothing lost and, of what is past, what held then."""
    if asked.kind in ("asof", "when"):
        return _asof_right(asked, lines)
    return not _stale(asked, lines) and not _lost(asked, lines)


def states(text: str, value: str) -> bool:
    """Whether a text names a value as words of its own."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _stated(asked: Asked, lines: Sequence[Line]) -> Line | None:
    """The first line that names a value of the fact."""
    values = asked.right | asked.wrong
    return next((one for one in lines if any(states(one.text, v) for v in values)), None)


def _stale(asked: Asked, lines: Sequence[Line]) -> bool:
    if asked.kind in ENDED:
        return any(
            any(states(line.text, value) for value in asked.wrong)
            and not negated(line.text)
            and not line.over
            for line in lines
        )
    said = _stated(asked, lines)
    return (
        said is not None
        and not said.over
        and not any(states(said.text, value) for value in asked.right)
    )


def _lost(asked: Asked, lines: Sequence[Line]) -> bool:
    return asked.kind in PRESENT and not any(
        states(line.text, value) for line in lines for value in asked.right
    )


def _asof_right(asked: Asked, lines: Sequence[Line]) -> bool:
    if asked.kind == "when":
        first = lines[0] if lines else None
        return first is not None and any(
            day in first.text or day == first.begins or day in _days(first.text, asked.at)
            for day in asked.right
        )
    said = _stated(asked, lines)
    return said is not None and any(states(said.text, value) for value in asked.right)


def _days(text: str, now: datetime) -> set[str]:
    """The days that a text names in another form: an answer in words says 'on April 5, 2024'."""
    starts = (span.start for span in find_times(text, now) if span.kind in ("date", "datetime"))
    return {f"{start:%Y-%m-%d}" for start in starts if start is not None}


if __name__ == "__main__":
    main()
