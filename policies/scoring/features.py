"""Language-independent features of questions and memories, without a model.

The signs are general: which kind of thing is asked for, who and which day is named, whether a text
says when, how many, who or where, who speaks, whether it asks rather than tells. What they are
worth, and together with what, the network learns (``policies.walk.scout``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from store.derived.tokenize import folded, words
from store.row_codecs import entity_key
from store.types import Memory

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAYS = re.compile(
    rf"(?P<y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)"
    rf"|(?:(?P<yc>\d{{4}})年)?(?:(?P<mc>\d{{1,2}})月)(?:(?P<dc>\d{{1,2}})[日号])?"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b(?:,? (?P<y1>\d{{4}}))?"
    rf"|\b(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y2>\d{{4}}))?"
    rf"|\b(?P<m3>january|february|march|april|june|july|august|september|october|november|december"
    rf")\b(?:,? (?P<y3>\d{{4}}))?"
    rf"|\b(?P<y4>(?:19|20)\d\d)(?!\d)",
)
_DIGIT = re.compile(r"\d")
_TIMES = re.compile(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|ago|last|next|since|until|week|weekend|month|year"
    r"|morning|evening|afternoon|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|recently|soon|summer|winter|spring|autumn)\b|[年月日号点周]|星期|昨|今天|明天|上午|下午|晚上"
)
_NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|once|dozen|hundred"
    r"|several|couple|first|second|third)\b|[一二两三四五六七八九十百千万]"
)
_PLACES = re.compile(
    r"\b(?:in|at|to|from|near|street|road|city|town|country|home|house|park|school|office)\b"
    r"|[在到去往住]|[省市区县镇村路街]"
)
_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)\b[A-Z][a-z]+")
_SPEAKER = re.compile(r"([^\W\d_][\w .'’-]{0,30}): ")

WHEN, NUMBER, WHO, WHERE = range(4)
_ASKED = (
    re.compile(r"\bwhen\b|\bwhat (?:time|day|date|year|month)\b|\bhow long\b|\bwhich (?:day|year)\b"
               r"|什么时候|何时|几点|哪[天年月]|几月|几号|多久|时间|日期|生日"),
    re.compile(r"\bhow (?:many|much|old|often|far|tall)\b|\bnumber\b|几|多少"
               r"|多[大高重长远]|年龄|号码"),
    re.compile(r"\bwho(?:m|se)?\b|谁|叫什么|名字|哪位"),
    re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|street|state|town)\b|哪里|哪儿"
               r"|在哪|什么地方|地址|地点|何处"),
)  # fmt: skip
_ANSWERS = (_TIMES, _NUMBERS, _NAME, _PLACES)
_SEVERAL = re.compile(
    r"\b(?:all|both|list|each|every|which of|what (?:are|were|kinds?|types?|activities|things)"
    r"|how many|total|together|in common)\b|哪些|都|一共|总共|几个|多少[个人次]|所有|分别|各"
)
_COMPARES = re.compile(
    r"\b(?:more|less|older|younger|earlier|later|first|longer|taller|better|than|or|between"
    r"|difference|same|most|least)\b|比|更|还是|最|相同|一样|先|谁大|哪个"
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|used to|before|former|previous|old|earlier|ago|back then)\b"
    r"|之前|以前|曾|过去|原来|当时|那时"
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|[吗么]\s*[?？]?$"
)
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_MINE = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b|我")


@dataclass(frozen=True, slots=True)
class Day:
    """A day, month or year that a text names; 0 for what it leaves open."""

    year: int
    month: int
    day: int

    def fits(self, other: Day) -> bool:
        """Whether both can mean the same time: what both say agrees, and both say something."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        told = [(one, two) for one, two in pairs if one and two]
        return bool(told) and all(one == two for one, two in told)


