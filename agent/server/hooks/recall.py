"""What a hook runs: the message of a coding agent -> the few memories that belong to it.

Invariants: nothing is stored of a prompt, neither the prompt nor a turn; of an ended session only
where its transcript lies, for a review; whatever is wrong, the agent goes on as if there were no
hook. Without a resident process a prompt gets nothing: models take too long to load.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agent.config import Config, load_config
from agent.memory.home import open_graph
from agent.results import Mark, Reply
from agent.server.hooks.ended import Ended, EndedSessions
from agent.server.hooks.folders import is_excluded, name_of, project_of
from agent.server.hooks.tools import HookEvent, tool_named
from agent.server.mcp.fence import WITHHELD, fenced, told
from agent.server.mcp.permissions import allowed, read_permissions
from agent.server.resident.client import connect
from store.database.connection import DATABASE_NAME
from store.types import Memory

MOST = 5
"""Memories for one prompt, or at one session's start, at most."""
MAX_BYTES = 2_000
"""Of all that is given: fewer than 1,000 tokens for any tokenizer in use."""
MAX_PROMPT = 1_000
"""Characters of a prompt that are searched for; what follows is mostly pasted."""
LEAST = 0.5
"""Chance that memory holds something for the prompt, below which nothing is given."""


def answer(name: str, message: str, home: str | None = None, space: str | None = None) -> str:
    """What the hook of a tool prints for a message; empty where it has nothing to say.

    :raises Exception: of any kind, for a message or a home that is not as it should be.
    """
    tool, said = tool_named(name), json.loads(message)
    event = tool.event(said["hook_event_name"])
    folder = said.get("cwd") or next(iter(said.get("workspace_roots") or ()), "")
    config = load_config({"home": home, "space": space})
    if event is None or "search" not in allowed(read_permissions(config.agents), name):
        return ""
    if is_excluded(folder, config.hook_exclude):
        return ""
    if event is HookEvent.END:
        if transcript := said.get("transcript_path"):
            EndedSessions(config.home).put(Ended(name, transcript, folder))
        return ""
    if event is HookEvent.PROMPT:
        text = _for_prompt(config, said["prompt"])
    else:  # what a resumed session was given stands in it already
        text = "" if said.get("source") == "resume" else _for_project(config, folder)
    return tool.output(event, text) if text else ""


def _for_prompt(config: Config, prompt: str) -> str:
    if prompt.lstrip().startswith("/") or len(prompt.split()) < 2:
        return ""
    client = connect(config, lambda line: None)
    if client is None:
        return ""
    return context_of(client.recall(prompt[:MAX_PROMPT], k=MOST))


def _for_project(config: Config, folder: str) -> str:
    """What was told in the project's folder, newest first, then what names the project."""
    project = project_of(folder)
    if not project or not (config.home / DATABASE_NAME).exists():
        return ""
    with open_graph(config) as graph:
        found = list(graph.memories.told_at(project, MOST))
        if name := name_of(project):
            found += graph.memories.mentioning(name, MOST)
    now = config.now()
    kept = {memory.id: memory for memory in found if memory.holds_at(now)}
    return _within((memory, None) for memory in list(kept.values())[:MOST])


def context_of(reply: Reply) -> str:
    """The memories as they stand before the model: fenced, with their ids, best first."""
    if reply.likely is not None and reply.likely < LEAST:
        return ""
    chosen = (choice.memory for choice in reply.memories)
    return _within((memory, reply.marks.get(memory.id)) for memory in chosen)


def _within(memories: Iterable[tuple[Memory, Mark | None]]) -> str:
    """As many of the memories as fit."""
    kept: list[Mapping[str, Any]] = []
    for memory, mark in memories:
        one = told(memory, mark)
        if one["text"] == WITHHELD:
            continue
        if len(fenced({"memories": [*kept, one]}).encode()) > MAX_BYTES:
            break
        kept.append(one)
    return fenced({"memories": kept}) if kept else ""
