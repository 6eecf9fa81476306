"""Low-rank weights beside those of a language model, with which its hidden states are read.

``benchmarks.adapter_train`` learns them together with the classifiers of the states: what stands in
the state of a line is then what the classifiers ask for (LoRA, Hu et al. 2021). They count in the
context of ``HiddenStates`` alone: what the model writes stays what it was.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import llama_cpp as ll

from agent.errors import ModelDamaged, ModelError
from policies.weight_file import check_hash

FOLDER = Path(__file__).parents[2] / "readers" / "data"


def adapter_of(identity: str) -> Path | None:
    """The file made for a model, by its identity (``LanguageModel.identity``); None if none is."""
    return next(iter(sorted(FOLDER.glob(f"reading-{identity.rpartition(':')[2]}-*.gguf"))), None)


def version_of(path: Path | None) -> str:
    """The first 12 digits of the file's SHA-256; empty without a file.

    :raises WeightsDamaged: if the file is not what was written.
    """
    return check_hash(path) if path else ""


def attach(path: Path, model: Any, context: Any) -> None:
    """Let a context of a model compute with the adapter; llama.cpp frees it with the model.

    :raises ModelDamaged: if the file cannot be loaded or is none for this model.
    :raises ModelError: if the context does not take it.
    """
    adapter = ll.llama_adapter_lora_init(model, os.fsencode(path))
    if not adapter:
        raise ModelDamaged(
            f"{path} cannot be loaded. Install memlane again: pip install --force-reinstall memlane"
        )
    adapters = (ll.llama_adapter_lora_p_ctypes * 1)(adapter)
    if ll.llama_set_adapters_lora(context, adapters, 1, (ctypes.c_float * 1)(1.0)) != 0:
        raise ModelError(f"llama.cpp does not take the adapter {path.name}.")
