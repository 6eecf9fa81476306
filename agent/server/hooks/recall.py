"""What a hook runs: the message of a coding agent -> the few memories that belong to its prompt.

Invariants: nothing is stored, neither the prompt nor a turn; whatever is wrong, the agent goes on
as if there were no hook. Without a resident process nothing is given: models take too long to load.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.config import load_config
from agent.results import Reply
from agent.server.hooks.settings_file import EVENT
from agent.server.mcp.fence import WITHHELD, fenced, told
from agent.server.mcp.permissions import allowed, read_permissions
from agent.server.resident.client import connect

MOST = 5
"""Memories for one prompt at most."""
MAX_BYTES = 2_000
"""Of all that is given: fewer than 1,000 tokens for any tokenizer in use."""
MAX_PROMPT = 1_000
"""Characters of a prompt that are searched for; what follows is mostly pasted."""
LEAST = 0.5
"""Chance that memory holds something for the prompt, below which nothing is given."""


def answer(tool: str, message: str, home: str | None = None) -> str:
    """What the hook prints for a message of the tool; empty where it has nothing to say.

    :raises Exception: of any kind, for a message or a home that is not as it should be.
    """
    said = json.loads(message)
    prompt, folder = said["prompt"], said.get("cwd") or ""
    if said["hook_event_name"] != EVENT or prompt.lstrip().startswith("/"):
        return ""
    config = load_config({"home": home})
    if "search" not in allowed(read_permissions(config.agents), tool):
        return ""
    if is_excluded(folder, config.hook_exclude) or len(prompt.split()) < 2:
        return ""
    client = connect(config, lambda line: None)
    if client is None:
        return ""
    found = client.ask(prompt[:MAX_PROMPT], k=MOST, use_llm=False, private=True)
    text = context_of(found)
    if not text:
        return ""
    output = {"hookEventName": EVENT, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output})


def is_excluded(folder: str, excluded: Sequence[str]) -> bool:
    """Whether a folder is one of those, or in one; links are followed."""
    here = Path(os.path.realpath(folder)) if folder else None
    return here is not None and any(
        here.is_relative_to(os.path.realpath(os.path.expanduser(one))) for one in excluded
    )


def context_of(reply: Reply) -> str:
    """The memories as they stand before the model: fenced, with their ids, best first."""
    if reply.likely is not None and reply.likely < LEAST:
        return ""
    kept: list[Mapping[str, Any]] = []
    for chosen in reply.memories:
        one = told(chosen.memory, reply.marks.get(chosen.memory.id))
        if one["text"] == WITHHELD:
            continue
        if len(fenced({"memories": [*kept, one]}).encode()) > MAX_BYTES:
            break
        kept.append(one)
    return fenced({"memories": kept}) if kept else ""
