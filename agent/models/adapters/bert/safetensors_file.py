"""Weights of a safetensors file as arrays over the mapped file: nothing is read before its use.

The package of that name copies what it reads. Mapped, a vocabulary of 47 MB costs the rows that
are looked up, and processes share them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
_LENGTH = 8
"""Bytes in front of the header; they hold its length."""


def mapped_weights(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors by name, read-only.

    :raises ValueError: if the file is cut off, no safetensors file, or of other types than
        float32, float16 and int64.
    """
    data: NDArray[np.uint8] = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    begin = _LENGTH + int.from_bytes(data[:_LENGTH].tobytes(), "little")
    if begin > len(data):
        raise ValueError(f"{path.name} is cut off")
    weights = {}
    for name, tensor in json.loads(data[_LENGTH:begin].tobytes()).items():
        if name == "__metadata__":
            continue
        if tensor["dtype"] not in _TYPES:
            raise ValueError(f"{path.name} holds numbers of type {tensor['dtype']}")
        first, last = (begin + offset for offset in tensor["data_offsets"])
        # A cut file gives too few numbers, which reshape refuses.
        weights[name] = data[first:last].view(_TYPES[tensor["dtype"]]).reshape(tensor["shape"])
    return weights
