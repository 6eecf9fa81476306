"""Sentence patterns that give exact triples.

Data first: ``_SHAPES`` is tried in order and the first match wins, so the special stands above the
general. In a shape ``<h:name>`` is a group ``h`` of the kind ``name``
(``pattern_kinds``); beside it stand the head, relation and tail it gives, or a function where that
takes more than a template. All triples still pass the checks of ``agent.extraction.triples``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.extraction.triples.employment import JOINS_AS, JOINS_FIRM, JOINS_NAME
from agent.extraction.triples.pattern_kinds import NAME, PERSON, compiled
from agent.language.dates.time_phrases import without_times
from agent.language.relation_names import attribute_name, relation_name
from store.types import Triple

ME = "me"
_WHAT = r"( (person|man|woman|people|one|thing|place|event|flight|trip|appointment|meeting))?"
_ONE = f"(one and the same|the same|one){_WHAT}"
_TWO = f"(not the same|not one|(two )?different){_WHAT}s?"
_CODE = r"[A-Z0-9]{1,3} ?\d{1,5}[A-Z]?"
_CUT = re.compile(
    r"(?:,? (?:because|since|so that|so|although|but|unless|if|when|while|which|who|where"
    r"|instead of|as long as|even though|in order to|after|before|due to)\b"
    r"|[,;:] (?=[a-z])|,$| - | – | \().*$"
)
_NOUN_TAIL = re.compile(r" (?:flight|train|reservation|booking|stay|departure|arrival)$", re.I)

_LEAD = re.compile(r"^(?:Tomorrow|Today|Next \w+|On [^,]{3,25}|In [^,]{3,20}),? (?=I |we |my )")

_PLANNED = re.compile(
    r"^((?:From|As of|Starting|Effective)\b[^,]{3,30},? (?:I|we)) (?:will|['’]ll)(?= )"
)
"""What will be so from a known day on is told like what is so; the day says when."""

Builder = Callable[[re.Match[str]], tuple[Triple, ...]]


def thing(text: str) -> str:
    """An entity in the house way: no determiner, 'my' only before people, one space, no stop."""
    text = re.sub(r"\s+", " ", text).strip(" .,;:!。\"'“”")
    if re.fullmatch(r"(?:i|me|myself|we|us)", text, re.I):
        return ME
    bare = re.sub(r"^(?:the|a|an|some|this|that)\s+", "", text, flags=re.I)
    own = re.match(r"(?:my|our)\s+(.+)$", bare, re.I)
    if own:
        rest = own.group(1)
        bare = f"my {rest}" if re.match(rf"(?:\w+ )?{PERSON}(?: {NAME})?$", rest) else rest
    bare = re.sub(rf"^(?:flight|train) (?={_CODE}$)", "", bare, flags=re.I)
    return bare


def short(text: str) -> str:
    """A tail cut at the first border of a clause; numbers and addresses keep their commas."""
    text = text.strip()
    cut = _CUT.sub("", text) if not re.search(r"\d,? ?\d|^\d", text) else text
    return (cut if len(cut) >= 2 else text).strip()


def _subject(text: str) -> str:
    """'The EK349 flight' -> 'EK349', 'The Crowne Plaza reservation' -> 'Crowne Plaza'."""
    bare = thing(text)
    if bare == ME or bare.startswith("my "):
        return re.sub(rf"^(my {PERSON})(?: {NAME})$", r"\1", bare)
    shorter = _NOUN_TAIL.sub("", bare)
    return shorter if re.search(rf"^{_CODE}$|^[A-Z]", shorter) else bare


def _as(head: str, relation: str, tail: str) -> Builder:
    """A builder from templates over the match's named groups; a fixed relation name is kept."""

    def build(match: re.Match[str]) -> tuple[Triple, ...]:
        groups = {key: value or "" for key, value in match.groupdict().items()}
        name = attribute_name(groups["r"]) if relation == "{r}" else relation
        end = short(tail.format(**groups))
        return (
            Triple(_subject(head.format(**groups)), name, thing(end)),
            *_kin_name(groups.get("h", "")),
        )

    return build


def _called(relation: str) -> Builder:
    """Two names of one, or of two, as they stand: 'the Lagos flight' is not Lagos."""
    return lambda match: (Triple(thing(match["h"]), relation, thing(match["t"])),)


