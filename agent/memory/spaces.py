"""Spaces made and removed (``store.spaces``, docs/spaces.md)."""

from __future__ import annotations

from pathlib import Path

from store.connection import ensure_home
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.spaces import FOLDER, MAIN, Space, forget_rules, home_of


def add_space(root: Path, name: str) -> Space:
    """Make an empty space. :raises InvalidInput: if it is there already, or cannot be called so."""
    home = home_of(root, name)
    if name == MAIN or home.is_dir():
        raise InvalidInput(f"The space {name} is there already.")
    ensure_home(root)
    ensure_home(root / FOLDER)
    forget_rules(root, name)  # of one that was called the same
    MemoryGraph.open(home).close()
    return Space(name, home)
