"""Low-rank weights beside those of a language model, with which its hidden states are read.

``benchmarks.adapter_train`` learns them together with the classifiers of the states: what stands in
the state of a line is then what the classifiers ask for (LoRA, Hu et al. 2021). They count in the
context of ``HiddenStates`` alone: what the model writes stays what it was.

llama.cpp multiplies rows that are a multiple of 16 numbers long many at a time, others one number
at a time. The ranks of the file that ships are 8 and 5, as that is small. Zeros beside them change
no product, and what is read with them takes a fifth less time.
"""

from __future__ import annotations

import ctypes
import logging
import os
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp as ll
import numpy as np

from agent.errors import ModelDamaged, ModelError
from agent.models.weight_files import made_once
from policies.weight_file import check_hash

logger = logging.getLogger("memlane.llama")

RANKS = 16
"""Numbers that are multiplied at once."""
FOLDER = Path(__file__).parents[2] / "readers" / "data"


def adapter_of(identity: str) -> Path | None:
    """The file made for a model, by its identity (``LanguageModel.identity``); None if none is."""
    return next(iter(sorted(FOLDER.glob(f"reading-{identity.rpartition(':')[2]}-*.gguf"))), None)


def version_of(path: Path | None) -> str:
    """The first 12 digits of the file's SHA-256; empty without a file.

    :raises WeightsDamaged: if the file is not what was written.
    """
    return check_hash(path) if path else ""


def widened(path: Path, folder: Path) -> Path:
    """A copy in ``folder`` with zeros beside its ranks, made if it is not there yet.

    ``path`` itself where none can be made: no room, or no file of an adapter.
    """
    copy = folder / f"{path.stem}-by-{RANKS}.gguf"
    try:
        return copy if made_once(copy, partial(_widen, path)) else path
    except (OSError, ModelError) as error:
        logger.info("no wider copy of %s: %s", path, error)
        return path


def _widen(path: Path, copy: Path) -> bool:
    """Whether the copy could be made."""
    from gguf import GGUFReader, GGUFWriter  # once a machine

    try:
        read = GGUFReader(path)
        fields = {name: field.contents() for name, field in read.fields.items()}
        if fields["adapter.lora.alpha"] != 0:  # a scale by the rank, which is another one then
            return False
        writer = GGUFWriter(copy, fields["general.architecture"])
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", 0.0)
        for tensor in read.tensors:
            rank = tensor.data.shape[0 if tensor.name.endswith("lora_a") else 1]
            more = (0, -rank % RANKS)
            beside = (more, (0, 0)) if tensor.name.endswith("lora_a") else ((0, 0), more)
            writer.add_tensor(tensor.name, np.pad(tensor.data, beside).astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    except (KeyError, ValueError, IndexError) as error:
        logger.info("%s is no adapter that can be widened: %s", path, error)
        return False
    return True


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
