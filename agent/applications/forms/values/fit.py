"""Value formatting: dates, choices and numbers.

Dates travel as ``YYYY-MM-DD`` (``--MM-DD`` without a year, ``YYYY-MM`` without a day). A value
that a field cannot take gives None: it is never bent until it fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from agent.applications.forms.fields import FormField, Option
from agent.applications.forms.matching.label_words import fold, words
from agent.applications.forms.values.constraints import accepts
from agent.applications.forms.values.postal_addresses import country_named, state_forms
from agent.language.dates import find_times
from agent.language.dates.english.lexicon import MONTH, MONTH_NAMES
from agent.language.patterns import bounded
from agent.results import Value

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""Where the clock stands for a date that needs none."""
_MONTHS = [name.lower() for name in MONTH_NAMES]
_DATE = re.compile(
    rf"""(?P<iso>\b\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))
    |(?P<cn>(?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}[日号])
    |(?P<slashes>\b\d{{4}}[/.]\d{{1,2}}[/.]\d{{1,2}}\b)
    |(?P<dots>\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)
    |(?P<dmy>\b\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ {MONTH}\b\.?(?:,?\ \d{{4}}\b)?)
    |(?P<mdy>\b{MONTH}\b\.?\ \d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\ \d{{4}}\b)?)
    |(?P<my>\b{MONTH}\ \d{{4}}\b)""",
    re.IGNORECASE | re.VERBOSE,
)


