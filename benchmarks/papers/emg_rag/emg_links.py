"""Questions over two to four memories: evidence by how many are needed (EMG-RAG section 4.3).

Most questions of the banks ``train`` and ``test`` need one memory, so a way that always takes one
is hard to beat there. The bank ``linked`` (``lives_links``) asks over people's chains, events told
in parts, counts and comparisons; at least half of its questions need two to four memories. The
lives go through the product (gold memories, stored and edited as they are told), as in
``emg_policies``. No language model takes part; weights are those that ship, which never learned
from this bank.

``f1_1`` to ``f1_4`` are evidence F1 over the questions that need so many, ``f1_several`` over those
that need two and more, ``all_found`` the share of these that are found whole.
``over_fixed_several`` is a walk's ``f1_several`` by the best that any fixed way has at any K,
``over_same_k`` by that of the fixed way and K that are best over all questions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from agent.session.session import Session, open_session
from benchmarks.papers.emg_rag.emg_graph import Judged
from benchmarks.papers.emg_rag.emg_policies import benchmark_config
from benchmarks.papers.emg_rag.learning.qa_training import shipped
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures, mean
from benchmarks.shared.questions.qa_metrics import evidence
from benchmarks.shared.questions.qa_views import Put, lived, names_of
from benchmarks.shared.simulated_lives.lives_links import BANK
from policies.base import Policy
from policies.registry import Tools, make_policy

FIXED = ("top-k", "bm25", "rrf", "fused", "partitioned", "decomposed")
KS = (1, 2, 3, 4, 5)
WALKS = ("walk", "scout")
MOST = 4
"""Memories that a question needs at most."""
COLUMNS = (*(f"f1_{n}" for n in range(1, MOST + 1)), "f1", "f1_several", "all_found", "memories",
           "ms")  # fmt: skip


def main() -> None:
    options = parser("emg_links", __doc__ or "")
    options.add_argument("--lives", type=int, default=4, help="simulated lives")
    given = options.parse_args()
    lives = 1 if given.quick else given.lives
    with open_session(benchmark_config()) as models:
        puts: list[Put] = []
        for seed in range(lives):
            puts += [put for put in lived(BANK, [seed], models) if put.required]
            progress(f"life {seed}: {len(puts)} questions so far")
        figures = counts(puts) | measured(puts, models)
    config = {
        "quick": given.quick, "lives": lives, "ks": KS, "bank": BANK.name,
        "links": len(BANK.links), "tables": {"By memories needed": COLUMNS},
    }  # fmt: skip
    write_results("emg_links", config, list(range(lives)), figures)
    for key, value in figures.items():
        if key.endswith((".f1", ".f1_several", ".over_fixed_several", ".over_same_k")):
            print(f"{key:40} {value or 0:.3f}")


def counts(puts: Sequence[Put]) -> Figures:
    """How many questions need how many memories, and of which kind they are."""
    found: Figures = {"questions": len(puts)}
    for n in range(1, MOST + 1):
        found[f"questions_{n}"] = sum(len(put.required or ()) == n for put in puts)
    found["questions_several"] = sum(len(put.required or ()) > 1 for put in puts)
    for kind in dict.fromkeys(link.kind for link in BANK.links):
        found[f"questions_{kind}"] = sum(put.item.kind.startswith(f"{kind}:") for put in puts)
    return found


def measured(puts: Sequence[Put], models: Session) -> Figures:
    """Every way on every question, and the walks by the best of the fixed ways."""
    names = names_of(models)
    ways: dict[str, Policy] = {f"{n}@{k}": make_policy(n, Tools(k=k)) for n in FIXED for k in KS}
    ways |= {name: shipped(name, names) for name in WALKS}
    figures: Figures = {}
    for name, policy in ways.items():
        found = scored(judged(policy, puts))
        progress(f"{name}: F1 {found['f1'] or 0:.3f}, several {found['f1_several'] or 0:.3f}")
        figures |= {f"{name}.{key}": value for key, value in found.items()}
    return figures | over_fixed(figures)


def judged(policy: Policy, puts: Sequence[Put]) -> list[Judged]:
    rows = []
    for put in puts:
        began = time.perf_counter()
        chosen = policy.select(put.question, put.view).chosen
        ms = 1000 * (time.perf_counter() - began)
        ids = [choice.memory.id for choice in chosen]
        rows.append(Judged(put, evidence(ids, put.required or ()), len(ids), ms))
    return rows


def scored(rows: Sequence[Judged]) -> Figures:
    """Means over the questions, and by how many memories they need."""
    several = [row for row in rows if row.needs > 1]
    found: Figures = {
        "f1": mean([row.found.f1 for row in rows]),
        "f1_several": mean([row.found.f1 for row in several]),
        "all_found": mean([float(row.found.recall == 1) for row in several]),
        "memories": mean([row.memories for row in rows]),
        "ms": mean([row.ms for row in rows]),
    }
    for n in range(1, MOST + 1):
        found[f"f1_{n}"] = mean([row.found.f1 for row in rows if row.needs == n])
    for kind in dict.fromkeys(link.kind for link in BANK.links):
        of = [row.found.f1 for row in several if row.put.item.kind.startswith(f"{kind}:")]
        found[f"f1_{kind}"] = mean(of)
    return found


def over_fixed(figures: Mapping[str, float | int | None]) -> Figures:
    """The walks' F1 over several memories, by the best of the fixed ways."""

    def of(way: str, figure: str) -> float:
        return float(figures.get(f"{way}.{figure}") or 0)

    ways = [f"{name}@{k}" for name in FIXED for k in KS]
    best = max(ways, key=lambda way: of(way, "f1_several"))
    one = max(ways, key=lambda way: of(way, "f1"))
    ratios: Figures = {}
    for walk in WALKS:
        ratios[f"{walk}.over_fixed_several"] = of(walk, "f1_several") / of(best, "f1_several")
        ratios[f"{walk}.over_same_k"] = of(walk, "f1_several") / of(one, "f1_several")
        ratios[f"{walk}.over_fixed"] = of(walk, "f1") / of(one, "f1")
    progress(f"best over several: {best}; best over all: {one}")
    return ratios


if __name__ == "__main__":
    main()
