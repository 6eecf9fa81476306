"""Words of dates in other languages, from the Unicode CLDR, for ``agent.language.dates``.

Reads the npm packages cldr-dates-full and cldr-rbnf (``npm pack cldr-dates-full cldr-rbnf``, each
unpacked into ``--cldr``/NAME) and writes ``agent/language/dates/foreign/words/cldr.json``: months,
weekdays, relative days and lengths, parts of the day, number words below 100, the order of day and
month.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.shared.common import ROOT, parser

LANGUAGES = ("de", "es", "fr", "zh")
OUT = ROOT / "agent" / "language" / "dates" / "foreign" / "words" / "cldr.json"
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = ("minute", "hour", "day", "week", "month", "year")
_PLAIN = re.compile(r"[^\W\d_\xad]+")


def main(argv: Sequence[str] | None = None) -> None:
    options = parser("date_words", __doc__ or "")
    options.add_argument("--cldr", type=Path, required=True, help="folder of the two packages")
    folder = options.parse_args(argv).cldr
    version = json.loads((folder / "cldr-dates-full" / "package.json").read_text("utf-8"))
    table: dict[str, Any] = {
        "source": f"Unicode CLDR {version['version']}, Unicode-3.0 licence (LICENSE-cldr)"
    }
    table |= {language: words_of(folder, language) for language in LANGUAGES}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")


def words_of(folder: Path, language: str) -> dict[str, Any]:
    """Everything that is kept of one language, in small letters."""
    main_folder = folder / "cldr-dates-full" / "main" / language
    dates = {
        name: json.loads((main_folder / f"{name}.json").read_text("utf-8"))["main"][language][
            "dates"
        ]
        for name in ("dateFields", "ca-gregorian")
    }
    fields = dates["dateFields"]["fields"]
    gregorian = dates["ca-gregorian"]["calendars"]["gregorian"]
    spelled = json.loads((folder / "cldr-rbnf" / "rbnf" / f"{language}.json").read_text("utf-8"))
    at = gregorian["dateTimeFormats-atTime"]["standard"]["full"]
    return {
        "order": "".join(dict.fromkeys(re.sub(r"[^dMy]", "", gregorian["dateFormats"]["short"]))),
        "date": gregorian["dateTimeFormats"]["availableFormats"]["yMMMM"],
        "day": gregorian["dateTimeFormats"]["availableFormats"]["MMMMd"],
        "months": [_names(gregorian["months"], str(number)) for number in range(1, 13)],
        "capitals": gregorian["days"]["format"]["wide"]["mon"][0].isupper(),
        "weekdays": [_names(gregorian["days"], day, widths=_widths(language)) for day in WEEKDAYS],
        "relative": {
            name: {
                key.removeprefix("relative-type-"): [_plain(text)]
                for key, text in row.items()
                if key.startswith("relative-type-")
            }
            for name, row in fields.items()
            if name in (*WEEKDAYS, "day", "week", "month", "year")
        },
        "units": {unit: _plain(fields[unit]["displayName"]) for unit in ("week", "month", "year")},
        "future": {unit: _lengths(fields[unit], "future") for unit in UNITS},
        "past": {unit: _lengths(fields[unit], "past") for unit in UNITS},
        "parts": _parts(gregorian["dayPeriods"]),
        "at": _literals(gregorian["dateTimeFormats-atTime"]["standard"]["long"], r"\{[01]\}")
        or _literals(at, r"\{[01]\}"),
        "hour": _literals(gregorian["dateTimeFormats"]["availableFormats"]["H"], r"H+"),
        "numbers": _numbers(spelled["rbnf"]["rbnf"]["SpelloutRules"]),
    }


def _widths(language: str) -> tuple[str, ...]:
    """Short names of weekdays are words of their own in many languages ('so', 'mar'); not there."""
    return ("wide", "abbreviated") if language == "zh" else ("wide",)


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("\u202f", " ").replace("\xa0", " ").casefold()


def _names(
    table: Mapping[str, Any], key: str, widths: Sequence[str] = ("wide", "abbreviated")
) -> list[str]:
    return list(dict.fromkeys(_plain(table["format"][width][key]) for width in widths))


def _lengths(field: Mapping[str, Any], side: str) -> list[str]:
    return list(dict.fromkeys(map(_plain, field[f"relativeTime-type-{side}"].values())))


def _parts(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """Part of the day -> what it is called inside a sentence and by itself."""
    found: dict[str, list[str]] = {}
    for kind in ("format", "stand-alone"):
        for part, name in table[kind]["wide"].items():
            names = found.setdefault(part, [])
            if _plain(name) not in names:
                names.append(_plain(name))
    return found


def _literals(pattern: str, field: str) -> str:
    """What a pattern says beside its fields: "HH 'Uhr'" says uhr."""
    return _plain(re.sub(field, "", pattern).replace("'", "")).strip(" ,")


def _numbers(rules: Mapping[str, Any]) -> dict[str, int]:
    """Number words below 100 that are one word, of every gender and case."""
    found: dict[str, int] = {}
    for name, rows in rules.items():
        if "cardinal" in name or name == "%spellout-numbering":
            for value, text in _rows(rows):
                if (
                    value.isdecimal()
                    and int(value) < 100
                    and _PLAIN.fullmatch(word := text[:-1].partition("[")[0])
                ):
                    found.setdefault(word.casefold(), int(value))
    return found


def _rows(rows: Mapping[str, str] | Sequence[Sequence[str]]) -> Iterable[tuple[str, str]]:
    return rows.items() if isinstance(rows, Mapping) else [(row[0], row[1]) for row in rows]


if __name__ == "__main__":
    main()