def dates_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Absolute dates with their place in the text; memories hold no relative ones."""
    for found in _DATE.finditer(text):
        numbers = [int(n) for n in re.findall(r"\d+", found.group())]
        name = re.search(MONTH, found.group(), re.IGNORECASE)
        month = next(
            (
                i
                for i, m in enumerate(_MONTHS, 1)
                if name and m.startswith(name.group()[:3].lower())
            ),
            0,
        )
        year = next((n for n in numbers if n > 999), 0)
        rest = [n for n in numbers if n != year or n <= 999]
        match found.lastgroup:
            case "iso" | "slashes" | "cn":
                month, day = rest[0], rest[1]
            case "dots":
                day, month = rest[0], rest[1]
            case "my":
                day = 0
            case _:
                day = rest[0]
        if 1 <= month <= 12 and 0 <= day <= 31:
            head = f"{year:04d}" if year else "-"
            yield f"{head}-{month:02d}" + (f"-{day:02d}" if day else ""), found.start(), found.end()


def day_of(value: str) -> list[tuple[str, int, int]]:
    """The day that a whole value is, written in figures, unless day and month could change places.

    In the form of ``dates_in``; empty where it is no day.
    """
    spans = find_times(value, _ANY_DAY)
    if len(spans) != 1 or (spans[0].start_char, spans[0].end_char) != (0, len(value)):
        return []
    day = spans[0].start
    if day is None or spans[0].grain != "day" or not spans[0].explicit_year:
        return []
    if day.day <= 12 and day.day != day.month and not value[:4].isdigit():
        return []
    return [(f"{day:%Y-%m-%d}", 0, len(value))]


# 'My gym is Fit24 since May': the end of the sentence is no part of the value.
_WHEN = bounded(
    r"(?:,|(?<![\s,]))\s+"
    r"(?:(?:last|this|next) (?:year|month|week|spring|summer|autumn|fall|winter|morning)"
    r"|recently|now|nowadays|currently|these days|at the moment|from (?:now|today)(?: on)?"
    r"|yesterday|today|in (?:19|20)\d\d|since .*+|(?:\w+ )?(?:years?|months?|weeks?) ago"
    r"|(?:on|from|as of|since|until|starting|by)(?: the)?)[,.]?$"
)


def without_when(text: str) -> str:
    """What is said, without when it is so: 'Ghent since 3 May' is Ghent."""
    for date, start, end in dates_in(text):
        if date and not text[end:].strip(" ,."):
            cut = _WHEN.sub("", text[:start].rstrip())
            # A date that no such word leads to belongs to the value: 'room 3 May'.
            text = cut if cut != text[:start].rstrip() else text
    return _WHEN.sub("", text).strip(" ,") or text


def parts_of_date(date: str) -> dict[str, str]:
    """The year, month and day that a canonical date holds."""
    if date.startswith("--"):
        return {"month": date[2:4], "day": date[5:7]}
    pieces = date.split("-")
    return dict(zip(("year", "month", "day"), pieces, strict=False))


_DATE_ORDERS = re.compile(
    r"\b(?P<a>d{1,2}|m{1,2}|y{2,4}|j{4}|tt|jj|a{4})(?P<s>[/.\- ]{1,3})"
    r"(?P<b>d{1,2}|m{1,2}|y{2,4}|j{4}|a{4})(?:(?P=s)(?P<c>d{1,2}|m{1,2}|y{2,4}|j{4}|a{4}|tt|jj))?\b",
    re.IGNORECASE,
)


def fit_date(date: str, field: FormField, key: str | None = None) -> str | None:
    """A canonical date as the field writes dates; None where it lacks what the field needs."""
    parts = parts_of_date(date)
    full = {"year", "month", "day"} <= parts.keys()
    if field.type in ("date", "datetime-local"):
        return (f"{date}T00:00" if field.type == "datetime-local" else date) if full else None
    if field.type == "month":
        return f"{parts['year']}-{parts['month']}" if "year" in parts else None
    for text in (field.placeholder, field.hint, field.label, *field.text_before[-1:]):
        order = _DATE_ORDERS.search(text)
        if order is None:
            continue
        return _in_order(order, parts)
    if key == "cc-exp" and "year" in parts:
        year = parts["year"] if field.max_length == 7 else parts["year"][-2:]
        return f"{parts['month']}/{year}"  # as it is printed on the card
    shown = date if not date.startswith("--") else date[2:]
    if field.pattern and full and not accepts(field, shown):
        year, month, day = parts["year"], parts["month"], parts["day"]
        # With slashes nobody can tell the day from the month unless they are the same.
        slashes = (f"{day}/{month}/{year}",) if day == month else ()
        ways = (f"{day}.{month}.{year}", f"{year}/{month}/{day}", f"{year}{month}{day}", *slashes)
        return next((way for way in ways if accepts(field, way)), None)
    return shown


def _in_order(order: re.Match[str], parts: dict[str, str]) -> str | None:
    written: list[str] = []
    # German writes TT.MM.JJJJ, French JJ/MM/AAAA.
    names = {
        "d": "day",
        "t": "day",
        "jj": "day",
        "m": "month",
        "y": "year",
        "j": "year",
        "a": "year",
    }
    for piece in (order["a"], order["b"], order["c"]):
        if piece is None:
            continue
        number = parts.get(names.get(piece.lower()) or names[piece[0].lower()])
        if number is None:
            return None
        written.append(number[-2:] if len(piece) == 2 else number)
    return order["s"].join(written)


_IN_LETTERS = frozenset(
    {"name", "given-name", "family-name", "street-address", "address-line1", "organization"}
)
"""Keys that a number alone is no value of."""


def fit(value: str, key: str | None, field: FormField) -> Value | None:
    """The value as the field takes it, or None when it cannot."""
    if field.options:
        return choose(value, key, field.options)
    if field.type in ("boolean", "array", "object"):
        return None
    if key in _IN_LETTERS and not any(char.isalpha() for char in value):
        return None
    if field.type == "email" and "@" not in value:
        return None
    if field.type in ("number", "integer"):
        if key in ("cc-number", "tel", "tel-national", "tel-area-code"):
            value = re.sub(r"\D", "", value)
            return int(value) if value[:1] != "0" else None
        return _number(value, whole=field.type == "integer")
    return next((way for way in _notations(value, key, field) if accepts(field, way)), None)


def _notations(value: str, key: str | None, field: FormField) -> tuple[str, ...]:
    """Ways to write the same value, the one that the field's words ask for first."""
    said = set(words(f"{field.name} {field.label} {field.placeholder} {field.hint}"))
    match key:
        case "country" | "nationality":
            country = country_named(value)
            if country is None:
                return (value,)
            coded = field.max_length == 2 or bool({"code", "iso"} & said)
            names = (value, country.names[0])
            return (country.code, *names) if coded else (*names, country.code)
        case "address-level1":
            forms = state_forms(value)
            short = field.max_length in (2, 3) or "abbreviation" in said
            return (*forms, value) if short else (value, *forms)
        case "tel-country-code":
            country = country_named(value)
            code = f"+{country.calling}" if country else value
            return (code, code.removeprefix("+"), f"00{code.removeprefix('+')}")
        case "additional-name" if "initial" in said or field.max_length == 1:
            return (value[:1],)
        case "bday-day" | "bday-month" | "cc-exp-month":
            return (value, value.lstrip("0"))
        case "cc-exp-year" if "yy" in said and "yyyy" not in said:
            return (value[-2:],)
        case "cc-exp-year":
            return (value, value[-2:])
        case "cc-number" | "bank-account" | "national-id" | "passport-number":
            return (value, re.sub(r"[\s-]", "", value))
        case "postal-code":
            return (value, value.replace(" ", ""), value.partition("-")[0])
        case _:
            return (value,)


