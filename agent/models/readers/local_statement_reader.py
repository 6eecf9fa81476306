"""The shipped statement reader, loaded at its first use, for the encoder that it was trained on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import Config
from agent.models.registry import ModelRegistry
from agent.models.timing import measured
from agent.ports import StatementReader
from policies.weight_file import read_arrays

if TYPE_CHECKING:
    from agent.models.adapters.bert.statement_reader import TrainedReader

WEIGHTS = Path(__file__).parent / "data" / "reader.npz"


def statement_reader(config: Config, encoder: str) -> StatementReader | None:
    """The reader for an encoder of this identity; None where no weights fit that encoder."""
    if encoder != _trained_on():
        return None
    folder = ModelRegistry(config.models_dir).resolve_embedder(config.embedder)
    return _load(folder, config.threads)


@cache
def _trained_on() -> str:
    if not WEIGHTS.exists():
        return ""
    return str(read_arrays(WEIGHTS, ("encoder",))["encoder"])


@cache
@measured("loading models")
def _load(folder: Path, threads: int) -> TrainedReader:
    from agent.models.adapters.bert.statement_reader import TrainedReader

    return TrainedReader(folder, WEIGHTS, threads=threads)
