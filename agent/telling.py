"""What came of something that was told, and where a memory comes from, in words."""

from __future__ import annotations

from agent.results import Remembered
from store.types import Trust


def describe(done: Remembered) -> str:
    """What was remembered or changed, in one line a thing."""
    lines = []
    for entry in done.entries:
        last = entry.changes[-1].after
        if entry.kind == "amend":
            lines.append(f"Corrected: {entry.before} -> {entry.after} ({entry.id})")
        elif entry.kind == "expire" and entry.before is not None:
            lines.append(f"No longer holds: {entry.before} ({entry.id})")
        elif entry.kind == "replace":
            lines.append(f"Changed: {entry.before} -> {entry.after} ({entry.id})")
        elif last is not None and last.valid_until is not None and entry.kind == "expire":
            lines.append(
                f"Noted until {last.valid_until:%Y-%m-%d %H:%M}: {entry.after} ({entry.id})"
            )
        elif entry.kind == "forget":
            lines.append(f"No longer stated: {entry.before} ({entry.id})")
        else:
            lines.append(f"Noted: {entry.after} ({entry.id})")
    lines += [f"I knew that already ({memory})." for memory in done.unchanged]
    lines += [done.note] if done.note else []
    lines += done.questions
    return "\n".join(lines) or f"I found nothing to remember in that; kept raw as {done.source.id}."


_PHRASES = {
    Trust.TOLD: "you said so",
    Trust.NOTED: "from your note",
    Trust.RECORDED: "from a calendar or contact card",
    Trust.SEEN: "from a screenshot",
    Trust.RELAYED: "in somebody else's words",
}


def phrase(trust: Trust | None, *, mine: bool = False) -> str:
    """A memory's origin in a few words; ``mine`` as the person would say it, as notes do."""
    said = _PHRASES[trust or Trust.TOLD]
    return said.replace("you ", "I ").replace("your ", "my ") if mine else said
