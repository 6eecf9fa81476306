"""A linear layer in integers: 8 bits an input, 7 a weight, in half the time of floats.

Each token has a scale of its own, so what a text comes to does not depend on those that are read
with it (LLM.int8(), Dettmers et al., 2022, section 3.1: vector-wise quantization).
"""

from __future__ import annotations

import numpy as np

from agent.models.adapters.bert.onnx_graph import Graph
from agent.ports import Vectors

INPUT, WEIGHT = 127, 64
"""Largest integer of an input and of a weight. Processors without VNNI add two products in 16 bits:
more than 64 would overflow there, and the same text would come to something else."""


def int8_linear(graph: Graph, x: str, name: str, weight: Vectors, bias: Vectors) -> str:
    """Add ``x @ weight.T + bias`` for the rows of ``x``, (tokens, width); the output's name."""
    scale = np.abs(weight).max(axis=1) / WEIGHT
    rounded = np.round(weight.T / np.where(scale, scale, 1)).astype(np.int8)
    one = graph.weight("one", np.array(1, np.float32))
    zero = graph.weight("zero", np.array(INPUT + 1, np.uint8))
    largest = graph.add("ReduceMax", graph.add("Abs", x), graph.weight("last", np.array([1])))
    step = graph.add("Mul", largest, graph.weight("step", np.array(1 / INPUT, np.float32)))
    given = graph.add("QuantizeLinear", graph.add("Div", x, step), one, zero)
    made = graph.add(
        "MatMulIntegerToFloat",
        given,
        graph.weight(f"{name}.int8", rounded),
        one,
        graph.weight(f"{name}.scale", scale.astype(np.float32)),
        zero,
        domain="com.microsoft",
    )
    return graph.add("Add", graph.add("Mul", made, step), graph.weight(f"{name}.bias", bias))
