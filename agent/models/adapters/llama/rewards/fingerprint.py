"""Fingerprint of processor and llama.cpp build."""

from __future__ import annotations

import platform
from pathlib import Path

import llama_cpp as ll

from agent.models.adapters.llama.rewards.batch_engine import SIZES


def fingerprint(sha256: str, threads: int) -> str:
    """These weights, on this processor, with this build and so many threads."""
    features = ll.llama_print_system_info().decode("utf-8", "replace")
    return "; ".join(
        (
            f"weights {sha256}",
            f"llama-cpp-python {ll.__version__}",
            f"{threads} threads",
            f"of {SIZES}",
            _processor(),
            " ".join(features.split()).rstrip(" |"),
        )
    )


def _processor() -> str:
    """The model of the processor; its architecture where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
