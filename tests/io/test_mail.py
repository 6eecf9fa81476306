"""Mail and mailboxes: whose words they are, and what they quote."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.extraction.documents.sections import read_mail_lines
from agent.session.session import Session
from store.types import Status, Triple
from tests.conftest import NOW
from tests.support.documents import mail, mbox
from tests.support.documents_read import taken, text_of

REPLY = """The train leaves at 9:15. I moved to Lyon in May 2023.

On Thu, 29 Feb 2024 Omar wrote:
> I live in Madrid.

-- 
Mia Berg, Rue de Lyon 4
"""


def test_mail_is_told_by_its_sender_and_without_what_it_quotes(session: Session, tmp_path: Path):
    found = taken(session, tmp_path / "m.eml", mail(REPLY, subject="Re: Trip to Rome"))
    first, second = found
    assert first.startswith("Mia Berg wrote about Trip to Rome: The train leaves")
    assert second == "Mia Berg wrote about Trip to Rome: I moved to Lyon in May 2023."
    assert {where for where, _ in found.values()} == {"message 1 (Mia Berg, 2024-03-01)"}
    _, memory = found[second]
    assert memory.triples == (Triple("Mia Berg", "lives_in", "Lyon"),)
    assert memory.created.date().isoformat() == "2024-03-01"


def test_own_mail_is_told_as_own(session: Session, tmp_path: Path):
    session.remember("My email address is mia@example.org.")
    found = taken(session, tmp_path / "m.eml", mail("The key is in the shed."))
    assert list(found) == ["I wrote to Omar Said about Trip to Rome: The key is in the shed."]


def test_a_forwarded_mail_says_that_it_is_one(tmp_path: Path):
    text = (
        "See below.\n\n---------- Forwarded message ---------\nFrom: Otto <otto@x.org>\n"
        "Subject: keys\nTo: Mia <mia@example.org>\n\n"
        "The spare key is in the shed. I live in Graz.\n"
    )
    raw = text_of(tmp_path / "m.eml", mail(text, subject="Fwd: keys"))
    lines = read_mail_lines(raw, NOW)
    assert [line.text for line in lines][-2:] == [
        "Mia Berg passed on a message about keys: The spare key is in the shed.",
        "Mia Berg passed on a message about keys: I live in Graz.",
    ]
    assert lines[-1].context.speaker == lines[-1].context.title == ""


def test_an_mbox_gives_each_message_and_takes_in_what_is_new(session: Session, tmp_path: Path):
    page = "<table><tr><td><h2>Order 4711</h2><p>The kettle comes on 5 March 2024.</p></td></tr>"
    shop = mail(page, "shop@example.org", "Your order", html=True)
    one = mail("The key is in the shed.")
    first = taken(session, tmp_path / "in.mbox", mbox(one))
    both = taken(session, tmp_path / "in.mbox", mbox(one, shop))
    texts = {m.text for m in session.graph.memories.list(Status.CURRENT)}
    order = "shop@example.org wrote about Your order, Order 4711: The kettle comes on 5 March 2024."
    assert texts == {*first, order}
    assert both[order][0] == "message 2 (shop@example.org, 2024-03-01)"


@pytest.mark.parametrize("charset", ["x-nothing", "utf-16", ""])
def test_mail_in_an_unknown_charset_is_read_as_far_as_it_is_text(tmp_path: Path, charset: str):
    raw = mail("The key is in the shed.").replace(b'"utf-8"', f'"{charset}"'.encode())
    assert "Subject: Trip to Rome" in text_of(tmp_path / "m.eml", raw)
