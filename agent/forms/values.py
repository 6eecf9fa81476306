"""Values as a form wants them: dates in its order, a choice among its options, numbers as numbers.

Dates travel as ``YYYY-MM-DD`` (``--MM-DD`` without a year, ``YYYY-MM`` without a day). A value
that a field cannot take gives None: it is never bent until it fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.forms.fields import FormField, Option
from agent.forms.places import country_named, state_forms
from agent.forms.words import fold, words
from agent.results import Value as Value

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"""(?P<iso>\b\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))
    |(?P<cn>(?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}[日号])
    |(?P<slashes>\b\d{{4}}[/.]\d{{1,2}}[/.]\d{{1,2}}\b)
    |(?P<dots>\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)
    |(?P<dmy>\b\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ {_MONTH}\b\.?(?:,?\ \d{{4}}\b)?)
    |(?P<mdy>\b{_MONTH}\b\.?\ \d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\ \d{{4}}\b)?)
    |(?P<my>\b{_MONTH}\ \d{{4}}\b)""",
    re.IGNORECASE | re.VERBOSE,
)


def dates_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Absolute dates with their place in the text; memories hold no relative ones."""
    for found in _DATE.finditer(text):
        numbers = [int(n) for n in re.findall(r"\d+", found.group())]
        name = re.search(_MONTH, found.group(), re.IGNORECASE)
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
    return date if not date.startswith("--") else date[2:]


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


def fit(value: str, key: str | None, field: FormField) -> Value | None:
    """The value as the field takes it, or None when it cannot."""
    if field.options:
        return choose(value, key, field.options)
    if key in ("bday-day", "bday-month", "cc-exp-month"):
        value = (
            value
            if field.max_length == 2 or field.type not in ("number", "integer")
            else value.lstrip("0")
        )
    if key == "tel" or key == "tel-national":
        value = _fit_phone(value, field)
    if key == "cc-exp-year" and (field.max_length == 2 or _short_year(field)):
        value = value[-2:]
    if key == "cc-number" and field.max_length is not None and len(value) > field.max_length:
        value = re.sub(r"\D", "", value)
    if key == "country" and (
        field.max_length == 2 or "code" in words(f"{field.name} {field.label}")
    ):
        country = country_named(value)
        value = country.code if country else value
    if key == "address-level1" and field.max_length in (2, 3):
        value = next(iter(state_forms(value)), value)
    if field.type in ("number", "integer"):
        if key in ("cc-number", "tel", "tel-national"):
            value = re.sub(r"\D", "", value)
            return int(value) if value[:1] != "0" else None
        return _number(value, whole=field.type == "integer")
    if field.type == "boolean":
        return None
    if field.type == "email" and "@" not in value:
        return None
    if field.max_length is not None and len(value) > field.max_length:
        return None
    return value


def _short_year(field: FormField) -> bool:
    said = set(words(f"{field.placeholder} {field.label} {field.hint}"))
    return "yy" in said and "yyyy" not in said


def _fit_phone(value: str, field: FormField) -> str:
    digits = re.sub(r"\D", "", value)
    plain = "".join(c for c in field.pattern if c not in "^$")
    only_digits = bool(re.fullmatch(r"(?:\[0-9\]|\\d)(?:[*+]|\{[\d,]+\})?", plain))
    too_long = field.max_length is not None and len(value) > field.max_length
    if too_long and field.max_length is not None and len(digits) > field.max_length:
        # The field has no room for the calling code; a '+' says where it ends only with a space.
        digits = re.sub(r"\D", "", re.sub(r"^\+\d{1,3}[\s(-]", "", value))
    return digits if only_digits or too_long else value


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
    wanted = _spellings(value, key)
    for spelling in wanted:
        exact = [o for o in options if spelling in (_plain(o.value), _plain(o.text))]
        if exact:
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
