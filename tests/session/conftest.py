"""What several tests of spaces begin with."""

from __future__ import annotations

import pytest

from store.spaces import MAIN
from tests.support.spaces import OWN, Memlane


@pytest.fixture
def three(memlane: Memlane) -> Memlane:
    """A home with the spaces main, work and club, each with a memory of its own."""
    for name, text in OWN.items():
        if name != MAIN:
            assert memlane("spaces", "add", name).code == 0
        assert memlane("--space", name, "remember", text).code == 0
    return memlane