def days_in(text: str) -> tuple[Day, ...]:
    """The dates a text names, however much of them, in digits or words, English or Chinese."""
    if _DIGIT.search(text) is None:
        low = text.casefold()
        if not any(month in low for month in _MONTHS):
            return ()
    found = []
    for match in _DAYS.finditer(text.casefold()):
        of = match.groupdict()
        year = of["y"] or of["yc"] or of["y1"] or of["y2"] or of["y3"] or of["y4"]
        month = of["m"] or of["mc"] or of["m1"] or of["m2"] or of["m3"]
        day = of["d"] or of["dc"] or of["d1"] or of["d2"]
        if month and not month.isdigit():
            month = str(_MONTHS.index(month[:3]) + 1)
        found.append(Day(int(year or 0), int(month or 0), int(day or 0)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question as read."""

    words: tuple[str, ...]
    """Each once."""
    names: frozenset[str]
    """Capitalised words that do not begin the question, folded."""
    days: tuple[Day, ...]
    asked: tuple[bool, bool, bool, bool]
    """Whether it asks when, how many, who, where."""
    several: bool
    compares: bool
    past: bool
    yes_no: bool
    mine: bool
    """Whether it speaks of the person whose memory it is."""
    spaceless: bool
    """Whether it is written without spaces: an encoder may know its script less than its words."""

    @classmethod
    def of(cls, text: str) -> QuestionFeatures:
        low = folded(text.strip())
        names = (_bare(match[0]) for match in _NAME.finditer(text.strip()))
        when, number, who, where = (sign.search(low) is not None for sign in _ASKED)
        return cls(
            words=tuple(dict.fromkeys(words(text))),
            names=frozenset(name for name in names if name),
            days=days_in(text),
            asked=(when, number, who, where),
            several=_SEVERAL.search(low) is not None,
            compares=_COMPARES.search(low) is not None,
            past=_PAST.search(low) is not None,
            yes_no=_YES_NO.search(low) is not None,
            mine=_MINE.search(low) is not None,
            spaceless=_SPACELESS.search(low) is not None,
        )


class MemoryFeatures:
    """A memory as read. What few questions ask for is read when the first one does."""

    def __init__(self, memory: Memory) -> None:
        turn = _SPEAKER.match(memory.text)
        self._memory = memory
        self._said = memory.text[turn.end() :] if turn else memory.text
        self._answers: dict[int, bool] = {}
        self.words: frozenset[str] = frozenset(words(memory.text))
        self.speaker: str = _bare(turn[1]) if turn else ""
        """Who says it, folded, where it is written as a turn ('Ana: I have a cat'); else ''."""
        self.relations: frozenset[tuple[str, str]] = frozenset(
            (entity_key(told.head), told.relation) for told in memory.triples
        )
        """Of what each edge tells what: the head's key and the relation."""

    @cached_property
    def days(self) -> tuple[Day, ...]:
        own = (self._memory.created, self._memory.valid_from, self._memory.valid_until)
        return (*days_in(self._said), *(Day(at.year, at.month, at.day) for at in own if at))

    def answers(self, kind: int) -> bool:
        """Whether it says a time (``WHEN``), a number, a name or a place."""
        if kind not in self._answers:
            said = self._said if kind == WHO else folded(self._said)
            self._answers[kind] = (
                _ANSWERS[kind].search(said) is not None
                or (kind == WHERE and self._memory.place is not None)
            )  # fmt: skip
        return self._answers[kind]


def asks(memory: Memory) -> bool:
    """Whether a memory ends by asking."""
    return memory.text.rstrip().endswith(("?", "？"))


class FeatureCache:
    """Memories as read, by number; kept in a view's cache and read when first asked for."""

    def __init__(self) -> None:
        self._memories: Sequence[Memory] = ()
        self._read: dict[int, MemoryFeatures] = {}

    def catch_up(self, memories: Sequence[Memory]) -> None:
        self._memories = memories

    def of(self, number: int) -> MemoryFeatures:
        """The reading of the memory of this number."""
        if number not in self._read:
            self._read[number] = MemoryFeatures(self._memories[number])
        return self._read[number]


def date_fit(days: Sequence[Day], memory: MemoryFeatures) -> float:
    """1 where a day that is asked about is told of, -1 where none is; 0 for a question of none."""
    if not days:
        return 0.0
    return 1.0 if any(one.fits(other) for one in days for other in memory.days) else -1.0


def answer_fit(kinds: Sequence[bool], memory: MemoryFeatures) -> float:
    """The share of what is asked for that a text says at all; 0.5 for an open question."""
    if not any(kinds):
        return 0.5
    wanted = [memory.answers(kind) for kind, wants in enumerate(kinds) if wants]
    return sum(wanted) / len(wanted)


def name_fit(names: frozenset[str], reading: MemoryFeatures) -> float:
    """How far a memory is of or by those that are named: 1 if it speaks of all, or one says it."""
    if not names:
        return 0.0
    held = sum(name in reading.words or name in reading.speaker.split() for name in names)
    return held / len(names)


def _bare(name: str) -> str:
    return " ".join(words(name))
