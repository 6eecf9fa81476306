"""Import of ChatGPT and Claude exports: the user's own turns.

Only what the person said is taken; an assistant's answers are no memories. Each turn is stored raw
at the time it was said, PENDING, to be extracted later by the same way as a message to memlane.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from agent.errors import UnreadableSource
from agent.io.transfer.read import conversations_file, json_array, unreadable
from agent.io.transfer.records import Rejected
from agent.io.transfer.report import Tally
from store.graph import MemoryGraph
from store.types import SourceKind, SourceStatus

CHUNK = 200
"""Turns a transaction."""


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """Something the person said to an assistant."""

    locator: str
    said: datetime
    text: str
    place: str | None = None
    """Where it was said: of a coding agent the folder of the project."""


def read_turns(path: Path, form: str, fallback: datetime) -> Iterator[OwnTurn | Rejected]:
    """The person's turns of a conversations.json, bare, in its folder, or in the zip it came in.

    ``fallback`` is their time where the export gives none.
    """
    read = _chatgpt if form == "chatgpt" else _claude
    number = 0
    try:
        with _opened(path) as file:
            for conversation in json_array(file, path):
                number += 1
                if isinstance(conversation, Rejected):
                    yield conversation
                    continue
                try:
                    yield from list(read(conversation, fallback))
                except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
                    named = conversation.get("title") or conversation.get("name") or ""
                    reason = f"conversation {named!r:.60} cannot be read ({error!r:.80})"
                    yield Rejected(number, reason, "")
    except UnreadableSource as error:
        # What came before the break is whole and stays.
        yield Rejected(number + 1, str(error), "")
    except OSError as error:
        raise unreadable(path, error) from error


def _opened(path: Path) -> IO[bytes]:
    if path.is_dir():
        path = path / "conversations.json"
    return conversations_file(path) if zipfile.is_zipfile(path) else path.open("rb")


def _chatgpt(conversation: dict[str, Any], fallback: datetime) -> Iterator[OwnTurn]:
    """A tree of messages; the branch that stands is the way from ``current_node`` to the root."""
    mapping: dict[str, Any] = conversation["mapping"]
    name = conversation.get("conversation_id") or conversation.get("id") or ""
    begun = _seconds(conversation.get("create_time")) or fallback
    for node in _standing_branch(mapping, conversation.get("current_node")):
        message = mapping[node].get("message")
        if not isinstance(message, dict):
            continue
        content = message.get("content") or {}
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        if (message.get("author") or {}).get("role") != "user" or hidden:
            continue
        if content.get("content_type") not in ("text", "multimodal_text"):
            continue
        parts = [part for part in content.get("parts") or [] if isinstance(part, str)]
        text = "\n".join(parts).strip()
        if text:
            said = _seconds(message.get("create_time")) or begun
            yield OwnTurn(f"chatgpt:{name}/{message.get('id') or node}", said, text)


def _standing_branch(mapping: dict[str, Any], current: object) -> list[str]:
    if not isinstance(current, str) or current not in mapping:
        # Without it every message counts, in the order they were said.
        def when(node: str) -> float:
            message = mapping[node].get("message") or {}
            return float(message.get("create_time") or 0)

        return sorted(mapping, key=when)
    branch: list[str] = []
    seen: set[str] = set()
    node: object = current
    while isinstance(node, str) and node in mapping and node not in seen:
        seen.add(node)  # a broken export may go in circles
        branch.append(node)
        node = mapping[node].get("parent")
    return branch[::-1]


def _seconds(value: object) -> datetime | None:
    if not isinstance(value, int | float) or not 0 < value < 32_503_680_000:
        return None
    return datetime.fromtimestamp(int(value), UTC)


def _claude(conversation: dict[str, Any], fallback: datetime) -> Iterator[OwnTurn]:
    begun = moment_of(conversation.get("created_at")) or fallback
    for number, message in enumerate(conversation["chat_messages"]):
        if message.get("sender") != "human":
            continue
        blocks = message.get("content")
        texts = [
            block["text"]
            for block in (blocks if isinstance(blocks, list) else [])
            if isinstance(block, dict) and block.get("type") == "text" and block.get("text")
        ]
        text = ("\n".join(texts) or message.get("text") or "").strip()
        if text:
            said = moment_of(message.get("created_at")) or begun
            name = f"claude:{conversation.get('uuid', '')}/{message.get('uuid') or number}"
            yield OwnTurn(name, said, text)


def moment_of(value: object) -> datetime | None:
    """A time as exports write it; None where it is none."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment.replace(microsecond=0) if moment.tzinfo else moment.replace(tzinfo=UTC)


def store_turns(
    turns: Iterator[OwnTurn | Rejected],
    graph: MemoryGraph,
    tally: Tally,
    at: datetime,
    origin: str,
    clean: Callable[[str], str],
) -> tuple[str | None, list[str]]:
    """Store the turns as PENDING sources, a chunk a transaction; what is there already stays.

    ``clean`` takes out of a text what may not be stored.

    Returns the run they belong to and the ids of those that wait for extraction.
    """
    run: str | None = None
    waiting: list[str] = []
    while chunk := _next_chunk(turns, tally):
        with graph.writing():
            for turn in chunk:
                text = clean(turn.text.encode("utf-8", "replace").decode())
                known = graph.sources.latest_from(turn.locator)
                source = graph.sources.add(
                    SourceKind.CHAT,
                    text,
                    turn.said.astimezone(at.tzinfo),
                    locator=turn.locator,
                    place=turn.place,
                )
                if known is not None and known.id == source.id:
                    tally.unchanged["turn"] += 1
                else:
                    tally.new["turn"] += 1
                    run = run or graph.runs.start(at, f"import {origin}")
                    graph.runs.add(run, source.id)
                if source.status in (SourceStatus.PENDING, SourceStatus.FAILED):
                    waiting.append(source.id)
    return run, waiting


def _next_chunk(turns: Iterator[OwnTurn | Rejected], tally: Tally) -> list[OwnTurn]:
    chunk: list[OwnTurn] = []
    for turn in turns:
        if isinstance(turn, Rejected):
            tally.reject(turn)
            continue
        chunk.append(turn)
        if len(chunk) >= CHUNK:
            break
    return chunk
