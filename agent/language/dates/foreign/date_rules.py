"""Rules that put the dates of one other language into English words.

Each is one regular expression over ``date_words`` and a function that says what it is in English.
Rules are in order: what an earlier one takes, a later one does not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agent.language.dates.english.lexicon import MONTH_NAMES
from agent.language.dates.foreign.date_words import DateWords, any_of, date_words

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_KEYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAYS = {
    -2: "the day before yesterday", -1: "yesterday", 0: "today", 1: "tomorrow",
    2: "the day after tomorrow",
}  # fmt: skip
_STEPS = {-1: "last", 0: "this", 1: "next"}
_YEAR = r"\d{4}"
_MORNING = ("am", "morning1", "morning2", "morning")
_CLOCK_PARTS = (
    "am",
    "pm",
    "morning1",
    "morning2",
    "afternoon1",
    "afternoon2",
    "evening1",
    "night1",
)

English = Callable[[re.Match[str]], str | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """What to look for, and what it is in English; None where it is no date after all."""

    pattern: re.Pattern[str]
    english: English


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a language in their order, and what stands before a last day."""

    rules: tuple[Rule, ...]
    until: re.Pattern[str]


@cache
def rules(language: str) -> Rules:
    """The rules of one of ``date_words.LANGUAGES``."""
    words = date_words(language)
    made = [*_nearest_parts(words), *_clock(words), *_dates(words), *_lengths(words)]
    if habit := words.glue.get("habit"):
        made.append(_rule(words, habit, _said("")))
    made += [*_relative(words), *_weekdays(words)]
    edge = r"\b" if words.spaced else ""
    return Rules(tuple(made), re.compile(f"{edge}(?:{words.glue['until']})$", re.IGNORECASE))


def _rule(words: DateWords, pattern: str, english: English) -> Rule:
    edged = rf"(?<!\w)(?:{pattern})(?!\w)" if words.spaced else f"(?:{pattern})"
    return Rule(re.compile(edged, re.IGNORECASE), english)


def _said(text: str) -> English:
    return lambda _: text


# ---- days of the calendar ------------------------------------------------------------------------


def _dates(words: DateWords) -> list[Rule]:
    """Days with their month, ranges of them, months and years."""
    months = "|".join(f"(?P<m{n}>{names})" for n, names in _months_longest_first(words))
    to, weekday = words.glue["to"], any_of(words.weekdays)
    if words.spaced:
        link = rf"\s+(?:{words.day_link}\s+)?" if words.day_link else r"\s+"
        day = r"(?P<d>\d{1,2})(?:\.|º|er)?"
        year = rf"(?:,?{link}(?P<y>{_YEAR}))"
        within = words.glue["within"]
        return [
            _rule(words, rf"(?P<n>\d{{1,2}})[./](?P<o>\d{{1,2}})[./](?P<y>{_YEAR})", _in_figures),
            _rule(
                words,
                rf"(?:{words.glue['from']})?(?P<f>\d{{1,2}})\.?{to}{day}{link}(?:{months}){year}?",
                _range,
            ),
            _rule(
                words, rf"(?:{weekday}{words.glue['link']})?{day}{link}(?:{months}){year}?", _day
            ),
            _rule(words, rf"(?:{within})?(?:{months}){year}", _month),
            _rule(words, rf"(?:{within})(?:{months})", _month),
            _rule(words, rf"{within}(?P<y>{_YEAR})", lambda found: f"in {found['y']}"),
        ]
    day = r"(?P<d>\d{1,2})[日号]"
    year = rf"(?:(?P<y>{_YEAR})年)"
    months = rf"(?<!\d)(?:{months})"
    return [
        _rule(words, rf"{year}?{months}(?P<f>\d{{1,2}})[日号]?{to}{day}", _range),
        _rule(words, rf"{year}?{months}{day}(?:{weekday})?", _day),
        _rule(words, rf"{year}?{months}", _month),
        _rule(words, rf"{year}", lambda found: f"in {found['y']}"),
    ]


def _months_longest_first(words: DateWords) -> list[tuple[int, str]]:
    """Numbers and names of the months; "十一月" is looked for before "一月"."""
    return list(reversed(list(enumerate(words.months, 1))))


