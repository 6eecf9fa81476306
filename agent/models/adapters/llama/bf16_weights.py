"""bfloat16 copies of small models, which some processors read faster.

llama.cpp multiplies many rows at once in a few of its formats only; in the others (Q4_1 among
them) each row goes through the weights by itself. The 135M model of DESIGN.md reads and samples
three times as fast from such a copy (``benchmarks.rewards``). A large model in K-quants would
gain nothing and take four times the memory.

Rounding to bfloat16 moves a weight by at most 0.2 %, less than the activations are rounded by
beside quantized weights; even so, rewards of the copy are those of the copy, and are kept under
its own name.
"""

from __future__ import annotations

import ctypes
import logging
import os
from functools import partial
from pathlib import Path

import llama_cpp as ll

from agent.errors import ModelError
from agent.models.adapters.llama.gguf import silence
from agent.models.weight_files import made_once

logger = logging.getLogger("memlane.llama")

LARGEST = 300_000_000
"""Bytes of the largest file that is unpacked; the copy may have four times as many."""


def helps() -> bool:
    """Whether this processor and this build of llama.cpp multiply bfloat16 in one instruction."""
    return b"AVX512_BF16 = 1" in ll.llama_print_system_info()


def unpacked(path: Path, folder: Path, sha256: str) -> Path:
    """The bfloat16 copy of a small model in ``folder``, made if it is not there yet.

    ``path`` itself where a copy would not help or cannot be made: no room, no such file, a format
    that llama.cpp does not convert. Costs a second or two, once.
    """
    copy = folder / f"{path.stem}-{sha256[:12]}-bf16.gguf"
    try:
        if not helps() or path.stat().st_size > LARGEST:
            return path
        return copy if made_once(copy, partial(_convert, path)) else path
    except (OSError, ModelError) as error:
        logger.info("no bfloat16 copy of %s: %s", path, error)
        return path


def _convert(path: Path, copy: Path) -> bool:
    """Whether the copy could be made."""
    silence()
    params = ll.llama_model_quantize_default_params()
    params.ftype = ll.LLAMA_FTYPE_MOSTLY_BF16
    params.allow_requantize = True
    code = ll.llama_model_quantize(os.fsencode(path), os.fsencode(copy), ctypes.byref(params))
    if code != 0:
        logger.info("llama.cpp does not convert %s (code %d)", path, code)
    return bool(code == 0)
