"""Books (EPUB): a zip of XHTML files, chapter after chapter."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from agent.errors import UnreadableSource
from agent.extraction.documents.markdown_notes import PAGE_BREAK
from agent.io.sources.documents.markup import markdown_of, tree_of
from agent.io.sources.documents.plain import BROKEN, damaged, unpacked, useful_title, with_fields

_TEXT = ("application/xhtml+xml", "text/html")


def read_book(path: Path, data: bytes) -> str:
    """The text of a book as Markdown, a page break between two of its parts.

    :raises UnreadableSource: if it is damaged, protected, or holds no text.
    """
    from lxml.etree import LxmlError

    try:
        with unpacked(path, data) as packed:
            place = _package(packed)
            package = _xml(packed, place)
            parts = list(_parts(package, place))
            if _locked(packed) & set(parts):
                raise UnreadableSource(
                    f"{path} has copy protection (DRM), so its text cannot be read."
                )
            texts = [text for part in parts if (text := _text(packed, part))]
            title, author = (_field(package, name) for name in ("title", "creator"))
    except (LxmlError, *BROKEN) as error:
        raise damaged(path) from error
    if not texts:
        raise UnreadableSource(f"{path} has no text.")
    body = f"\n{PAGE_BREAK}".join(texts)
    return with_fields(body, title=useful_title(title), author=author)


def _xml(packed: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(packed.read(name), parser)


def _named(tree: Any, name: str) -> Iterator[Any]:
    """The elements of a name, in whatever namespace."""
    yield from tree.iter(f"{{*}}{name}")


def _package(packed: zipfile.ZipFile) -> str:
    """Where the list of the parts is."""
    roots = _named(_xml(packed, "META-INF/container.xml"), "rootfile")
    return next((str(root.get("full-path")) for root in roots), "")


def _parts(package: Any, place: str) -> Iterator[str]:
    """The names of the parts that are read, in reading order."""
    items = {item.get("id"): item for item in _named(package, "item")}
    for entry in _named(package, "itemref"):
        item = items.get(entry.get("idref"))
        if item is None or item.get("media-type") not in _TEXT or entry.get("linear") == "no":
            continue
        if "nav" not in (item.get("properties") or "").split():
            yield _resolved(place, item.get("href") or "")


def _resolved(place: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(address)))


def _locked(packed: zipfile.ZipFile) -> set[str]:
    """The parts that are encrypted; fonts often are, which costs no text."""
    name = "META-INF/encryption.xml"
    if name not in packed.namelist():
        return set()
    places = _named(_xml(packed, name), "CipherReference")
    return {posixpath.normpath(unquote(place.get("URI") or "")) for place in places}


def _text(packed: zipfile.ZipFile, part: str) -> str:
    tree = tree_of(packed.read(part))
    # The title of the book stands above its chapters.
    return "" if tree is None else markdown_of(tree, demoted=1)


def _field(package: Any, name: str) -> str | None:
    found = next(_named(package, name), None)
    return None if found is None else "".join(found.itertext())
