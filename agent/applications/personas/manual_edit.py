"""Manual corrections of persona lines, kept over refreshes."""

from __future__ import annotations

from agent.language.validation import checked_message
from agent.memory.home import Home
from agent.memory.remember import without_secrets
from store.journal import checked_text
from store.tables.side_tables.personas import PersonaLine


def correct(home: Home, line: str, text: str) -> PersonaLine:
    """Let a line say this from now on.

    :raises UnknownId: if there is no such line.
    :raises InvalidInput: if the text is empty or too long.
    """
    said = checked_text(without_secrets(home, checked_message(text)))
    now, embedder = home.config.now(), home.embedder
    vector = embedder.encode([said])[0]
    table = home.graph.personas
    table.correct(line, said, at=now, model=embedder.identity, vector=vector)
    return table.get(line, now)
