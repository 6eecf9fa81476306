"""What the person says of a persona line: another wording, kept over every refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.messages import checked_message
from store.journal import checked_text
from store.personas import Line

if TYPE_CHECKING:
    from agent.session import Session


def correct(session: Session, line: str, text: str) -> Line:
    """Let a line say this from now on.

    :raises UnknownId: if there is no such line.
    :raises InvalidInput: if the text is empty or too long.
    """
    said = checked_text(session.without_secrets(checked_message(text)))
    now, embedder = session.config.now(), session.embedder
    vector = embedder.encode([said])[0]
    table = session.graph.personas
    table.correct(line, said, at=now, model=embedder.identity, vector=vector)
    return table.get(line, now)
