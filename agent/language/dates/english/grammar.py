"""Pattern language for time expressions, and its engine.

A rule is one line over token categories, such as ``"d:DAY of? m:MONTH ,? y:YEAR?"``:

- ``NAMES`` are categories of ``english.lexicon`` or of what an earlier rule made;
  lower-case words and signs stand for themselves; ``|``, ``?`` and parentheses mean what they mean
  in any regular expression; ``!NAME`` looks ahead: that may not follow; ``!<NAME`` and ``@NAME``
  look behind: that may not, or must, stand before;
- ``d:`` gives the token a name, under which the rule's function finds it; a named part may be one
  of several words or categories, ``s:next/last``.

Every token is one character whose code stands for its set of categories, so a rule is one compiled
regular expression over the string of tokens. Rules run once each, in the order of their table, and
replace what they match by one token: a cascade, linear in the text. There are no repetitions
without a bound, so no rule can backtrack far.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from agent.language.dates.english.lexicon import (
    OTHER_SIGN,
    OTHER_WORD,
    Token,
    is_anchor,
    number_kinds,
    signatures,
)
from agent.language.dates.english.tokenizer import tokens
from agent.language.dates.values import When


@dataclass(frozen=True, slots=True)
class Part:
    """A token of the text, or what a rule made of several."""

    code: str
    start: int
    end: int
    token: Token | None
    when: When | None = None
    word: str = ""
    number: float = 0.0


class RuleMatch:
    """What a rule's function gets: the named parts of its match."""

    __slots__ = ("_match", "_names", "_parts", "now", "zone")

    def __init__(
        self,
        match: re.Match[str],
        names: dict[str, list[str]],
        parts: list[Part],
        now: datetime,
        zone: Callable[[datetime], datetime],
    ) -> None:
        self._match = match
        self._names = names
        self._parts = parts
        self.now = now
        self.zone = zone

    def _group(self, name: str) -> str | None:
        for group in self._names.get(name, ()):
            if self._match[group] is not None:
                return group
        return None

    def __contains__(self, name: str) -> bool:
        return self._group(name) is not None

    def part(self, name: str) -> Part:
        """The part called ``name``; KeyError where the match has none."""
        group = self._group(name)
        if group is None:
            raise KeyError(name)
        return self._parts[self._match.start(group)]

    def number(self, name: str) -> int:
        return int(self.part(name).number)

    def amount(self, name: str) -> float:
        return self.part(name).number

    def word(self, name: str) -> str:
        """The word called ``name``, or nothing."""
        return self.part(name).word if name in self else ""

    def when(self, name: str) -> When:
        when = self.part(name).when
        if when is None:
            raise KeyError(name)
        return when

    def token(self, name: str) -> Token:
        token = self.part(name).token
        if token is None:
            raise KeyError(name)
        return token

    def end(self, name: str) -> int:
        return self.part(name).end

    def words(self) -> str:
        """All matched words with spaces between."""
        return " ".join(self._parts[at].word for at in range(*self._match.span()))

    def spread(self) -> tuple[int, int]:
        """The characters from the first to the last matched part."""
        first, last = self._match.span()
        return self._parts[first].start, self._parts[last - 1].end


Made = When | float | None
"""A meaning, a number (for rules that read numbers), or None: the match was no time after all."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the grammar."""

    makes: str
    pattern: str
    function: Callable[[RuleMatch], Made]


# Sets of codes whose useful rules are remembered; texts have a few hundred.
_MAX_REMEMBERED = 4096
_LOOKS = {"!": "!", "!<": "<!", "@": "<="}


def _kinds(rule: Rule) -> frozenset[str]:
    return frozenset(rule.makes.split())


