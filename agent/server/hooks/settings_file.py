"""The hook in the settings of a tool (docs/agents.md). Pure, but for ``write``.

Every other character of the file stays; a file that cannot be kept so is not touched. Only Claude
Code has such hooks here: https://docs.claude.com/en/docs/claude-code/hooks.
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
from store.errors import InvalidInput

TOOLS = ("claude-code",)
EVENT = "UserPromptSubmit"
"""The event of each prompt; what the hook prints is added to the prompt."""
TIMEOUT_S = 5
"""Seconds after which the tool goes on without the hook."""

Json = dict[str, Any]


def settings_path(environment: Mapping[str, str]) -> Path:
    """The user's settings of Claude Code, for all projects."""
    folder = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home() / ".claude") / "settings.json"


def with_hook(text: str, command: str, path: Path) -> str:
    """The settings with a hook that runs ``command`` at each prompt, in place of an older one.

    :raises InvalidInput: if the file is none that can be changed safely.
    """
    text = without_hook(text, path)
    text = text if text.strip() else "{}\n"
    indent, root = indent_of(text), text.index("{")
    entry: Json = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    group = {"hooks": [entry]}
    hooks = member(text, root, "hooks")
    if hooks is None:
        return appended(text, root, _dumped("hooks", {EVENT: [group]}, indent), indent, 1)
    event = member(text, hooks.value, EVENT)
    if event is None:
        return appended(text, hooks.value, _dumped(EVENT, [group], indent), indent, 2)
    return appended(text, event.value, json.dumps(group, indent=indent), indent, 3)


def without_hook(text: str, path: Path) -> str:
    """The settings without memlane's hook; as they stand where it is not in them.

    :raises InvalidInput: as ``with_hook``.
    """
    settings = _read(text, path)
    groups = settings.get("hooks", {}).get(EVENT, [])
    # From the end, so that what is before keeps its number.
    for number, group in reversed(list(enumerate(groups))):
        for place, hook in reversed(list(enumerate(group["hooks"]))):
            if _is_ours(hook):
                text = _without(text, number, place)
    return text


def _without(text: str, number: int, place: int) -> str:
    """The settings without one hook, and without what is empty then."""
    root = text.index("{")
    hooks = member(text, root, "hooks")
    event = member(text, hooks.value, EVENT) if hooks else None
    assert hooks is not None and event is not None
    groups = items(text, event.value)
    inner = member(text, groups[number].value, "hooks")
    assert inner is not None
    if len(items(text, inner.value)) > 1:
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


def _is_ours(hook: Mapping[str, Any]) -> bool:
    command = hook.get("command")
    return isinstance(command, str) and command.endswith(f" hook run {TOOLS[0]}")


def _read(text: str, path: Path) -> Json:
    try:
        found = json.loads(text, object_pairs_hook=_once) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not JSON that can be changed safely ({error}). Nothing was changed."
        ) from error
    if not isinstance(found, dict) or not _has_known_shape(found.get("hooks", {})):
        raise InvalidInput(
            f"{path} has other contents than Claude Code's settings. Nothing was changed."
        )
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _has_known_shape(hooks: object) -> bool:
    groups = hooks.get(EVENT, []) if isinstance(hooks, dict) else None
    return isinstance(groups, list) and all(
        isinstance(group, dict)
        and isinstance(group.get("hooks"), list)
        and all(isinstance(hook, dict) for hook in group["hooks"])
        for group in groups
    )
