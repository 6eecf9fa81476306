"""Four weeks of edits: answers, autofill and services each week (EMG-RAG, Table 3).

Simulated lives of ``lives``, given right extraction and without a language model: an application
is right when what is selected states the value that holds at the moment of asking (or held at the
time asked about), by the rules of ``lives``. *qa* are questions, also about the past; *autofill*
is form fields, which the product fills by its own means and the others by the first memory they
select; *services* are questions about a day's appointments.

``product`` edits its graph as things are told. The others keep everything: ``parts`` is M-RAG
(top-k inside the three nearest partitions), ``append`` top-k, ``newest`` those with the newest
first, ``all`` everything. Means over lives of each week; ``_sd`` is the deviation between lives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from agent.config import load_config
from agent.session.session import Session, open_session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_metrics import spread
from benchmarks.shared.simulated_lives.lives import (
    BANKS,
    K,
    Line,
    is_right,
    product_lines,
    yardstick_lines,
)
from benchmarks.shared.simulated_lives.lives_world import WEEKS, Asked, Life, write_life

APPLICATIONS = ("qa", "autofill", "services")


def main() -> None:
    options = parser("emg_edits", __doc__ or "")
    options.add_argument("--bank", choices=["train", "test", "both"], default="both")
    options.add_argument("--lives", type=int, default=8, help="lives of each bank, seeds from 0")
    given = options.parse_args()
    lives = 1 if given.quick else given.lives
    names = list(BANKS) if given.bank == "both" else [given.bank]
    right: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    with open_session(load_config()) as models:
        for name in names:
            for seed in range(lives):
                life = write_life(BANKS[name], seed)
                progress(f"{name} {seed}: {len(life.told)} told, {len(life.asked)} asked")
                for way, asked, lines in all_lines(life, models):
                    column = f"{application(asked)}_week{asked.week + 1}"
                    right[f"{name}.{way}.{column}"][seed].append(is_right(asked, lines))
    figures: dict[str, float | int | None] = {}
    for key, by_seed in right.items():
        shares = [fmean(found) for found in by_seed.values()]
        figures[key], figures[f"{key}_sd"] = spread(shares)
        name, _, column = key.split(".")
        figures[f"{name}.questions.{column}"] = sum(map(len, by_seed.values()))
    weeks = range(1, WEEKS + 1)
    config = {
        "quick": given.quick, "lives": lives, "k": K, "banks": names,
        "tables": {
            application.capitalize(): [each for week in weeks
                                       for each in (f"{application}_week{week}",
                                                    f"{application}_week{week}_sd")]
            for application in APPLICATIONS
        },
    }  # fmt: skip
    write_results("emg_edits", config, list(range(lives)), figures)
    for key in sorted(right):
        print(f"{key:40} {figures[key]:.3f}")


def all_lines(life: Life, models: Session) -> Iterator[tuple[str, Asked, list[Line]]]:
    """What each way selects for each question."""
    for asked, lines in product_lines(life, models):
        yield "product", asked, lines
    for asked, way, lines in yardstick_lines(life, models):
        yield way, asked, lines


def application(asked: Asked) -> str:
    return {"form": "autofill", "reminder": "services"}.get(asked.kind, "qa")


if __name__ == "__main__":
    main()
