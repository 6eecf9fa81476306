"""Rule-based mention detection: people, places and things in short texts.

Made for conversation (``agent.answering.question.references``), where a wrong reading costs more
than none: a phrase that its words do not tell apart has several readings, and who asks takes one
only where one is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Kind(StrEnum):
    """What something that is spoken of may be."""

    PERSON = "person"
    PLACE = "place"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase that names somebody or something, as the person would say it."""

    text: str
    kinds: frozenset[Kind]
    start: int
    sure: bool = True
    """Whether words beside it say its kind; a bare name may be anybody or anything."""
    gender: str = ""
    """'he' or 'she' where the words tell."""
    plural: bool = False
    lead: str = ""
    """The preposition of place before it: 'at' of 'at the dentist'."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KIN = re.compile(
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]+|mother|father|mum|mom|dad"
    r"|son|daughter|sister|brother|uncle|aunt|cousin|nephew|niece|grandmother|grandfather|grandma"
    r"|grandpa|boss|manager|colleague|friend|neighbou?r|landlord|landlady|teacher|doctor|dentist"
    r"|flatmate|roommate|tutor|coach|secretary|assistant|client|student|mentor|adviser|supervisor)",
    re.IGNORECASE,
)
_SHE = _words(
    "wife girlfriend mother mum mom daughter sister aunt niece grandmother grandma landlady"
)
_HE = _words("husband boyfriend father dad son brother uncle nephew grandfather grandpa")
_PEOPLE = _words(
    """parents kids children friends colleagues neighbours neighbors sisters brothers sons
    daughters grandparents twins cousins"""
)
_PETS = _words("dog cat rabbit parrot horse hamster puppy kitten")
_HAPPENS = _words(
    "appointment visit meeting birthday party wedding lesson number address name card letter house"
)
"""What may follow 'dentist' or 'boss', and is what is spoken of then."""
_TITLES = {"mr": "he", "herr": "he", "mrs": "she", "ms": "she", "frau": "she", "dr": "", "prof": ""}
_DETERMINERS = _words("my our the a an")
_LEADS = _words("in at to from near into around inside outside towards toward")
_MOVES = _words(
    """go goes going gone went move moves moved moving fly flies flying flew flight train bus trip
    travel travels travelled drive drives drove drive driving get got back return returned walk
    walked ride route way come comes came leave leaves left depart departs sail been far"""
)
_ACTS = _words(
    """live lives lived work works worked like likes liked love loves loved want wants said says
    told thinks met moved eats drinks plays studies teaches speaks hates married has have know
    knows do visit call"""
)
"""What somebody does whose bare name stands before it."""
_TIMES = _words(
    """morning afternoon evening night weekend week month year day summer winter spring autumn fall
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays january february march april may june july august september october
    november december moment end beginning time hour minute today tomorrow yesterday past future"""
)
_FUNCTION = _words(
    """a an the my our your his her its their this that these those i you he she it we they me him
    us them mine yours who whom whose what which where when why how and or but if because while
    since until as than so is are was were be been being am do does did done has have had having
    will would can could shall should may might must not no yes never always also still just
    already again today tomorrow yesterday now then here there very too to of in on at by for from
    with without about near into around over under after before during between per up down off out
    away back please every all both each either neither more most some any one two three many much
    only even else next last thanks thank hello hi okay ok sorry maybe perhaps both herself himself
    inside outside towards toward"""
)
_VERBS = _words(
    """said says say told tell tells asked asks went goes go came comes come left leaves leave got
    gets get gave gives give took takes take bought buys buy sold sells sell cost costs keeps keep
    kept opens closes starts ends begins began runs ran works lives likes loves moved met needs
    wants sleeps broke fell lost found made makes sits stands stood hangs lies expires departs
    arrives called named plays teaches studies stays eats drinks sent parked fits leaks smells
    charges serves sell looks seems show remind remember forget note book add remove move cancel
    call let put noted does yesterday free good great nice fine late"""
)
_NOT_NAMES = _FUNCTION | _VERBS | _TIMES
_TOKEN = re.compile(
    rf"\b(?:(?i:{'|'.join(_TITLES)})|[A-Z])\.(?=\s[A-Z])"
    r"|[^\W_][\w-]*(?:['’][A-Za-z]+)?|[^\w\s]|\n"
)
"""A word; the stop of a title or an initial belongs to it, any other ends the sentence."""
_OWNER = re.compile(r"['’]s$|(?<=s)['’]$")
LONGEST = 5
"""Words of a phrase."""


def mentions(text: str, *, answer: bool = False) -> tuple[Mention, ...]:
    """Who and what a text speaks of, in order. An ``answer`` says 'you' to the person."""
    return tuple(_joined(list(_scan([*_TOKEN.finditer(text)], answer=answer)), text))


def _scan(tokens: Sequence[re.Match[str]], *, answer: bool) -> Iterator[Mention]:
    at = 0
    while at < len(tokens):
        end, found = _phrase(tokens, at, answer=answer)
        if found is not None:
            yield found
        at = max(end, at + 1)


def _phrase(
    tokens: Sequence[re.Match[str]], at: int, *, answer: bool
) -> tuple[int, Mention | None]:
    """The phrase that begins at a token, and the token after it."""
    first = tokens[at].group()
    low = first.casefold()
    determined = low in _DETERMINERS or (answer and low == "your")
    if not determined and not _is_name(tokens, at):
        return at + 1, None
    head = "my" if low == "your" else "the" if low in ("a", "an") else low
    words = [head] if determined else []
    end = at + 1 if determined else at
    lower: list[str] = []
    names: list[str] = []
    while end < len(tokens) and len(words) < LONGEST:
        word = tokens[end].group()
        bare = _OWNER.sub("", word)
        if not word[0].isalnum() or _ends(tokens, end, lower, names):
            break
        words.append(word)
        if _OWNER.search(word):  # 'my sister's bakery', 'Mia's bakery': it goes on
            lower, names = [], []
            if end + 1 == len(tokens) or not _continues(tokens[end + 1].group()):
                words[-1] = bare
                (names if bare[0].isupper() else lower).append(bare)
                end += 1
                break
        elif word[0].isupper() or word[0].isdigit():
            names.append(word)
        else:
            lower.append(word)
        end += 1
    if not lower and not names:
        return end, None
    if determined and not names and len(lower) > 1 and _is_asked_to(tokens, at):
        # 'When does my bakery open', 'Does my train run': the last word is the verb.
        words, lower, end = words[:-1], lower[:-1], end - 1
    return end, _mention(tokens, at, end, words, lower, names)


def _is_name(tokens: Sequence[re.Match[str]], at: int) -> bool:
    word = _OWNER.sub("", tokens[at].group())
    if not word[0].isupper() or word.casefold() in _NOT_NAMES:
        return False
    opens = at == 0 or tokens[at - 1].group() in ".!?:\n"
    if not opens:
        return True
    after = tokens[at + 1].group() if at + 1 < len(tokens) else "."
    # A word that opens a sentence is a name where what follows cannot follow a verb or a noun.
    return (
        bool(_OWNER.search(tokens[at].group()))
        or after.casefold()
        in _FUNCTION & _words("is was has had will would can could and does did")
        or after.casefold() in _ACTS | _VERBS
        or after[0].isupper()
        or not after[0].isalnum()
        or word.casefold() in _TITLES
    )


def _continues(word: str) -> bool:
    return word[0].isalpha() and word.casefold() not in _FUNCTION


def _ends(
    tokens: Sequence[re.Match[str]], at: int, lower: Sequence[str], names: Sequence[str]
) -> bool:
    """Whether the token stands behind the phrase, which has these words so far."""
    word = tokens[at].group()
    low = word.casefold()
    if low in _FUNCTION or (low in _VERBS and (lower or names)):
        return True
    if names and not (word[0].isupper() or word[0].isdigit()):
        return True
    if lower and _KIN.fullmatch(lower[-1]) and word[0].islower():
        return low not in _HAPPENS
    if lower and low.endswith("ed") and len(low) > 4:
        return True
    after = tokens[at + 1].group().casefold() if at + 1 < len(tokens) else "."
    # 'my bakery opens at six', but 'my car keys are' and 'my car keys?'
    third_person = low.endswith("s") and not low.endswith(("ss", "us"))
    return bool(
        lower
        and third_person
        and after[0].isalnum()
        and after not in _words("is are was were have has do does will can in on and or")
    )


def _is_asked_to(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a verb follows at the end: 'When does my bakery open?', 'Is my flight late?'."""
    before = tokens[at - 1].group().casefold() if at else ""
    if at > 1 and tokens[at - 2].group().casefold() not in _words("when where how why what who"):
        return False
    if before in _words("is are was were"):
        return at == 1
    return before in _words("do does did will can could should would has have had")


