"""EMG-RAG's walk on a real graph: conversations as memlane reads them, without a language model.

``emg_policies`` gives raw turns to the policies. They have no relations, so two of the walk's three
cosines are 0 and nothing is linked. Here locomo and memdaily_zh are read by the product's own
extraction (``qa_extracted``), and every policy chooses on that one graph:

- ``walk``: the product's form of the paper's policy; ``node walk``: the paper's traversal node by
  node (``node_walk``); ``scout``: ours;
- ``shipped`` weights, and, of the first two, ``retrained``: from nothing on the questions of other
  people, by the evidence. Folds are whole conversations or trajectories, so nobody is measured with
  weights that saw hers; means over seeds. 1,000 steps of warm start and 100 episodes of policy
  gradient are the paper's numbers; a step of the warm start has ten episodes at twice its rate, and
  what is required counts as much there as what is not, as with one episode a step and plain
  cross-entropy the walk learned from conversations to take nothing (``emg_ablation`` has the same);
- fixed ways at 1, 3 and 5 memories: ``top-k``, ``bm25``, ``fused``, ``partitioned`` (M-RAG's
  Agent-S), ``decomposed`` (Keqing over the graph).

What is chosen is judged by turns: the turns its memories come from against the gold turns, over the
questions that have any. ``f1_several`` is over those with two gold turns and more.
``over_fixed_several`` is a policy's ``f1_several`` by the best that any fixed way has at any of
these numbers. The same policies on raw turns are in ``emg_policies``.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.session.session import Session, open_session
from benchmarks.papers.emg_rag.emg_policies import benchmark_config
from benchmarks.papers.emg_rag.learning.qa_training import fresh, shipped
from benchmarks.papers.emg_rag.node_walk import NodeWalk
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import Collection, Item, load
from benchmarks.shared.questions.qa_extracted import Graph, graph_of, turns_of
from benchmarks.shared.questions.qa_judge import Figures, mean
from benchmarks.shared.questions.qa_metrics import Evidence, evidence, over_seeds
from benchmarks.shared.questions.qa_views import Put, names_of
from benchmarks.training.selection.pretrain import RECALL, worth
from policies.base import Episode, Policy
from policies.registry import Tools, make_policy
from policies.scoring.question_entities import NameIndex
from policies.training.mlp import Mlp
from policies.training.reinforce import (
    GRADIENT_EPISODES,
    WARM_EPISODES,
    LearnedPolicy,
    policy_gradient,
    warm_start,
)
from policies.walk.walk import STATE

NAMES = ("locomo", "memdaily_zh")
FIXED = ("top-k", "bm25", "fused", "partitioned", "decomposed")
KS = (1, 3, 5)
FOLDS = 3
WALKS = ("walk", "node walk", "scout")
RETRAINED = ("walk", "node walk")
BATCH, RATE = 10, 0.002
"""Of the warm start, as for the weights that ship (``pretrain``)."""
COLUMNS = ("f1", "precision", "recall", "f1_one", "f1_several", "memories", "ms", "n",
           "several", "over_fixed", "over_fixed_several")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """One question: how its choice agrees with the gold turns."""

    put: Put
    found: Evidence
    memories: int
    ms: float

    @property
    def needs(self) -> int:
        """How many memories it needs, where the gold is memories (``emg_links``)."""
        return len(self.put.required or ())


def main() -> None:
    options = parser("emg_graph", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=NAMES, default=list(NAMES))
    options.add_argument("--warm", type=int, default=WARM_EPISODES, help="episodes of warm start")
    options.add_argument("--gradient", type=int, default=GRADIENT_EPISODES, help="and of gradient")
    options.add_argument("--trajectories", type=int, default=200, help="of memdaily_zh, by seed 0")
    options.add_argument(
        "--speakers-link", action="store_true", help="speakers link all that they said"
    )
    given = options.parse_args()
    if given.quick:
        given.warm, given.gradient, given.seeds, given.sets = 50, 5, 1, ["memdaily_zh"]
        given.trajectories = 30
    told = {
        "quick": given.quick, "warm": given.warm, "gradient": given.gradient, "folds": FOLDS,
        "ks": KS, "batch": BATCH, "rate": RATE, "speakers_link": given.speakers_link,
        "recall": RECALL,
        "tables": {"On the extracted graph": [c for one in COLUMNS for c in (one, f"{one}_sd")]},
    }  # fmt: skip
    with open_session(benchmark_config()) as models:
        for name in given.sets:
            figures = measured(drawn(name, given), given, models)
            part = "_speakers" if given.speakers_link else ""
            of = {**told, "collections": given.trajectories if name == "memdaily_zh" else None}
            write_results(f"emg_graph_{name}{part}", of, list(range(given.seeds)), figures)
            for key, value in figures.items():
                if key.endswith((".f1", "several", "over_fixed")) and value is not None:
                    print(f"{name} {key:50} {value:.3f}")


def drawn(name: str, given: Namespace) -> list[Collection]:
    """The collections of a set, at most so many."""
    collections = load(name, given.data)
    if len(collections) <= given.trajectories:
        return collections
    order = np.random.default_rng(0).permutation(len(collections))
    return [collections[n] for n in sorted(order[: given.trajectories])]


def measured(collections: Sequence[Collection], given: Namespace, models: Session) -> Figures:
    """All policies on one set."""
    began = time.perf_counter()
    graphs = [
        graph_of(one, models, speakers_link=given.speakers_link) for one in collections
    ]  # fmt: skip
    progress(f"{len(graphs)} read in {time.perf_counter() - began:.0f} s")
    puts = [put for graph in graphs for put in graph.puts(models)]
    found = shape(graphs) | measured_fixed(puts)
    found |= measured_walks(puts, given.warm, given.gradient, given.seeds, models)
    return found | over_fixed(found)


def shape(graphs: Sequence[Graph]) -> Figures:
    """What the extraction left of the turns, and how dense the graph is."""
    memories = [memory for graph in graphs for memory in graph.view.memories]
    gold = [
        (graph, turn) for graph in graphs for item in graph.collection.items
        for turn in item.required or ()
    ]  # fmt: skip
    read = {id(graph): {m.source for m in graph.view.memories} for graph in graphs}
    related = [m for m in memories if any(t.relation != "noted" for t in m.triples)]
    linked = [len(g.view.linked(row)) for g in graphs for row in range(len(g.view.memories))]
    return {
        "graph.turns": sum(len(graph.collection.memories) for graph in graphs),
        "graph.memories": len(memories),
        "graph.with_relation": len(related) / len(memories),
        "graph.linked": mean(linked),
        "graph.gold_turns_read": mean([float(turn in read[id(graph)]) for graph, turn in gold]),
    }


def measured_fixed(puts: Sequence[Put]) -> Figures:
    """Every fixed way at every number of memories."""
    found: Figures = {}
    for name in FIXED:
        for k in KS:
            rows = judged(make_policy(name, Tools(k=k)), puts)
            found |= {f"{name}@{k}.{key}": value for key, value in scored(rows).items()}
        progress(f"{name}: F1 {found[f'{name}@{KS[0]}.f1'] or 0:.3f} at {KS[0]}")
    return found


def measured_walks(
    puts: Sequence[Put], warm: int, gradient: int, seeds: int, models: Session
) -> Figures:
    """Every walk as shipped, and retrained on other people's questions."""
    names = names_of(models)
    folds = folds_of(puts)
    found: Figures = {}

    def untrained(name: str, seed: int) -> LearnedPolicy:
        if name == "node walk":
            return NodeWalk(Mlp.fresh(len(STATE), seed=seed), NameIndex(names))
        return fresh(name, seed, names)

    for name in WALKS:
        if name != "node walk":
            rows = judged(shipped(name, names), puts)
            found |= {f"{name} shipped.{key}": v for key, v in scored(rows).items()}
        runs = []
        for seed in range(seeds if name in RETRAINED else 0):
            rows = []
            for fold in range(FOLDS):
                known = [p.episode for p, of in zip(puts, folds, strict=True) if of != fold]
                asked = [p for p, of in zip(puts, folds, strict=True) if of == fold]
                blank = untrained(name, seed)
                policy = warm_start(
                    blank, known, count=warm, batch=BATCH, rate=RATE,
                    required_weight=balance(blank, known), seed=seed,
                )  # fmt: skip
                policy = policy_gradient(
                    policy, [one for one in known if one.required is not None],
                    worth(RECALL.get(name, 1.0)), count=gradient, seed=seed,
                )  # fmt: skip
                rows += judged(policy, asked)
            runs.append(scored(rows))
            progress(f"{name}, seed {seed}: F1 {runs[-1]['f1'] or 0:.3f}, "
                     f"several {runs[-1]['f1_several'] or 0:.3f}")  # fmt: skip
        if runs:
            found |= {f"{name} retrained.{key}": v for key, v in over_seeds(runs).items()}
    return found


