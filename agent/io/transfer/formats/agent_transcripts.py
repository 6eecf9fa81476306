"""Transcripts of coding agents: what the person typed, and nothing else.

A transcript also holds what the agent wrote, what tools gave, what other agents were told and what
hooks added, all of it in the name of the user. After the files and the code of Claude Code, Codex
and Gemini CLI, November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.errors import UnreadableSource
from agent.io.transfer.formats.chat_exports import OwnTurn, moment_of
from agent.io.transfer.read import TRANSCRIPTS, detect_format, numbered_lines, unreadable
from agent.io.transfer.records import Rejected

_NOT_TYPED = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
"""Marks of Claude Code on a message that the person did not type."""
_BESIDE = ("<hook_context>", "<system-reminder>")
"""Where what a tool adds behind the person's words begins."""
_REQUEST = "## My request for Codex:\n"
"""What stands between the files that an editor adds and the person's words."""

Json = dict[str, Any]
Records = Iterator[tuple[int, Json]]


def read_transcripts(path: Path, form: str, fallback: datetime) -> Iterator[OwnTurn | Rejected]:
    """The person's turns in a transcript, or in all of a folder, each with the project's folder.

    ``fallback`` is their time where the transcript gives none.

    :raises UnreadableSource: if a file cannot be opened.
    """
    files = [path]
    if path.is_dir():  # what else lies in the folder may be of another tool
        files = [file for file in sorted(path.rglob(TRANSCRIPTS[form])) if _is(file, form)]
    read = {"claude-code": _claude_code, "codex": _codex, "gemini-cli": _gemini}[form]
    for file in files:
        rejected: list[Rejected] = []
        try:
            yield from list(read(_records(file, rejected), fallback))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            rejected.append(Rejected(1, f"{file.name} cannot be read ({error!r:.80})", ""))
        yield from rejected


def _is(file: Path, form: str) -> bool:
    try:
        return detect_format(file) == form
    except UnreadableSource:
        return False


def _records(file: Path, rejected: list[Rejected]) -> Records:
    """The JSON objects of a file with the numbers of their lines."""
    if file.suffix == ".json":  # one document, of an older Gemini CLI
        try:
            yield 1, json.loads(file.read_bytes())
        except OSError as error:
            raise unreadable(file, error) from error
        return
    for number, line in numbered_lines(file):
        if isinstance(line, Rejected):
            rejected.append(line)
            continue
        try:
            record = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "replace")
            rejected.append(Rejected(number, f"{file.name}: not JSON", text))
            continue
        if isinstance(record, dict):
            yield number, record


def _claude_code(records: Records, fallback: datetime) -> Iterator[OwnTurn]:
    for number, record in records:
        if record.get("type") != "user" or any(record.get(mark) for mark in _NOT_TYPED):
            continue
        origin = record.get("origin")
        if isinstance(origin, dict) and origin.get("kind") != "human":
            continue
        if text := _typed(record["message"]["content"]):
            name = f"claude-code:{record.get('sessionId', '')}/{record.get('uuid') or number}"
            said = moment_of(record.get("timestamp")) or fallback
            yield OwnTurn(name, said, text, record.get("cwd"))


def _codex(records: Records, fallback: datetime) -> Iterator[OwnTurn]:
    head: Json = {}
    typed: list[tuple[int, object, object]] = []
    sent: list[tuple[int, object, object]] = []
    for number, record in records:
        kind, payload = record.get("type"), record.get("payload") or {}
        if kind == "session_meta":
            head = head or payload
            if isinstance(head.get("source"), dict) or head.get("thread_source") == "subagent":
                return  # its "user" is another agent
        elif kind == "event_msg" and payload.get("type") == "user_message":
            typed.append((number, record.get("timestamp"), payload.get("message")))
        elif kind == "response_item" and payload.get("role") == "user":
            sent.append((number, record.get("timestamp"), payload.get("content")))
    # Where what was typed is not told, what was sent to the model is all there is.
    for number, time, content in typed or sent:
        if text := _typed(content):
            name = f"codex:{head.get('id', '')}/{number}"
            yield OwnTurn(name, moment_of(time) or fallback, text, head.get("cwd"))


def _gemini(records: Records, fallback: datetime) -> Iterator[OwnTurn]:
    head: Json = {}
    messages: dict[str, Json] = {}
    for number, record in records:
        if "$rewindTo" in record:  # the person took back that message and what came after it
            names, back = list(messages), record["$rewindTo"]
            for name in names[names.index(back) :] if back in messages else names:
                del messages[name]
            continue
        change = record.get("$set", record)
        if "sessionId" in change:
            head |= {key: change[key] for key in ("sessionId", "kind") if key in change}
        for message in change.get("messages") or ([record] if "type" in record else []):
            # Of what others said only the place is kept.
            mine = message.get("type") == "user"
            messages[str(message.get("id") or number)] = message if mine else {}
    for name, message in messages.items():
        if head.get("kind") == "subagent":
            return
        if text := _typed(message.get("displayContent") or message.get("content")):
            said = moment_of(message.get("timestamp")) or fallback
            yield OwnTurn(f"gemini-cli:{head.get('sessionId', '')}/{name}", said, text)


def _typed(content: object) -> str:
    """What the person typed in a message; empty for what a tool gave, a command and the like."""
    parts = [content] if isinstance(content, str | dict) else content
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else []:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(part, dict) and part.get("type") == "tool_result":
            return ""
        if isinstance(text, str):
            texts.append(_without_added(text))
    return "\n".join(text for text in texts if text)


def _without_added(text: str) -> str:
    text = text.rpartition(_REQUEST)[2]
    for mark in _BESIDE:
        text = text.partition(mark)[0]
    text = text.strip()
    # Tools write what is not the person's in tags, in brackets or below this heading.
    added = ("/", "[Request interrupted", "# AGENTS.md instructions")
    if text.startswith(added) or (text[:1] == "<" and text[1:2].isalpha() and ">" in text):
        return ""
    return text
