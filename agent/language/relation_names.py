"""Canonical names of relations, one per meaning.

Editing compares relations (EMG-RAG 4.2), so 'lives in', 'resides in' and 'is based in' have
to be one name. ``SINGLE_RELATIONS`` are those of which one head has one value at a time.
"""

from __future__ import annotations

import re

SAME_AS, DIFFERENT_FROM = "same_as", "different_from"
"""Two names of one, or names of two: told, or decided by hand."""

_SYNONYMS: dict[str, str] = {
    "lives_in": "live in|reside in|stay in|settle in|be based in|living in|live at|reside at"
    "|live on",
    "works_at": "work at|work for|be employed by|be employed at|company|employer|work in",
    "works_as": "work as|job|occupation|profession|be employed as|role|job title|title",
    "from": "be from|come from|hail from|originate from",
    "born_in": "be born in|birthplace|place of birth",
    "birthday": "be born on|date of birth|birth date|dob|birthdate",
    "age": "be old|years old|turn",
    "likes": "like|love|enjoy|adore|be fond of|be into|be fan of|fancy|be keen on|be crazy about",
    "dislikes": "dislike|hate|can not stand|not like|detest|loathe|not enjoy|not love|not stand"
    "|can not bear|avoid",
    "prefers": "prefer|would rather|would much rather|would sooner|favor|favour",
    "allergic_to": "be allergic to|have allergy to|allergy",
    "name": "be called|be named|full name|call",
    "nickname": "go by|nick name",
    "phone": "phone number|mobile number|mobile|cell|cell phone|telephone|telephone number|number"
    "|contact number|mobile phone|cell number|mobile phone number",
    "email": "email address|e mail|e mail address|mail|mail address",
    "address": "home address|street address|residence|be located at|location",
    "departs_at": "depart at|leave at|departure|departure time|take off at|depart|depart on"
    "|leave on|departure be at|set off at",
    "arrives_at": "arrive at|land at|arrival|arrival time|arrive|get in at|arrive on|land on",
    "is_at": "be at|time|take place at|begin at|be scheduled for|be on|date|take place on"
    "|be moved to|be postponed to|be rescheduled to|be rescheduled for|be scheduled at|happen on"
    "|be scheduled on|be due on|be due|start on|begin on|be set for|be changed to|come on|come at",
    "expires_on": "expire on|expire|expiry|expiry date|be valid until|expiration date|run until"
    "|be valid till|expire at|valid until",
    "costs": "cost|price|total|amount|be priced at|total price|charge",
    "reserved_for": "be for|be booked for|be reserved for|be from",
    "includes": "include|come with|contain|have included",
    "seat": "seat on|seat number|seat in",
    "passenger": "passenger on|traveller",
    "married_to": "be married to|marry",
    "studies_at": "study at|attend|go to school at|be student at",
    "studies": "study|be studying|major in|degree in",
    "speaks": "speak|be fluent in",
    "has": "have|have got|own|possess|keep",
    "drives": "drive",
    "plays": "play",
    "booked": "book|reserve|have booked|make reservation at",
    "meets": "meet|meet with|see|be meeting|meet up with",
    "promised": "promise|promise to|commit to|be committing to|commit",
    "decided": "decide|decide to|decide on|choose|choose to|settle on",
    "plans": "plan|plan to|intend to|will|be planning to|aim to|ll",
    "wants": "want|want to|would like|would like to|wish|wish to|hope to|hope",
    "needs": "need|need to|have to|must|should|be supposed to",
    "thinks": "think|think that|believe|believe that|find|feel|feel that|consider",
    "bought": "buy|purchase",
    "visits": "visit|go to|travel to|fly to|have been to|be going to|going to",
    "is": "be",
    "thanks": "thank",
    "expected_on": "be expected on|expected delivery|be expected|delivery|be delivered on",
    "blood_type": "blood group",
    "bank": "bank with|have account at|have account with",
    "insurance": "be insured with|insure with|be insured by|insurer|health insurance",
    "manager": "report to|line manager",
    "doctor": "family doctor|family physician|physician|gp|general practitioner",
}
_NAMES = {phrase: name for name, phrases in _SYNONYMS.items() for phrase in phrases.split("|")}

SINGLE_RELATIONS = frozenset(
    """lives_in works_at works_as from born_in birthday age name nickname phone email address
    departs_at arrives_at is_at expires_on costs reserved_for seat gate terminal platform married_to
    blood_type expected_on boss manager supervisor spouse wife husband girlfriend boyfriend
    mother father landlord landlady dentist first_name last_name surname gender height
    weight""".split()
)
"""Relations of which one head has one tail at a time; 'favourite ...' relations are single too."""
LASTING = SINGLE_RELATIONS - frozenset(
    """is_at departs_at arrives_at expires_on costs reserved_for seat gate terminal platform
    expected_on from born_in birthday age name blood_type gender""".split()
)
"""Single relations whose value holds for some time: a home, an employer; no hour, no birthday."""

_IRREGULAR = {
    "am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "has": "have",
    "had": "have", "does": "do", "did": "do", "went": "go", "gone": "go", "bought": "buy",
    "met": "meet", "left": "leave", "took": "take", "taken": "take", "got": "get", "made": "make",
    "told": "tell", "said": "say", "sold": "sell", "lost": "lose", "found": "find", "gave": "give",
    "wrote": "write", "written": "write", "chose": "choose", "chosen": "choose", "saw": "see",
    "seen": "see", "began": "begin", "came": "come", "ran": "run", "ate": "eat", "drove": "drive",
    "spoke": "speak", "thought": "think", "felt": "feel", "kept": "keep", "paid": "pay",
    "sent": "send", "spent": "spend", "put": "put", "read": "read", "broke": "break",
    "held": "hold", "heard": "hear", "taught": "teach", "goes": "go", "moved": "move",
    "agreed": "agree", "grew": "grow", "knew": "know", "became": "become", "flew": "fly",
    "drank": "drink", "slept": "sleep", "wore": "wear", "built": "build", "brought": "bring",
    "caught": "catch", "sang": "sing", "swam": "swim", "fell": "fall", "forgot": "forget",
    "understood": "understand", "hid": "hide", "rode": "ride", "led": "lead", "won": "win",
}  # fmt: skip
_DROPPED = frozenset(
    "a an the also just now currently really still already usually often always mostly very new "
    "newly recently soon both".split()
)
_IES = re.compile(r"(?<=[^aeiou])ies$")


