"""Files of trained weights: read whole and checked, or refused in one line.

The zip of an npz keeps a checksum (CRC-32) of each array; a JSON file of weights keeps the SHA-256
of what it says; a file that another library reads ends its name with its SHA-256. All are compared
whenever the file is read, so a flipped or missing byte is found before anything is computed with
it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.errors import WeightsDamaged

REINSTALL = "Install memlane again (docs/install.md); your memories are not affected."
_HASH = "sha256"
_END = 22
"""Bytes of the record that ends a zip without a comment."""
_COUNT = slice(10, 12)
"""Those of them that count the members."""


def read_arrays(
    path: Path, names: Collection[str] | None = None, *, remedy: str = REINSTALL
) -> dict[str, NDArray[Any]]:
    """The arrays of an npz by name, all or only ``names``.

    :raises WeightsDamaged: if the file is missing, cut, or not what was written.
    """
    try:
        with zipfile.ZipFile(path) as held:
            _check_members(path, held)
            wanted = held.namelist() if names is None else [f"{name}.npy" for name in names]
            # Read to the end before it is parsed: only then is the checksum compared.
            return {
                name.removesuffix(".npy"): np.load(io.BytesIO(held.read(name)), allow_pickle=False)
                for name in wanted
            }
    except FileNotFoundError:
        raise WeightsDamaged(f"There are no weights at {path}. {remedy}") from None
    except Exception as error:
        # A damaged zip fails anywhere from its directory to its compression.
        raise _damaged(path, type(error).__name__, remedy) from error


def _check_members(path: Path, held: zipfile.ZipFile) -> None:
    """Compare how many members were found with the count that the zip ends with.

    A length flipped in the list of members hides those that follow, and ``zipfile`` is silent.
    """
    with path.open("rb") as file:
        file.seek(-_END, io.SEEK_END)
        count = int.from_bytes(file.read()[_COUNT], "little")
    if len(held.namelist()) != count:
        raise zipfile.BadZipFile


def check_hash(path: Path) -> str:
    """The first 12 digits of a file's SHA-256, with which its name ends.

    :raises WeightsDamaged: if the file is missing, or not what was written.
    """
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except FileNotFoundError:
        raise WeightsDamaged(f"There are no weights at {path}. {REINSTALL}") from None
    if not path.stem.endswith(found):
        raise _damaged(path, "SHA-256", REINSTALL)
    return found


def write_json(path: Path, told: Mapping[str, Any]) -> None:
    """Write weights as JSON with their SHA-256."""
    document = {**told, _HASH: _hash(told)}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Weights that ``write_json`` wrote.

    :raises WeightsDamaged: if the file is missing, cut, or not what was written.
    """
    try:
        told = json.loads(path.read_bytes())
        found = told.pop(_HASH)
    except FileNotFoundError:
        raise WeightsDamaged(f"There are no weights at {path}. {REINSTALL}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, type(error).__name__, REINSTALL) from error
    if found != _hash(told):
        raise _damaged(path, "wrong hash", REINSTALL)
    return dict(told)


def _hash(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path, why: str, remedy: str) -> WeightsDamaged:
    return WeightsDamaged(f"The weights at {path} are damaged ({why}). {remedy}")
