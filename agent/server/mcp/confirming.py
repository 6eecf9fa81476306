"""User consent before another program changes memories.

A client that can show a question to the person is made to (elicitation). For one that cannot, a
one-time code is kept here that only ``memlane mcp --codes`` shows: the program has to get it from
the person, it is never in an answer to the program.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from agent.errors import NotAllowed
from agent.server.mcp.fence import shown
from store.graph import MemoryGraph
from store.tables.side_tables.programs.mcp_confirmations import Confirmation
from store.types import Memory

LASTS = timedelta(minutes=10)


def question(client: str, action: str, memory: Memory, text: str = "") -> str:
    """What the person is asked; the same each time for the same change."""
    old = shown(memory.text)
    if action == "forget":
        return f"{client} asks memlane to leave out of every answer: {old!r} ({memory.id})."
    return f"{client} asks memlane to put {shown(text)!r} in the place of {old!r} ({memory.id})."


def ensure_confirmed(
    graph: MemoryGraph,
    now: datetime,
    *,
    client: str,
    action: str,
    memory: Memory,
    text: str = "",
    code: str | None,
) -> None:
    """Return if ``code`` is the person's for just this change; else ask for one.

    :raises NotAllowed: if it is not; the message tells the program how the person gets it.
    """
    said = "\x00".join((action, memory.id, memory.text, text))
    digest = hashlib.sha256(said.encode()).hexdigest()
    if code is not None:
        if graph.confirmations.take(code.strip(), client, digest, now):
            return
        raise NotAllowed(
            "That is not the code for this change, or it is too old; nothing was changed. "
            "Call again without a code for a new one."
        )
    fresh = f"{secrets.randbelow(10**6):06}"
    asked = Confirmation(fresh, client, action, memory.id, text, now + LASTS)
    graph.confirmations.put(asked, digest, now)
    raise NotAllowed(
        "Nothing is changed yet: the person has to allow it. Ask them to run 'memlane mcp --codes' "
        "and to tell you the code for this change; then call again with the same arguments and "
        f"code=CODE. It holds for {LASTS.seconds // 60} minutes."
    )
