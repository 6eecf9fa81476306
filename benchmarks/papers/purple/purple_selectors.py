"""What PURPLE is compared with, all on the retriever's same 20 candidates.

*BM25* and *dense* order them by words and by meaning; *fused* keeps the retriever's own order;
*prompted* lets the language model order a list (RankGPT). *IC-RALM* and *REPLUG* give the model one
record at a time: the first reads another of the five nearest every ``STRIDE`` tokens, the second
reads each of them alone and mixes the probabilities of every token, weighed by nearness.

Attention ranking (ICR) is left out: llama-cpp-python 0.3 exposes no attention weights. Its context
takes a C callback on evaluated tensors, but no way to read one of them from Python, and fused
attention never forms the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from agent.answering.selection.policy_factory import pick
from agent.ports import LanguageModel
from benchmarks.papers.purple.purple_tasks import RECORD_WORDS, Case
from policies.purple.purple import CandidateList
from policies.training.mlp import Floats

STRIDE = 4
"""Tokens after which IC-RALM reads another record (Ram et al., 2023)."""
TEMPERATURE = 0.1
"""Of the weights of REPLUG, over cosine similarities (Shi et al., 2024)."""
_FUSED, _DENSE, _LEXICAL = 0, 1, 2
"""Columns of ``Records.signs``."""
Order = Callable[[Case, CandidateList], Sequence[int]]
"""Places of the candidates, best first."""


def by_sign(column: int) -> Order:
    """By what the retriever says of each candidate."""
    return lambda case, listed: np.argsort(-listed.records.signs[:, column], kind="stable").tolist()


def prompted(llm: LanguageModel) -> Order:
    """The numbers that the model names, then the rest in the retriever's order."""

    def order(case: Case, listed: CandidateList) -> list[int]:
        memories = case.episode.view.memories
        texts = [" ".join(memories[row].text.split()[:RECORD_WORDS]) for row in listed.rows]
        said = pick(case.episode.question.text, texts, llm)
        named = [place for place in said if 0 <= place < len(texts)]
        return list(dict.fromkeys([*named, *range(len(texts))]))

    return order


ORDERS: Mapping[str, Order] = {
    "bm25": by_sign(_LEXICAL),
    "dense": by_sign(_DENSE),
    "fused": by_sign(_FUSED),
}


def switched(alone: Sequence[Floats]) -> Floats:
    """IC-RALM: of one option, token log-probabilities by the records in turn."""
    return np.array([alone[(t // STRIDE) % len(alone)][t] for t in range(len(alone[0]))])


def averaged(alone: Sequence[Floats], nearness: Floats) -> Floats:
    """REPLUG: of one option, token log-probabilities mixed over the records."""
    weights = np.exp((nearness - nearness.max()) / TEMPERATURE)
    weights /= weights.sum()
    return np.asarray(np.log(weights @ np.exp(np.stack(alone).astype(np.float64))))