def _in_figures(found: re.Match[str]) -> str | None:
    day, month = int(found["n"]), int(found["o"])
    return f"{found['y']}-{month:02}-{day:02}" if month <= 12 and day <= 31 else None


def _month_of(found: re.Match[str]) -> str:
    number = next(n for n in range(1, 13) if found[f"m{n}"])
    return MONTH_NAMES[number - 1]


def _year_of(found: re.Match[str]) -> str:
    return f" {found['y']}" if found["y"] else ""


def _day(found: re.Match[str]) -> str:
    return f"{found['d']} {_month_of(found)}{_year_of(found)}"


def _range(found: re.Match[str]) -> str:
    return f"from {found['f']} to {_day(found)}"


def _month(found: re.Match[str]) -> str:
    year = _year_of(found) if "y" in found.re.groupindex else ""
    return f"in {_month_of(found)}{year}"


# ---- seen from today -----------------------------------------------------------------------------


def _relative(words: DateWords) -> list[Rule]:
    """Tomorrow, next week, last Friday: one expression, the longest wording first."""
    named: list[tuple[str, str]] = [(words.glue["weekend"], "this weekend")]
    for unit, wordings in words.relative.items():
        for steps, wording in wordings.items():
            named.append((wording, _english_steps(words, unit, steps)))
    if then := words.glue.get("next"):
        named += [(then.format(name), f"next {unit}") for unit, name in words.units.items()]
        named += [
            (then.format(name), f"this coming {day}")
            for name, day in zip(words.weekdays, _WEEKDAYS, strict=True)
        ]
    return [
        _rule(words, wording, _said(english))
        for wording, english in sorted(named, key=lambda pair: -len(pair[0]))
    ]


def _english_steps(words: DateWords, unit: str, steps: int) -> str:
    if unit == "day":
        return _DAYS[steps]
    name = _WEEKDAYS[_KEYS.index(unit)] if unit in _KEYS else unit
    if unit in _KEYS and steps == 1 and words.spaced:
        return f"this coming {name}"  # 'nächsten', 'próximo' and 'prochain' mean the nearest one
    return f"{_STEPS[steps]} {name}"


def _lengths(words: DateWords) -> list[Rule]:
    number = _number(words)
    made = []
    for table, english in ((words.ahead, "in {} {}s"), (words.ago, "{} {}s ago")):
        for unit, patterns in table.items():
            pattern = any_of(patterns)
            pattern = pattern.replace("{0}", f"{number}{'' if words.spaced else ' ?'}")
            made.append(_rule(words, _named_once(pattern), _length(words, unit, english)))
    return made


def _named_once(pattern: str) -> str:
    """Each choice has a number of its own, and a name may stand once in an expression."""
    count = iter(range(pattern.count("(?P<n>")))
    return re.sub(r"\(\?P<n>", lambda _: f"(?P<n{next(count)}>", pattern)


def _length(words: DateWords, unit: str, english: str) -> English:
    def said(found: re.Match[str]) -> str | None:
        word = next(word for word in found.groups() if word is not None)
        return english.format(words.number(word), unit)

    return said


def _number(words: DateWords, name: str = "n") -> str:
    if words.spaced:
        return rf"(?P<{name}>\d{{1,3}}|{any_of(map(re.escape, words.numbers))})"
    return rf"(?P<{name}>\d{{1,3}}|[{''.join(words.numbers)}]{{1,3}})"


# ---- weekdays ------------------------------------------------------------------------------------


def _weekdays(words: DateWords) -> list[Rule]:
    made = []
    every = words.glue.get("every")
    for name, english in zip(words.weekdays, _WEEKDAYS, strict=True):
        if every:
            made.append(_rule(words, f"{every}{name}", _said(f"every {english}")))
        made.append(_rule(words, name, _said(english) if words.capitals else _no_name(english)))
    return made


def _no_name(english: str) -> English:
    """Where weekdays are written small, one with a capital before another is a person's name."""

    def said(found: re.Match[str]) -> str | None:
        after = found.string[found.end() : found.end() + 2]
        return None if found[0][:1].isupper() and after[1:].isupper() else english

    return said


