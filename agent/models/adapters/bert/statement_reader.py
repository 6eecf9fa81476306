"""Statement reader: the upper layers of the sentence encoder, trained anew, with four heads.

One network serves four tasks: the kind of a statement, the relation of an older statement to a
newer one, the order in a message, and the relevance of a statement to a question.
``benchmarks.reader_train`` makes the weights: the trained layers and the heads alone, so they fit
one encoder only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.models.adapters.bert.encoder import Bert
from agent.models.adapters.bert.onnx_graph import Graph
from agent.models.timing import measured
from agent.ports import KINDS, ORDERS, RELATIONS, Probabilities, Vectors
from policies.weight_file import read_arrays

MAX_TOKENS = 160
HEADS = {"kind": len(KINDS), "relation": len(RELATIONS), "relevance": 1, "order": len(ORDERS)}
"""Numbers that each head gives."""


class TrainedReader:
    """The trained reader; fulfils ``agent.ports.StatementReader``. Several threads may use it.

    :param folder: The encoder that the weights were trained on.
    :param weights: A npz file; arrays named "encoder." are layers, those named "heads." heads.
    :param threads: Most threads that read at the same time; 0 is one a processor.
    :param int8: Whether the layers multiply integers, in half the time: of held-out pairs the
        likeliest relation is the same in 99 % (``python -m benchmarks.reader_speed``).
    """

    def __init__(self, folder: Path, weights: Path, *, threads: int = 0, int8: bool = True) -> None:
        stored = read_arrays(weights)
        state = {name: array.astype(np.float32) for name, array in stored.items() if "." in name}
        layers = {
            name.removeprefix("encoder."): array
            for name, array in state.items()
            if name.startswith("encoder.")
        }
        self._bert = Bert(folder, threads=threads, changed=layers, int8=int8)
        self._heads = {task: _head(task, state) for task in HEADS}

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        """Of each statement, the probability of each of ``KINDS``."""
        return self._run("kind", statements)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        """Of each (older, newer) pair, the probability of each of ``RELATIONS``."""
        return self._run("relation", pairs)

    def orders(self, messages: Sequence[str]) -> Probabilities:
        """Of each message, the probability of each of ``ORDERS``."""
        return self._run("order", messages)

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        """Of each statement, how likely the answer needs it; shape (n, 1)."""
        return self._run("relevance", [(question, statement) for statement in statements])

    @measured("statement reader")
    def _run(self, task: str, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Probabilities:
        out = np.zeros((len(texts), HEADS[task]), np.float32)
        for batch in self._bert.hidden(texts, MAX_TOKENS):
            pooled = np.concatenate([batch.first(), batch.mean()], axis=1)
            out[batch.rows] = self._heads[task].run(None, {"pooled": pooled})[0]
        return out


def _head(task: str, state: dict[str, Vectors]) -> Any:
    """A head as a session: pooled states, (batch, 2 * width), to probabilities."""
    graph = Graph()
    inner, outer = (
        [graph.weight(f"{layer}.{name}", state[f"heads.{task}.{layer}.{name}"]) for name in _PARTS]
        for layer in (0, 2)
    )
    x = graph.input("pooled", ("batch", len(state[f"heads.{task}.0.weight"].T)), np.float32)
    x = graph.add("Gelu", graph.add("Gemm", x, *inner, transB=1))
    x = graph.add("Gemm", x, *outer, transB=1)
    one = HEADS[task] == 1
    x = graph.add("Sigmoid", x) if one else graph.add("Softmax", x, axis=-1)
    return graph.session(x, ("batch", HEADS[task]))


_PARTS = ("weight", "bias")
