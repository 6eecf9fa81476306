"""Saved mail (.eml, mbox): each message with the head that tells who wrote it to whom, and when.

Attachments are left out. The words that a reply quotes stay in the text; whether they are read is
decided by ``agent.extraction.documents.sections``.
"""

from __future__ import annotations

import mailbox
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

from agent.errors import UnreadableSource
from agent.extraction.documents.markdown_notes import PAGE_BREAK
from agent.io.sources.documents.plain import clean, one_line


def read_mail(path: Path, data: bytes) -> str:
    """The messages of a file, a page break between two.

    :raises UnreadableSource: if there is no message in it.
    """
    raw = _messages(path) if path.suffix.lower() == ".mbox" else iter([data])
    texts = [text for one in raw if (text := _text(one))]
    if not texts:
        raise UnreadableSource(f"{path} has no mail in it. Save the message again as .eml.")
    return f"\n{PAGE_BREAK}".join(texts)


def _messages(path: Path) -> Iterator[bytes]:
    try:
        box = mailbox.mbox(path, create=False)
        try:
            for key in box.iterkeys():
                yield box.get_bytes(key)
        finally:
            box.close()
    except (OSError, mailbox.Error) as error:
        raise UnreadableSource(f"{path} vanished while it was read.") from error


def _text(raw: bytes) -> str:
    """Head and words of a message; empty where it is none."""
    message = message_from_bytes(raw, policy=policy.default)
    if not isinstance(message, EmailMessage) or not _header(message, "From"):
        return ""
    head = [
        f"From: {_people(message, 'From')}",
        f"To: {', '.join(filter(None, [_people(message, 'To'), _people(message, 'Cc')]))}",
        f"Date: {_date(message)}",
        f"Subject: {_header(message, 'Subject')}",
    ]
    # Only such lines as say something: a mail to nobody is a draft.
    lines = [line for line in head if line.partition(": ")[2]]
    return "\n".join([*lines, "", clean(_body(message)).strip()]).rstrip()


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name, "")))
    except (ValueError, IndexError, AttributeError, TypeError):
        # The parser of headers raises these for some that nobody should have sent.
        return ""


def _people(message: EmailMessage, name: str) -> str:
    try:
        found: tuple[Address, ...] = getattr(message.get(name), "addresses", ())
        people = [f"{one.display_name} <{one.addr_spec}>".strip() for one in found]
        return one_line(", ".join(people))
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return f"{parsedate_to_datetime(_header(message, 'Date')):%Y-%m-%d %H:%M}"
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, ValueError, AssertionError):
        payload = part.get_payload(decode=True)
        text = payload.decode("latin-1") if isinstance(payload, bytes) else ""
    if part.get_content_subtype() != "html" or not text.strip():
        return text
    from agent.io.sources.documents.markup import markdown_of, tree_of

    tree = tree_of(text.encode("utf-8", "replace"))
    return "" if tree is None else markdown_of(tree, demoted=1)
