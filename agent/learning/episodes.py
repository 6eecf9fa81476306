"""Training episodes from stored and newly written question-answer pairs.

Pairs are written one at a time and each is stored before the next is begun, so an interrupted run
loses none; sets of memories that gave no good pair are remembered and not asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from agent.answering.replies import is_unknown
from agent.learning.associations import associations
from agent.learning.qa_generation import Failure, write_pair
from agent.memory.entities.events import event_of
from agent.memory.entities.identity import Identities
from agent.memory.vectors.waiting import ensure_vectors
from agent.ports import Embedder, LanguageModel
from policies.base import Episode, Question
from store.derived.view import GraphView
from store.graph import MemoryGraph
from store.tables.side_tables.training_data import AnswerJudgement, PairOrigin, QuestionAnswer
from store.types import Memory

HELD_BACK = 0.25
"""Share of the episodes that weights are judged by and never trained on."""
FEWEST_HELD = 2
OTHERS = 3
"""Nearest other memories that an answer is tried from in place of the right ones."""
_UNJUDGED = 200
"""Latest questions of the person that may be learned from without an answer."""

OnPair = Callable[[int, int, "QuestionAnswer | None"], None]
"""Called with (pairs so far, pairs wanted, the new pair or None where it was dropped)."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """What can be learned from: the episodes and, by their keys, the reference answers."""

    episodes: tuple[Episode, ...]
    references: Mapping[str, str]

    def with_keys(self, keys: Iterable[str]) -> tuple[Episode, ...] | None:
        """Those episodes in that order; None if one of them is not there any more."""
        known = {episode.key: episode for episode in self.episodes}
        found = [known.get(key) for key in keys]
        return None if None in found else tuple(e for e in found if e is not None)


def collect(
    graph: MemoryGraph, embedder: Embedder, now: datetime, *, unanswered: bool = False
) -> Episodes:
    """Every pair that may be learned from at ``now``; ``unanswered`` adds questions that were only
    asked, for rewards that need no reference."""
    view = current_view(graph, embedder, now)
    asked: list[tuple[str, str, datetime, frozenset[str] | None]] = []
    references: dict[str, str] = {}
    pairs = graph.learned.pairs(now)
    for pair in pairs:
        if all(memory in view.row for memory in pair.memories):
            references[pair.id] = pair.answer
            asked.append((pair.id, pair.question, pair.at, frozenset(pair.memories) or None))
    if unanswered:
        known = {pair.turn for pair in pairs}
        bad = {t for t, said in graph.learned.judgements().items() if said is AnswerJudgement.BAD}
        for turn in graph.turns.last(_UNJUDGED):
            # One that leans on the conversation ('Where is it?') asks nothing by itself.
            unclear = turn.trace.get("redacted") or turn.trace.get("leans")
            answerable = turn.route == "retrieve" and not unclear
            if answerable and turn.id not in known | bad:
                asked.append((turn.id, turn.text, turn.at, None))
    if not asked:
        return Episodes((), {})
    vectors = embedder.encode([question for _, question, _, _ in asked])
    return Episodes(
        tuple(
            Episode(key, Question(text, vector, at), view, required)
            for (key, text, at, required), vector in zip(asked, vectors, strict=True)
        ),
        references,
    )


def current_view(graph: MemoryGraph, embedder: Embedder, now: datetime) -> GraphView:
    """What may be chosen at ``now``, every memory with its vector."""
    ensure_vectors(graph, embedder)
    return graph.view(now, embedder.identity)


def split(
    episodes: Sequence[Episode], seed: int
) -> tuple[tuple[Episode, ...], tuple[Episode, ...]]:
    """Episodes to train on, and episodes held back to judge by; drawn with ``seed``."""
    order = np.random.default_rng(seed).permutation(len(episodes))
    held = max(FEWEST_HELD, round(HELD_BACK * len(episodes)))
    return (
        tuple(episodes[i] for i in sorted(order[held:])),
        tuple(episodes[i] for i in sorted(order[:held])),
    )


def write_pairs(
    graph: MemoryGraph,
    embedder: Embedder,
    llm: LanguageModel,
    now: datetime,
    *,
    wanted: int,
    seed: int = 0,
    on_pair: OnPair = lambda done, wanted, pair: None,
) -> Counter[str]:
    """Write and prove pairs until ``wanted`` may be learned from; returns what became of each try.

    At most three tries a pair: where the memories do not give so many, that is how many there are.
    """
    tally: Counter[str] = Counter()
    done = len(graph.learned.pairs(now))
    if done >= wanted:
        return tally
    view = current_view(graph, embedder, now)
    known = Identities.of(graph, now)

    def same_event(memory: Memory) -> Sequence[str]:
        event = event_of(memory, graph, known)
        return event.memories if event else ()

    def others(question: str, memories: Sequence[Memory]) -> list[Memory]:
        near = view.vectors @ embedder.encode([question])[0]
        left_out = {memory.id for memory in memories}
        rows = (int(row) for row in np.argsort(-near))
        return [view.memories[r] for r in rows if view.memories[r].id not in left_out][:OTHERS]

    tried = graph.learned.tried()
    left = 3 * (wanted - done)
    for memories in associations(view, seed=seed, same_event=same_event):
        if done >= wanted or not left:
            break
        if frozenset(memory.id for memory in memories) in tried:
            continue
        left -= 1
        made = write_pair(memories, others, llm=llm, now=now)
        if isinstance(made, Failure):
            graph.learned.add_failure(memories, made.value, at=now)
            tally[made.value] += 1
            on_pair(done, wanted, None)
            continue
        key = graph.learned.add_pair(
            made.question, made.answer, made.required, origin=PairOrigin.WRITTEN, at=now
        )
        if len(made.required) < len(memories):
            graph.learned.add_failure(memories, Failure.NOT_NEEDED.value, at=now)
        done += 1
        tally["kept"] += 1
        ids = tuple(memory.id for memory in made.required)
        on_pair(
            done,
            wanted,
            QuestionAnswer(key, now, made.question, made.answer, ids, PairOrigin.WRITTEN),
        )
    return tally


def is_answer(text: str) -> bool:
    """Whether a reply of memlane says something that can be learned from."""
    return bool(text.strip()) and not is_unknown(text)