def _mention(
    tokens: Sequence[re.Match[str]],
    at: int,
    end: int,
    words: Sequence[str],
    lower: Sequence[str],
    names: Sequence[str],
) -> Mention | None:
    before = tokens[at - 1].group().casefold() if at else ""
    after = tokens[end].group().casefold() if end < len(tokens) else ""
    noun = lower[-1].casefold() if lower else ""
    if noun in _TIMES or (not lower and names and names[0].casefold() in _TIMES):
        return None
    text = " ".join(words)
    lead = before if before in _LEADS else ""
    start = tokens[at].start()
    if _KIN.fullmatch(noun) or noun in _PEOPLE or noun in _PETS:
        gender = "she" if noun in _SHE else "he" if noun in _HE else ""
        kinds = {Kind.PERSON, Kind.THING} if noun in _PETS else {Kind.PERSON}
        if lead in ("at", "to") and _KIN.fullmatch(noun):
            kinds.add(Kind.PLACE)  # 'at the dentist'
        return Mention(text, frozenset(kinds), start, True, gender, noun in _PEOPLE, lead)
    if lower:
        plural = noun.endswith("s") and not noun.endswith(("ss", "us"))
        kinds = {Kind.THING, Kind.PLACE} if lead else {Kind.THING}
        return Mention(text, frozenset(kinds), start, True, "", plural, lead)
    title = names[0].rstrip(".").casefold()
    if title in _TITLES:
        gender = (
            "he" if title in ("mr", "herr") else "she" if title in ("mrs", "ms", "frau") else ""
        )
        return Mention(text, frozenset({Kind.PERSON}), start, True, gender)
    if any(any(c.isdigit() for c in word) for word in names) or words[0] == "the":
        kinds = {Kind.THING, Kind.PLACE} if lead else {Kind.THING}
        return Mention(text, frozenset(kinds), start, True, "", False, lead)
    if before in ("called", "named"):
        return None  # another name of what the sentence is about
    moves = {token.group().casefold() for token in tokens[max(0, at - 5) : at]} & _MOVES
    if lead and (lead not in ("to", "from", "near") or moves or lead == "near"):
        return Mention(text, frozenset({Kind.PLACE}), start, True, "", False, lead)
    if after in _ACTS or lead or before in _words("with met call called visit saw asked and"):
        return Mention(text, frozenset({Kind.PERSON}), start)
    return Mention(text, frozenset({Kind.PERSON, Kind.THING}), start, sure=False)