def lemma(verb: str) -> str:
    """The base form of a verb, near enough to give one name to its forms."""
    verb = verb.lower()
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if _IES.search(verb):
        return verb[:-3] + "y"
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    for ending in ("ing", "ed"):
        if verb.endswith(ending) and len(verb) - len(ending) >= 3:
            base = verb[: -len(ending)]
            if base[-1] == base[-2] and base[-1] not in "lsz":
                return base[:-1]
            return base + "e" if _wants_e(base) else base
    if re.search(r"(?:s|x|z|ch|sh)es$", verb):
        return verb[:-2] if not verb.endswith(("uses", "oses", "ises", "ases")) else verb[:-1]
    if verb.endswith("s") and not verb.endswith(("ss", "us", "is")) and len(verb) > 3:
        return verb[:-1]
    return verb


_SILENT_E = frozenset("com leav liv us mak tak giv driv writ danc mov bak".split())


def _wants_e(base: str) -> bool:
    likely = re.search(
        r"(?:[^aeiou][aiou][cgkmrstvz]|[aeiou][bcdgkpv]|ur|uc|ov|ag|at|us|ir|iv|rv|ng)$", base
    )
    unlikely = re.search(r"(?:[aeiou]{2}[a-z]|ring|sing|ish|it|et|om|elop|ver|ter|er)$", base)
    return base in _SILENT_E or bool(likely and not unlikely)


def relation_name(phrase: str) -> str:
    """'Moves to' and 'moved to' -> one lower_snake name; '' for nothing usable."""
    phrase = re.sub(r"n['’]t\b", " not", phrase.replace("_", " ").lower())
    parts = [part for part in re.findall(r"[a-z0-9\u3400-\u9fff]+", phrase)]
    parts = [part for part in parts if part not in _DROPPED] or parts
    direct = " ".join(parts)
    if direct in _NAMES:
        return _NAMES[direct]
    if direct.replace(" ", "_") in _SYNONYMS:
        return direct.replace(" ", "_")
    based = " ".join(lemma(part) for part in parts)
    if based in _NAMES:
        return _NAMES[based]
    negated = parts[:1] in (["do"], ["does"], ["did"]) and parts[1:2] == ["not"]
    if negated:
        rest = " ".join(["not", *(lemma(part) for part in parts[2:])])
        return _NAMES.get(rest, rest.replace(" ", "_"))
    return "_".join(based.split()[:4])


def worded(relation: str, text: str) -> str:
    """A relation as the text words it, unless it has a common name.

    >>> worded("be_boss_of", "Ana is the boss of Tom.")
    'is the boss of'
    >>> worded("lives_in", "I reside in Porto.")
    'lives in'
    """
    if relation in _SYNONYMS or is_single(relation):
        return relation.replace("_", " ")
    said = re.findall(r"[\w'’-]+", text)
    for size in range(1, _LONGEST_WORDING):
        for start in range(len(said) - size + 1):
            phrase = " ".join(said[start : start + size])
            if relation_name(phrase) == relation:
                return phrase
    return relation.replace("_", " ")


_LONGEST_WORDING = 8
_WHICHEVER = frozenset(
    "current present own usual regular main primary latest personal actual official".split()
)
"""Adjectives that name no other thing: 'my regular dentist' is my dentist."""


def attribute_name(phrase: str) -> str:
    """A noun as a relation: 'tracking number' stays, 'mobile number' is 'phone'."""
    parts = [part for part in re.findall(r"[a-z0-9\u3400-\u9fff]+", phrase.lower())]
    parts = [part for part in parts if part not in _DROPPED] or parts
    while len(parts) > 1 and parts[0] in _WHICHEVER:
        parts = parts[1:]
    parts = ["favourite" if part == "favorite" else part for part in parts]
    return _NAMES.get(" ".join(parts), "_".join(parts[:4]))


IRREGULAR_PASTS = frozenset(_IRREGULAR) - frozenset("am is are been has does goes put read".split())
"""Forms by which a past tense is known that does not end in 'ed'."""


def is_single(relation: str) -> bool:
    """Whether a head has one value of this relation at a time."""
    return relation in SINGLE_RELATIONS or relation.startswith("favourite_")


MANY_VALUED = frozenset(
    """likes dislikes loves prefers has owns knows visits bought booked watched read plays eats
    drinks meets includes wants needs plans decided promised thinks uses speaks allergic_to
    noted is same_as different_from""".split()
)
"""Relations of which several may hold side by side, whatever their subclass; a feature of the pair
judge, so a change here needs ``benchmarks.editing_train``."""
_DOES = frozenset(
    """eat drink own know use read watch wear collect cook make write sing learn take get give buy
    sell lend borrow join hate enjoy miss""".split()
)
"""Verbs that one does with one thing beside another, by their base form."""
_SEVERAL = MANY_VALUED | _DOES


def holds_several(relation: str) -> bool:
    """Whether one may have several of it: likes, pets, and all that one does not do."""
    return relation in _SEVERAL or relation.startswith("not_")