class Table:
    """The rules in their order; ``@table.rule(makes, pattern, ...)`` adds some."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def rule(
        self, makes: str, *patterns: str
    ) -> Callable[[Callable[[RuleMatch], Made]], Callable[[RuleMatch], Made]]:
        def add(function: Callable[[RuleMatch], Made]) -> Callable[[RuleMatch], Made]:
            self.rules.extend(Rule(makes, pattern, function) for pattern in patterns)
            return function

        return add


_NAME = r"(?:[A-Z][A-Z_]*|[a-z']+|[-,<>=])(?![\w:])"
_ATOM = re.compile(rf"(!<?|@)?(?:([a-z]\w*):({_NAME}(?:/{_NAME})*)|({_NAME}(?:/{_NAME})*))")


def _groups(pattern: str) -> list[tuple[int, int]]:
    """Where the outermost parentheses of a pattern open, and the place after they close."""
    found: list[tuple[int, int]] = []
    depth = opened = 0
    for at, sign in enumerate(pattern):
        if sign == "(":
            depth += 1
            opened = at if depth == 1 else opened
        elif sign == ")":
            depth -= 1
            if depth == 0:
                found.append((opened, at + 1))
    return found


class CodePattern:
    """A rule's pattern over token codes, compiled at its first use.

    A rule may use a name in several alternatives, a regular expression may not: ``names`` tells
    under which groups each name is found. ``needed`` are sets of codes of which every match has
    one, one set for each part or group that is not optional: a quick way to skip most rules.
    """

    def __init__(self, pattern: str, codes_of: Mapping[str, Set[str]]) -> None:
        """:param codes_of: Of each category, the codes of the tokens that have it."""
        self.names: dict[str, list[str]] = {}
        needed: dict[int, frozenset[str]] = {}
        groups = _groups(pattern)

        def atom(match: re.Match[str]) -> str:
            look, name = match[1], match[2]
            wanted = (match[3] or match[4]).split("/")
            codes = frozenset[str]().union(*(codes_of.get(kind, ()) for kind in wanted))
            start, end = match.span()
            for first, last in groups:
                if first < start < last:
                    start, end = first, last
            if not look and pattern[end : end + 1] != "?":
                needed[start] = needed.get(start, frozenset()) | codes
            group = "[" + "".join(sorted(codes)) + "]" if codes else "(?!)"
            if look:
                return f"(?{_LOOKS[look]}{group})"
            if not name:
                return group
            known = self.names.setdefault(name, [])
            known.append(f"{name}{len(known)}")
            return f"(?P<{known[-1]}>{group})"

        self._source = _ATOM.sub(atom, pattern).replace(" ", "")
        self.needed = list(needed.values())

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source)


class Grammar:
    """A table compiled for use. Building one takes tens of milliseconds; keep it."""

    def __init__(self, tables: Iterable[Table]) -> None:
        rules = [rule for table in tables for rule in table.rules]
        self._names: set[str] = set()
        for rule in rules:
            for atom in _ATOM.finditer(rule.pattern):
                self._names.update((atom[3] or atom[4]).split("/"))
        self.words = frozenset(name for name in self._names if name[0].islower())
        self._codes: dict[frozenset[str], str] = {}
        self.known_signatures = signatures(self.words)
        for signature in self.known_signatures:
            self._code(signature)
        for rule in rules:
            self._code(_kinds(rule))
        self._other = self._code(frozenset({OTHER_WORD}))
        by_kind: dict[str, set[str]] = {}
        for signature, code in self._codes.items():
            for kind in signature:
                by_kind.setdefault(kind, set()).add(code)
        self._rules = [(rule, CodePattern(rule.pattern, by_kind)) for rule in rules]
        numbers = frozenset(code for kinds, code in self._codes.items() if "NUMBER" in kinds)
        self._makes = {
            rule.makes: numbers if rule.makes == "NUMBER" else {self._code(_kinds(rule))}
            for rule in rules
        }
        self._useful: dict[frozenset[str], list[int]] = {}
        self._opaque_codes = {
            code for kinds, code in self._codes.items() if kinds & {OTHER_WORD, OTHER_SIGN}
        }
        self._anchor_codes = {
            code
            for kinds, code in self._codes.items()
            if any(kind[0].isupper() or is_anchor(kind) for kind in kinds)
        } - self._opaque_codes

    def read(self, text: str, now: datetime, zone: Callable[[datetime], datetime]) -> list[Part]:
        """What ``text`` says of time: the parts that have a meaning, in order."""
        found: list[Part] = []
        island: list[Part] = []
        worth_reading = False
        for token in tokens(text, self.words):
            code = self._code(token.categories)
            part = Part(code, token.start, token.end, token, None, token.word, token.number)
            island.append(part)
            if code in self._opaque_codes:
                # No rule reaches across an opaque token, so the islands between are read alone.
                if worth_reading:
                    found += self._read_island(island, now, zone)
                island, worth_reading = [part], False
            elif not worth_reading:
                worth_reading = code in self._anchor_codes
        if worth_reading:
            found += self._read_island(island, now, zone)
        return found

    def _read_island(
        self, parts: list[Part], now: datetime, zone: Callable[[datetime], datetime]
    ) -> list[Part]:
        codes = "".join(part.code for part in parts)
        for at in self._useful_rules(frozenset(codes)):
            rule, pattern = self._rules[at]
            if pattern.compiled.search(codes):
                parts = self._replace(rule, pattern, parts, codes, now, zone)
                codes = "".join(part.code for part in parts)
        return [part for part in parts if part.when is not None]

    def _useful_rules(self, codes: frozenset[str]) -> list[int]:
        """Which rules can match a string of these codes, or of what those rules make of it."""
        known = self._useful.get(codes)
        if known is not None:
            return known
        present = set(codes)
        useful: list[int] = []
        for at, (rule, pattern) in enumerate(self._rules):
            if not any(present.isdisjoint(choice) for choice in pattern.needed):
                useful.append(at)
                # Later rules only: a rule never sees what comes after it in the table.
                present |= self._makes[rule.makes]
        if len(self._useful) < _MAX_REMEMBERED:
            self._useful[codes] = useful
        return useful

    def _replace(
        self,
        rule: Rule,
        pattern: CodePattern,
        parts: list[Part],
        codes: str,
        now: datetime,
        zone: Callable[[datetime], datetime],
    ) -> list[Part]:
        result: list[Part] = []
        done = 0
        code = self._code(_kinds(rule))
        at = 0
        while match := pattern.compiled.search(codes, at):
            first, last = match.span()
            try:
                made = rule.function(RuleMatch(match, pattern.names, parts, now, zone))
            except (ValueError, OverflowError):
                # Trigger: 31 June, 25:00, a million years. Why: half of it must not be read as
                # something else. Outcome: the words are opaque from here on.
                made, out = 0.0, self._other
            else:
                if made is None:
                    at = first + 1
                    continue
                out = code if isinstance(made, When) else self._number_code(rule, made)
            result.extend(parts[done:first])
            when, number = (made, 0.0) if isinstance(made, When) else (None, float(made))
            result.append(
                Part(out, parts[first].start, parts[last - 1].end, None, when, "", number)
            )
            done = at = last
        result.extend(parts[done:])
        return result

    def _number_code(self, rule: Rule, number: float) -> str:
        if rule.makes != "NUMBER":
            return self._code(_kinds(rule))
        return self._code(number_kinds(number, str(int(number)) if number == int(number) else ""))

    def _code(self, signature: frozenset[str]) -> str:
        code = self._codes.get(signature)
        if code is None:
            # Names that no rule knows cannot matter.
            known = frozenset(signature & self._names)
            code = self._codes.get(known)
            if code is None:
                code = self._codes[known] = chr(0x100 + len(self._codes))
            self._codes[signature] = code
        return code
