"""Coreference of unambiguous pronouns (EMG-RAG A.1).

Each rule replaces a pronoun only where the text before it leaves one reading; otherwise the
pronoun stays, and ``agent.extraction.faithfulness`` ties the sentence to the one before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

KIN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]+|mother|father|mum|mom|dad"
    r"|son|daughter|sister|brother|uncle|aunt|cousin|nephew|niece|grandmother|grandfather|grandma"
    r"|grandpa|boss|manager|colleague|friend|neighbou?r|landlord|landlady|teacher|doctor|dentist"
    r"|flatmate|roommate|tutor|coach|secretary|assistant|client|student|mentor|adviser|supervisor)"
)
NAME = (
    r"(?!(?:The|A|An|My|Our|This|That|These|I|We|It|On|In|At|He|She|They|There|His|Her|Their|Its|And|But|If|When"
    r"|After|Before|Since|Because|Next|Last|No|Not|Some|All|Every|Then|So|As|Still|Also|For|To"
    r"|What|Who|How|Why|Please|Today|Tomorrow|Yesterday|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?:day)?\b)(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-Z][a-zà-ÿ’'-]+(?: [A-Z][a-zà-ÿ-]+){0,4}"
)
_VERBISH = (
    r"(?:is|was|has|had|will|would|can|could|doesn|didn|isn|won|can't|asked|said|says|told|wants"
    r"|wanted|needs|needed|likes|loves|prefers|thinks|works|lives|suggested|promised|agreed|signed"
    r"|sent|called|offered|decided|moved|started|starts|plans|mentioned|invited|gave|got|went|came"
    r"|just|also|still|never|always|and)\b"
)
_PEOPLE = re.compile(
    rf"\b(?P<of>{NAME}['’]s (?:[a-z-]+ )?{KIN}(?: {NAME})?)"
    rf"|\b(?P<kin>[Mm]y (?:[a-z-]+ )?{KIN}(?: {NAME})?|[Oo]ur (?:[a-z-]+ )?{KIN}(?: {NAME})?)"
    rf"|\b(?:[Ww]ith|[Ff]rom|[Tt]o|[Ff]or|by|[Mm]et|[Tt]old|[Aa]sked|[Cc]alled|[Ss]aw|met|told|asked|called?|and|see|saw|invited?|thanked?|helped?|meet"
    rf"|visit|joined?|is|that) (?P<object>{NAME})(?=[\s.,;:!?]|['’]s|$)"
    rf"|(?:^|[.!?] )(?P<subject>{NAME})(?='s [a-z]|’s [a-z]| {_VERBISH})"
)
_OWNED = re.compile(
    r" (?!(?:to|a|an|the|my|our|on|in|at|by|for|about|before|after|next|last|this|that|if|when|and"
    r"|or|because|with|from|again|today|tomorrow)\b)[a-z]"
)
_NOUN = re.compile(r"\b(?:an?|the|my|our|your|his|her|their|this|that|these|those) \w", re.I)
_SINGULAR = re.compile(r"\b(he|she|him|her|his)\b(['’](?:s|ll|d))?", re.I)


def people_in(text: str) -> list[str]:
    """The people a text mentions, in order: relatives, colleagues, names where a person stands."""
    found: list[str] = []
    for match in _PEOPLE.finditer(text):
        name = re.sub(r"['’]s$", "", match.group(match.lastgroup or 0))
        if match.group("of"):  # 'Nina's friend Haruka' is Haruka
            name = re.sub(rf"^.*['’]s (?:[a-z-]+ )?{KIN} (?=[A-Z])", "", name)
        if match.group("object") and re.match(r"(?:from|to) ", match.group()) and " " not in name:
            continue  # 'to Lyon', 'from Leeds': a place as likely as a person
        if name and name not in found:
            found.append(name)
    return found


def resolve(sentence: str, before: Sequence[str]) -> str:
    """The sentence with he, she, him, her, his and an opening they or it made names."""
    sentence = _resolve_they(sentence, before)
    match = _SINGULAR.search(sentence)
    if not match:
        return sentence
    own = sentence[: match.start()]
    if people_in(own) or _NOUN.search(own) or re.match(rf"{NAME} [a-z]+ ", sentence):
        return sentence  # the sentence may name its person itself: 'the plumber wrote, he ...'
    for earlier in reversed(before):
        mentioned = people_in(earlier)
        if mentioned:
            return _put(sentence, match, mentioned[0]) if len(mentioned) == 1 else sentence
    return sentence


def _put(sentence: str, match: re.Match[str], person: str) -> str:
    word, ending = match.group(1).lower(), match.group(2) or ""
    person = re.sub(r"^(?:My|Our)\b", lambda m: m.group().lower(), person)
    after = sentence[match.end() :]
    possessive = word == "his" or (word == "her" and bool(_OWNED.match(after)))
    name = f"{person}'s" if possessive else f"{person}{ending}"
    result = sentence[: match.start()] + name + after
    return result[:1].upper() + result[1:]


def _resolve_they(sentence: str, before: Sequence[str]) -> str:
    """'The movers come at 8. They charge 640.': the subject of the sentence right before."""
    match = re.match(r"(They|It)\b(['’](?:re|ve|ll|s|d))?", sentence)
    if not match or not before:
        return sentence
    subject = re.match(
        r"((?:The|My|Our) (?:[\w-]+ )?[a-z-]+) (?:is|are|was|were|will|has|have|had|can|come|comes"
        r"|want|wants|need|needs|start|starts|leave|leaves|cost|costs|arrive|arrives|charge)\b",
        before[-1],
    )
    if not subject:
        return sentence
    plural = subject.group(1).endswith("s") and not subject.group(1).endswith("ss")
    if plural != (match.group(1) == "They"):
        return sentence
    ending = {"'re": " are", "'ve": " have", "'ll": " will", "'s": " is", "'d": " would"}.get(
        (match.group(2) or "").replace("’", "'"), ""
    )
    return f"{subject.group(1)}{ending}{sentence[match.end() :]}"


_LEANS = re.compile(r"\b(?:both|it|them|this|that|one|ones|too|there|then|the former|the latter)\b")
_CLAUSE = re.compile(
    r"(?:,? and|,|;) (?=(?:I|we|he|she|they|my (?:\w+ )?\w+(?: [A-Z]\w+)?|his \w+|her \w+)"
    r"(?:['’](?:m|ve|re|s|ll|d)| (?:am|is|are|was|were|have|has|had|will|would|can|can['’]t|cannot"
    r"|don['’]t|doesn['’]t|won['’]t|live|work|like|love|need|want|prefer|hate|\w+s|\w+ed))\b)",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:because|since|if|unless|when|while|although|though|but|so|that|whether|after|before"
    r"|until|where|which|who|than)\b",
    re.I,
)


_JOINED = re.compile(r"[,;]|\b(?:and|but)\b", re.I)


def joined_parts(sentence: str) -> list[str]:
    """What a sentence joins by comma, semicolon, 'and' or 'but', clause or not."""
    return [part.strip() for part in _JOINED.split(sentence.rstrip(".! "))]


def clauses(sentence: str) -> list[str]:
    """The coordinate clauses of a sentence that have a subject of their own."""
    return _CLAUSE.split(sentence)


def split_facts(line: str) -> list[str]:
    """'My name is Ann, I'm 41 and I work in Cork.' -> three sentences.

    Only where each clause has its own subject and verb and none depends on another.
    """
    if _BOUND.search(line) or not _CLAUSE.search(line):
        return [line]
    stop = line[-1] if line[-1:] in ".!" else "."
    parts = [part.strip(" ,;") for part in _CLAUSE.split(line.rstrip(".!"))]
    if any(len(part.split()) < 2 or _LEANS.search(part) for part in parts):
        return [line]
    if not re.match(rf"(?:I|We|My|Our)\b|{NAME}['’ ]|The [\w ]+ is {NAME}$", parts[0]):
        return [line]
    result: list[str] = []
    for part in parts:
        whole = part[:1].upper() + part[1:] + stop
        result.append(resolve(whole, result[-1:]))
    return result
