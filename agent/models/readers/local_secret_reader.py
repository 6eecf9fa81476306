"""The shipped secret reader, loaded at its first use, for the encoder that it was trained on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import BUILT_IN_ENCODER, Config
from agent.errors import ModelError
from agent.models.registry import ModelRegistry
from agent.models.timing import measured
from agent.ports import SecretsRead
from store.errors import WeightsDamaged

if TYPE_CHECKING:
    from agent.models.adapters.bert.secret_reader import TrainedSecretReader

WEIGHTS = Path(__file__).parent / "data" / "secrets.npz"


class LocalSecretReader:
    """The reader on the built-in encoder, whatever encoder searches.

    Where its weights are missing or damaged it reads nothing, so that no text is lost for them:
    what comes after, making memories, needs the encoder too and says what is wrong.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._reader: TrainedSecretReader | None = None

    def secrets(self, text: str) -> SecretsRead | None:
        """See ``agent.ports.SecretReader``."""
        if self._reader is None:
            try:
                folder = ModelRegistry(self._config.models_dir).resolve_embedder(BUILT_IN_ENCODER)
                self._reader = _load(folder, self._config.threads)
            except (ModelError, WeightsDamaged):
                return None
        return self._reader.secrets(text)


@cache
@measured("loading models")
def _load(folder: Path, threads: int) -> TrainedSecretReader:
    from agent.models.adapters.bert.secret_reader import TrainedSecretReader

    return TrainedSecretReader(folder, WEIGHTS, threads=threads)
