# ruff: noqa: E501 - a pattern broken over lines is harder to read than a long one
"""Sentences whose verb says what a value is: 'I live at', 'The reservation is for'."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.applications.forms.facts.attribute_patterns import CODE, NAME, NAME_WORD, PHRASE, VALUES
from agent.language.patterns import Bounded, bounded

# 'I VERB VALUE', 'My wife VERBs VALUE', 'Anna VERBs VALUE'.
_OTHERS = (
    r"\b[Mm]y\s+(?P<rel>[\w][\w \-.]{1,34}?)|\b(?P<pro>[Hh]e|[Ss]he)"
    rf"|(?P<who>\b{NAME_WORD}(?:\s{NAME_WORD})?)"
)
_STILL = r"(?:now |currently |also |still |just )?"
_WHO = (
    rf"(?:\b(?P<me>(?:I|[Ww]e)(?:['’](?:m|ve|re|ll)| am| are| have| will)?)|{_OTHERS})\s+{_STILL}"
)
_WHO_IS = rf"(?:\b(?P<me>I(?:['’]m| am))|(?:{_OTHERS}) is)\s+{_STILL}"
_BE = r"(?:am |is |are |was |were )?"
_TITLE = r"[^.;,!?\n]+?(?=\s(?:at|for|in|with|from|since|by|on|and)\b|[.;,!?\n]|$)"
_FIRM = (
    r"(?:[^.;,!?\n]|\.(?=\s?\d))+?"  # 'No. 2 High School' is one name
    r"(?=\s(?:as|since|in|on|because|and|but|where|which)\b|[;,!?\n]|\.(?!\s?\d)|$)"
)
_REMOTE = r"(?!home\b|night|there|here|the (?:morning|evening))"


@dataclass(frozen=True, slots=True)
class Verb:
    """A sentence whose verb, not a noun, says what the value is."""

    key: str
    pattern: Bounded
    confidence: float = 0.93
    subclass: str = ""
    """Only in memories of this subclass, where the wording alone could mean other things."""


def _verb(key: str, body: str, confidence: float = 0.93, subclass: str = "") -> Verb:
    return Verb(key, bounded(_WHO + body), confidence, subclass)


def _is(key: str, body: str, confidence: float = 0.93, subclass: str = "") -> Verb:
    return Verb(key, bounded(_WHO_IS + body), confidence, subclass)


def _plain(key: str, body: str, confidence: float = 0.93, subclass: str = "") -> Verb:
    return Verb(key, bounded(body), confidence, subclass)


VERBS: tuple[Verb, ...] = (
    _verb("name", rf"{_BE}(?:called|named) (?P<v>{NAME})"),
    _is("name", rf"(?P<v>{NAME})(?=[.,]|\s(?:and|but)\b|$)", 0.85, "attribute.name"),
    _plain(
        "name", r"(?P<me>我)(?:的名字)?(?:名?叫|是)(?P<v>[\u4e00-\u9fff]{2,4})(?=[，。,.]|$)", 0.85
    ),
    _plain(
        "nickname",
        rf"(?:friends|people|everyone|colleagues)\b.{{0,12}} call (?P<me>me) (?P<v>{NAME})",
    ),
    _plain("nickname", rf"\b[Cc]all (?P<me>me) (?P<v>{NAME})"),
    _verb(
        "bday",
        r"(?:was |were |am |is )?born (?:on |in )?(?:[A-Z]\w+day,? )?(?P<v>[^.;!?]*\d[^;!?\n]*)",
    ),
    _verb(
        "birthplace",
        r"(?:was |were )?born in (?P<v>[A-ZÀ-Þ][^\d.;,!?]+?)(?=\s(?:on|in)\b|[.;,!?]|$)",
    ),
    _verb(
        "street-address",
        rf"{_BE}(?:live|lives|living|reside|resides|lived(?<=ve lived)|move|moved|moving|relocated|relocating|have moved|has moved|has lived) (?:from [^.;,]{2, 40}? (?=to ))?(?:at|in|on|to|into) (?P<v>{VALUES['line']})",
    ),
    _plain(
        "street-address", r"(?P<me>我)(?:现在)?(?:住在|住|搬到了?|搬去了?)(?P<v>[^，。；！？\s]+)"
    ),
    _verb(
        "email",
        rf"(?:can be reached|use|uses|read|reads|check|checks|write|prefer)\b.{{0,30}}?(?P<v>{VALUES['email']})",
        0.85,
    ),
    _plain(
        "email",
        rf"\b(?:e-?mail|write to|reach|contact) (?P<me>me) (?:at|on|under|via|by e-?mail at) (?P<v>{VALUES['email']})",
    ),
    _plain(
        "tel",
        rf"\b(?:call|reach|phone|text|contact|ring) (?P<me>me) (?:at|on|under|by phone (?:at|on)) (?P<v>{VALUES['phone']})",
    ),
    _verb(
        "organization",
        rf"{_BE}(?:work|works|working|employed) (?:at|for|by|with) {_REMOTE}(?P<v>{_FIRM})",
    ),
    _verb("organization", rf"(?:work|works) as [^.]+? (?:at|for) {_REMOTE}(?P<v>{_FIRM})"),
    _is("organization", rf"(?:an?|the) [^.,]+? (?:at|for) {_REMOTE}(?P<v>[A-Z]{_FIRM})", 0.85),
    _verb(
        "organization",
        rf"{_BE}(?:joined|start(?:ed)? (?:work(?:ing)? |a new job |my new job )?(?:at|with)|has joined|have joined|worked(?<=ve worked) (?:for|at)) (?P<v>[A-Z]{_FIRM})",
        0.85,
    ),
    _plain("organization", r"(?P<me>我)(?:现在)?在(?P<v>[^，。；！？\s]+?)(?:上班|工作|任职)"),
    _verb(
        "organization-title",
        rf"{_BE}(?:work|works|working|employed)(?: \w+ [A-Z][\w&]*)? as (?:an? |the )?(?P<v>{_TITLE})",
    ),
    _is("organization-title", rf"(?:an?|the) (?P<v>{_TITLE})(?= (?:at|for) )", 0.88),
    _is("organization-title", rf"(?:an?|the) (?P<v>{_TITLE})", 0.85, "attribute.occupation"),
    _plain("organization-title", r"(?P<me>我)是一?[名位个](?P<v>[^，。；！？\s]{2,10})", 0.8),
    _is("sex", r"(?:a |an )?(?P<v>man|woman|male|female|non-binary|boy|girl|guy)\b"),
    _plain("sex", r"(?P<me>我)是(?:一?[名位个])?(?P<v>男|女)"),
    _is(
        "nationality",
        r"(?:a |an )?(?P<v>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?: (?:citizen|national))?(?=[.,;]|$)",
        0.85,
    ),
    _is("nationality", r"a (?:citizen|national) of (?P<v>[A-Z][\w ]+)"),
    _verb(
        "passport-number",
        rf"(?:have |has |hold |holds ).{{0,24}}passport (?:number )?(?P<v>{CODE})",
    ),
    _plain(
        "passport-expiry",
        r"\b(?P<my>[Mm]y) (?:(?!old|former|previous|last)[\w-]+ )?passport (?:expires|is valid until|runs out) (?:on |in )?(?P<v>.+)",
    ),
    _plain(
        "cc-exp",
        r"\b(?P<my>[Mm]y) [\w ]*card (?:expires|is valid until|runs out) (?:on |in )?(?P<v>.+)",
    ),
    _is(
        "dietary-needs",
        r"(?:a |an )?(?:strict )?(?P<v>vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]free|celiac|coeliac|diabetic)\b",
    ),
    _plain("cc-exp", r"\b(?P<my>[Mm]y) [\w ]*card\b.*\bexpires? (?P<v>.+)"),
    _verb(
        "dietary-needs",
        r"(?:only )?(?:eat|eats) (?:only )?(?P<v>halal|kosher|vegetarian|vegan|gluten[- ]free)\b",
    ),
    _verb(
        "dietary-needs",
        r"(?P<v>(?:do not|don['’]t|doesn['’]t|never|cannot|can['’]t) eats? [^.;!?]+)",
        0.8,
    ),
    _is("allergies", rf"allergic to (?P<v>{PHRASE})"),
    _verb("allergies", r"(?:have |has )an? (?P<v>[\w ]+?) allergy"),
    _plain("allergies", r"(?P<me>我)对(?P<v>[^，。；！？\s]+?)过敏"),
    _is("marital-status", r"(?P<v>married|single|divorced|widowed|engaged)\b", 0.85),
    _is("height", r"(?P<v>\d(?:[.,]\d+)? ?m|\d{3} ?cm) tall"),
    _plain("weight", r"\b(?P<me>I)\b.*?\bweigh (?P<v>\d+(?:[.,]\d+)? ?(?:kg|lbs?|pounds)?)"),
    _is("age", r"(?P<v>\d{1,3}) years old"),
    _verb("shoe-size", r"(?:wear|wears) (?:shoe )?size (?P<v>\d+(?:[.,]\d)?)(?: shoes)?"),
    _verb(
        "car",
        rf"(?:drive|drives|own|owns) (?:an? |my )?(?P<v>{PHRASE})",
        0.8,
        "attribute.belongings",
    ),
    _verb(
        "school",
        rf"(?:study|studies|studied|graduated|am a .*? student|go|went)\b[^.]*? (?:at|from|to) (?P<v>(?:the )?[A-Z]{_FIRM})",
        0.85,
    ),
    _verb(
        "field-of-study",
        r"(?:study|studies|studied|majored in|have a .*?degree in) (?:in )?(?P<v>[a-z][\w ]+?)(?= (?:at|in|from)\b|[.,;]|$)",
        0.85,
    ),
    _verb(
        "degree",
        r"(?:have |has |hold |holds )(?:an? )?(?P<v>(?:bachelor|master|doctorate|phd|mba)[\w'’]*(?: degree)?)",
        0.85,
    ),
    _verb(
        "seat-preference",
        r"(?:always |usually )?(?:choose|chooses|prefer|prefers|like|want)s? (?:an? |the )?(?P<v>aisle|window|middle)(?= seat)",
    ),
    # --- bookings: no person in the sentence need be the one who travels ---
    _plain(
        "flight-number",
        r"\b[Ff]light(?:'s number is)? (?P<v>[A-Z]{2} ?\d{1,4}|[A-Z]\d [\d]{1,4})\b",
        0.9,
    ),
    _plain("flight-number", r"\b(?P<v>[A-Z]{2} ?\d{2,4}) flight\b", 0.9),
    _plain("seat", r"\b[Ss]eat(?: number)? (?P<v>\d{1,3}[A-Z])\b", 0.9),
    _plain(
        "hotel",
        r"\b(?:[Tt]he |[Mm]y )?(?P<v>(?:[A-Z][\w'’&-]*(?: [A-Z][\w'’&-]*| of| de| the)* ?)?(?:Hotel|Inn|Hostel|Resort|Plaza|Hilton|Marriott|Hyatt|Sheraton|Ibis|Novotel)(?: [A-Z][\w'’&-]*)*)",
        0.85,
    ),
    _plain(
        "hotel",
        r"\b[Tt]he (?P<v>[A-Z][\w'’&-]*(?: [A-Z][\w'’&-]*)*)(?: hotel)? reservation\b",
        0.93,
    ),
    _plain(
        "hotel",
        r"\b(?:stay(?:ing)?|booked a room|reserved a room) at (?:the )?(?P<v>[A-Z][\w'’&-]*(?: [A-Z][\w'’&-]*)*)",
        0.9,
    ),
    _plain(
        "departure-date",
        r"\b(?:flight|plane|train)\b.*?\b(?:departs?|leaves?|takes off|departure|departing|leaving)\b(?P<v>.+)",
        0.9,
    ),
    _plain("departure-date", r"\b[Dd]eparture(?: time| date)?\b(?P<v>.+)", 0.88),
    _plain("departure-date", r"\bflight\b(?P<v>.+)", 0.75),
    _plain(
        "departure-time",
        r"\b(?:departs?|leaves?|takes off|departure time)\b.*?(?P<v>\b\d{1,2}:\d{2}(?: ?[ap]m)?)",
        0.9,
    ),
    _plain(
        "destination",
        r"\b(?:flight|fly|flying|train|trip|travel(?:ling)?|ticket)s?\b.*?\bto (?P<v>[A-ZÀ-Þ][\w'’-]+(?: [A-Z][\w'’-]+)*)",
        0.85,
    ),
    _plain(
        "origin",
        r"\b(?:flight|fly|flying|train|trip|travel(?:ling)?)\b.*?\bfrom (?P<v>[A-ZÀ-Þ][\w'’-]+(?: [A-Z][\w'’-]+)*)",
        0.85,
    ),
)

# A stay: its two dates are the check-in and the check-out.
STAY = re.compile(
    r"\b(?:hotel|reservation|stay(?:ing)?|room|check(?:ing)?[- ]in|hostel|inn|airbnb|apartment)\b|酒店|入住",
    re.IGNORECASE,
)
ONE_DAY = re.compile(r"\b(?:flight|train|dentist|doctor|restaurant|table)\b", re.IGNORECASE)
OUTDATED = frozenset("old previous former ex last earlier past maiden first next".split())
NEGATED = re.compile(r"^(?:not|no longer|never|n['’]t|unknown|none)\b", re.IGNORECASE)
