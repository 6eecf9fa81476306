"""A headless Chromium for tests of the page, where this machine has one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZE = {"width": 1280, "height": 800}
# As root, as in a container, Chromium only starts without its own sandbox.
ALONE = ["--no-sandbox"] if os.getuid() == 0 else []


def chromium() -> str:
    """The machine's own Chromium; skips without one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: apt install chromium, or your platform's way")
    return found


@contextmanager
def browsing(scheme: str = "light", size: dict[str, int] = SIZE) -> Iterator[Page]:
    """A new window of a headless Chromium that asks nobody but this machine; skips without one."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright drives the page: pip install playwright"
    )
    found = chromium()
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found, args=ALONE)
        try:
            yield browser.new_context(viewport=size, color_scheme=scheme).new_page()
        finally:
            browser.close()