def _kin_name(subject: str) -> tuple[Triple, ...]:
    """'My brother Hugo ...' also says that Hugo is my brother."""
    named = re.match(rf"(?:[Mm]y|[Oo]ur) ({PERSON}),? ({NAME})$", subject)
    return (Triple(ME, relation_name(named.group(1)), named.group(2)),) if named else ()


def _booked(match: re.Match[str]) -> tuple[Triple, ...]:
    """What was booked; where it goes or stands, and for whom, tie the booking to other nodes."""
    what, place, whom, at = (match.group(name) for name in ("what", "to", "whom", "at"))
    booked = _subject(at or short(f"{what} to {place}" if place else what))
    found = [Triple(ME, "booked", booked)]
    if whom and place:
        name = relation_name(f"{what.split()[-1]} to")
        found.append(Triple(thing(whom), name, thing(short(place))))
    elif whom:
        found.append(Triple(booked, "booked_for", thing(short(whom))))
    return tuple(found)


def _route(match: re.Match[str]) -> tuple[Triple, ...]:
    head = _subject(match.group("h"))
    return (
        Triple(head, "destination", thing(match.group("t"))),
        Triple(head, "origin", thing(match.group("a"))),
    )


def _have(match: re.Match[str]) -> tuple[Triple, ...]:
    what = thing(short(match.group("what")))
    when = match.group("when")
    found = [Triple(ME, "has", what)]
    if when:
        found.insert(0, Triple(what, "is_at", thing(re.sub(r"^(?:on|at|in) ", "", short(when)))))
    return tuple(found)


def _verb(match: re.Match[str]) -> tuple[Triple, ...]:
    """'I moved to Ghent', 'Marek prefers phone calls': verb, a preposition, the rest."""
    helper = (match.group("aux") or "").lower().replace("’", "'")
    negated = bool(re.search(r"n't|not|never|no longer", helper))
    relation = f"{match.group('v')} {match.group('p') or ''}".strip()
    name = relation_name(f"do not {relation}" if negated else relation)
    return (
        Triple(_subject(match.group("h")), name, thing(short(match.group("t")))),
        *_kin_name(match.group("h")),
    )


def _wish(match: re.Match[str]) -> tuple[Triple, ...]:
    head, name = _subject(match["h"]), relation_name(match["x"])
    return (Triple(head, name, thing(short(match["t"]))), *_kin_name(match["h"]))


def _passive(match: re.Match[str]) -> tuple[Triple, ...]:
    name = relation_name(f"{match['v']} {match['p']}")
    return (Triple(_subject(match["h"]), name, thing(short(match["t"]))),)


def _is_near(match: re.Match[str]) -> tuple[Triple, ...]:
    return (Triple(_subject(match["h"]), f"is_{match['p']}", thing(short(match["t"]))),)