def _number(value: str, *, whole: bool) -> Value | None:
    found = re.fullmatch(r"\D{0,3}(-?\d+(?:[.,]\d+)?)\s*(?:[^\W\d]{0,6})", value.strip())
    if found is None:
        return None
    number = float(found.group(1).replace(",", "."))
    if number.is_integer():
        return int(number)
    return None if whole else number


_SAME = (
    {"male", "man", "m", "boy", "mr", "男", "männlich", "homme", "hombre"},
    {"female", "woman", "f", "w", "girl", "女", "weiblich", "femme", "mujer"},
    {"yes", "y", "true", "1"},
    {"no", "n", "false", "0"},
    {"nonbinary", "non binary", "nb", "x", "diverse", "divers"},
    {"vegetarian", "veggie"},
)


def choose(value: str, key: str | None, options: tuple[Option, ...]) -> str | None:
    """The submitted value of the one option that means the value; None if none does."""
    if key in ("bday-month", "cc-exp-month") and value.isdigit() and len(options) in (12, 13):
        # Twelve in a row are the months in order, whatever language names them.
        named = options[-12:][int(value) - 1] if 1 <= int(value) <= 12 else None
        return (named.value or named.text) if named else None
    if key == "tel-country-code" and value.startswith("+"):
        code = re.compile(rf"(?:^|\+ ?|\b00){value[1:]}(?!\d)")
        dialled = [o for o in options if code.search(o.text) or code.search(o.value)]
        return (dialled[0].value or dialled[0].text) if len(dialled) == 1 else None
    literal = _literal(value)
    for option in options:
        if literal in (_literal(option.value), _literal(option.text)):
            return option.value or option.text
    wanted = _spellings(value, key)
    for spelling in wanted:
        exact = [o for o in options if spelling in (_plain(o.value), _plain(o.text))]
        if len({_literal(o.text) for o in exact}) == 1:
            return exact[0].value or exact[0].text
    if key in ("cc-exp-year", "bday-year") or (value.isdigit() and len(value) <= 2):
        year = (
            [o for o in options if re.search(rf"(?<!\d)0?{int(value)}(?!\d)", o.text)]
            if value.isdigit()
            else []
        )
        return (year[0].value or year[0].text) if len(year) == 1 else None
    for spelling in wanted:
        if len(spelling) < 3:
            continue
        inside = [
            o for o in options if re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", _plain(o.text))
        ]
        if len(inside) == 1:
            return inside[0].value or inside[0].text
    return None


def _literal(text: str) -> str:
    """With its signs, which words leave out: O+ and O- are two blood groups."""
    said = fold(text).replace("−", "-").strip()
    for word, sign in ((" positive", "+"), (" negative", "-")):
        said = said.removesuffix(word) + sign if said.endswith(word) else said
    return said


def _plain(text: str) -> str:
    return " ".join(words(text)) or fold(text).strip()


def _spellings(value: str, key: str | None) -> list[str]:
    """Other ways to say the value, most literal first."""
    said = [value]
    country = country_named(value)
    if country is not None and key in ("country", "nationality", "tel-country-code", None):
        said += [country.names[0], country.code, *country.names[1:]]
        if key == "nationality":
            said = [value, *country.adjectives, *said[1:]]
        if key == "tel-country-code":
            said = [f"+{country.calling}", country.calling, *said]
    said += state_forms(value)
    if key in ("bday-month", "cc-exp-month") and value.isdigit() and 1 <= int(value) <= 12:
        name = _MONTHS[int(value) - 1]
        said += [str(int(value)), name, name[:3], f"{int(value):02d} {name}"]
    elif value.isdigit() and len(value) <= 2:
        said += [str(int(value))]
    elif key == "cc-exp-year":
        said += [value[-2:]]
    said += sorted(next((s for s in _SAME if fold(value) in s), set()))
    return list(dict.fromkeys(_plain(s) for s in said))
