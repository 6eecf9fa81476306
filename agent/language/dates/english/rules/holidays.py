"""Rules for named holidays, computed in ``agent.language.dates.values``."""

from __future__ import annotations

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.rules.common import spell, steps_of, year_of
from agent.language.dates.values import HOLIDAYS, When, a_day, day, past_and_future

HOLIDAY_NAME_TABLE = Table()
"""The names, which come before all days: the Friday of "Good Friday" is no day by itself."""
HOLIDAY_TABLE = Table()
rule = HOLIDAY_TABLE.rule


def _holiday_pattern(name: str) -> str:
    spelled = []
    for word in name.split():
        if word.endswith("s") and word not in ("christmas", "xmas", "thanks"):
            spelled.append(f"({word[:-1]} 's|{word} ('s)?)")
        else:
            spelled.append(word)
    return " ".join(spelled)


def _add_holiday(number: int, name: str) -> None:
    @HOLIDAY_NAME_TABLE.rule("HOLIDAY", _holiday_pattern(name) + " day?")
    def holiday_name(found: RuleMatch) -> float:
        return float(number)


_HOLIDAY_NAMES = sorted(HOLIDAYS, key=len, reverse=True)
for _number, _name in enumerate(_HOLIDAY_NAMES):
    _add_holiday(_number, _name)


@rule(
    "DATE",
    spell("(s:{THIS}/{NEXT}/{LAST}) h:HOLIDAY"),
    "h:HOLIDAY (of|in|,)? (y:YEAR)",
    "h:HOLIDAY (of|in)? (s:this/next/last) year",
    "h:HOLIDAY",
)
def holiday(found: RuleMatch) -> When:
    """Christmas; Easter 2018; next Thanksgiving; Halloween of last year."""
    of_year = HOLIDAYS[_HOLIDAY_NAMES[found.number("h")]]
    year = year_of(found)
    if year is not None:
        return a_day(of_year(year), relative=False, explicit_year=True)
    if "year" in found.words().split():
        return a_day(of_year(found.now.year + steps_of(found.word("s"))))
    readings = past_and_future(lambda one: day(of_year(one)), found.now)
    if "s" in found and steps_of(found.word("s")):
        wanted = readings[-1:] if steps_of(found.word("s")) > 0 else readings[:1]
        return When("date", "day", wanted, relative=True)
    return When("date", "day", readings, narrative=True)
