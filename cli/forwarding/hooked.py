"""The hook of a coding agent, without the parser of commands, as an agent waits for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def hooked(arguments: Sequence[str]) -> int | None:
    """Answer ``[--home DIR] hook run TOOL``; None for every other line.

    It never fails: with exit code 2 the agent would withhold the person's prompt.
    """
    words = list(arguments)
    home = None
    if words[:1] == ["--home"] and len(words) == 5:
        home, words = words[1], words[2:]
    if words[:2] != ["hook", "run"] or len(words) != 3 or words[2].startswith("-"):
        return None
    try:
        from agent.server.hooks.recall import answer

        message = sys.stdin.buffer.read().decode("utf-8", "replace")
        if text := answer(words[2], message, home):
            print(text, flush=True)
    except (Exception, KeyboardInterrupt):
        # Whatever is wrong here, the person's own tool goes on as if there were no hook.
        return 0
    return 0
