"""Parser for ratings in plain text (MAP 4.4). No model.

'I gave Heat five stars, loved the pacing' holds everything that the paper's update prompt asks a
model for. Read are only sentences in which the person herself rates a thing that is named: what
somebody else gave, what is denied or asked, a rating out of its scale and a mere 'it' without a
name before it are left to the ordinary way of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent.extraction.ratings.items import KINDS, STARS, Rated, checked, genres_of, sentence_of
from agent.language.sentences import is_question, sentence_places
from store.errors import InvalidInput

GENRES = frozenset(
    """action adventure animation animated anime biography children's comedy crime detective
    documentary drama dystopian electronic family fantasy fiction folk hip-hop historical history
    horror indie jazz literary metal musical mystery noir opera poetry pop punk puzzle rock
    role-playing romance romantic satire sci-fi science-fiction shooter spy strategy superhero
    supernatural techno thriller war western chinese french greek indian italian japanese korean
    lebanese mexican thai turkish vietnamese vegan vegetarian""".split()
)
"""Words before a kind that tell its genre: 'the crime film Heat'."""

_WORDS = "one two three four five six seven eight nine ten".split()
_NUMBERS: dict[str, float] = {word: float(n) for n, word in enumerate(_WORDS, 1)} | {
    "zero": 0.0, "no": 0.0, "a hundred": 100.0, "一": 1.0, "二": 2.0, "两": 2.0, "三": 3.0,
    "四": 4.0, "五": 5.0,
}  # fmt: skip
_NUMBER = rf"(?:\d{{1,3}}(?:[.,]\d)?|{'|'.join(_WORDS)}|zero)"
_SCORE = (
    rf"(?P<value>{_NUMBER})(?P<half>(?:[ -]and)?[ -]a[ -]half)?"
    rf"(?:\s?(?:/|out of|of)\s?(?P<scale>{_NUMBER}|a hundred)(?:[ -]stars?)?|[ -]?stars?\b)"
    r"|(?P<signs>[★⭐]{1,5})"
)
_PRAISE = r"(?:an? |the |only |just |a full |all )?(?:solid |strong |weak |good |well-deserved )?"
_END = (
    r"(?=\s*(?:$|[.!,;:–—()-]|(?:because|since|as|for|on|and|but|though|although|in my|at most)\b))"
)
_STOP = r"(?=\s*(?:$|[.!,;–—]|because\b))"
_I = r"(?:I|we)(?:['’]d| would| have|['’]ve)?(?: (?:just|also|really|finally|probably|then))?"
_GIVE = r"(?:give|gave|given|rate|rated|score|scored)"
_NAME = r"(?P<name>[^\s,;:.!?].{0,100}?)"
_BY_ME = r" (?:from|for|by) me| in my (?:book|opinion)"
_HAD = (
    r"(?P<verb>watched|saw|seen|read|finished|played|heard|listened to|tried|visited|ate at|went to"
    r"|rewatched|reread)"
)
_WHEN = (
    r"(?:,? (?:last \w+|yesterday|today|tonight|this \w+|again|on \w+day|the other day"
    r"|in the cinema|at the cinema))?"
)
_LISTED = re.compile(rf"^{_NAME}(?::| [–—-]) {_PRAISE}(?:{_SCORE}){_END}", re.IGNORECASE)
_FORMS = (
    *(
        re.compile(form, re.IGNORECASE)
        for form in (
            # I watched Heat last night and gave it five stars; Just finished Dune: 4 stars.
            rf"^(?:{_I} )?(?:just )?{_HAD} {_NAME}{_WHEN}\s?[,.;:–—-]*\s?(?:and )?"
            rf"(?:(?:{_I} )?{_GIVE} it )?{_PRAISE}(?:{_SCORE}){_END}",
            rf"^{_I} {_GIVE} {_PRAISE}(?:{_SCORE}) (?:to|for) {_NAME}{_STOP}",
            rf"^{_I} {_GIVE} {_NAME} {_PRAISE}(?:{_SCORE}){_END}",
            rf"^My (?:rating|score|verdict) (?:for|of|on) {_NAME}(?: is| was|:) {_PRAISE}"
            rf"(?:{_SCORE}){_END}",
            rf"^{_NAME} (?:gets|got|earns|earned|is|was) {_PRAISE}(?:{_SCORE})(?:{_BY_ME}){_END}",
            rf"^{_PRAISE}(?:{_SCORE}) (?:for|to) {_NAME}{_STOP}",
            r"^我?(?:给|覺得|觉得)?《(?P<name>[^》]{1,60})》(?:我)?(?:打|评|給|给)?了?"
            r"(?P<value>[一二两三四五1-5])(?P<half>)(?P<scale>)(?P<signs>)(?:颗|个)?星",
        )
    ),
    _LISTED,
)
_AND = re.compile(rf"^\s*(?:,? and|,| but)\s+{_NAME} {_PRAISE}(?:{_SCORE}){_END}", re.IGNORECASE)
_REASON = re.compile(
    r"^\s*(?:[,;:–—-]+\s*|\.\s+(?=(?:loved|liked|hated|enjoyed|great|because)\b))?"
    r"(?:(?:because(?! of)|since|as|but|though|although|for)\s+)?(?P<why>\S.*)$",
    re.IGNORECASE,
)
_GENRES = re.compile(r"^\s*\(([^()\d]{3,80})\)")
_WHERE = re.compile(r"^\s*(?:on|in) [A-Z][\w.]*", re.ASCII)
_DENIED = re.compile(
    r"\b(?:not|never|n['’]t|if|unless|would have|used to)\b|n['’]t\b", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"(?:it|him|her|them|this|that|these|those|you|me|us|myself|everything|something|everyone"
    r"|(?:my|his|her|their|our|your) .*|.*\b(?:i|he|she|they|we|which|who)\b.*)",
    re.IGNORECASE,
)
_THE = re.compile(
    rf"^(?:(?:the|a|an|that|this) )?(?:new |old |latest )?(?P<genres>(?:[\w'’-]+ ){{0,2}})"
    rf"(?P<kind>{'|'.join(sorted(KINDS, key=len, reverse=True))})(?: called| named)? "
    r"(?P<rest>(?!at |in |from |by |of )\S.*)$",
    re.IGNORECASE,
)
_OF_KIND = re.compile(
    rf"^(?P<rest>.+?),? \(?(?:the )(?P<kind>{'|'.join(KINDS)})\)?$", re.IGNORECASE
)
_STEM = re.compile(
    r"^(?:[-*•]|ok(?:ay)?|so|well|oh|hey|hi|also|and|by the way|btw|actually|then again|now|later)"
    r"[,!]?\s+",
    re.IGNORECASE,
)
_VERB_KIND = {"read": "book", "reread": "book", "played": "game"}


@dataclass(frozen=True, slots=True)
class StatedRating:
    """A rating that a text states."""

    rated: Rated
    said: str
    """The sentence that becomes its memory: as it was said where that stands alone."""
    start: int
    """Where it stands in the text: characters ``start`` up to, not including, ``end``."""
    end: int


def read_ratings(text: str) -> tuple[StatedRating, ...]:
    """Every rating that the person states in a text, in its order."""
    found: list[StatedRating] = []
    places = list(sentence_places(text))
    at = 0
    for number, (start, end) in enumerate(places):
        if start < at:
            continue
        ends = [end]
        if number + 1 < len(places) and re.search(_HAD, text[start:end], re.IGNORECASE):
            # 'I watched Heat. I gave it five stars.' is read over the end of its first sentence.
            ends.append(places[number + 1][1])
        for end in ends:
            if read := tuple(_read(text[start:end], start)):
                found += read
                at = end
                break
    return tuple(found)


def split_ratings(text: str) -> tuple[tuple[str, ...], str]:
    """The sentences of the ratings in a text, and what it says beside them."""
    found = read_ratings(text)
    return tuple(rating.said for rating in found), without_ratings(text, found)


def one_rating(text: str) -> Rated | None:
    """The rating that a whole text is; None where it says anything else, or several."""
    found = read_ratings(text)
    whole = len(found) == 1 and not without_ratings(text, found).strip(" .!?")
    return found[0].rated if whole else None


def without_ratings(text: str, found: tuple[StatedRating, ...]) -> str:
    """What a text says beside its ratings."""
    parts, at = [], 0
    for rating in found:
        if rating.start >= at:
            parts.append(text[at : rating.start])
            at = rating.end
    return "".join([*parts, text[at:]]).strip()


def _read(sentence: str, offset: int) -> Iterator[StatedRating]:
    lead = len(sentence) - len(sentence.lstrip())
    body = sentence.strip()
    if stem := _STEM.match(body):
        lead, body = lead + stem.end(), body[stem.end() :]
    if is_question(body) or _DENIED.search(body):
        return
    start, end = offset, offset + len(sentence)
    for form in _FORMS:
        match = form.match(body)
        first = _rated(match) if match else None
        if match is None or first is None:
            continue
        if form is _LISTED and "/" in match.group():
            continue  # 'Progress: 4/5' rates nothing
        rest = body[match.end() :]
        if listed := _GENRES.match(rest):
            first = replace(first, genres=genres_of((*first.genres, *listed[1].split(","))))
            rest = rest[listed.end() :]
        several = [first]
        while (more := _AND.match(rest)) and (further := _rated(more)):
            several.append(further)
            rest = rest[more.end() :]
        several[-1] = replace(several[-1], reason=_reason(rest))
        plain = len(several) == 1 and body.startswith(("I ", "I'", "I’", "My ", "我"))
        score = match["scale"] and "/" in match.group()
        for rated in several:
            as_said = plain and not score and not re.search(r"\bit\b", match.group())
            yield StatedRating(rated, body if as_said else sentence_of(rated), start, end)
        return


def _rated(match: re.Match[str]) -> Rated | None:
    name, kind, genres = _named(match["name"])
    if _NO_NAME.fullmatch(name):
        return None
    if match["signs"]:
        value, scale = float(len(match["signs"])), STARS
    else:
        value = _number(match["value"]) + (0.5 if match["half"] else 0.0)
        scale = int(_number(match["scale"])) if match["scale"] else STARS
    verb = match.groupdict().get("verb")
    kind = kind or _VERB_KIND.get((verb or "").casefold())
    try:
        return checked(Rated(name, kind, genres, rating=value, scale=scale))
    except InvalidInput:
        return None  # 'seven of five' is a manner of speaking


def _named(said: str) -> tuple[str, str | None, tuple[str, ...]]:
    """'the crime film Heat' -> (Heat, film, crime); 'the ramen at Kiku' stays whole."""
    if found := _THE.match(said):
        words = tuple(word.casefold() for word in found["genres"].split())
        if all(word in GENRES for word in words):
            return found["rest"], found["kind"], words
    if found := _OF_KIND.match(said):
        return found["rest"], found["kind"], ()
    kinds = [KINDS[word] for word in re.findall(r"[\w'’]+", said.casefold()) if word in KINDS]
    if kinds and re.match(r"(?:the|an?) ", said, re.IGNORECASE):
        return said[0].lower() + said[1:], kinds[0], ()  # 'the ramen at Kiku' is no title
    return said, None, ()


def _number(said: str) -> float:
    folded = said.casefold()
    return _NUMBERS[folded] if folded in _NUMBERS else float(folded.replace(",", "."))


def _reason(rest: str) -> str | None:
    """What follows the rating, as the reason for it."""
    rest = _WHERE.sub("", rest)
    found = _REASON.match(rest)
    return found["why"].rstrip(".!").strip() or None if found and re.search(r"\w", rest) else None
