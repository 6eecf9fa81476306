"""Length and pattern constraints of a field."""

from __future__ import annotations

from agent.applications.forms.fields import FormField
from agent.language.patterns import untrusted


def accepts(field: FormField, text: str) -> bool:
    """Whether the text is neither too long nor too short and matches the field's pattern."""
    if field.max_length is not None and len(text) > field.max_length:
        return False
    if len(text) < field.min_length:
        return False
    # A page's pattern is somebody else's program: one that cannot be run safely asks for nothing.
    pattern = untrusted(field.pattern) if field.pattern else None
    return pattern is None or pattern.fullmatch(text) is not None
