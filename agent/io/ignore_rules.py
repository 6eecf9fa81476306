"""Ignore rules for files, with reasons (docs/ingest.md).

Rules are those of ``.gitignore``: in ``.memlaneignore`` files, each for its folder and what lies in
it, and in the setting ``ignore`` for all folders. Hidden files and memlane's own home are never
read. A file that the person names is read whatever the rules say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import InvalidInput

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".memlaneignore"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to look at, or a file or folder that is left aside and why."""

    path: Path
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns that hold for one folder and what lies in it."""

    folder: Path
    file: str
    """Where they are written, for the reason."""
    spec: GitIgnoreSpec
    lines: tuple[str, ...]
    """The line that each pattern of ``spec`` was written in."""

    def decision(self, path: Path, is_folder: bool) -> tuple[bool, str] | None:
        """Whether they leave the path out, and by which line; None if they do not speak of it."""
        inside = path.relative_to(self.folder).as_posix() + "/" * is_folder
        result = self.spec.check_file(inside)
        if result.include is None or result.index is None:
            return None
        return result.include, f"ignored by {self.file}: {self.lines[result.index]}"


class Ignore:
    """The rules of one run; ``.memlaneignore`` files are read once."""

    def __init__(self, patterns: Sequence[str] = (), home: Path | None = None) -> None:
        self._patterns = tuple(patterns)
        self._home = home.absolute() if home else None
        self._of: dict[tuple[Path, Path], tuple[_Rules, ...]] = {}

    def find(self, paths: Sequence[Path], root: Path | None = None) -> Iterator[FoundFile]:
        """Those named, and of folders what is inside; a folder left aside is one result.

        Rules hold from each named folder on, or from the ``root`` that they all lie in.

        :raises InvalidInput: if a rule cannot be understood: nothing is read past it.
        """
        for path in paths:
            if os.path.isdir(path) and not os.path.islink(path):  # also of names that cannot be
                yield from self._inside(path, (root or path).absolute())
            else:
                yield FoundFile(path)

    def why(self, path: Path, root: Path) -> str | None:
        """Why a path inside ``root`` is left aside; None if it is not."""
        steps = path.absolute().relative_to(root.absolute()).parts
        folder = root.absolute()
        rules = self._rules(folder, root.absolute())
        for number, name in enumerate(steps, 1):
            below = folder / name
            if reason := self._why(below, number < len(steps) or below.is_dir(), rules):
                return reason
            if number < len(steps):
                folder, rules = below, self._rules(below, root.absolute())
        return None

    def _inside(self, top: Path, root: Path) -> Iterator[FoundFile]:
        closed: list[OSError] = []
        for name, folders, files in os.walk(top, onerror=closed.append):
            folder = Path(name)
            rules = self._rules(folder.absolute(), root)
            kept = []
            for inner in sorted(folders):
                reason = self._why((folder / inner).absolute(), True, rules)
                if reason is None:
                    kept.append(inner)
                elif reason:
                    yield FoundFile(folder / inner, reason)
            folders[:] = kept
            for file in sorted(files):
                reason = self._why((folder / file).absolute(), False, rules)
                if reason != "":
                    yield FoundFile(folder / file, reason)
        yield from (FoundFile(Path(error.filename)) for error in closed)

    def _why(self, path: Path, is_folder: bool, rules: tuple[_Rules, ...]) -> str | None:
        """The reason; empty for what is memlane's own and not worth a word."""
        if path == self._home or path.name == NAME:
            return ""
        if path.name.startswith("."):
            return "hidden"
        for rule in reversed(rules):  # the innermost that speaks of it decides, as in git
            if decided := rule.decision(path, is_folder):
                return decided[1] if decided[0] else None
        return None

    def _rules(self, folder: Path, root: Path) -> tuple[_Rules, ...]:
        if (folder, root) in self._of:
            return self._of[folder, root]
        above: tuple[_Rules, ...] = ()
        if folder != root:
            above = self._rules(folder.parent, root)
        elif self._patterns:
            above = (_rules(root, "the setting ignore", self._patterns),)
        file = folder / NAME
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            lines = []
        except PermissionError:
            # Of a folder that may not be entered nothing is read anyway.
            lines = [] if not os.access(folder, os.X_OK) else _unreadable(file)
        except (OSError, UnicodeDecodeError):
            lines = _unreadable(file)
        own = (_rules(folder, str(file), lines),) if lines else ()
        self._of[folder, root] = (*above, *own)
        return self._of[folder, root]


def _unreadable(file: Path) -> list[str]:
    raise InvalidInput(f"{file} cannot be read, so its folder is skipped. Fix or remove it.")


def _rules(folder: Path, file: str, lines: Sequence[str]) -> _Rules:
    from pathspec import GitIgnoreSpec

    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            spec = GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            raise InvalidInput(
                f"{file}, line {number}: {line!r:.60} is not a pattern ({error}). Fix or remove it."
            ) from error
        if spec.patterns and any(pattern.include is not None for pattern in spec.patterns):
            kept.append(line)
    return _Rules(folder, file, GitIgnoreSpec.from_lines(kept), tuple(kept))