_A_PLACE = r"(?!.*\b(team|department|project|class|group|course|level|desk|seat|role|position)\b)"
_IS, _SINCE = "(is|has been|will be|becomes|became)", "( (since|from|as of) .+)?"
_SHAPES: tuple[tuple[str, Builder | tuple[str, str, str]], ...] = (
    # who is who
    ("(My|Our) <r:kin>('s (first |full )?name)? is (called |named )?<t:name>",
     ("me", "{r}", "{t}")),
    ("(My|Our) (new |current )?<r:kin> (is|has been|will be|becomes) (called |named )?<t:name>"
     f"{_SINCE}", ("me", "{r}", "{t}")),
    ("(I|We) (have )?(changed|switched) (my|our) <r:noun> (from .+? )?to <t:value>",
     ("me", "{r}", "{t}")),
    ("(I|We) (have )?(switched|changed|gone) (from .+? )?to <t:name> (as|for) (my|our)"
     " <r:noun>", ("me", "{r}", "{t}")),
    ("<t:name> (has |have )?(replace[sd]?|t(ook|aken|akes) over)( from)?( .+?)? as (my|our)"
     " (new )?<r:noun>", ("me", "{r}", "{t}")),
    ("<t:name> is (the|my|our) <r:kin> (that |who |whom )?(I|we) (\\w+ )?"
     "(see|go to|have|visit|use)( .*)?", ("me", "{r}", "{t}")),
    ("<t:name> is <h:name>'s <r:kin>", ("{h}", "{r}", "{t}")),
    ("<h:name>'s <r:kin> is (called )?<t:name>", ("{h}", "{r}", "{t}")),
    ("(Everyone|Everybody|People|My friends|My family) calls? me <t:text>",
     ("me", "nickname", "{t}")),
    # one under two names, or two who are not one (agent.memory.entities)
    (f"<h:either> and <t:either> are {_ONE}", _called("same_as")),
    (f"<h:either> is {_ONE} as <t:either>", _called("same_as")),
    (f"<h:either> and <t:either> are {_TWO}", _called("different_from")),
    (f"<h:either> is not {_ONE} as <t:either>", _called("different_from")),
    ("<h:someone> is <t:titled>", _called("same_as")),
    ("<h:someone> is (also|better|usually) (known as|called) <t:name>",
     _called("nickname")),
    ("(Everyone|Everybody|People|We( all)?|They( all)?|My friends|My family) calls? <h:someone>"
     " <t:name>", _called("nickname")),
    ("<t:name> is short for <h:name>", _called("nickname")),
    (r"(My|Our) (\w+ )?<r:kin>( (in|at|from) [\w ]+?)? is (called|named) <t:name>",
     ("me", "{r}", "{t}")),
    ("(Call me|My nickname is) <t:text>", ("me", "nickname", "{t}")),
    ("(My|Our) (?P<r>dog|cat|pet|rabbit|parrot|horse|hamster)('s name)? is (called |named )?"
     "<t:name>", ("me", "{r}", "{t}")),
    # the user's own attributes and other people's
    ("<h:any> (am|is|are|'m) allergic to <t:text>", ("{h}", "allergic_to", "{t}")),
    (r"I( am|'m) (?P<t>\d{1,3})( years old)?", ("me", "age", "{t}")),
    ("<h:any> (was|were) born on <t:text>", ("{h}", "birthday", "{t}")),
    (r"<h:any> (was|were) born in (?P<t>\d{4})", ("{h}", "birth_year", "{t}")),
    ("<h:any> (was|were) born in <t:text>", ("{h}", "born_in", "{t}")),
    ("<h:i> ?(have |'ve |am |'m |are |'re |will |'ll )?(be )?mov(ed?|ing) (house |home )?"
     f"(from .+? )?to {_A_PLACE}<t:text>", ("me", "lives_in", "{t}")),
    ("<h:i> ?(have |'ve |am |'m |will |'ll )?(be )?(start(ed|ing)?|began|begin(ning)?)"
     "( work| working| (a|my|the) (new )?job)? (at|with|for) <t:name>( .*)?",
     ("me", "works_at", "{t}")),
    ("<h:kinname> (has |will |is )*(start(s|ed|ing)?|began|begins)( work| working)?"
     "( (a|his|her|their|the) (new )?job)? (at|with|for) <t:name>( .*)?",
     ("{h}", "works_at", "{t}")),
    (JOINS_AS, ("{h}", "works_at", "{t}")),
    (JOINS_NAME, ("{h}", "works_at", "{t}")),
    (JOINS_FIRM, ("{h}", "works_at", "{t}")),
    ("(I|We) (have|got|'ve got|have got|hired|found|go to|see|use) (a|my|our|another) new"
     " (?P<r>[a-z][\\w-]+( [a-z][\\w-]+)?),?"
     "( (called|named|(his|her|their) name is))? <t:name>", ("me", "{r}", "{t}")),
    ("(I|We) (have|hold|keep) (my|our|an?) ((bank|current|savings|checking) )?account (at|with)"
     " <t:name>", ("me", "bank", "{t}")),
    ("(My|Our) <r:noun> (has |was |has been |is )?(changed|switched) (from .+? )?to <t:value>",
     ("me", "{r}", "{t}")),
    ("<h:kinname> (has |have |will |is |are )?(just |recently )?mov(ed?|es|ing)"
     f"( house| home| away)?,? (from .+? )?to {_A_PLACE}<t:text>",
     ("{h}", "lives_in", "{t}")),
    ("<h:whoever> (am |is |are |has |have )?(now )?(been )?(settled|based) (in|at|on) <t:text>",
     ("{h}", "lives_in", "{t}")),
    ("<h:any> (am |is |are |will )?(went to )?(now )?(be )?(lives?|resides?|living) (in|at|on)"
     " <t:text>", ("{h}", "lives_in", "{t}")),
    ("<h:any> (will |has |have |is |am |been )*work(s|ed|ing)? as an? <t:some>"
     f"( (in|at|for) .+)?{_SINCE}", ("{h}", "works_as", "{t}")),
    ("<h:any> (will |am |is |are )?work(s|ing)? (at|for) <t:text>",
     ("{h}", "works_at", "{t}")),
    ("I( am|'m) an? <t:job>( .*)?", ("me", "works_as", "{t}")),
    ("I( am|'m) an? (?P<t>man|woman|boy|girl)", ("me", "gender", "{t}")),
    ("I( am|'m) (?P<t>vegan|vegetarian|pescatarian|lactose intolerant|coeliac)",
     ("me", "diet", "{t}")),
    # bookings and travel
    ("(The |Flight )?(?P<h>.{2,40}?)('s)? departure (time )?(is|was|has been|is now)( now)?"
     "( changed| moved| set)? (to|at|for) <t:text>", ("{h}", "departs_at", "{t}")),
    ("(The )?(?P<h>.{2,40}?) (will |now |is )*(departs?|leaves?|leaving|departing|takes? off)"
     " (now )?(at|on) <t:text>", ("{h}", "departs_at", "{t}")),
    (r"(The )?(?P<h>.{2,40}?) (will |now )*(arrives?|lands?) (at|on) (?P<t>\d.*)",
     ("{h}", "arrives_at", "{t}")),
    ("(I|We) (have )?(booked|reserved) (?P<what>(an?|the|some) .+?|<name>)"
     "( to (?P<to>[A-Z].*?))?"
     r"( for (?P<whom>(my|our) .+?|<name>))?( at (the )?(?P<at>[A-Z].*?))?"
     r"( (on|at|near|from|in|for) .+)?", _booked),
    ("(The )?(?P<h>.{2,50}? (flight|train)) is from <a:some> to <t:text>", _route),
    ("(The )?(?P<h>.{2,50}? (reservation|booking|stay)) (is|runs) (for|from) <t:text>",
     ("{h}", "reserved_for", "{t}")),
    ("(The )?(?P<h>.{2,60}?) (will )?(expires?|is valid until|is valid till|runs until) ?"
     "(on |at |in )?<t:text>", ("{h}", "expires_on", "{t}")),
    ("(The |My )?(?P<r>seat|gate|terminal|coach|platform|passenger|room|table) (number )?"
     "(on|of|for|in) (?P<h>.{2,50}?) is <t:text>", ("{h}", "{r}", "{t}")),
    ("The <r:words> (of|for|on) (?P<h>.{2,50}?) is <t:text>", ("{h}", "{r}", "{t}")),
    ("<h:thing> (includes?|comes with) <t:text>", ("{h}", "includes", "{t}")),
    ("<h:thing> costs? <t:text>", ("{h}", "costs", "{t}")),
    ("<h:thing> (was|is|has been|will be|is now) (moved|postponed|rescheduled|changed|pushed"
     "|shifted|put off|brought forward|delayed|scheduled|set)( back| forward)? (from .+? )?"
     "(to|for|until) <t:text>", ("{h}", "is_at", "{t}")),
    ("<h:thing> (will |now |is going to )*(starts?|begins?|takes? place|comes?|happens?)( now)?"
     r" at (?P<t>\d{1,2}[:.]\d\d.*)", ("{h}", "is_at", "{t}")),
    # without 'was', only a time makes it clear that nothing moved house
    ("<h:thing> (has |have )?(been )?(moved|shifted)( back| forward)? to "
     r"(?P<t>(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day.*|(the )?\d.*)", ("{h}", "is_at", "{t}")),
    ("<h:ours> (is|takes place|starts|begins|is due"
     "|is scheduled|comes?) (now )?(on|at) <t:moment>", ("{h}", "is_at", "{t}")),
    ("<h:thing> (is|are) expected (on|at|by)? ?<t:text>", ("{h}", "expected_on", "{t}")),
    # 'My mother's birthday is ...', 'Elena's phone number is ...', 'My favourite film is ...'
    ("<h:who>'s? <r:words> (is|are) <t:text>", ("{h}", "{r}", "{t}")),
    (r"(?P<t>Tomorrow|Today|Tonight|<name>|.*\d.*) is (?P<h>(my|our) <kin>|<name>)'s? "
     "(?P<r>birthday|anniversary|wedding)", ("{h}", "{r}", "{t}")),
    (r"(My|Our) (?!(<kin>)\b)<r:noun> (is|are|'s) (at |on |called |named )?<t:value>",
     ("me", "{r}", "{t}")),
    # likes, wishes, plans
    ("<h:any> (can't|cannot|can not) (stand|bear) <t:text>", ("{h}", "dislikes", "{t}")),
    (f"<t:name> {_IS} (now )?(my|our) (new |current )?(?P<r>[a-z][\\w-]+( [a-z][\\w-]+)?)"
     f"( now)?{_SINCE}", ("me", "{r}", "{t}")),
    (f"(My|Our|The) (?!(<kin>)\\b)<r:noun> (has been|have been|will be) <t:value>{_SINCE}",
     ("me", "{r}", "{t}")),
    ("(I|We) (have|'ve got|have got) (?P<what>(an?|the|my|our|two|three|some|another) .+?)"
     "( <when:when>)?", _have),
    ("<h:whoever> <adv><x:wish> <t:text>", _wish),
    ("<h:whoever> (thinks?|believes?|finds?|feels?)( that)? <t:text>",
     ("{h}", "thinks", "{t}")),
    # any verb after I, we or a person
    ("<h:i> <adv><aux:aux><adv><v:verb>( <p:prep>)? <t:text>", _verb),
    ("<h:kinname> <adv><aux:aux><adv>(?P<v><doing>|<past>)( <p:prep>)? <t:text>", _verb),
    ("<h:name> <adv><aux:aux><adv>(?P<v><does>|<past>)( <p:prep>)? <t:text>", _verb),
    ("<h:who> <aux:cannot><v:verb>( <p:prep>)? <t:text>", _verb),
    ("<h:who> (is|are) <t:text>", ("{h}", "is", "{t}")),
    ("<h:i>( am| are|'m|'re) <t:text>", ("{h}", "is", "{t}")),
    ("<h:thing> (will be|is|are|was|were|has been) (?P<v>[a-z]+(ed|ten|wn)) <p:prep> <t:text>",
     _passive),
    ("<h:thing> (is|are) (?P<p>with|near|in|from|by|at|on) <t:text>", _is_near),
    ("<h:thing> (is|are|was|were) <t:text>", ("{h}", "is", "{t}")),
    # Chinese: 'X的Y是Z', '我的X叫Z', '我喜欢Z'
    ("我的?<r:zh>(的?名字)?(名叫|叫做|叫)<t:text>", ("me", "{r}", "{t}")),
    ("我的?<h:zh>的<r:zh>(是|在)<t:text>", ("{h}", "{r}", "{t}")),
    ("(?P<h>[^的我]{2,20})的<r:zh>(是|在)<t:text>", ("{h}", "{r}", "{t}")),
    ("我的<r:zh>是<t:text>", ("me", "{r}", "{t}")),
    ("我(很|最|特别|非常)?(喜欢|爱)<t:text>", ("me", "likes", "{t}")),
    ("我(讨厌|不喜欢)<t:text>", ("me", "dislikes", "{t}")),
    ("我(现在)?住在<t:text>", ("me", "lives_in", "{t}")),
    ("我(将要|要|会)?(?P<r>参加|去|买|购买|预订|看)了?<t:text>", ("me", "{r}", "{t}")),
)  # fmt: skip


def shape_triples(text: str) -> tuple[Triple, ...]:
    """The triples of the first shape that fits; none where none does."""
    bare = re.sub(r"\s+", " ", text).strip().rstrip(".。!！ ")
    bare = without_times(_PLANNED.sub(r"\1", _LEAD.sub("", bare)))
    bare = bare[:1].upper() + bare[1:]
    for shape, build in _SHAPES:
        # Compiled when it is reached: all of them take half a second.
        match = compiled(shape).match(bare)
        if match:
            return (_as(*build) if isinstance(build, tuple) else build)(match)
    return ()
