"""Messages and transcripts of coding agents, in the shapes that they document or write.

After https://code.claude.com/docs/en/hooks, the schemas of codex-rs/hooks and the rollouts of Codex
0.145, https://geminicli.com/docs/hooks/reference with chatRecordingTypes.ts, and
https://cursor.com/docs/agent/hooks. All words are ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOLD = "I prefer pytest over unittest."
KEY = "sk-ant-api03-Zk2Jq8vWmB4xR7tYpL0sNdFhGcVa1eUi"
PROMPTS = (
    "Fix the failing test in the parser.",
    TOLD,
    f"My key is {KEY}, put it into the client.",
)
OTHERS = "My favourite colour is orange, says the agent."
"""What is in a transcript and was not typed by the person."""

_CLAUDE = {
    "session_id": "5b1c9a7e-3a51-4d0e-9b43-0c1f7b1b9f10",
    "transcript_path": "/home/omar/.claude/projects/-home-omar-app/5b1c9a7e.jsonl",
    "cwd": "/home/omar/app",
    "permission_mode": "default",
}
_CODEX = {
    "session_id": "019d036d-c7fa-72d2-b6fd-78878bfe34e4",
    "transcript_path": "/home/omar/.codex/sessions/2026/11/24/rollout-019d.jsonl",
    "cwd": "/home/omar/app",
}
_GEMINI = {
    "session_id": "c1a5f6d2-90f8-4c6e-8a53-6a9d0d6c7f11",
    "transcript_path": "/home/omar/.gemini/tmp/app/chats/session-2026-11-24T10-00-c1a5f6d2.jsonl",
    "cwd": "/home/omar/app",
    "timestamp": "2026-11-24T10:00:00.000Z",
}
_TURN = {"turn_id": "019d036e-3164", "model": "gpt-5.5", "permission_mode": "default"}
MESSAGES: dict[str, dict[str, dict[str, Any]]] = {
    "claude-code": {
        "prompt": {**_CLAUDE, "hook_event_name": "UserPromptSubmit"},
        "start": {**_CLAUDE, "hook_event_name": "SessionStart", "source": "startup"},
        "end": {**_CLAUDE, "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
    },
    "codex": {
        "prompt": {**_CODEX, **_TURN, "hook_event_name": "UserPromptSubmit"},
        "start": {
            **_CODEX, "model": "gpt-5.5", "permission_mode": "default",
            "hook_event_name": "SessionStart", "source": "startup",
        },
        "end": {**_CODEX, "hook_event_name": "SessionEnd", "reason": "other"},
    },
    "gemini-cli": {
        "prompt": {**_GEMINI, "hook_event_name": "BeforeAgent"},
        "start": {**_GEMINI, "hook_event_name": "SessionStart", "source": "startup"},
        "end": {**_GEMINI, "hook_event_name": "SessionEnd", "reason": "exit"},
    },
    "cursor": {
        "start": {
            "conversation_id": "0f9d", "generation_id": "77aa", "model": "composer-2",
            "hook_event_name": "sessionStart", "cursor_version": "3.17.8",
            "workspace_roots": ["/home/omar/app"], "user_email": None, "transcript_path": None,
            "session_id": "0f9d", "is_background_agent": False, "composer_mode": "agent",
        },
    },
}  # fmt: skip
"""What each tool sends at each event; a prompt is added by the test."""


def claude_code(folder: str) -> str:
    """A transcript of Claude Code: a JSON object a line."""
    base = {
        "isSidechain": False, "userType": "external", "cwd": folder, "version": "2.1.220",
        "sessionId": "5b1c9a7e", "gitBranch": "main",
    }  # fmt: skip

    def line(number: int, text: object, kind: str = "user", **more: object) -> dict[str, object]:
        return {
            "parentUuid": None, **base, "type": kind, "message": {"role": kind, "content": text},
            "uuid": f"u{number}", "timestamp": f"2026-11-24T10:0{number}:00.000Z", **more,
        }  # fmt: skip

    result = [{"tool_use_id": "toolu_1", "type": "tool_result", "content": OTHERS}]
    editor = {"type": "text", "text": f"<ide_opened_file>{OTHERS}</ide_opened_file>"}
    return _lines(
        {"type": "summary", "summary": OTHERS, "leafUuid": "u9"},
        line(0, f"<local-command-caveat>{OTHERS}</local-command-caveat>", isMeta=True),
        line(1, "<command-name>/clear</command-name>"),
        line(2, PROMPTS[0], origin={"kind": "human"}),
        line(3, [{"type": "text", "text": OTHERS}], "assistant"),
        line(4, result, toolUseResult={"type": "text"}),
        line(5, [editor, {"type": "text", "text": PROMPTS[1]}]),
        line(6, OTHERS, isSidechain=True),
        line(7, OTHERS, isCompactSummary=True),
        line(8, f"<task-notification>{OTHERS}</task-notification>", origin={"kind": "task"}),
        line(9, PROMPTS[2]),
        {"type": "file-history-snapshot", "messageId": "u9", "snapshot": {}},
    )


def codex(folder: str, source: object = "cli") -> str:
    """A rollout of Codex."""

    def line(number: int, kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": f"2026-11-24T10:0{number}:00.000Z", "type": kind, "payload": payload}

    def sent(text: str) -> dict[str, object]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": "user", "content": content}

    messages: list[dict[str, object]] = []
    for number, text in enumerate(PROMPTS, 2):
        messages.append(line(number, "response_item", **sent(text)))
        messages.append(line(number, "event_msg", type="user_message", message=text, images=[]))
    return _lines(
        line(0, "session_meta", id="019d036d", cwd=folder, cli_version="0.159.0", source=source),
        line(1, "response_item", **sent(f"# AGENTS.md instructions for {folder}\n\n{OTHERS}")),
        line(1, "response_item", **sent("<environment_context>x</environment_context>")),
        *messages,
        line(6, "event_msg", type="agent_message", message=OTHERS),
        line(7, "response_item", type="function_call_output", call_id="c1", output=OTHERS),
    )


def gemini_cli() -> str:
    """A session of Gemini CLI since it writes a line for each message."""

    def line(number: int, text: object, kind: str = "user", **more: object) -> dict[str, object]:
        time = f"2026-11-24T10:0{number}:00.000Z"
        return {"id": f"g{number}", "timestamp": time, "type": kind, "content": text, **more}

    added = f"<hook_context>{OTHERS}</hook_context>"
    return _lines(
        {
            "sessionId": "c1a5f6d2", "projectHash": "8f3a", "kind": "main",
            "startTime": "2026-11-24T10:00:00.000Z", "lastUpdated": "2026-11-24T10:00:00.000Z",
        },
        line(0, added),
        line(1, [{"text": f"{PROMPTS[0]}\n{added}"}]),
        line(2, [{"text": OTHERS}], "gemini", thoughts=[], model="gemini-3-pro"),
        line(3, f"{PROMPTS[1]} {OTHERS}", displayContent=PROMPTS[1]),
        line(4, OTHERS, "info"),
        line(5, OTHERS),
        {"$rewindTo": "g5"},
        line(6, PROMPTS[2]),
        {"$set": {"lastUpdated": "2026-11-24T10:07:00.000Z"}},
    )  # fmt: skip


def write(folder: Path, project: str) -> dict[str, Path]:
    """A transcript of each tool, where the tool would write it below ``folder``."""
    files = {
        "claude-code": ("projects/-home-omar-app/5b1c9a7e.jsonl", claude_code(project)),
        "codex": ("sessions/2026/11/24/rollout-2026-11-24T10-00-00-019d.jsonl", codex(project)),
        "gemini-cli": ("tmp/app/chats/session-2026-11-24T10-00-c1a5f6d2.jsonl", gemini_cli()),
    }
    paths = {}
    for tool, (name, text) in files.items():
        paths[tool] = folder / tool / name
        paths[tool].parent.mkdir(parents=True)
        paths[tool].write_text(text, encoding="utf-8")
    return paths


def _lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)
