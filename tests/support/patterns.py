"""Every compiled pattern of the product, and texts that make a bad one run for long.

Found by importing each module and walking what it holds; patterns that are written where they are
used are read out of the source.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from agent.language.patterns import Bounded

Pattern = re.Pattern[str] | Bounded
ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("store", "policies", "agent", "cli")
ANCHORED = frozenset({"match", "fullmatch"})
"""Begin at one place of a text; ``search`` and its kin try every place."""

CALLS = frozenset(
    f"re.{name}"
    for name in ("compile", "search", "sub", "subn", "split", "findall", "finditer", *ANCHORED)
)
LENGTH = 10_000
COMMON = (
    *"aA1 .,-_:;/'’\"`(<[{#*=|é的\n\t",
    *(
        "a ",
        "A ",
        "1 ",
        "Aa ",
        "I ",
        "a-",
        "a.",
        "1,",
        "1-",
        "1:",
        "a\n",
        "\n ",
        '"a',
        "<a ",
        "的 ",
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, where it stands, and how it is used."""

    where: str
    pattern: Pattern
    uses: frozenset[str]


@cache
def patterns() -> tuple[Found, ...]:
    """Each different pattern once."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    uses = {path: _uses([tree]) for path, tree in trees.items()}
    abroad = _uses(list(trees.values()))
    found: dict[tuple[str, int, frozenset[str]], Found] = {}
    for path, tree in trees.items():
        module = importlib.import_module(_name_of(path))
        held = [*_held(module, uses[path], abroad)]
        known = {one.pattern.pattern for one in held}
        written = [one for one in _written(module, tree) if one.pattern.pattern not in known]
        for one in (*held, *written):
            found.setdefault((one.pattern.pattern, one.pattern.flags, one.uses), one)
    return tuple(found.values())


def units(found: Found) -> tuple[str, ...]:
    """What is repeated to try a pattern: common signs, and the words that it looks for."""
    plain = re.sub(r"\(\?[a-zA-Z<>=!:]*(?:\w+>)?|\\[a-zA-Z]", " ", found.pattern.pattern)
    own = dict.fromkeys(re.findall(r"[^\W\d_]{2,}|[^\w\s]", plain))
    return (*COMMON, *(f"{word}{more}" for word in own for more in ("", " ", " a ")))


def _name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _uses(trees: Sequence[ast.Module]) -> Mapping[str, frozenset[str]]:
    """By name: the methods that are called on it; nothing where it is handed on."""
    methods: dict[str, set[str]] = defaultdict(set)
    loads: dict[str, int] = defaultdict(int)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loads[node.id] += 1
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                methods[node.value.id].add(node.attr)
                loads[node.value.id] -= 1
    return {name: frozenset(called) for name, called in methods.items() if loads[name] <= 0}


def _held(
    module: ModuleType, here: Mapping[str, frozenset[str]], abroad: Mapping[str, frozenset[str]]
) -> Iterator[Found]:
    """The patterns that a module holds, also in its tables."""
    for name, value in list(vars(module).items()):
        if not name.startswith("__"):
            for pattern in _inside(value, set()):
                called = (here if name.startswith("_") else abroad).get(name, frozenset())
                own = called if pattern is value else frozenset()
                yield Found(f"{module.__name__}.{name}", pattern, own)


def _inside(value: object, seen: set[int]) -> Iterator[Pattern]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern | Bounded):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, Mapping):
        for pair in list(value.items()):
            yield from _inside(pair, seen)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _inside(one, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name, None), seen)
    elif isinstance(value, type) and value.__module__.split(".")[0] in PACKAGES:
        for one in list(vars(value).values()):
            yield from _inside(one, seen)


def _written(module: ModuleType, tree: ast.Module) -> Iterator[Found]:
    """The patterns of ``re.NAME(...)`` in functions, where they can be known from the module."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS and node.args):
            continue
        try:
            # The product's own source, with nothing of its arguments run but what makes a pattern.
            value = eval(ast.unparse(node.args[0]), dict(vars(module)))
            flags = [eval(ast.unparse(one), {"re": re}) for one in _flags(node)]
        except (NameError, AttributeError, TypeError):
            continue  # made of what a person says, escaped
        if isinstance(value, str) and isinstance(node.func, ast.Attribute):
            how = frozenset({node.func.attr}) - {"compile"}
            yield Found(f"{module.__name__}:{node.lineno}", re.compile(value, sum(flags)), how)


def _flags(call: ast.Call) -> list[ast.expr]:
    given = [*call.args[1:], *(word.value for word in call.keywords)]
    return [one for one in given if re.fullmatch(r"(?:re\.[A-Z]+(?: \| )?)+", ast.unparse(one))]
