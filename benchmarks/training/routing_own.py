"""Training sentences for the router that we wrote ourselves, from ``samples/routing_own.txt``.

The file is a grammar: every template is expanded a few times, and short chats of several sentences
are made of the results. Invariant: the same seed gives the same sentences in the same order.
"""

from __future__ import annotations

import random
import re

from benchmarks.shared.common import SAMPLES

GRAMMAR = SAMPLES / "routing_own.txt"
_INNERMOST = re.compile(r"\{([^{}]+)\}|\[([^\[\]]*)\]")
_OFTEN = re.compile(r"(?:\*(\d+) )?(.*)")


def sentences(
    seed: int = 0, per_template: int = 16, of_several: int = 1080
) -> list[tuple[str, str]]:
    """Distinct (text, route) pairs; a quarter of the chats and some 70 templates are Chinese."""
    slots, templates = _read_grammar()
    rng = random.Random(seed)
    found: dict[str, str] = {}
    for route, template, times in templates:
        for _ in range(per_template * times if _INNERMOST.search(template) else 1):
            found.setdefault(_expand(template, slots, rng), route)
    for text, route in _messages_of_several(found, rng, of_several):
        found.setdefault(text, route)
    return list(found.items())


def _read_grammar() -> tuple[dict[str, list[str]], list[tuple[str, str, int]]]:
    slots: dict[str, list[str]] = {}
    templates: list[tuple[str, str, int]] = []
    section = ""
    for line in GRAMMAR.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            section = line[3:]
        elif section == "slots":
            name, _, phrases = line.partition(": ")
            slots[name] = phrases.split("|")
        else:
            found = _OFTEN.fullmatch(line)
            if found is None:
                raise ValueError(f"no template: {line!r}")
            times, template = found.groups()
            templates.append((section, template, int(times or 1)))
    return slots, templates


def _expand(template: str, slots: dict[str, list[str]], rng: random.Random) -> str:
    """Fill innermost brackets first, so that alternatives may hold slots and slots alternatives."""
    text = template
    while match := _INNERMOST.search(text):
        name, alternatives = match.groups()
        choice = rng.choice(slots[name] if name is not None else alternatives.split("|"))
        text = text[: match.start()] + choice + text[match.end() :]
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,.!?:；，。])", r"\1", text)
    return text.strip()


def _messages_of_several(
    singles: dict[str, str], rng: random.Random, count: int
) -> list[tuple[str, str]]:
    """Short chats in one message: what is asked last decides, else whatever was told."""
    told, asked, other = (
        [text for text, route in singles.items() if route == wanted]
        for wanted in ("update", "retrieve", "neither")
    )
    shapes = [
        ("update", (told, told)),
        ("update", (told, told, told)),
        ("update", (other, told)),
        ("update", (told, other)),
        ("retrieve", (told, asked)),
        ("retrieve", (told, told, asked)),
        ("retrieve", (other, asked)),
        ("retrieve", (asked, asked)),
        ("neither", (other, other)),
    ]
    made = []
    for number in range(count):
        route, pools = shapes[number % len(shapes)]
        chinese = rng.random() < 0.25
        parts = []
        for pool in pools:
            part = rng.choice(pool)
            while (part[0] > "\u2e80") != chinese or len(part) > 120:
                part = rng.choice(pool)
            mark = ("？" if chinese else "?") if pool is asked else ("。" if chinese else ".")
            parts.append(part[0].upper() + part[1:].rstrip(".。?？!！") + mark)
        made.append((("" if chinese else " ").join(parts), route))
    return made