def balance(policy: LearnedPolicy, known: Sequence[Episode]) -> float:
    """How many visits to what is not required a lesson has for each to what is."""
    labels = np.concatenate(
        [policy.lesson(e.question, e.view, e.required)[1] for e in known if e.required is not None]
    )
    return float((labels == 0).sum() / max(1, (labels == 1).sum()))


def folds_of(puts: Sequence[Put]) -> list[int]:
    """The fold of each question: that of its conversation or trajectory."""
    order = {name: n for n, name in enumerate(dict.fromkeys(put.collection for put in puts))}
    return [order[put.collection] % FOLDS for put in puts]


def judged(policy: Policy, puts: Sequence[Put]) -> list[Judged]:
    """The policy on each question that has gold turns."""
    rows = []
    for put in puts:
        if not put.item.required:
            continue
        began = time.perf_counter()
        chosen = policy.select(put.question, put.view).chosen
        ms = 1000 * (time.perf_counter() - began)
        ids = [choice.memory.id for choice in chosen]
        turns = turns_of(ids, put.view)
        rows.append(Judged(put, evidence(turns, put.item.required), len(ids), ms))
    return rows


def scored(rows: Sequence[Judged]) -> Figures:
    """Means over the questions, and by how many turns they need."""
    several = [row for row in rows if needed(row.put.item) > 1]
    return {
        "f1": mean([row.found.f1 for row in rows]),
        "precision": mean([row.found.precision for row in rows]),
        "recall": mean([row.found.recall for row in rows]),
        "f1_one": mean([row.found.f1 for row in rows if needed(row.put.item) == 1]),
        "f1_several": mean([row.found.f1 for row in several]),
        "memories": mean([row.memories for row in rows]),
        "ms": mean([row.ms for row in rows]),
        "n": len(rows),
        "several": len(several),
    }


def needed(item: Item) -> int:
    return len(item.required or ())


def over_fixed(found: Mapping[str, float | int | None]) -> Figures:
    """Each walk's F1 by the best of the fixed ways, whatever its number."""
    ratios: Figures = {}
    for figure, told in (("f1", "over_fixed"), ("f1_several", "over_fixed_several")):
        best = max(found.get(f"{name}@{k}.{figure}") or 0 for name in FIXED for k in KS)
        for walk in (f"{name} {kind}" for name in WALKS for kind in ("shipped", "retrained")):
            own = found.get(f"{walk}.{figure}")
            if own is not None and best:
                ratios[f"{walk}.{told}"] = own / best
    return ratios


if __name__ == "__main__":
    main()
