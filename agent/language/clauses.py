"""What a sentence joins: clauses, facts, names."""

from __future__ import annotations

import re

from agent.language.sentences import sentence_places, sentences

NAME = (
    r"(?!(?:The|A|An|My|Our|This|That|These|I|We|It|On|In|At|He|She|They|There|His|Her|Their|Its|And|But|If|When"
    r"|After|Before|Since|Because|Next|Last|No|Not|Some|All|Every|Then|So|As|Still|Also|For|To"
    r"|What|Who|How|Why|Please|Today|Tomorrow|Yesterday|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?:day)?\b)(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-Z][a-zà-ÿ’'-]+(?: [A-Z][a-zà-ÿ-]+){0,4}"
)
_LEANS = re.compile(
    r"\b(?:he|she|him|her|his|they|their|both|it|them|this|that|one|ones|too|there|then|the former"
    r"|the latter)\b",
    re.I,
)
_CLAUSE = re.compile(
    r"(?:,? and|,|;) (?=(?:I|we|my (?:\w+ )?\w+(?: [A-Z]\w+)?)"
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


def joined_parts(text: str) -> list[str]:
    """What is told one after another: sentences, and what a comma, 'and' or 'but' joins in them."""
    told = [said.rstrip(".! ") for said in sentences(text)]
    return [part.strip() for said in told for part in _JOINED.split(said)]


def part_at(text: str, place: int) -> str:
    """The part of ``joined_parts`` that a character of the text is in."""
    first, last = next((p for p in sentence_places(text) if p[0] <= place < p[1]), (0, len(text)))
    ends = [match.span() for match in _JOINED.finditer(text, first, last)]
    before = max((end for _, end in ends if end <= place), default=first)
    after = min((start for start, _ in ends if start >= place), default=last)
    return text[before:after].strip()


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
    return [part[:1].upper() + part[1:] + stop for part in parts]
