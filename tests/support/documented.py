"""The commands that README.md, CONTRIBUTING.md and docs/ show, read out of their Markdown.

Conventions, which CONTRIBUTING.md tells too:

- In a fenced block a line with ``memlane`` at its beginning, or after ``|`` or ``&&``, is a command
  (where lines begin with ``$``, only those); what follows ``#`` is a comment.
- Inline code with ``memlane`` before a word is a command, and so are a group and one of its
  commands without it (``memories tree``), or a command and an option (``remind --days 30``). With
  nothing but names where more is needed (``memlane memories forget``) it names that command.
- ``<!-- example -->`` on the line before a fenced block, or on the line of an inline command, marks
  an example: it must parse, and is not run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer
import typer.main

from cli.app import app
from cli.arguments import hoisted

ROOT = Path(__file__).parents[2]
EXAMPLE = "<!-- example -->"
REFERENCE = ROOT / "docs" / "cli.md"
"""Generated from the commands themselves; a test of its own compares it with them."""

_FENCE = re.compile(
    r"^(?P<before>[^\n]*)\n+^```(?P<language>\w*)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL
)
_INLINE = re.compile(r"(?<!`)`(?P<code>[^`]+)`(?!`)")
_NOT_SHELL = {"json", "python", "toml"}
_OF_HELP = re.compile(r"^ +(?:Examples?: )?(?P<code>memlane .*)$", re.MULTILINE)
_USAGE = re.compile(r"^Usage: memlane (?P<names>[a-z -]*[a-z])?", re.MULTILINE)
_ARGUMENTS = re.compile(r'"command": "memlane", "args": (\[.*?\])')


@dataclass(frozen=True, slots=True)
class Command:
    """One ``memlane`` command line, as the shell would split it, without ``memlane``."""

    words: tuple[str, ...]
    line: int
    fed: bool = False
    """Whether something is piped into it."""
    shown: str = ""
    """The line under it, which is what it prints where the block begins commands with ``$``."""

    def __str__(self) -> str:
        return shlex.join(["memlane", *self.words])


@dataclass(frozen=True, slots=True)
class Piece:
    """Commands that stand together: those of a fenced block, or an inline one."""

    file: str
    commands: tuple[Command, ...]
    example: bool = False
    inline: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.commands[0].line}"


def documents() -> list[Path]:
    """Every page a person reads, but the generated one."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [page for page in pages if page != REFERENCE]


def pieces(page: Path) -> list[Piece]:
    """The commands of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
    found: list[tuple[int, Piece]] = []
    for block in _FENCE.finditer(text):
        commands = tuple(_of_block(block, _line(text, block.start("body"))))
        if commands:
            example = EXAMPLE in block["before"]
            found.append((block.start(), Piece(name, commands, example)))
    # Of equal length, so that places stay where they are.
    rest = _FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), text)
    lines = text.splitlines()
    for code in _INLINE.finditer(rest):
        number = _line(text, code.start())
        commands = tuple(_split(_whole(code["code"].replace("\\|", "|")), number))
        if commands:
            last = _line(text, code.end())
            example = any(EXAMPLE in line for line in lines[number - 1 : last])
            found.append((code.start(), Piece(name, commands, example, inline=True)))
    return [piece for _, piece in sorted(found, key=lambda one: one[0])]


def of_help() -> list[Piece]:
    """The examples and usage lines of the generated page."""
    text = REFERENCE.read_text(encoding="utf-8")
    found = []
    for code in _OF_HELP.finditer(text):
        commands = tuple(_split(code["code"].rstrip(".;"), _line(text, code.start())))
        found += [Piece("docs/cli.md", commands, example=True)] if commands else []
    for usage in _USAGE.finditer(text):
        words = tuple((usage["names"] or "").split())
        command = Command(words, _line(text, usage.start()))
        found.append(Piece("docs/cli.md", (command,), example=True, inline=True))
    return found


def _whole(code: str) -> str:
    """Inline code with ``memlane`` put before it where it names a command without that."""
    words = code.split()
    top = _commands()
    if len(words) < 2 or words[0] not in top:
        return code
    inside: dict[str, Any] = getattr(top[words[0]], "commands", {})
    short = words[1] in inside if inside else words[1].startswith("--")
    return f"memlane {code}" if short else code


@cache
def _commands() -> dict[str, Any]:
    """The commands of ``memlane``; to build them takes a tenth of a second."""
    found: dict[str, Any] = getattr(typer.main.get_command(app), "commands", {})
    return found


def _of_block(block: re.Match[str], start: int) -> Iterator[Command]:
    body = block["body"]
    if block["language"] in _NOT_SHELL:
        for arguments in _ARGUMENTS.finditer(body):
            words = tuple(re.findall(r'"([^"]*)"', arguments[1]))
            yield Command(words, start + body.count("\n", 0, arguments.start()))
        return
    lines = body.splitlines()
    mark = "$ " if any(line.startswith("$ ") for line in lines) else ""
    for number, line in enumerate(lines):
        if line.startswith(mark):
            shown = lines[number + 1] if mark and number + 1 < len(lines) else ""
            yield from _split(line.removeprefix(mark), start + number, shown)


def _split(code: str, line: int, shown: str = "") -> Iterator[Command]:
    """The memlane commands of a shell line, which may be a pipe or a list."""
    code = " ".join(code.split())
    if not re.search(r"(?:^|[|&;] ?|-- )memlane [^\s.]", code):
        return
    reader = shlex.shlex(code, posix=True, punctuation_chars="|&;")
    reader.whitespace_split = True
    part: list[str] = []
    fed = False
    for token in [*reader, ";"]:
        if not re.fullmatch(r"[|&;]+", token):
            part.append(token)
            continue
        if "memlane" in part:  # after '--' in `claude mcp add memlane -- memlane mcp`
            at = len(part) - part[::-1].index("memlane")
            if part[:at] == ["memlane"] or part[at - 2] == "--":
                yield Command(tuple(part[at:]), line, fed, shown)
        part, fed = [], token == "|"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


@dataclass(frozen=True, slots=True)
class Understood:
    """What the command line makes of some words."""

    path: tuple[str, ...] = ()
    """The commands and subcommands that they name."""
    wrong: str = ""
    """What is wrong with them; empty where they can be run."""
    lacking: bool = False
    """Whether they are nothing but names, and the command that they name needs more."""
    given: dict[str, Any] = field(default_factory=dict)


def understood(words: Sequence[str]) -> Understood:
    """Parse words as ``memlane`` does, without doing anything."""
    command: Any = typer.main.get_command(app)
    path: list[str] = []
    name, rest, parent = "memlane", hoisted(words), None
    try:
        while True:
            if not rest and getattr(command, "no_args_is_help", False):
                return Understood(tuple(path), f"{' '.join(path)}: needs a subcommand", True)
            context = command.make_context(name, list(rest), parent=parent)
            inside = [*getattr(context, "_protected_args", ()), *context.args]
            if not hasattr(command, "resolve_command") or not inside:
                return Understood(tuple(path), given=dict(context.params))
            name, command, rest = command.resolve_command(context, inside)
            path.append(name)
            parent = context
    except typer.TyperException as error:
        names = [word for word in words if not word.startswith("-")]
        wrong = " ".join(error.format_message().split())
        # Of an argument, or of the value of an option that is named alone.
        missing = wrong.startswith("Missing argument") or wrong.endswith("requires an argument.")
        return Understood(tuple(path), wrong, names == path and missing)
