"""Rules for numbers in words and lengths of time: the first tables of the cascade."""

from __future__ import annotations

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.lexicon import UNIT_OF
from agent.language.dates.values import SECONDS, When, length

NUMBER_TABLE = Table()
rule = NUMBER_TABLE.rule


# --- numbers -------------------------------------------------------------------------------------


@rule("NUMBER", "!<NUMBER a:SMALL/TENS b:TENS c:SMALL?", "!<NUMBER a:SMALL b:SMALL")
def year_in_two_halves(found: RuleMatch) -> float | None:
    """Nineteen eighty six; twenty twenty four; nineteen fifteen."""
    high, low = found.number("a"), found.number("b")
    low += found.number("c") if "c" in found else 0
    if high not in (18, 19, 20) or low < 10 or ("c" in found and found.number("c") > 9):
        return None
    return high * 100.0 + low


@rule("NUMBER", "a:TENS b:SMALL")
def year_twenty_nineteen(found: RuleMatch) -> float | None:
    return 2000.0 + found.number("b") if found.number("a") == 20 and found.number("b") > 9 else None


@rule(
    "NUMBER",
    "(t:SMALL THOUSAND and?) (h:SMALL HUNDRED and?) (d:TENS)? (o:SMALL)?",
    "(t:SMALL THOUSAND and?) (d:TENS) (o:SMALL)?",
    "(t:SMALL THOUSAND and?) (o:SMALL)?",
    "(h:SMALL HUNDRED and?) (d:TENS)? (o:SMALL)?",
)
def year_in_words(found: RuleMatch) -> float | None:
    """Two thousand and five; nineteen hundred ninety three; one hundred."""
    places = {"t": 1000, "h": 100, "d": 1, "o": 1}
    return float(sum(found.number(name) * by for name, by in places.items() if name in found))


@rule("ORDINAL ORD_DAY", "t:TENS -? o:ORD_SMALL", "t:ORD_TENS", "o:ORD_SMALL !UNIT")
def ordinal_in_words(found: RuleMatch) -> float | None:
    rank = sum(found.number(name) for name in ("t", "o") if name in found)
    # "second" alone stays a word until a month or "the ... of" asks for it.
    if "t" not in found and rank == 2:
        return None
    return float(rank) if rank <= 31 else None


@rule("NUMBER", "t:TENS -? o:SMALL", "t:TENS", "o:SMALL")
def number_in_words(found: RuleMatch) -> float | None:
    if "t" in found and "o" in found and found.number("o") > 9:
        return None
    return float(sum(found.number(name) for name in ("t", "o") if name in found))


@rule("NUMBER", "n:NUMBER and (a|one)? half")
def number_and_a_half(found: RuleMatch) -> float:
    return found.amount("n") + 0.5


# --- lengths -------------------------------------------------------------------------------------


def a_length(unit: str, count: float, *, business: bool = False) -> When:
    """A duration of ``count`` units."""
    grain = unit if not business else "business"
    return When(
        "duration",
        grain,
        (),
        delta=length(unit, count),
        seconds=count * SECONDS[unit],
    )


@rule("LENGTH", "(n:NUMBER|a|another) -? (business|working|work) u:day/days")
def business_days(found: RuleMatch) -> When:
    return a_length("day", found.amount("n") if "n" in found else 1, business=True)


@rule("LENGTH", "half (a|an)? u:UNIT", "half - u:UNIT")
def half_a_unit(found: RuleMatch) -> When:
    return a_length(UNIT_OF[found.word("u")], 0.5)


@rule("LENGTH", "(a|an|n:NUMBER) u:UNIT and a half", "(n:NUMBER) and half u:UNIT")
def unit_and_a_half(found: RuleMatch) -> When:
    return a_length(UNIT_OF[found.word("u")], (found.amount("n") if "n" in found else 1.0) + 0.5)


@rule("LENGTH", "(a|the)? few u:UNIT", "(a|the)? couple of? u:UNIT", "a? q:quarter of an hour")
def some_units(found: RuleMatch) -> When:
    if "q" in found:
        return a_length("minute", 15)
    count = 3 if "few" in found.words() else 2
    return a_length(UNIT_OF[found.word("u")], count)


@rule("LENGTH", "several u:UNIT")
def several_units(found: RuleMatch) -> When:
    return a_length(UNIT_OF[found.word("u")], 3)


@rule("LENGTH", "!<MONTH n:NUMBER -? (more|full|whole|calendar|long)? u:UNIT/NIGHT_UNIT")
def counted_units(found: RuleMatch) -> When | None:
    # 2019 days is a length, but "in 2019 week 3" is not 2019 weeks.
    return a_length(UNIT_OF[found.word("u")], found.amount("n"))


@rule("LENGTH", "(a|an|another) (whole|full)? u:UNIT/NIGHT_UNIT")
def one_unit(found: RuleMatch) -> When | None:
    # "a second wave", "a quarter of it" and "a night out" count nothing.
    if found.word("u") in ("second", "quarter", "sec", "min"):
        return None
    return a_length(UNIT_OF[found.word("u")], 1)


@rule("LENGTH", "(all|whole|entire|full) u:UNIT/NIGHT_UNIT")
def whole_unit(found: RuleMatch) -> When | None:
    return a_length(UNIT_OF[found.word("u")], 1)


@rule(
    "LENGTH",
    "a:LENGTH ,? and? b:LENGTH ,? and? c:LENGTH ,? and? d:LENGTH",
    "a:LENGTH ,? and? b:LENGTH ,? and? c:LENGTH",
    "a:LENGTH ,? and? b:LENGTH",
)
def joined_lengths(found: RuleMatch) -> When | None:
    """Two days and three hours; each unit smaller than the one before."""
    lengths = [found.when(name) for name in "abcd" if name in found]
    sizes = [SECONDS.get(one.grain, 0) for one in lengths]
    if len(set(sizes)) != len(sizes):
        return None
    total = relativedelta()
    seconds = 0.0
    for one in lengths:
        total += one.delta or relativedelta()
        seconds += one.seconds or 0
    return When("duration", lengths[-1].grain, (), delta=total, seconds=seconds)
