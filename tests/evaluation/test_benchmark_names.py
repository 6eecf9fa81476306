"""Benchmarks lie in folders and run by their name alone."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from benchmarks.shared.common import ROOT, file_of

PATHS = [path for path in (ROOT / "benchmarks").rglob("*.py") if path.stem != "__init__"]


def test_no_two_benchmarks_have_one_name():
    assert not [name for name, n in Counter(path.stem for path in PATHS).items() if n > 1]


def test_each_is_found_by_its_name():
    found = {path: find_spec(f"benchmarks.{path.stem}") for path in PATHS}
    assert all(spec and spec.origin and Path(spec.origin) == p for p, spec in found.items())
    assert file_of("gate") == ROOT / "benchmarks" / "quality" / "gate.py"
