"""Patterns for "X joined Y" meaning employment, not clubs or people.

What stands after the verb decides: a bare name, a role that is a job, a firm that is said to be
one. A club's name says that it is a club, and whoever joins Tom does so 'for lunch' or 'on a trip'.
Pieces of ``agent.extraction.triples.patterns``, in its notation; data only.
"""

from __future__ import annotations

_MONTHS = (
    r"January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
)
_SINCE = (
    r"((on|in|from|since|as of|back in|at the (start|end|beginning) of)"
    rf" (the )?(early |late |mid-?)?(\d|{_MONTHS}|(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"|spring|summer|autumn|winter|last|next|this|(week|weekend|beginning|middle|end) of)"
    r"|(last|next|this) \w|(an?|\w+|a few) (year|month|week|day)s? ago"
    r"|(recently|yesterday|today|tomorrow|now|again|full[- ]time|part[- ]time|straight)\b"
    r"|after (university|college|school|my)\b).*"
)
_CLUB = (
    r"[^,;]*\b(Club|Choir|Gym|Society|Team|FC|Church|Orchestra|Band|Party|Union|Association|League"
    r"|Class|Course|Fitness|Yoga|Pilates|Library|Forum|Network|Troupe|Ensemble|Parish|Scouts"
    r"|Volunteers|Gymnastics|Runners|Rotary)\b"
)
_UNPAID = (
    r"([\w-]+ )?(member|volunteer|guest|subscriber|supporter|fan|beginner|visitor|spectator|friend"
    r"|customer|patron|donor|student|pupil|passenger|follower|singer|dancer|parent|well|usual)\b"
)
_FIRM = (
    r"(start-?up|company|firm|agency|bank|consultancy|studio|hospital|university|laboratory"
    r"|newspaper|publisher|manufacturer)"
)
_JOINS = "<h:whoever>( have| has| had| am| is| are| will)?( be)? <adv>join(ed|ing|s)?"

JOINS_AS = (
    rf"{_JOINS} (the )?(?!{_CLUB})<t:name>,?( {_SINCE})? as (an? |the |their |its )?"
    rf"(?!{_UNPAID}).+"
)
JOINS_NAME = rf"{_JOINS} (?!{_CLUB}|<titled>)<t:name>( {_SINCE})?"
JOINS_FIRM = (
    rf"{_JOINS} (an?|the) ([\w-]+ ){{0,2}}{_FIRM},? ((that is |which is )?(called|named) )?<t:name>"
    r"( .*)?"
)
"""Shapes of sentences in which ``t`` is who ``h`` works for from then on."""
