"""Each file of weights that memlane comes with, cut or flipped: the same numbers, or one line."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from policies.weight_file import check_hash, read_arrays, read_json, write_json
from store.errors import WeightsDamaged

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(p for room in ("agent", "policies") for p in ROOT.glob(f"{room}/**/data/*"))
LARGE = 2_000_000
"""Bytes from which a file is damaged at fewer places: each is read as a whole."""


def read(path: Path) -> dict[str, object]:
    if path.suffix == ".json":
        return read_json(path)
    if path.suffix == ".gguf":
        return {"sha256": check_hash(path)}
    # As bytes, so that a number that is none equals itself.
    return {name: (a.shape, a.tobytes()) for name, a in read_arrays(path).items()}


def test_all_shipped_weights_are_known_here():
    assert len(SHIPPED) >= 12
    assert {path.suffix for path in SHIPPED} == {".json", ".npz", ".gguf"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_damage_is_found_before_anything_is_computed(path: Path, tmp_path: Path):
    whole, data, rng = read(path), path.read_bytes(), random.Random(0)
    copy = tmp_path / path.name
    places = 4 if len(data) > LARGE else 60
    cuts = [data[: rng.randrange(len(data))] for _ in range(places)]
    flips = []
    for _ in range(places):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        flips.append(bytes(flipped))
    found = 0
    for damaged in (b"", *cuts, *flips):
        copy.write_bytes(damaged)
        try:
            assert read(copy) == whole
        except WeightsDamaged as error:
            found += 1
            assert str(copy) in str(error) and "\n" not in str(error)
            assert "Install memlane again" in str(error)
    # The rest of the flips change nothing that is read, as a date in the zip.
    assert found > places


def test_no_flipped_bit_leaves_arrays_out(tmp_path: Path):
    # A length flipped in the list of members once hid those after it.
    path = tmp_path / "w.npz"
    np.savez_compressed(path, first=np.arange(3), second=np.ones(2), third=np.float32(1))
    whole, data = read(path), path.read_bytes()
    found = 0
    for place in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            assert read(path) == whole, f"bit {place}"
        except WeightsDamaged:
            found += 1
    assert found > 4 * len(data)


def test_a_missing_file_is_one_line(tmp_path: Path):
    for read_file in (read_arrays, read_json, check_hash):
        with pytest.raises(WeightsDamaged, match="There are no weights at"):
            read_file(tmp_path / "none")


def test_only_what_is_asked_for_is_read(tmp_path: Path):
    np.savez(tmp_path / "some.npz", first=np.arange(3), second=np.ones(2))
    assert list(read_arrays(tmp_path / "some.npz", ("second",))) == ["second"]
    with pytest.raises(WeightsDamaged, match="KeyError"):
        read_arrays(tmp_path / "some.npz", ("third",))


def test_json_comes_back_as_it_was_written(tmp_path: Path):
    told = {"bias": -9.793, "weights": {"b": 1, "a": 0.1}}
    write_json(tmp_path / "w.json", told)
    assert read_json(tmp_path / "w.json") == told
    (tmp_path / "w.json").write_text('{"bias": 1}')
    with pytest.raises(WeightsDamaged):
        read_json(tmp_path / "w.json")
