"""Length and pattern constraints of a field.

A page's pattern is somebody else's program, so only one that cannot run long is tried.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent.applications.forms.fields import FormField

_MOST_REPEATS = 3
"""Unbounded repeats in a row cost a power of the text's length each."""
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")
_REPEATED_GROUP = re.compile(r"\)\s*(?:[*+{])")


def accepts(field: FormField, text: str) -> bool:
    """Whether the text is neither too long nor too short and matches the field's pattern."""
    if field.max_length is not None and len(text) > field.max_length:
        return False
    if len(text) < field.min_length:
        return False
    pattern = _compiled(field.pattern) if field.pattern and len(text) <= 300 else None
    return pattern is None or pattern.fullmatch(text) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for a pattern that is no pattern here, or that could run for long."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "c", pattern)
    if len(_UNBOUNDED.findall(plain)) > _MOST_REPEATS or _REPEATED_GROUP.search(plain):
        return None
    if len(pattern) > 500 or max(map(int, re.findall(r"\d+", plain)), default=0) > 1000:
        return None
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
