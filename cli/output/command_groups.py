"""The commands in groups, for ``memlane --help`` and for ``memlane`` without a command."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import typer
import typer.main
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

START = "Start here"
GROUPS: dict[str, tuple[str, ...]] = {
    START: ("demo", "say", "ask", "chat", "help"),
    "Every day": (
        "remember", "list", "search", "forget", "undo", "why", "today", "remind", "ingest", "watch",
        "fill", "browser", "web",
    ),
    "Your data": (
        "memories", "entities", "types", "spaces", "consent", "export", "import", "backup",
        "restore", "sync", "rescue", "lock", "unlock", "status", "doctor", "config",
    ),
    "Models": ("models", "up", "down"),
    "For programs": ("mcp", "hook", "completion"),
    "Experiments": ("rate", "predict", "persona", "travel", "train", "feedback"),
}  # fmt: skip
"""Every command, under its heading; ``tests/terminal/test_first_minutes.py`` checks that."""
WIDTH = 79


class GroupedCommands(TyperGroup):
    """The root command: its help lists the commands under the headings of ``GROUPS``."""

    def list_commands(self, ctx: Context) -> list[str]:
        """The names in the order of ``GROUPS``; what is in no group comes last."""
        grouped = [name for names in GROUPS.values() for name in names if name in self.commands]
        return grouped + [name for name in self.commands if name not in grouped]

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        wide = max(map(len, self.commands))
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (
                            name.ljust(wide),
                            self.commands[name].get_short_help_str(formatter.width - 6 - wide),
                        )
                        for name in names
                    ]
                )


def first_screen(app: typer.Typer) -> str:
    """What ``memlane`` prints without a command."""
    root = typer.main.get_command(app)
    commands = getattr(root, "commands", {})
    wide = max(map(len, (*GROUPS, *GROUPS[START]))) + 1
    lines = [root.help or "", "", f"{START}:"]
    for name in GROUPS[START]:
        lines.append(f"  {name:<{wide}} {commands[name].get_short_help_str(WIDTH - wide - 3)}")
    lines.append("")
    for heading, names in GROUPS.items():
        if heading == START:
            continue
        lines += textwrap.wrap(
            ", ".join(names),
            WIDTH,
            initial_indent=f"{heading + ':':<{wide + 3}}",
            subsequent_indent=" " * (wide + 3),
        )
    lines += [
        "",
        "All commands and options: memlane --help",
        "Help on one command: memlane help COMMAND",
    ]
    return "\n".join(lines)
