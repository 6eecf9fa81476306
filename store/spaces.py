"""The spaces of a home: where they lie, and what each may see of the others (docs/spaces.md).

A space is a home of its own in a folder of the person's home: its database holds no row of another
space, so nothing has to be filtered. ``main`` is the person's home itself. What a space may see
stands in one file beside the spaces, which no export, import or sync carries.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from store.errors import HomeUnavailable, InvalidInput
from store.types import Memory, Trust, lowest

MAIN = "main"
FOLDER = "spaces"
SETTINGS_NAME = "config.toml"
"""The settings of one space, in its folder."""
_RULES = "spaces.json"
_LONGEST = 32


@dataclass(frozen=True, slots=True)
class Space:
    """One space, and what the person allows it."""

    name: str
    home: Path
    """The folder of its database."""
    sees: tuple[str, ...] = ()
    """Spaces whose memories its questions may use."""
    trust: Trust | None = None
    """The most that other spaces trust its memories; None: as far as it trusts them itself."""


def checked_name(name: str) -> str:
    """:raises InvalidInput: if no space can be called that."""
    if not _is_name(name):
        raise InvalidInput(
            f"{name!r:.60} cannot be the name of a space. Use at most {_LONGEST} small letters, "
            "digits, - and _, and begin with a letter or digit."
        )
    return name


def _is_name(name: str) -> bool:
    plain = name.replace("-", "").replace("_", "")
    small = plain.isascii() and plain.isalnum() and name == name.lower()
    return small and name[0].isalnum() and len(name) <= _LONGEST


def home_of(root: Path, name: str) -> Path:
    """The folder of a space, whether it is there or not. :raises InvalidInput: as above."""
    return root if name == MAIN else root / FOLDER / checked_name(name)


def names(root: Path) -> tuple[str, ...]:
    """All spaces of a home, ``main`` first."""
    try:
        found = sorted(entry.name for entry in os.scandir(root / FOLDER) if entry.is_dir())
    except OSError:
        return (MAIN,)
    return (MAIN, *(name for name in found if _is_name(name) and name != MAIN))


def ensure_exists(root: Path, name: str) -> None:
    """:raises InvalidInput: if the home has no such space."""
    if name != MAIN and not home_of(root, name).is_dir():
        raise InvalidInput(
            f"There is no space {name!r}. Spaces: {', '.join(names(root))}. To add it: memlane "
            f"spaces add {name}"
        )


def spaces(root: Path) -> tuple[Space, ...]:
    """All spaces of a home, ``main`` first, each with those it sees that are there.

    :raises InvalidInput: if the file of what they see cannot be read: then nothing is seen.
    """
    known = names(root)
    rules = _read(root) if (root / FOLDER).is_dir() else {}
    found = []
    for name in known:
        rule = rules.get(name, {})
        sees = tuple(one for one in rule.get("sees", ()) if one in known and one != name)
        trust = Trust(rule["trust"]) if rule.get("trust") else None
        found.append(Space(name, home_of(root, name), sees, trust))
    return tuple(found)


def seen_by(root: Path, name: str) -> tuple[Space, ...]:
    """The spaces whose memories a space may use; of a home without spaces none, at no cost."""
    known = {space.name: space for space in spaces(root)} if (root / FOLDER).is_dir() else {}
    return tuple(known[one] for one in known[name].sees) if name in known else ()


def keep(space: Space, root: Path) -> None:
    """Keep what a space sees and how far it is trusted."""
    _write(root, {one.name: one for one in spaces(root)} | {space.name: space})


def forget_rules(root: Path, name: str) -> None:
    """Take a space out of everything that was allowed: one of the same name begins with nothing."""
    kept = {one.name: one for one in spaces(root) if one.name != name}
    without = {
        key: replace(one, sees=tuple(seen for seen in one.sees if seen != name))
        for key, one in kept.items()
    }
    _write(root, without)


def rules_file(root: Path) -> Path:
    """Where it stands what spaces see."""
    return root / FOLDER / _RULES


def _read(root: Path) -> dict[str, dict[str, Any]]:
    path = rules_file(root)
    try:
        rules = json.loads(path.read_text(encoding="utf-8"))
        for rule in rules.values():
            if not all(isinstance(one, str) for one in rule.get("sees", [])):
                raise ValueError("sees is no list of names")
            if rule.get("trust") is not None:
                Trust(rule["trust"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({error!s:.80}). Delete it, and allow again what spaces may "
            "see: memlane spaces allow"
        ) from error
    return dict(rules)


def _write(root: Path, known: Mapping[str, Space]) -> None:
    rules = {
        one.name: {
            **({"sees": list(one.sees)} if one.sees else {}),
            **({"trust": one.trust.value} if one.trust else {}),
        }
        for one in known.values()
    }
    path = rules_file(root)
    scratch = path.with_suffix(f".{os.getpid()}.new")
    try:
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({name: rule for name, rule in rules.items() if rule}, file, indent=2)
        scratch.replace(path)
    except OSError as error:
        raise HomeUnavailable(f"Cannot write {path}: {error.strerror or error}.") from error


# ---- memories of one space as another shows them ------------------------------------------


def named_in(space: str, public: str) -> str:
    """The id of a memory of another space: ``main:m12``."""
    return f"{space}:{public}"


def space_of(public: str) -> str | None:
    """The space that an id names; None for one of the space at hand."""
    name, colon, _ = public.partition(":")
    return name if colon else None


def number_of(public: str) -> int:
    """The number in the id of a memory of any space."""
    return int(public.rpartition(":")[2][1:])


def as_seen(memory: Memory, space: Space) -> Memory:
    """A memory as another space reads it: its ids name the space, its trust is capped."""
    trust = memory.trust
    if space.trust is not None:
        trust = lowest([space.trust, trust or Trust.TOLD])
    return replace(
        memory,
        id=named_in(space.name, memory.id),
        replaced_by=memory.replaced_by and named_in(space.name, memory.replaced_by),
        source=memory.source and named_in(space.name, memory.source),
        trust=trust,
    )
