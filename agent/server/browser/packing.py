"""The extension's folder for one browser, written from what ships with memlane."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Literal

from agent.version import __version__
from store.errors import HomeUnavailable, InvalidInput

Browser = Literal["chromium", "firefox"]
_MARK = "manifest.json"
_OWN: dict[Browser, dict[str, object]] = {
    "chromium": {
        "minimum_chrome_version": "121",
        "background": {"service_worker": "background.js", "type": "module"},
    },
    "firefox": {
        "browser_specific_settings": {
            "gecko": {
                "id": "memlane@localhost",
                "strict_min_version": "128.0",
                "data_collection_permissions": {"required": ["none"]},
            }
        },
        "background": {"scripts": ["background.js"], "type": "module"},
    },
}
"""Where the two manifests differ."""


def write_extension(target: Path, browser: Browser) -> tuple[str, ...]:
    """Write the extension into a folder of its own; the names of its files.

    :raises InvalidInput: if the folder holds anything but an earlier extension.
    :raises HomeUnavailable: if it cannot be written.
    """
    source = files("agent.server.browser") / "extension"
    contents = {path.name: path.read_bytes() for path in source.iterdir()}
    manifest = {**json.loads(contents[_MARK]), "version": __version__, **_OWN[browser]}
    contents[_MARK] = (json.dumps(manifest, indent=2) + "\n").encode()
    try:
        target.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in target.iterdir()}
        if (there and _MARK not in there) or there - contents.keys():
            raise InvalidInput(f"{target} holds other files. Name a new or empty folder.")
        for name, content in sorted(contents.items()):
            (target / name).write_bytes(content)
    except OSError as error:
        raise HomeUnavailable(f"Cannot write {target}: {error.strerror or error}.") from error
    return tuple(sorted(contents))
