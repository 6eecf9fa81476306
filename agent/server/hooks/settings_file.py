"""The hooks in the settings of a tool (docs/agents.md). Pure, but for ``write``.

Every other character of the file stays; a file that cannot be kept so is not touched.
"""

from __future__ import annotations

import difflib
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.server.hooks.json_edit import appended, indent_of, items, member, removed
from agent.server.hooks.tools import Tool
from store.errors import InvalidInput

Json = dict[str, Any]


def with_hook(text: str, command: str, tool: Tool, path: Path) -> str:
    """The settings with a hook that runs ``command`` at each event, in place of an older one.

    :raises InvalidInput: if the file is none that can be changed safely.
    """
    text = without_hook(text, tool, path)
    text = text if text.strip() else tool.empty
    indent = indent_of(text)
    entry: Json = {"type": "command", "command": command, "timeout": tool.timeout}
    item: Json = {"hooks": [entry]} if tool.grouped else entry
    for name in tool.events.values():
        root = text.index("{")
        hooks = member(text, root, "hooks")
        event = hooks and member(text, hooks.value, name)
        if hooks is None:
            text = appended(text, root, _dumped("hooks", {name: [item]}, indent), indent, 1)
        elif event is None:
            text = appended(text, hooks.value, _dumped(name, [item], indent), indent, 2)
        else:
            text = appended(text, event.value, json.dumps(item, indent=indent), indent, 3)
    return text


def without_hook(text: str, tool: Tool, path: Path) -> str:
    """The settings without memlane's hooks; as they stand where there are none.

    :raises InvalidInput: as ``with_hook``.
    """
    hooks = _read(text, tool, path).get("hooks", {})
    # From the end, so that what is before keeps its number.
    for name in reversed(list(tool.events.values())):
        for number, item in reversed(list(enumerate(hooks.get(name, [])))):
            for place, hook in reversed(list(enumerate(item["hooks"] if tool.grouped else [item]))):
                if _is_ours(hook, tool):
                    text = _without(text, name, number, place if tool.grouped else None)
    return text


def _without(text: str, name: str, number: int, place: int | None) -> str:
    """The settings without one hook of an event, and without what is empty then.

    ``place`` is where it stands in its group; None where there are no groups.
    """
    root = text.index("{")
    hooks = member(text, root, "hooks")
    event = member(text, hooks.value, name) if hooks else None
    assert hooks is not None and event is not None
    groups = items(text, event.value)
    inner = None if place is None else member(text, groups[number].value, "hooks")
    if inner is not None and place is not None and len(items(text, inner.value)) > 1:
        return removed(text, inner.value, place)
    if len(groups) > 1:
        return removed(text, event.value, number)
    events = items(text, hooks.value)
    if len(events) > 1:
        return removed(text, hooks.value, events.index(event))
    return removed(text, root, items(text, root).index(hooks))


def _dumped(key: str, value: object, indent: str) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, indent=indent)}"


def difference(before: str, after: str, path: Path) -> str:
    """What changes, as a diff; empty where nothing does."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(path), str(path), lineterm=""
    )
    return "\n".join(lines)


def read(path: Path) -> str:
    """The text of the settings; empty where there is no such file.

    :raises InvalidInput: if it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read {path}: {error}. Nothing was changed.") from error


def write(path: Path, text: str) -> None:
    """Put a text in the place of a file, whole or not at all; a link stays one.

    :raises InvalidInput: if it cannot be written.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".memlane-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as opened:
                opened.write(text)
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InvalidInput(f"Cannot write {path}: {error}. Nothing was changed.") from error


def _is_ours(hook: Mapping[str, Any], tool: Tool) -> bool:
    command = hook.get("command")
    return isinstance(command, str) and command.endswith(f" hook run {tool.name}")


def _read(text: str, tool: Tool, path: Path) -> Json:
    try:
        found = json.loads(text, object_pairs_hook=_once) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not JSON that can be changed safely ({error}). Nothing was changed."
        ) from error
    if not isinstance(found, dict) or not _has_known_shape(found.get("hooks", {}), tool):
        raise InvalidInput(
            f"{path} has other contents than settings of {tool.title}. Nothing was changed."
        )
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _has_known_shape(hooks: object, tool: Tool) -> bool:
    if not isinstance(hooks, dict):
        return False
    of_events = [hooks.get(name, []) for name in tool.events.values()]
    if not all(isinstance(found, list) for found in of_events):
        return False
    found = [item for event in of_events for item in event]
    if tool.grouped:
        if not all(isinstance(g, dict) and isinstance(g.get("hooks"), list) for g in found):
            return False
        found = [hook for group in found for hook in group["hooks"]]
    return all(isinstance(hook, dict) for hook in found)
