"""The coding agents that have hooks: where their settings lie, and what they call the events.

After their documentation and code of November 2026: https://code.claude.com/docs/en/hooks,
https://developers.openai.com/codex/hooks, https://geminicli.com/docs/hooks/reference,
https://cursor.com/docs/agent/hooks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from store.errors import InvalidInput


class HookEvent(StrEnum):
    """When a hook runs."""

    PROMPT = "prompt"
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class Tool:
    """One coding agent."""

    name: str
    title: str
    folder: str
    """Where its settings lie, below the user's home."""
    file: str
    variable: str
    """The environment variable that names another folder; ``below`` is added to it."""
    events: Mapping[HookEvent, str]
    timeout: int
    """Of a hook, as the settings say it: seconds, or for Gemini CLI milliseconds."""
    below: str = ""
    grouped: bool = True
    """Whether the hooks of an event stand in groups, each with a matcher."""
    empty: str = "{}\n"
    """Settings without anything in them."""

    def settings(self, environment: Mapping[str, str]) -> Path:
        """The user's settings, for all projects."""
        given = environment.get(self.variable)
        return (Path(given) / self.below if given else Path.home() / self.folder) / self.file

    def event(self, name: str) -> HookEvent | None:
        """Which event the tool calls so; None for another one."""
        return next((event for event, called in self.events.items() if called == name), None)

    def output(self, event: HookEvent, text: str) -> str:
        """What the hook prints to add a text to what the model reads."""
        if not self.grouped:
            return json.dumps({"additional_context": text})
        output = {"hookEventName": self.events[event], "additionalContext": text}
        return json.dumps({"hookSpecificOutput": output})


_LIKE_CLAUDE = {
    HookEvent.START: "SessionStart",
    HookEvent.PROMPT: "UserPromptSubmit",
    HookEvent.END: "SessionEnd",
}
TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "claude-code", "Claude Code", ".claude", "settings.json", "CLAUDE_CONFIG_DIR",
            _LIKE_CLAUDE, 5,
        ),
        Tool("codex", "Codex", ".codex", "hooks.json", "CODEX_HOME", _LIKE_CLAUDE, 5),
        Tool(
            "gemini-cli", "Gemini CLI", ".gemini", "settings.json", "GEMINI_CLI_HOME",
            {**_LIKE_CLAUDE, HookEvent.PROMPT: "BeforeAgent"}, 5000, below=".gemini",
        ),
        # Its hook at a prompt can only stop the prompt, and its transcripts have no times.
        Tool(
            "cursor", "Cursor", ".cursor", "hooks.json", "", {HookEvent.START: "sessionStart"}, 5,
            grouped=False, empty='{\n  "version": 1\n}\n',
        ),
    )
}  # fmt: skip


def tool_named(name: str) -> Tool:
    """:raises InvalidInput: if memlane knows no hooks of such a tool."""
    if name not in TOOLS:
        raise InvalidInput(f"The tool is one of {', '.join(TOOLS)}, not {name!r:.40}.")
    return TOOLS[name]
