"""Saved web pages."""

from __future__ import annotations

from pathlib import Path

from agent.errors import UnreadableSource
from agent.io.sources.documents.markup import markdown_of, title_of, tree_of
from agent.io.sources.documents.plain import useful_title, with_fields


def read_web_page(path: Path, data: bytes) -> str:
    """The text of a page as Markdown.

    :raises UnreadableSource: if it shows no text.
    """
    tree = tree_of(data)
    body = "" if tree is None else markdown_of(tree)
    if not body:
        raise UnreadableSource(f"{path} shows no text that could be read.")
    return with_fields(body, title=useful_title(title_of(tree)))
