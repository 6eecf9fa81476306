"""ONNX graphs written in code, run by onnxruntime.

A graph is put together from weights that lie in memory, so no model file has to be made or kept.
onnxruntime reads the protocol buffer of ``onnx.proto``; the few messages that a graph needs are
written here, because the ``onnx`` package would bring 70 MB for them. Field numbers are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 20
"""Version of the operators: the first with ``Gelu``."""
IR_VERSION = 9
_FLOAT32 = np.dtype(np.float32)
_TYPES = {_FLOAT32: 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.int64): 7}
_DOMAINS = {"": OPSET, "com.microsoft": 1}
"""Versions of the operators, by where they come from: ONNX, and onnxruntime's own."""
_INLINE = 128
"""Bytes of a weight that is written into the graph: onnxruntime reads shapes while it plans."""

Shape = tuple[int | str, ...]
"""Sizes of axes; a name where the size is known only at the run."""


class Graph:
    """A graph under construction: operators by name, weights as arrays."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._inputs: list[bytes] = []
        self._weights: dict[str, NDArray[Any]] = {}

    def input(self, name: str, shape: Shape, dtype: type[np.generic]) -> str:
        """A tensor that is given at each run; its name."""
        self._inputs.append(_tensor_info(name, shape, np.dtype(dtype)))
        return name

    def weight(self, name: str, array: NDArray[Any]) -> str:
        """A tensor that never changes; its name. It is not copied."""
        self._weights[name] = np.ascontiguousarray(array)
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output; the output's name."""
        output = f"{operator}_{len(self._nodes)}"
        node = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)
        node += b"".join(_bytes(5, _attribute(*pair)) for pair in attributes.items())
        node += _text(7, domain)
        self._nodes.append(node)
        return output

    def session(self, output: str, shape: Shape) -> Any:
        """An ``onnxruntime.InferenceSession`` whose only output is this float32 tensor.

        A run takes the thread that calls it, and several threads may: two runs on two threads are
        faster than one run on two.
        """
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # Its own heap never shrinks: three encoders would hold what their longest texts once took.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        held = {k: v for k, v in self._weights.items() if v.nbytes > _INLINE}
        options.add_external_initializers(
            list(held), [onnxruntime.OrtValue.ortvalue_from_numpy(v) for v in held.values()]
        )
        model = _model(self._nodes, self._inputs, self._weights, _tensor_info(output, shape))
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return session


def _model(
    nodes: list[bytes], inputs: list[bytes], weights: Mapping[str, NDArray[Any]], output: bytes
) -> bytes:
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "memlane")
    graph += b"".join(_bytes(5, _initializer(*pair)) for pair in weights.items())
    graph += b"".join(_bytes(11, info) for info in inputs) + _bytes(12, output)
    versions = (_text(1, domain) + _number(2, version) for domain, version in _DOMAINS.items())
    return _number(1, IR_VERSION) + _bytes(7, graph) + b"".join(_bytes(8, one) for one in versions)


def _initializer(name: str, array: NDArray[Any]) -> bytes:
    """Shape and type of a weight, and its numbers where the session is not given them."""
    made = b"".join(_number(1, size) for size in array.shape)
    made += _number(2, _TYPES[array.dtype]) + _text(8, name)
    if array.nbytes <= _INLINE:
        return made + _bytes(9, array.tobytes())
    return made + _bytes(13, _text(1, "location") + _text(2, "memory")) + _number(14, 1)


def _tensor_info(name: str, shape: Shape, dtype: np.dtype[Any] = _FLOAT32) -> bytes:
    sizes = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    )
    tensor = _number(1, _TYPES[dtype]) + _bytes(2, sizes)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: float | int | list[int]) -> bytes:
    made = _text(1, name)
    if isinstance(value, float):
        return made + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return made + _number(3, value) + _number(20, 2)
    return made + b"".join(_number(8, item) for item in value) + _number(20, 7)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as its 64-bit complement."""
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))
