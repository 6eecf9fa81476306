"""How many questions a second a selector serves (paper, Figure 3), for ``benchmarks.purple``.

From the text of a question, whose vector is made anew, with the memories' vectors there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.answering.selection.policy_factory import pick
from agent.models.lazy import LocalEmbedder
from agent.ports import LanguageModel
from benchmarks.papers.purple.purple_outcomes import Figures
from benchmarks.papers.purple.purple_tasks import Case
from policies.base import Policy
from policies.registry import Tools, make_policy
from store.derived.view import GraphView

QUESTIONS = 20
PROMPTED = 8
"""Questions that the language model ranks for: seconds each."""


def speed(asked: Sequence[Case], embedder: LocalEmbedder, llm: LanguageModel | None) -> Figures:
    """Figures 'speed.SELECTOR.questions_per_s'; 'cold' has read no candidate before."""
    some = asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]
    tools = Tools(
        tokens=embedder.encode_tokens,
        pick=None if llm is None else lambda question, texts: pick(question, texts, llm),
    )
    embedder.encode(["warm"])

    def rate(
        policy: Policy, cases: Sequence[Case], view: Callable[[GraphView], GraphView]
    ) -> float:
        views = [view(case.episode.view) for case in cases]
        began = time.perf_counter()
        for case, seen in zip(cases, views, strict=True):
            question = case.episode.question
            vector = embedder.encode([question.text])[0]
            policy.select(replace(question, vector=vector), seen)
        return len(cases) / (time.perf_counter() - began)

    def kept(view: GraphView) -> GraphView:
        return view

    def forgotten(view: GraphView) -> GraphView:
        return GraphView(view.memories, view.vectors, view.current)

    figures: Figures = {}
    for name in ("bm25", "top-k", "fused", "purple"):
        policy = make_policy(name, tools)
        rate(policy, some, kept)  # words and tokens are read at the first question
        figures[f"speed.{name}.questions_per_s"] = rate(policy, some, kept)
    figures["speed.purple (cold).questions_per_s"] = rate(
        make_policy("purple", tools), some, forgotten
    )
    if llm is not None:
        prompted = make_policy("picked", tools)
        rate(prompted, some[:1], kept)
        found = rate(prompted, some[1 : 1 + PROMPTED], kept)
        figures["speed.prompted.questions_per_s"] = found
        for name in ("purple", "purple (cold)"):
            ours = figures[f"speed.{name}.questions_per_s"] or 0.0
            figures[f"{name.replace(' ', '_')}_over_prompted_speed"] = ours / found
    return figures
