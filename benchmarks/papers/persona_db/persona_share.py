"""What persona lines among the chosen memories do to answers (the share of Persona-DB's Figure 2).

Simulated lives of the test bank, told as right extraction gives them. At the end of a life the
refined layers are made by the product's own refresh with the local 1.5B model; then the questions
of its last week, half of them about likings, which persona lines bear on, are answered with 0, 25
and 50 percent of the room given to persona lines.
*right* and *abstained* are judged as in ``lives_end_to_end``; *evidence_recall* is the share of
needed memories that were still among those chosen, *lines* how many of what was chosen were persona
lines, *inferred* the share of answers that rested on one and said so.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from agent.applications.personas.refresh import refresh
from agent.config import load_config
from agent.memory.remember import store_drafts
from agent.session.session import Session, open_session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.shared.simulated_lives.lives import BANKS, K, Line, at, fresh, gold_draft, is_right
from benchmarks.shared.simulated_lives.lives_world import Asked, Life, write_life
from store.tables.side_tables.personas import PersonaLayer

SHARES = (0, 25, 50)
TASTES = ("taste", "untaste")
FIRST = 200
"""The first life; no life of another benchmark has its seed."""
COLUMNS = ("right", "abstained", "evidence_recall", "lines", "inferred")


def main() -> None:
    options = parser("persona_share", __doc__ or "")
    options.set_defaults(seeds=4)
    options.add_argument("--questions", type=int, help="of each life (8; quick: 2)")
    given = options.parse_args()
    count = given.questions or (2 if given.quick else 8)
    seeds = range(FIRST, FIRST + (1 if given.quick else given.seeds))
    rows: dict[int, list[dict[str, float]]] = {share: [] for share in SHARES}
    made: list[dict[str, int]] = []
    with open_session(load_config()) as models:
        models.llm = KeptAnswers(models.llm)
        for seed in seeds:
            life = write_life(BANKS["test"], seed)
            with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
                made.append(_tell(life, session))
                progress(f"life {seed}: {made[-1]}")
                for asked in _drawn(life, count, seed):
                    for share in SHARES:
                        rows[share].append(_ask(asked, session, life, share))
    figures: dict[str, float | int | None] = {"questions": len(rows[0])}
    for layer in made[0]:
        figures[f"{layer}_lines_a_life"] = float(np.mean([one[layer] for one in made]))
    for share, found in rows.items():
        for column in COLUMNS:
            figures[f"lives.share {share}.{column}"] = float(np.mean([r[column] for r in found]))
    told = {
        "quick": given.quick, "k": K, "questions": count, "lives": len(seeds),
        "tables": {"Share of persona lines": COLUMNS},
    }  # fmt: skip
    write_results("persona_share", told, list(seeds), figures)
    for key, value in figures.items():
        print(f"{key:45} {value:.3f}")


def _tell(life: Life, session: Session) -> dict[str, int]:
    """The whole life, and its refined layers; how many lines each has."""
    for told in life.told:
        source = session.graph.sources.add(told.kind, told.raw, told.at)
        store_drafts([gold_draft(told, source.id)], source, session.graph, session, told.at)
    last = at(session, life.asked[-1].at)
    refresh(last)
    lines = session.graph.personas.lines(last.config.now())
    return {layer.value: sum(line.layer is layer for line in lines) for layer in PersonaLayer}


def _drawn(life: Life, count: int, seed: int) -> list[Asked]:
    week = max(asked.week for asked in life.asked)
    late = [asked for asked in life.asked if asked.week == week and asked.kind != "form"]
    late = [late[row] for row in np.random.default_rng(seed).permutation(len(late))]
    about = [asked for asked in late if asked.kind in TASTES][: count // 2]
    return [*about, *(asked for asked in late if asked.kind not in TASTES)][:count]


def _ask(asked: Asked, session: Session, life: Life, share: int) -> dict[str, float]:
    there = at(session, asked.at)
    there.config = replace(there.config, persona_share=share, k=K)
    chosen = there.retrieve(asked.text, k=K).selection.chosen
    found = {_raw(session, choice.memory.source) for choice in chosen}
    needed = {told.raw for told in life.told if told.key in asked.gold}
    reply = there.ask(asked.text, k=K)
    lines = [] if reply.abstained else [Line(reply.text, "")]
    return {
        "right": float(is_right(asked, lines)),
        "abstained": float(reply.abstained),
        "evidence_recall": len(needed & found) / len(needed) if needed else 1.0,
        "lines": float(sum(c.memory.id.startswith("p") for c in chosen)),
        "inferred": float(bool(reply.inferred)),
    }


def _raw(session: Session, source: str | None) -> str:
    """The raw text that a chosen memory was told in; empty for a persona line."""
    return "" if source is None else session.graph.sources.get(source).text


if __name__ == "__main__":
    main()
