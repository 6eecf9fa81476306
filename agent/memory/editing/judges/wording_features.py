"""Wording features of a message against an older memory.

Pure functions over text. A memory such as ``My favourite cheese is brie.`` or ``Cheese: brie`` has
a *value* ('brie') in a *slot* ('favourite cheese'); a message is read for how much of either it
names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agent.language.patterns import linear
from agent.language.sentences import stem, words
from store.types import Triple

_DENIAL = re.compile(
    r"""\b(?:not|no|never|none|cannot|nothing|without|neither|nor|non|stop(?:ped|ping)?|quit|avoid\w*
      |exclud\w+|except|remov\w+|delet\w+|drop(?:ped)?|forget|skip\w*|disabl\w+|cancel\w*|deactivat\w+
      |block\w*|omit\w*|ignor\w+|disregard\w*|filter\ out|turn(?:ed)?\ (?:\w+\ ){0,3}off
      |switch(?:ed)?\ (?:\w+\ ){0,3}off|off|leave\ (?:\w+\ ){0,4}out|steer\ clear
      |stay\ (?:away|clear)
      |keep\ (?:\w+\ )?(?:away|out)|rid|hate|dislike\w*|detest|loathe|tired\ of|fed\ up|sick\ of
      |gave\ up|given\ up|cut\ out|done\ with
      |unsubscrib\w+|reject\w*|oppos\w+|instead\ of|rather\ than
      |other\ than|anything\ but|away\ from|lost\ interest|gone\ off|free\ of|reduc\w+|refus\w+
      |unnecessary|irrelevant|indifferent|sold|lost|left|ended|broke\ up|divorced)\b|n['’]t\b
      |不|没|别
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_LONGER = re.compile(
    r"\b(?:no longer|any ?more|any longer|not .{1,30} again|never .{0,30}again|stopped|quit"
    r"|gave up|cut out|used to|changed my mind|done with|tired of|sold|lost)\b|不再",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:instead|switch\w*|chang\w+|from now on|rather|now|replac\w+|update\w*|nowadays|lately"
    r"|from today|in (?:the )?future|new|moved?|became|become|set|going forward)\b|现在|改",
    re.IGNORECASE,
)
_ADD = re.compile(
    r"\b(?:also|too|as well|in addition|add\w*|another|besides|and|plus|either|more)\b|也|还",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:always|still|again|as (?:always|usual|ever)|usual|remains?|keep|same|fine|okay|ok|mind"
    r"|allow\w*|includ\w+|enabl\w+|permit\w*)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"^(?:yes|true|wanted|always|required|needed)\b", re.IGNORECASE)
_NO = re.compile(r"^(?:no|false|not|never|indifferent|irrelevant|none|does not)\b", re.IGNORECASE)
_AVERSION = re.compile(
    r"\b(?:avoid\w*|stay(?:ing)? away|dislike\w*|hate\w*|not like|don['’]t like"
    r"|can(?:no|['’])t stand|keep(?:ing)? away|should not|allerg\w+|never|without)\b",
    re.IGNORECASE,
)
_COMMON = frozenset(
    """find show get look search suggest recommend pick book list give point take locate choose
    bring go please want like need prefer would could can should near nearby close closest nearest
    around here today next time future now always make sure set use user preference preferred
    favourite favorite my name kind for with some any option place hey know actually let new change
    """.split()
)


_ASKS = linear(
    r"^(?:(?:please|hey|hi|hello|ok|okay|well|so|and|also|now|then|actually|just|always|never|do"
    r"|kindly|you know(?: what)?|by the way|from now on|next time|this time|today|tonight"
    r"|going forward|(?:for|in|on|when|whenever|while|during|if) [^,]{2,50})[\s,:]+)*"
    r"(?:(?:please )?(?:find|locate|show|search|look|navigate|direct|guide|lead|bring|take|get|give"
    r"|pick|choose|select|set|switch|change|update|enable|disable|activate|deactivate|turn|keep|use"
    r"|make|ensure|avoid|exclude|include|skip|play|open|order|book|check|prioriti[sz]e|adjust|put|add"
    r"|remove|delete|stop|start|recommend|suggest|list|route|let['’]?s|let us|don['’]t|do not"
    r"|forget|leave|ignore|disregard|reserve|buy|filter|try|increase|decrease|lower|raise|reduce"
    r"|maintain|allow|drop|cancel|tell|provide|plan|arrange|point|send|mute|lock|block|allow|prefer"
    r"|no|any|how about|what about|without|only|stick|go)\b)",
    re.IGNORECASE,
)
_ASKS_YOU = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|\b(?:is|are) (?:there|it possible)\b|\?\s*$"
    r"|\b(?:make|be) sure\b|\blet['’]s\b|\bplease\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


@lru_cache(maxsize=8192)
def is_request(text: str) -> bool:
    """Whether a message asks for something rather than tells it; one sentence that asks is enough.

    Wider than ``extraction.is_noise``: here a request is read for the preference it shows.
    """
    return bool(
        _ASKS_YOU.search(text)
        or any(_ASKS.match(sentence.strip()) for sentence in _SENTENCE_END.split(text))
    )


@lru_cache(maxsize=8192)  # one message is compared with many memories
def folded(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, hyphens opened: 'non-smoking' is 'non', 'smok'."""
    opened = words(text.replace("-", " ").replace("/", " "))
    return tuple(stem(word) for word in opened if word not in _STOP)


_STOP = frozenset(
    """a an the and or of in on at to for from by with as is are was were be been am i me mine we us
    our you your it its this that these those do does did have has had will so s ll d m re ve if
    there what which where how about when some my""".split()
)


def value_and_slot(text: str, triples: Sequence[Triple]) -> tuple[str, str]:
    """What the memory states, and what it states it of: ('brie', 'My favourite cheese is').

    The value is what follows the last ``;``, ``:`` or ``=``, else the tail of the main relation,
    else the whole sentence.
    """
    told = triples[0].tail if triples and triples[0].relation != "noted" else ""
    return _value_and_slot(text, told)


@lru_cache(maxsize=8192)
def _value_and_slot(text: str, told: str) -> tuple[str, str]:
    bare = text.strip().rstrip(".!。")
    aside = re.search(r"(?<!\s)\s*\(([^()]*)\)\s*$", bare)
    body = bare[: aside.start()] if aside else bare
    listed = re.split(r"[;；=]\s|[:：]\s|：", bare)
    if len(listed) > 1:
        value = listed[-1].strip()
        slot = bare[: bare.rfind(value)]
        return value, slot
    value = told if told.casefold() in body.casefold() else ""
    if not value:
        is_ = re.search(r"\b(?:is|are|be)\s+(?:to\s+)?(.+)$", body)
        value = is_.group(1) if is_ else body
    place = bare.casefold().rfind(value.casefold())
    slot = bare[:place] + " " + bare[place + len(value) :] if place >= 0 else bare
    return value, slot


def coverage(of: Sequence[str], by: Sequence[str]) -> float:
    """The share of ``of`` that stands in ``by``; 0 where there is nothing to cover."""
    if not of:
        return 0.0
    known = set(by)
    return sum(word in known for word in of) / len(of)


@lru_cache(maxsize=8192)
def common(stems: tuple[str, ...]) -> tuple[str, ...]:
    """Without the words that any request or preference has."""
    return tuple(word for word in stems if word not in _COMMON)


@lru_cache(maxsize=8192)
def counts(text: str) -> tuple[float, float, float, float, float]:
    """How often a text denies, says no longer, changes, adds, and affirms (each at most 2)."""

    def count(pattern: re.Pattern[str]) -> float:
        return float(min(2, len(pattern.findall(text))))

    return count(_DENIAL), count(_NO_LONGER), count(_CHANGE), count(_ADD), count(_AGAIN)


def denied(text: str, value: str) -> float:
    """1 where a denial stands up to seven words before words of the value, or just after them."""
    stems = set(common(folded(value)) or folded(value))
    if not stems:
        return 0.0
    return 0.0 if stems.isdisjoint(_beside_denials(text)) else 1.0


@lru_cache(maxsize=8192)
def _beside_denials(text: str) -> frozenset[str]:
    """The stems up to seven words behind a denial of the text, and up to four before it."""
    return frozenset(
        stem
        for match in _DENIAL.finditer(text)
        for beside in (text[match.end() :].split()[:7], text[: match.start()].split()[-4:])
        for stem in folded(" ".join(beside))
    )


def yes_or_no(value: str) -> float:
    """1 for a value that is a yes, -1 for a no, 0 for everything else."""
    return 1.0 if _YES.match(value) else -1.0 if _NO.match(value) else 0.0


@lru_cache(maxsize=8192)
def averse(text: str) -> float:
    """1 where a memory states that something is kept away from."""
    return 1.0 if _AVERSION.search(text) else 0.0