def _joined(found: list[Mention], text: str) -> Iterator[Mention]:
    """'Your boss is Kenji Tan' speaks of one: my boss Kenji Tan."""
    at = 0
    while at < len(found):
        one = found[at]
        other = found[at + 1] if at + 1 < len(found) else None
        if other is not None:
            between = text[one.start : other.start].casefold()
            named = Kind.PERSON in one.kinds and one.text.startswith(("my ", "our "))
            if (
                named
                and re.search(r"\w (?:is|was)(?: called)? $", between)
                and other.text[0].isupper()
            ):
                yield replace(one, text=f"{one.text} {other.text}", sure=True)
                at += 2
                continue
        yield one
        at += 1


# ---- lists ----------------------------------------------------------------------------------

_NUMBERED = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]+(\S.*)$", re.MULTILINE)
_AND = re.compile(r",? (?:and|or) ")


def _without_stop(item: str) -> str:
    """An item of a list without the one sign that may close it."""
    item = item.rstrip()
    return (item[:-1].rstrip() if item.endswith((".", ";", ",")) else item) or item


def listed(text: str, *, answer: bool = False) -> tuple[str, ...]:
    """The things that a text counts up, as the person would name them; empty where it does not."""
    numbered = tuple(_without_stop(match.group(1)) for match in _NUMBERED.finditer(text))
    if len(numbered) > 1:
        return tuple(_as_named(item) for item in numbered)
    found = [*_scan([*_TOKEN.finditer(text)], answer=answer)]
    for last in reversed(range(1, len(found))):
        between = text[_end(found[last - 1], text) : found[last].start]
        if not _AND.fullmatch(between):
            continue
        first = last - 1
        while first and text[_end(found[first - 1], text) : found[first].start] == ", ":
            first -= 1
        return tuple(_as_named(one.text) for one in found[first : last + 1])
    return ()


def _end(one: Mention, text: str) -> int:
    """Where a mention ends in its text; its first word may be said otherwise there."""
    rest = one.text.partition(" ")[2] or one.text
    return text.index(rest, one.start) + len(rest)


def _as_named(item: str) -> str:
    return re.sub(r"^(?:A|An|The|My|Our)\b", lambda m: m.group().lower(), item)
