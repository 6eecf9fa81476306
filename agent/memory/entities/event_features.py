"""Event features of a sentence: numbers, day, kind, people, place. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from agent.language.dates.date_literals import KINDS as VALUES
from agent.language.dates.date_literals import clock
from agent.language.dates.dated import in_figures
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import ME_KEY

_WORDS = {
    "flight": "flight|flights|plane|boarding pass",
    "train": "train|trains",
    "bus": "bus|coach trip",
    "ferry": "ferry|boat trip",
    "dinner": "dinner|supper",
    "lunch": "lunch",
    "breakfast": "breakfast|brunch",
    "dentist": "dentist|dental|hygienist",
    "check-up": "check-up|checkup",
    "haircut": "haircut|hairdresser|barber",
    "meeting": "meeting|stand-up|workshop",
    "interview": "interview",
    "concert": "concert|gig|recital",
    "theatre": "theatre|theater|musical|opera|ballet",
    "film": "film|movie|cinema",
    "match": "match|tournament",
    "party": "party|housewarming",
    "wedding": "wedding",
    "funeral": "funeral",
    "exam": "exam",
    "lesson": "lesson|class|rehearsal",
    "stay": "hotel|stay|hostel|apartment booking",
    "delivery": "delivery|parcel|package",
    "conference": "conference|congress|summit",
    "viewing": "viewing",
}
_KIND = {word: kind for kind, words in _WORDS.items() for word in words.split("|")}
_KINDS = re.compile(
    rf"\b({'|'.join(sorted(_KIND, key=len, reverse=True))})\b(?!['’]s)", re.IGNORECASE
)
_FLYING = re.compile(
    r"\b(?:flight|seat|gate|board\w*|depart\w*|arriv\w*|lands?|terminal|plane|fly\w*|airline"
    r"|passenger|booking|reservation|ticket|fare|takes? off|luggage|baggage|check-?in)\b",
    re.IGNORECASE,
)
_FLIGHT = re.compile(r"\b(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}\b")
_TRAIN = re.compile(
    r"\b(?:ICE|TGV|IC|EC|RE|RJX?|AVE) ?\d{2,4}\b|(?<=[Tt]rain )[A-Z]{1,3} ?\d{1,4}\b"
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBERED = re.compile(
    r"\b(?:(?P<booking>booking|reservation|confirmation|PNR|record locator)|(?P<order>order))\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w-])(?=[A-Z0-9-]*\d|[A-Z]{6}\b)[A-Z0-9][A-Z0-9-]{4,}(?![\w-])")
_DATED = re.compile(r"\d|[A-Z]{5}")
_ARRIVES = re.compile(r"\b(?:arriv\w+|lands?|landing|check(?:s|ing)?[ -]?out)\b", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:depart\w*|leaves?|leaving|takes? off|boards?)\b", re.IGNORECASE)
_BOUGHT = re.compile(r"\b(?:booked|bought|paid|ordered|purchased)\b", re.IGNORECASE)
_MOVES = re.compile(
    r"\b(?:moved?|re-?(?:scheduled?|booked)|postponed?|brought forward|pushed|shifted|delayed"
    r"|changed|put off|set back|cancell?ed|instead)\b",
    re.IGNORECASE,
)
_WITH = re.compile(r"\b(?:with|and|for)\s+$")
_CAPITAL = re.compile(r"(?<![\w-])[^\W\d_a-z][\w’'-]*")
_NO_PLACE = frozenset(
    """i mr mrs ms dr prof the a an my our on at in to from we january february march april may
    june july august september october november december monday tuesday wednesday thursday friday
    saturday sunday am pm it is there he she they""".split()
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


@dataclass(frozen=True, slots=True)
class EventFeatures:
    """One memory as it tells of an event."""

    memory: str
    source: str | None
    ids: frozenset[tuple[str, str]]
    """Numbers with what they are of: ('flight', 'SQ318'), ('booking', 'XK7P2Q')."""
    day: date | None
    """The day it begins; None where the text names none or several."""
    written: str
    """That day as it stands in the text."""
    kinds: frozenset[str]
    with_: frozenset[str]
    """Keys of the people it is with."""
    about: frozenset[str]
    """Keys of all people, and words of the places, that it names."""
    clocks: frozenset[str]

    def searched(self) -> tuple[str, ...]:
        """Words under which other memories of the event are found."""
        return (*(code for _, code in sorted(self.ids)), *([self.written] if self.written else []))


def read(
    memory: str, text: str, said: datetime, source: str | None, known: Identities
) -> EventFeatures | None:
    """What a text says of an event; None where it has neither a number, nor kind and day."""
    if _DATED.search(text) is None:
        return None  # neither number nor date: of many memories most
    text = in_figures(text)
    ids = frozenset(numbers(text))
    days = {
        found: written for written in VALUES["date"].findall(text) if (found := _day(written, said))
    }
    if not ids and len(days) != 1:
        return None
    kinds = kinds_of(text) | {kind for kind, _ in ids if kind in _WORDS}
    travels = any(kind in ("flight", "train") for kind, _ in ids)
    arrival = _ARRIVES.search(text) is not None and _LEAVES.search(text) is None
    bought = travels and _BOUGHT.search(text) is not None
    day = next(iter(days)) if len(days) == 1 and not arrival and not bought else None
    if not ids and (not kinds or day is None):
        return None
    with_, about = _named(text, said, known)
    return EventFeatures(
        memory,
        source,
        ids,
        day,
        days[day] if day is not None else "",
        frozenset(kinds),
        with_,
        about,
        frozenset(clock(value) for value in VALUES["time"].findall(text)),
    )


def kinds_of(text: str) -> frozenset[str]:
    """The kinds of event that a text names: flight, dinner, dentist."""
    return frozenset(_KIND[match.group().casefold()] for match in _KINDS.finditer(text))


def moves(text: str) -> bool:
    """Whether a text says that an event takes place at another time."""
    return _MOVES.search(text) is not None


def numbers(text: str) -> Iterator[tuple[str, str]]:
    """What each flight, train, booking and order number of a text is of, and the number."""
    travel = {"train": _TRAIN.findall(text)}
    if not travel["train"] and _FLYING.search(text):
        travel["flight"] = _FLIGHT.findall(text)
    for kind, codes in travel.items():
        for code in codes:
            yield kind, code.replace(" ", "")
    taken = {code for codes in travel.values() for code in codes}
    if (what := _NUMBERED.search(text)) is not None:
        kind = "booking" if what["booking"] else "order"
        for found in _CODE.finditer(text, what.end()):
            if found.group() not in taken and not _ISO.fullmatch(found.group()):
                yield kind, found.group()
                return


def _day(written: str, said: datetime) -> date | None:
    """'2026-03-12', '12 March 2026' or '12 March' as a day; without a year the next one."""
    try:
        if _ISO.fullmatch(written):
            return date.fromisoformat(written)
        number, month, *year = written.split()
        at = _MONTHS.index(month[:3].casefold()) + 1
        if year:
            return date(int(year[0]), at, int(number))
        found = date(said.year, at, int(number))
        return found if found >= said.date() else found.replace(year=said.year + 1)
    except ValueError:
        return None  # 31 June


def _named(text: str, said: datetime, known: Identities) -> tuple[frozenset[str], frozenset[str]]:
    """People it is with, and all people and places it names."""
    with_: set[str] = set()
    about: set[str] = set()
    mentions = known.mentions(text, said)
    for mention in mentions:
        if mention.who != ME_KEY:
            about.add(mention.who)
            if _WITH.search(text[: mention.start]):
                with_.add(mention.who)
    for match in _CAPITAL.finditer(text):
        word = match.group().casefold().removesuffix("'s").removesuffix("’s")
        inside = any(m.start <= match.start() < m.end for m in mentions)
        if inside or match.start() == 0 or word in _NO_PLACE or word in _KIND or len(word) < 2:
            continue
        about.add(word)
        if re.search(r"\bwith (?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?$", text[: match.start()]):
            with_.add(word)
    return frozenset(with_), frozenset(about)
