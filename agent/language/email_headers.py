"""E-mail headers, which are not memories.

The raw source keeps them, and ``extraction.source_spans`` reads them there to tell whose words
follow.
"""

from __future__ import annotations

import re

NAMES = (
    "from|to|cc|bcc|date|sent|subject|reply-to|message-id|von|an|datum|gesendet|betreff|de|à|objet"
    "|para|asunto|fecha|发件人|收件人|主题|日期|时间"
)
"""Names of header lines, as an alternation."""

_BLOCK = re.compile(
    rf"(?:^[ \t>*_]*(?:{NAMES})[*_]*[ \t]*[:：].*(?:\n|\Z)){{2,12}}", re.IGNORECASE | re.MULTILINE
)
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.\w")
_SUBJECT = re.compile(r"^[ \t>*_]*(?:subject|betreff|objet|asunto|主题)", re.I | re.M)
_WHO = re.compile(
    r"^[ \t>*_]*(?:from|to|von|an|de|à|para|发件人|收件人)[*_]*[ \t]*[:：][ \t]*[^\d\s]",
    re.I | re.M,
)


def without_headers(text: str) -> str:
    """The text without its e-mail headers; everything else as it was."""
    return _BLOCK.sub(lambda block: "" if _is_mail(block.group()) else block.group(), text)


def blanked(text: str) -> str:
    """The text with blanks in place of its e-mail headers: everything stays where it was."""
    return _BLOCK.sub(
        lambda block: as_blanks(block.group()) if _is_mail(block.group()) else block.group(), text
    )


def as_blanks(text: str) -> str:
    """As many blanks as the text has characters, its line ends kept."""
    return "".join("\n" if character == "\n" else " " for character in text)


def _is_mail(block: str) -> bool:
    # 'From', 'To' and 'Date' stand on tickets too: an address or a subject makes them a letter's.
    return bool(_ADDRESS.search(block) or (_SUBJECT.search(block) and _WHO.search(block)))
