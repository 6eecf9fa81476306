"""Tokenizer: the categories of each word, number or sign.

What can be no part of one (other words, prices, phone numbers, flight numbers, versions, links)
becomes an opaque token, so no rule can reach into it or across it. Linear in the text: only the
surroundings of numbers and known words are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from agent.language.dates.english.lexicon import (
    LEXICON,
    MONTH,
    OTHER_SIGN,
    OTHER_WORD,
    UNIT_OF,
    Entry,
    Token,
    full_year,
    number_kinds,
    windows,
)

_MASTER = re.compile(
    r"""
    (?P<link>(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64})
  | (?P<price>[$€£¥]\s?\d[\d,.]*|(?<![\w.])\d[\d,.]*\s?[€£%°])
  | (?P<phone>\+\d[\d\s().-]{6,20}\d|\(\d{3}\)\s?\d{3}-\d{4}|(?<![\w-])\d{3}-\d{3,4}-\d{4}
      |(?<![\w-])\d{3}-\d{4}(?![\w-]))
  | (?P<iso>\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:]))
  | (?P<named>(?<!\w)\d{1,2}[-/.]MONTH[-/.](?:\d{4}|\d\d)(?![\w-])
      |(?<!\w)\d{4}[-/.]MONTH[-/.]\d{1,2}(?![\w-])
      |\d{1,2}-\d{4}-MONTH(?!\w)|\d{1,2}MONTH\d{4}(?!\w))
  | (?P<digits>\d+(?:[-/.:]\d+)*)(?P<suffix>(?:(?![ap]\.\s?m)[^\W_]+)?)
      (?P<dot>\.(?=\s{0,2}MONTH(?!\w)))?
  | (?P<clock>o\s?['’]\s?clock|oclock)
  | (?P<ampm>[ap]\s?\.\s?m(?![^\W_])\s?\.?)
  | (?P<word>[^\W\d_]+)(?:(?P<number>\d[^\W_]*)|(?P<stop>\.(?=\s{0,2}[\d,a-z-])))?
  | (?P<own>['’]s?(?![^\W_]))
  | (?P<break>\n\s*\n)
  | (?P<sign>[^\w\s])
  | (?P<under>_+\w*)
""".replace("MONTH", MONTH),
    re.VERBOSE | re.IGNORECASE,
)

# Letters that may follow a number without a space, and the word each stands for.
_SUFFIXES = {
    **{word: word for word in ("am", "pm", "ampm", "noon", "midnight", "ish", "s")},
    **{"a": "am", "p": "pm", "h": "hours", "y": "years"},
    **{word: word for word in UNIT_OF},
}
_ORDINAL_SUFFIXES = ("st", "nd", "rd", "th")
_NUMERIC_DATES = (
    # Year first is never ambiguous; else month first, unless only day first exists.
    (re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"), "ymd"),
    (re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})"), "mdy"),
    (re.compile(r"(\d{4})(\d\d)(\d\d)"), "ymd"),
)
_YEAR_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})|(\d{1,2})[-/](\d{4})")
_MONTH_DAY = re.compile(r"(\d{1,2})[/.](\d{1,2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")
_SIGNS = {
    **{sign: "-" for sign in "-–—~−"},
    **{sign: sign for sign in ",<>="},
    **{"/": "slash", "(": "lparen", ")": "rparen"},
}


def tokens(text: str, words: frozenset[str]) -> Iterator[Token]:
    """The tokens of ``text`` that may belong to a time expression.

    ``words`` are the plain words that some rule names. Text far from every number and every word of
    the lexicon is not looked at, and a run of opaque tokens is reported as its first and its last
    only: no rule looks further.
    """
    first: Token | None = None
    last: Token | None = None
    for begin, end in windows(text):
        for match in _MASTER.finditer(text, begin, end):
            for token in _read(match, text, words):
                if token.categories & _OPAQUE:
                    first, last = first or token, token
                    continue
                if first is not None and last is not None:
                    yield first
                    if last is not first:
                        yield last
                    first = last = None
                yield token
        first = last = first or Token(_SIGN_ONLY, end, end)
    if first is not None:
        yield first


_OPAQUE = frozenset({OTHER_WORD, OTHER_SIGN})
_WORD_ONLY = frozenset({OTHER_WORD})
_SIGN_ONLY = frozenset({OTHER_SIGN})


def _read(match: re.Match[str], text: str, words: frozenset[str]) -> Iterator[Token]:
    start, end = match.span()
    group = match.lastgroup
    if match["word"] is not None:
        yield from _read_word(match, words)
    elif match["digits"] is not None:
        yield from _read_digits(match, text, words)
    elif group == "sign":
        name = _SIGNS.get(match[0])
        yield Token(frozenset({name}) if name else _SIGN_ONLY, start, end, name or "")
    elif group == "own":
        yield Token(frozenset({"'s"}), start, end, "'s")
    elif group == "clock":
        yield Token(frozenset({"o'clock"}), start, end, "o'clock")
    elif group == "ampm":
        word = match[0][0].lower() + "m"
        yield Token(frozenset({word}), start, end, word)
    elif group == "iso":
        yield _read_iso(match, _is_id(text, start, words))
    elif group == "named":
        yield _read_named(match)
    else:
        yield Token(_SIGN_ONLY if group == "break" else _WORD_ONLY, start, end)


def _read_word(match: re.Match[str], words: frozenset[str]) -> Iterator[Token]:
    start, end = match.span()
    written = match["word"]
    word = written.lower()
    digits = match["number"]
    entry = LEXICON.get(word)
    if start and match.string[start - 1] in "$#@_":
        yield Token(_WORD_ONLY, start, end)
        return
    if digits is not None:
        yield from _read_word_with_digits(match, word, digits, entry)
        return
    kinds = set(entry.categories) if entry else set()
    if word in words:
        kinds.add(word)
    if not kinds:
        yield Token(_WORD_ONLY, start, end)
        return
    if written[0].isupper() and len(written) > 1:
        kinds |= {kind.replace("WEAK", "NAMED") for kind in kinds if kind.startswith("WEAK")}
    # The full stop of "Dec." and "Sat." belongs to the word where a sentence goes on after it.
    stop = match["stop"] is not None
    if stop and not (kinds & _ABBREVIATED and len(word) <= 5):
        end -= 1
    yield Token(frozenset(kinds), start, end, word, entry.number if entry else 0.0)
    if end < match.end():
        yield Token(_SIGN_ONLY, end, match.end())


_ABBREVIATED = {"MONTH", "WEAK_MONTH", "WEEKDAY", "WEAK_WEEKDAY", "UNIT"}


def _read_word_with_digits(
    match: re.Match[str], word: str, digits: str, entry: Entry | None
) -> Iterator[Token]:
    start, middle, end = match.start(), match.start("number"), match.end()
    if not digits.isdecimal():
        ordinal = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", digits)
        if entry and entry.categories & {"MONTH", "WEAK_MONTH"} and ordinal:
            yield _month(word, entry, start, middle)
            yield ordinal_token(int(ordinal[1]), middle, end)
            return
    elif entry and entry.categories & {"MONTH", "WEAK_MONTH"} and len(digits) <= 4:
        yield _month(word, entry, start, middle)
        yield number_token(digits, middle, end)
        return
    elif word in ("q", "h") and digits in ("1", "2", "3", "4")[: 4 if word == "q" else 2]:
        kind = "QUARTER" if word == "q" else "HALF"
        yield Token(frozenset({kind}), start, end, word, float(digits))
        return
    elif word == "w" and len(digits) == 2 and 1 <= int(digits) <= 53:
        yield Token(frozenset({"WEEK_NUMBER"}), start, end, word, float(digits))
        return
    yield Token(_WORD_ONLY, start, end)


def _month(word: str, entry: Entry, start: int, end: int) -> Token:
    return Token(frozenset({"MONTH"}), start, end, word, entry.number)


def ordinal_token(rank: int, start: int, end: int) -> Token:
    """An ordinal such as ``22nd``."""
    kinds = {"ORDINAL"}
    if 1 <= rank <= 31:
        kinds.add("ORD_DAY")
    return Token(frozenset(kinds), start, end, "", float(rank))


def number_token(digits: str, start: int, end: int) -> Token:
    """A run of digits, or a decimal, with everything that it may count."""
    value = float(digits)
    return Token(number_kinds(value, digits), start, end, digits, value)


_PREFIX = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")


def _is_id(text: str, start: int, words: frozenset[str]) -> bool:
    """Whether the number at ``start`` hangs on a word by a dash, as in A-2024 but not mid-2024."""
    prefix = _PREFIX.search(text[max(0, start - 20) : start])
    if prefix is None:
        return False
    word = prefix[1].lower()
    return len(word) == 1 or not (word in words or word in LEXICON)


def _read_iso(match: re.Match[str], part_of_id: bool) -> Token:
    start, end = match.span()
    if part_of_id:
        return Token(_WORD_ONLY, start, end)
    try:
        moment = datetime.fromisoformat(match[0].upper().replace(" ", "T"))
    except ValueError:
        return Token(_WORD_ONLY, start, end)
    kinds = frozenset({"ISO_TIME"})
    return Token(kinds, start, end, "", 0.0, moment)


def _read_named(match: re.Match[str]) -> Token:
    """Dates such as ``05-Aug-2016``, ``2019/aug/01`` and ``23-2020-September``."""
    start, end = match.span()
    parts = re.findall(r"\d+|[^\W\d_]+", match[0])
    names = [LEXICON[part.lower()].number for part in parts if part.isalpha()]
    numbers = [part for part in parts if part.isdecimal()]
    years = [part for part in numbers if len(part) == 4] or numbers[-1:]
    days = [part for part in numbers if part is not years[0]]
    if not days or len(days[0]) > 2:
        return Token(_WORD_ONLY, start, end)
    return _date_token(full_year(int(years[0])), int(names[0]), int(days[0]), start, end)


def _date_token(year: int, month: int, day: int, start: int, end: int) -> Token:
    try:
        moment = datetime(year, month, day)
    except ValueError:
        return Token(_WORD_ONLY, start, end)
    return Token(frozenset({"FULL_DATE"}), start, end, "", 0.0, moment)


def _read_digits(match: re.Match[str], text: str, words: frozenset[str]) -> Iterator[Token]:
    start, end = match.span()
    digits, suffix = match["digits"], match["suffix"].lower()
    before = text[start - 1] if start else " "
    middle = match.end("digits")
    # A number glued to other signs is part of an id, a path or a longer number.
    glued = (
        _is_id(text, start, words)
        or before.isalnum()
        or before in "_#@&%\\"
        or text[end : end + 1] in ("_", "@", "\\", "%")
    )
    if glued:
        yield Token(_WORD_ONLY, start, end)
    elif not suffix:
        yield from _read_number(digits, start, end)
    elif suffix in _ORDINAL_SUFFIXES and digits.isdecimal() and len(digits) <= 3:
        yield ordinal_token(int(digits), start, end)
    elif suffix in _SUFFIXES and not (suffix in ("a", "p") and match["suffix"].isupper()):
        word = _SUFFIXES[suffix]
        parts = list(_read_number(digits, start, middle))
        if parts[-1].categories & _OPAQUE:
            yield Token(_WORD_ONLY, start, end)
            return
        yield from parts
        kinds = LEXICON[word].categories if word in LEXICON else frozenset()
        yield Token(kinds | ({word} & words), middle, end, word)
    elif suffix in LEXICON and LEXICON[suffix].categories & {"MONTH", "WEAK_MONTH"}:
        yield from _read_number(digits, start, middle)
        yield _month(suffix, LEXICON[suffix], middle, end)
    elif re.fullmatch(r"[qh][1-4]", suffix) and len(digits) == 4:
        yield number_token(digits, start, middle)
        kind = "QUARTER" if suffix[0] == "q" else "HALF"
        yield Token(frozenset({kind}), middle, end, suffix[0], float(suffix[1]))
    elif re.fullmatch(r"h\d\d", suffix) and digits.isdecimal() and len(digits) <= 2:
        # 17h30, the French way that travel bookings use.
        yield _clock_token(int(digits), int(suffix[1:]), 0, start, end, digits)
    else:
        yield Token(_WORD_ONLY, start, end)


def _clock_token(hour: int, minute: int, second: int, start: int, end: int, written: str) -> Token:
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute + second):
        return Token(_WORD_ONLY, start, end)
    kinds = {"CLOCK"}
    if 1 <= hour <= 12 and not written.startswith("0"):
        kinds.add("HALF_DAY_CLOCK")
    return Token(frozenset(kinds), start, end, written, float(hour * 3600 + minute * 60 + second))


def _read_number(digits: str, start: int, end: int) -> Iterator[Token]:
    """A number with its separators: a date, a time, a decimal, or two of them with a dash."""
    token = _read_composite(digits, start, end)
    if token is not None:
        yield token
        return
    parts = digits.split("-")
    if len(parts) == 2 and (len(parts[0]) == 4) != (len(parts[1]) == 4) and digits.count("/") == 0:
        parts = []  # 32-2015 is an id, and no range of years or of days
    if len(parts) == 2 or (len(parts) == 6 and all(parts)):
        middle = parts[: len(parts) // 2]
        left, right = "-".join(middle), "-".join(parts[len(middle) :])
        at = start + len(left)
        first = _read_composite(left, start, at)
        second = _read_composite(right, at + 1, end)
        if first is not None and second is not None:
            yield first
            yield Token(frozenset({"-"}), at, at + 1, "-")
            yield second
            return
    yield Token(_WORD_ONLY, start, end)


def _read_composite(digits: str, start: int, end: int) -> Token | None:
    if len(digits) < 8 and digits.isdecimal():
        return number_token(digits, start, end)
    for pattern, order in _NUMERIC_DATES:
        match = pattern.fullmatch(digits)
        if match is None:
            continue
        if order == "ymd":
            if len(digits) == 8 and digits.isdecimal() and not "1900" <= digits[:4] <= "2100":
                return number_token(digits, start, end)
            return _date_token(int(match[1]), int(match[2]), int(match[3]), start, end)
        if match[2] == "." and not (len(match[4]) == 4 or len(digits) == 8):
            return Token(_WORD_ONLY, start, end)  # 1.2.34 is a version, 12.05.24 a date
        return _day_or_month_first(match, start, end)
    match = _YEAR_MONTH.fullmatch(digits)
    if match is not None:
        year, month = (match[1], match[2]) if match[1] else (match[4], match[3])
        if 1 <= int(month) <= 12 and 1900 <= int(year) <= 2100:
            value = float(int(year) * 12 + int(month) - 1)
            return Token(frozenset({"YEAR_MONTH"}), start, end, digits, value)
        return None
    match = _CLOCK.fullmatch(digits)
    if match is not None:
        return _clock_token(int(match[1]), int(match[2]), int(match[3] or 0), start, end, digits)
    match = _MONTH_DAY.fullmatch(digits)
    if match is not None:
        return _month_day_token(digits, match, start, end)
    if digits.isdecimal():
        if len(digits) > 9:
            return Token(_WORD_ONLY, start, end)
        return number_token(digits, start, end)
    if re.fullmatch(r"\d{1,9}\.\d{1,9}", digits):
        return number_token(digits, start, end)
    return None


def _day_or_month_first(match: re.Match[str], start: int, end: int) -> Token:
    first, second, year = int(match[1]), int(match[3]), full_year(int(match[4]))
    if first > 12 or match[2] == ".":
        # Dots are how day-first countries write; else only an impossible month decides.
        first, second = (second, first) if second <= 12 else (first, second)
    return _date_token(year, first, second, start, end)


def _month_day_token(digits: str, match: re.Match[str], start: int, end: int) -> Token | None:
    """``5/12`` (month first), ``22/04`` by value, ``7-6`` and ``5.12`` only in company."""
    first, second = int(match[1]), int(match[2])
    kinds: set[str] = set()
    if digits[len(match[1])] == ".":
        kinds.update(number_kinds(float(digits), digits))
        if first <= 24 and second <= 59 and len(match[2]) == 2:
            kinds.add("DOTTED_CLOCK")
    else:
        kinds.add("SLASHED")
    month, day = (first, second) if first <= 12 else (second, first)
    try:
        moment = datetime(2000, month, day)
    except ValueError:
        if "SLASHED" in kinds:
            return Token(_WORD_ONLY, start, end)
        return Token(frozenset(kinds), start, end, digits, float(digits))
    kinds.add("MONTH_DAY")
    value = float(digits) if "NUMBER" in kinds else 0.0
    return Token(frozenset(kinds), start, end, digits, value, moment)
