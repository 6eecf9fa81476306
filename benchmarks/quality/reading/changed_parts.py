"""A line of several facts, one of which changed: does a question ask for that one or another?

Of homes of ``samples/introductions``, ``months`` and their held-out parts: a unit of a message that
a later one changes, once for some question, and each question about it: for what changed, or for
what still holds beside it. Measured is ``notes.parts.chances_of_changed_part``, by the area under
the curve, the mean of both kinds of question, and the share of both below a half (*kept*: the
change hardly counts). Nothing is learned; the two constants were chosen on ``introductions`` and on
six of the voices of ``months``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from agent.answering.notes.parts import ASKED, CHANGED, chances_of_changed_part
from agent.config import load_config
from agent.language.units import units
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder
from benchmarks.quality.answers.conversations.introductions_data import (
    INTRODUCTIONS,
    INTRODUCTIONS_HELD,
    MONTHS,
    MONTHS_HELD,
    Introduced,
    Span,
    read_introductions,
)
from benchmarks.shared.common import parser, progress, write_results

FOLDERS = (INTRODUCTIONS, INTRODUCTIONS_HELD, MONTHS, MONTHS_HELD)


def main() -> None:
    given = parser("changed_parts", __doc__ or "").parse_args()
    embedder = LocalEmbedder(load_config())
    figures: dict[str, float] = {}
    for folder in FOLDERS:
        figures |= _of_folder(folder, embedder, most=20 if given.quick else None)
        progress(f"{folder.name}: {figures[f'{folder.name}.auc']:.3f}")
    settings = {"quick": given.quick, "sharpness": {"asked": ASKED, "changed": CHANGED}}
    write_results("changed_parts", settings, [0], figures)


def _of_folder(folder: Path, embedder: Embedder, most: int | None) -> dict[str, float]:
    asked = [one for home in list(read_introductions(folder))[:most] for one in _asked(home)]
    changed = np.array([of_changed for of_changed, _, _, _ in asked])
    chances = np.array([chances_of_changed_part(q, [(a, b)], embedder)[0] for _, q, a, b in asked])
    figures = {"auc": float(roc_auc_score(changed, chances))}
    for name, own in (("changed", chances[changed]), ("holding", chances[~changed])):
        figures |= {
            f"{name}.n": len(own),
            f"{name}.mean": float(own.mean()),
            f"{name}.kept": float((own < 0.5).mean()),
        }
    return {f"{folder.name}.{key}": figure for key, figure in figures.items()}


def _asked(home: Introduced) -> Iterator[tuple[bool, str, str, str]]:
    """Questions about units that were changed: whether for what changed; question, older, newer."""
    pairs = {
        (_unit(home, old), _unit(home, new))
        for asked in home.questions
        for old in asked.changed
        for new in asked.needed
        if new.message > old.message
    }
    for asked in home.questions:
        changed = {_unit(home, span) for span in asked.changed}
        needed = {_unit(home, span) for span in asked.needed}
        for old, new in sorted(pairs):
            if old in changed or (old in needed and new not in needed):
                yield old in changed, asked.text, old, new


def _unit(home: Introduced, span: Span) -> str:
    """The unit of the message that the words are in."""
    found = units(home.messages[span.message][1])
    return next(unit.text for unit in found if unit.start <= span.start < unit.end)


if __name__ == "__main__":
    main()
