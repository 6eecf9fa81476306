"""References to the conversation: 'it', 'there', 'the second one', 'And Tom?'.

A step before routing and retrieval, by rule: words that may lean on what was said before are
replaced by what they would stand for, where the last exchanges leave one reading. That is a
proposal: memory decides between it and what a question says (``agent.session.respond``).
``benchmarks.context`` measures the rules. English alone: in other languages a message means what
its words say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from agent.answering.replies import is_unknown, without_excerpts
from agent.language.mentions import Kind, Mention, listed, mentions
from agent.language.sentences import declarative, sentences
from agent.results import Exchange
from store.erasure.plan import GONE
from store.errors import UnknownId
from store.graph import MemoryGraph
from store.tables.sources import BLANK, Turn

REACH = 4
"""Exchanges that a word may lean on: further back nobody knows any more what 'it' was."""
YESTERDAY = timedelta(hours=36)
"""How old an exchange of the same conversation may be."""
SHORT = 12
"""Words of a statement that is remembered as the conversation makes its first word mean."""


def recent(
    graph: MemoryGraph, now: datetime, *, within: timedelta = YESTERDAY
) -> tuple[Exchange, ...]:
    """The last exchanges of a home, oldest first, without anything that is forgotten."""
    return tuple(
        Exchange(turn.text, _answer_of(turn, graph), turn.route == "neither")
        for turn in graph.turns.last(REACH)
        if goes_on(turn, now) and now - turn.at <= within
    )


def goes_on(turn: Turn, now: datetime) -> bool:
    """Whether a conversation of now goes on with this turn: fresh, and nothing of it forgotten."""
    fresh = timedelta(0) <= now - turn.at <= YESTERDAY
    return fresh and not any(mark in turn.text + turn.reply for mark in (BLANK, GONE))


def _answer_of(turn: Turn, graph: MemoryGraph) -> str:
    """What a turn told the person; of something told, the memories that were made of it."""
    if turn.route != "update":
        return "" if is_unknown(turn.reply) else without_excerpts(turn.reply)
    try:
        made = [graph.journal.get(edit).after for edit in turn.trace.get("edits", ())]
    except UnknownId:
        return ""
    return " ".join(text for text in made if text)


def in_context(message: str, before: Sequence[Exchange]) -> str:
    """The message as it would be said by itself; unchanged where it leans on nothing."""
    if not before:
        return message
    if (asked := _same_question(message, before)) is not None:
        return asked
    found = _second_one(message, before)
    found = _people(found, before)
    found = _things(found, before)
    return _there(found, before)


def told_as(message: str, meant: str) -> str:
    """What is remembered of a message that means ``meant`` in its conversation.

    Only a short one whose first word leans on what was said before is completed: 'It was moved to
    Friday'. Within longer ones the words mostly mean something of the message itself, and a memory
    with the wrong word says what nobody told.
    """
    _, _, rest = message.strip().partition(" ")
    short = len(message.split()) <= SHORT and meant.endswith(rest)
    return meant if short else message


def _explained(message: str, match: re.Match[str]) -> bool:
    """Whether a sentence of the message itself comes before the word: then it leans on that."""
    before = sentences(message[: match.start()])
    return any(part.endswith((".", "!")) and declarative(part) for part in before)


# ---- 'the second one' -----------------------------------------------------------------------

_COUNT = {
    "first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4,
    "last": -1, "latter": -1, "1": 0, "2": 1, "3": 2, "4": 3, "5": 4,
    "one": 0, "two": 1, "three": 2,
}  # fmt: skip
_ORDINAL = re.compile(
    r"\b[Tt]he (?P<one>first|second|third|fourth|fifth|last)(?: one\b|(?=\s*(?:[?.!,]|$)))"
    r"|\b[Tt]he (?P<of_two>former|latter)(?: one)?\b(?= ?[?.!,]| is| was|$)"
    r"|\b(?:[Nn]umber|[Oo]ption) (?P<number>[1-5]|one|two|three)\b(?!['\d])"
)
_SUCH = re.compile(r"\b[Tt]he (?P<such>[a-z]{3,}) one\b")
_NOT_SUCH = frozenset("first second third fourth fifth last next other only same right".split())


def _second_one(message: str, before: Sequence[Exchange]) -> str:
    if match := _ORDINAL.search(message):
        said = next(filter(None, match.groups()))
        for exchange in reversed(before):
            items = listed(exchange.answered, answer=True) or listed(exchange.said)
            if items:
                place = _COUNT[said]
                known = -len(items) <= place < len(items)
                return _put(message, match, items[place]) if known else message
    match = _SUCH.search(message)
    if match and match["such"] not in _NOT_SUCH:
        for exchange in reversed(before):
            like = [m.text for m in _spoken_of(exchange) if match["such"] in m.text.split()]
            if like:
                one = like[0] if len(set(like)) == 1 else None
                # 'a blue tent and a green one': the green one is a tent as well.
                return _put(message, match, one) if one else message
    return message


# ---- he, she, they --------------------------------------------------------------------------

_PRONOUN = re.compile(
    r"\b(?P<word>[Hh]e|[Ss]he|[Hh]im|[Hh]is|[Hh]ers?|[Tt]hey|[Tt]hem|[Tt]heir)\b"
    r"(?P<ending>['’](?:s|ll|d|re|ve))?"
)
_OBJECT_AFTER = re.compile(
    r"\s*(?:[?.!,;:]|$)|\s+(?:to|a|an|the|my|our|on|in|at|by|for|from|about|before|after|next|last|this"
    r"|that|if|when|and|or|because|with|again|today|tomorrow|yesterday|now|there|it|here|too)\b"
)
_ENDINGS = {"re": " are", "ve": " have"}


def _people(message: str, before: Sequence[Exchange]) -> str:
    match = _PRONOUN.search(message)
    if match is None:
        return message
    own = [m for m in mentions(message) if Kind.PERSON in m.kinds]
    word = match["word"].casefold()
    many = word.startswith("the")
    if own or _explained(message, match) or (word == "they" and _ANYBODY.search(message)):
        return message
    person = _plural(before) if many else _person(before, _GENDER[word])
    if person is None:
        return message
    rest = message[match.end() :]
    owned = word in ("his", "their") or (word == "her" and not _OBJECT_AFTER.match(rest))
    ending = match["ending"] or ""
    if owned:
        ending = "'" if person.endswith("s") and many else "'s"
    elif ending:
        ending = _ENDINGS.get(ending[1:], ending)
    return _put(message, match, person + ending)


_GENDER = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}
_ANYBODY = re.compile(
    r"\b(?:[Dd]o|[Cc]an|[Ww]ill|[Ww]hen do|[Hh]ow do) they (?:sell|serve|have|take)\b"
)
"""'Do they sell bread there?': nobody in particular."""


def _person(before: Sequence[Exchange], gender: str) -> str | None:
    for exchange in reversed(before):
        found = [
            m
            for m in _spoken_of(exchange)
            if Kind.PERSON in m.kinds and not m.plural and m.gender in ("", gender)
        ]
        if found:
            told = [m for m in found if m.gender] or [m for m in found if m.sure] or found
            return told[0].text if len(told) == 1 else None
    return None


def _plural(before: Sequence[Exchange]) -> str | None:
    for exchange in reversed(before):
        found = [m.text for m in _spoken_of(exchange) if m.plural]
        if found:
            return found[0] if len(found) == 1 else None
    return None


# ---- it -------------------------------------------------------------------------------------

_IT = re.compile(r"\b(?P<word>[Ii]t|[Ii]ts)\b(?P<ending>['’](?:s|ll|d))?")
_SO = r"(?:(?:very|so|too|quite|really|getting|just|still|already|not|be|going to) )*"
_WEATHER = r"rain\w*|snow\w*|cold|warm|hot|sunny|windy|dark"
_EMPTY_IT = re.compile(
    "|".join(
        (
            r"\bit(?:['’]s| is| was| will be| gets| got| has been| is getting)? "
            + _SO
            # the weather, the hour, and what the rest of the sentence says
            + rf"(?:{_WEATHER}|late|early|time|noon|midnight|today|important|possible|impossible"
            r"|likely|clear|true|okay|ok|fine|worth|\d|(?:good|nice|hard|easy|better|best) to)\b",
            rf"\b(?:is|was|will) it {_SO}"
            rf"(?:{_WEATHER}|late|true|possible|ok|okay|time|important)\b",
            r"\bwhat (?:time|day|date|year|month) (?:is|was) it\b",
            r"\bhow['’]?s? (?:is )?it going\b",
            r"\bit (?:takes|took|seems|seemed|looks like|looks as|turns out|depends|matters|means"
            r"|feels|makes|sounds|rains|snows|does not matter|doesn['’]t matter)\b",
            r"\bdoes it (?:take|matter|rain|snow|make)\b",
            r"\b(?:forget|got|get|see|mean|believe|make|made|hate|love|like|did|do|know|heard|said)"
            r" it(?: (?:when|if|that|to)\b|\s*[.!,]|$)",
            r"\bthat(?:['’]s| is| was) it\b",
            r"\bwhen it comes to\b",
            r"\bit (?:is|was) .{1,40}\b(?:that|who)\b",
            r"\bhow far is it (?:to|between)\b",
        )
    ),
    re.IGNORECASE,
)
"""'It' that stands for nothing."""
_ASKS_OF = re.compile(r"(?:how far is it from|is it open)\b", re.IGNORECASE)


def _things(message: str, before: Sequence[Exchange]) -> str:
    match = _IT.search(message)
    if match is None or (_EMPTY_IT.search(message) and not _ASKS_OF.match(message)):
        return message
    own = mentions(message[: match.start()])
    if any(Kind.THING in m.kinds and m.sure for m in own) or _explained(message, match):
        return message
    thing = _thing(before)
    if thing is None or thing in message:
        return message
    word = match["word"].casefold()
    ending = "'s" if word == "its" else match["ending"] or ""
    return _put(message, match, thing + ending)


def _thing(before: Sequence[Exchange]) -> str | None:
    for exchange in reversed(before):
        found = [m for m in _spoken_of(exchange) if Kind.THING in m.kinds and not m.plural]
        found = [m for m in found if m.sure] or found
        # What is spoken of comes before where it is; the question says it before the answer does.
        told = [m for m in found if not m.lead] or found
        if told:
            return told[0].text
    return None


# ---- there ----------------------------------------------------------------------------------

_THERE = re.compile(r"(?P<from>\bfrom )?\b(?P<word>[Tt]here)\b(?!['’])")
_EMPTY_THERE = re.compile(
    "|".join(
        (
            r"\bthere (?:is|are|was|were|will|would|has|have|had|must|might|may|can|could|should"
            r"|seems?|exists?|goes|you go)\b",
            r"\bthere['’]",
            r"\b(?:is|are|was|were|be|been|isn['’]t|aren['’]t|wasn['’]t) there (?:a|an|any|some|no"
            r"|more|something|anything|anybody|anyone|still|\d|enough|another|other|parking|much|many)\b",
            r"\b(?:hi|hello|hey|out|over|up|down|in|back|almost) there\b",
            r"\bhere and there\b|\bthen and there\b|^there[,!. ]",
        )
    ),
    re.IGNORECASE,
)
"""'There' that stands for no place."""
_TO = re.compile(
    r"\b(?:go|goes|going|went|gone|move|moves|moved|moving|fly|flew|flying|get|got|travel\w*|drive"
    r"|drove|return\w*|walk\w*|come|came|take \w+|bring \w+|back|been|way|send \w+|sent \w+)$"
)


def _there(message: str, before: Sequence[Exchange]) -> str:
    for match in _THERE.finditer(message):
        around = message[max(0, match.start() - 12) : match.end() + 16]
        if _EMPTY_THERE.search(around.strip() if match.start() else around):
            continue
        if any(Kind.PLACE in m.kinds for m in mentions(message[: match.start()])):
            return message
        place = _place(before)
        if place is None:
            return message
        lead = place.lead if place.lead in ("at", "near") else "in"
        if match["from"]:
            lead = "from"
        elif _TO.search(message[: match.start()].rstrip()):
            lead = "to"
        return _put(message, match, f"{lead} {place.text}")
    return message


def _place(before: Sequence[Exchange]) -> Mention | None:
    for exchange in reversed(before):
        found = [m for m in _spoken_of(exchange) if Kind.PLACE in m.kinds]
        # Where a way ends is where one is; a place with a name is more of one than a thing is.
        for wanted in (
            [m for m in found if m.lead == "to" and Kind.THING not in m.kinds],
            [m for m in found if m.kinds == {Kind.PLACE}],
            found,
        ):
            if wanted:
                return wanted[0] if len({m.text for m in wanted}) == 1 else None
    return None


# ---- 'And Tom?' -----------------------------------------------------------------------------

_ABOUT = re.compile(
    r"(?:(?:and|so) )?(?:what about|how about|and|or) (?P<who>[^?.!,]{1,40})\?\s*", re.IGNORECASE
)


def _same_question(message: str, before: Sequence[Exchange]) -> str | None:
    """The last question with another person, place or thing in it."""
    match = _ABOUT.fullmatch(message.strip())
    if match is None:
        return None
    who = mentions(match["who"])
    asked = before[-1].said.strip()
    if len(who) != 1 or who[0].text.casefold() != match["who"].strip().casefold():
        return None
    if not asked.endswith("?") or who[0].lead:
        return None
    new = who[0]
    old = [m for m in mentions(asked) if not m.lead and (m.kinds & new.kinds)]
    old = [m for m in old if Kind.PERSON in m.kinds] if Kind.PERSON in new.kinds else old
    if len(old) != 1:
        return None
    place = asked.casefold().find(old[0].text.casefold(), old[0].start)
    if place < 0:
        return None
    return f"{asked[:place]}{new.text}{asked[place + len(old[0].text) :]}"


# ---- what was spoken of ---------------------------------------------------------------------


def _spoken_of(exchange: Exchange) -> list[Mention]:
    """Who and what an exchange speaks of, each once, by its fullest name."""
    found: list[Mention] = []
    for one in (*mentions(exchange.said), *mentions(exchange.answered, answer=True)):
        for number, other in enumerate(found):
            if _same(one, other):
                found[number] = _fuller(one, other)
                break
        else:
            found.append(one)
    return found


def _same(one: Mention, other: Mention) -> bool:
    ours, theirs = set(one.text.split()) - {"my", "the"}, set(other.text.split()) - {"my", "the"}
    owned = "'s" in one.text + other.text or "’s" in one.text + other.text
    return ours == theirs if owned else ours <= theirs or theirs <= ours


def _fuller(one: Mention, other: Mention) -> Mention:
    longer, shorter = (one, other) if len(one.text) > len(other.text) else (other, one)
    # 'the umbrella' that was told of as 'my umbrella' is mine.
    return Mention(
        longer.text,
        longer.kinds if longer.sure or not shorter.sure else shorter.kinds,
        longer.start,
        longer.sure or shorter.sure,
        longer.gender or shorter.gender,
        longer.plural or shorter.plural,
        longer.lead or shorter.lead,
    )


def _put(message: str, match: re.Match[str], phrase: str) -> str:
    found = message[: match.start()] + phrase + message[match.end() :]
    return found[:1].upper() + found[1:] if message[:1].isupper() else found