# ---- times of day --------------------------------------------------------------------------------


def _nearest_parts(words: DateWords) -> list[Rule]:
    """This evening and tomorrow morning, by themselves or with a time behind them."""
    space = r"\s*" if words.spaced else ""
    named = (
        (words.glue["tonight"], "today ", "pm", "tonight"),
        (words.glue["early"], "tomorrow ", "am", "tomorrow morning"),
    )
    timed = [
        _rule(words, f"{when},?{space}{pattern}", _time(words, prefix, part))
        for when, prefix, part, _ in named
        for pattern in _clock_patterns(words)
    ]
    return timed + [_rule(words, when, _said(english)) for when, _, _, english in named]


def _clock(words: DateWords) -> list[Rule]:
    return [_rule(words, pattern, _time(words)) for pattern in _clock_patterns(words)]


def _clock_patterns(words: DateWords) -> list[str]:
    """Times of day, those with a word before them first."""
    hour = _number(words, "h")
    parts = "|".join(
        f"(?P<{part}>{words.parts[part]})" for part in _CLOCK_PARTS if part in words.parts
    )
    half_past = (
        rf"(?P<past>{words.glue['half_past']})" if "half_past" in words.glue else "(?P<past>\\b\\B)"
    )
    if not words.spaced:
        marks = f"(?:{words.glue['oclock']}|{words.hour})"
        return [
            rf"(?:{parts})?{hour}(?P<mark>{marks})(?:{half_past}|(?P<min>\d{{1,2}})分?)?",
            rf"(?:{parts})?(?<!\d)(?P<h>\d{{1,2}})(?P<mark>:)(?P<min>\d\d)(?P<past>\b\B)?",
        ]
    marks = any_of([*([words.hour] if words.hour else []), words.hours.replace(" ", "")])
    half = rf"(?P<half>{words.glue['half']})?" if "half" in words.glue else "(?P<half>\\b\\B)?"
    minutes = rf"(?:\s?(?::|{words.hour or ':'})\s?(?P<min>\d\d))?"
    tail = rf"(?P<mark>\s?{marks})?(?:{half_past})?(?:\s(?:{parts}))?"
    patterns = [rf"(?:{words.at})\s{half}{hour}{minutes}{tail}"]
    patterns.append(
        rf"(?P<half>\b\B)?(?P<h>\d{{1,2}})\s?(?::|{words.hour or ':'})\s?(?P<min>\d\d){tail}"
    )
    if words.hour:
        patterns.append(
            rf"(?P<half>\b\B)?(?P<h>\d{{1,2}})(?P<min>\b\B)?(?P<mark>\s?{words.hour})"
            rf"(?:{half_past})?(?:\s(?:{parts}))?"
        )
    return patterns


def _time(words: DateWords, prefix: str = "", default: str = "") -> English:
    def said(found: re.Match[str]) -> str | None:
        groups = found.groupdict()
        hour, minute = words.number(groups["h"]), int(groups["min"] or 0)
        if groups.get("past"):
            minute = 30
        if groups.get("half"):
            hour, minute = hour - 1, 30
        if hour > 24 or minute > 59:
            return None
        part = next((part for part in _CLOCK_PARTS if groups.get(part)), default)
        if part:
            return f"{prefix}at {_on_the_day(hour, part):02}:{minute:02}"
        # Figures with minutes or with a word for the hour are those of a clock of 24 hours.
        exact = groups["h"].isdecimal() and bool(groups["min"] or groups["mark"]) and words.spaced
        if exact or hour > 12 or groups["mark"] == ":":
            return f"{prefix}at {hour:02}:{minute:02}"
        return f"{prefix}at {hour}:{minute:02}" if minute else f"{prefix}at {hour}"

    return said


def _on_the_day(hour: int, part: str) -> int:
    """The hour on a clock of 24, from one of 12 with a part of the day."""
    if hour > 12:
        return hour
    if part in _MORNING:
        return hour % 12
    if part == "night1" and hour < 6:
        return hour
    if part == "night1" and hour == 12:
        return 0
    return hour if hour == 12 else hour + 12
