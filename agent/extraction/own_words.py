"""Memories in the person's own words (EMG-RAG 4.1, A.1).

The paper has a large model rewrite what was told as standalone sentences. Of the lines that a 1.5B
model rewrites, one in four says something else, and so do pronouns that rules replace by names
(docs/decisions/0024-own-words.md). So each sentence is a memory as it was written; one that only
the sentence before it explains is joined to that.

Invariant: a memory adds nothing to its source ("remind me to" becomes "I have to"), and every
sentence with something to remember is in one.
"""

from __future__ import annotations

import re

from agent.language.clauses import NAME, split_facts
from agent.language.relation_names import IRREGULAR_PASTS
from agent.language.sentences import (
    content,
    declarative,
    is_chinese,
    numbers,
    sentences,
    strip_wrapper,
    words,
)

LONGEST = 60
"""Words of a memory beyond which nothing more is joined to it."""

_PRONOUN = re.compile(
    r"\b(?:he|she|him|her|his|hers|they|them|their|theirs|it|its|mine|ours|these|those|there|here|one"
    r"|ones"
    r"|this(?! (?:week|month|year|morning|evening|afternoon|weekend|summer|winter|spring|autumn"
    r"|fall|time))|that(?! (?:i|we|my|our|the|a|an|you|[A-Z])\b))(?:['’](?:s|ll|d|re|ve))?\b",
    re.I,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|will|would|can|could|should|must|do|does|did|may|might"
    r"|won['’]t|\w+n['’]t|\w{2,}ed)\b|['’](?:s|m|re|ve|ll)\b|(?<!-)\b[a-z]{2,}[a-rt-z]s\b(?= \w)"
    r"|\b(?:I|we|they|you) (?!\w+ly\b)[a-z]|\b(?:he|she|it|this|that) [a-z]+s\b",
    re.I,
)
_PAST_VERB = re.compile(rf"\b(?:{'|'.join(sorted(IRREGULAR_PASTS))})\b", re.I)
_REFERS = re.compile(
    r"\b(?:he|she|him|her|his|hers|it|its|they|them|their|theirs)\b|[他她它]", re.I
)
_NAMED = re.compile(
    r"\b(?i:an?|the|my|our|your|this|that|these|those) \w|(?<=[\w,;:] )(?!I\b)[A-Z]"
    rf"|^(?!\w+ed\b|{_PAST_VERB.pattern}){NAME} [a-z]"
)
_COUNTED = re.compile(
    r"\b(?i:\d+|two|three|four|five|six|seven|eight|ten|several|many|few|some|all|these|those|no"
    r"|more) (?:[a-z-]+ )?(?!(?:is|was|has|does)\b)[a-z]{2,}s\b|\b[A-Z][a-z]+s\b",
)
_DEPENDENT = re.compile(r"(?<=\w )(?:if|because|since|when|while|as(?! an? )|that|which)\b.*$")
_FIRST = re.compile(r"\b(?:i|we|me|us|my|our|mine|ours)\b|我|咱", re.I)
_LABEL = re.compile(r"([A-Za-z][\w’'-]*(?: [\w’'-]+){0,3})(?<!\d):\s+(\S+(?: \S+){0,3})$")
_OPEN = re.compile(
    r"^(?:They|It|This|That|These|Those|He|She|His|Her|Their|Its)\b(?! (?:week|month|year|morning))"
    r"|^(?:I|We) (?:said (?:yes|no)|agreed|accepted|declined|refused)\b(?! (?:with|to|that|on)\b)"
    r"|^(?:Currently|Now|So far) (?:at|on|in|under|over|around|about)\b"
    r"|^(?:[\w’'-]+ ){1,3}(?:signed off|agreed|approved|refused|declined|accepted|objected)\.$"
    r"|^(?:I|We)(?:['’]\w+)?(?: (?!(?:the|a|an|my|our|his|her|their|this|that)\b)[a-z]+){1,4}"
    r" (?:them|it)\b"
    r"|\b(?:accordingly|therefore|consequently|as a result|for that reason|in that case)\b"
)
_SECOND_FACT = re.compile(
    r"(?:,|;| and| but| so) (?:i|we|my|our|he|she|they|it)\b|;|[,，][^,，\n]*[,，][^,，\n]*[,，]",
    re.I,
)


def has_verb(sentence: str) -> bool:
    """Whether the main clause says something of its subject, as far as word forms tell."""
    if re.match(r"(?:(?:The|My|Our) )?[\w’'-]+ [a-z]+[^s\W]s[.!]?$", sentence):
        return True  # 'The lift smells.'
    main = _COUNTED.sub("", _DEPENDENT.sub("", sentence))
    return bool(_VERB.search(main) or _PAST_VERB.search(main))


def first_person(text: str) -> bool:
    """Whether a text names the writer: I, me, my, we, our."""
    return _FIRST.search(text) is not None


def leans(sentence: str) -> bool:
    """Whether a sentence begins with what only an earlier one explains."""
    return _OPEN.search(sentence) is not None


def refers_back(sentence: str) -> bool:
    """Whether a pronoun stands before anybody or anything that it may be about is named."""
    found = _REFERS.search(sentence)
    return found is not None and not _NAMED.search(sentence[: found.start()])


def clean_sentence(sentence: str) -> str:
    """A source sentence as a memory: wrappers off, closed with a full stop."""
    bare = re.sub(r"[:;]-?[()DPp]+$", "", re.sub(r"\s+", " ", strip_wrapper(sentence)))
    bare = bare.rstrip(" ,;:!…-")
    bare = re.sub(r"^i\b", "I", bare)
    bare = re.sub(r"^(I|We) (still|also|actually|honestly|now), ", r"\1 \2 ", bare)
    if bare and bare[-1] not in ".?。！？":
        bare += "。" if is_chinese(bare) else "."
    return bare[:1].upper() + bare[1:]


def is_clean(sentence: str) -> bool:
    """Whether a sentence is a memory as it stands: one fact, a verb, nothing to resolve."""
    bare = strip_wrapper(sentence)
    if is_chinese(bare):
        return not re.match(r"[他她它这那其]", bare) and len(bare) <= 60
    return (
        len(words(bare)) <= 20
        and not _PRONOUN.search(bare)
        and not _SECOND_FACT.search(bare)
        and (has_verb(bare) or bool(_LABEL.match(bare)))
        and (bool(_FIRST.search(bare)) or bare[:1].isupper())
        and "?" not in bare
    )


def own_words(text: str) -> tuple[str, ...]:
    """The memories of a message, in its order; those that say nothing to remember left out."""
    memories: list[str] = []
    for part in sentences(text):
        stated = declarative(part)
        for said in split_facts(clean_sentence(stated)) if content(stated) else ():
            leads = len(memories) == 1 and not is_worth_keeping(memories[0])
            if memories and (leads or needs_context(said)) and fits(memories[-1], said):
                memories[-1] = join(memories[-1], said)
            else:
                memories.append(said)
    return tuple(dict.fromkeys(filter(is_worth_keeping, memories)))


def fits(before: str, said: str) -> bool:
    """Whether two sentences are short enough for one memory."""
    return len(words(before)) + len(words(said)) <= LONGEST


def join(before: str, said: str) -> str:
    """Two sentences as one memory; between Chinese ones stands no space."""
    return f"{before}{'' if is_chinese(before) else ' '}{said}"


def needs_context(sentence: str) -> bool:
    """Whether only what was said before it tells what it is about: a fragment, an open pronoun."""
    verbless = not (has_verb(sentence) or is_chinese(sentence))
    return verbless or leans(sentence) or refers_back(sentence) or _is_bare(sentence)


def is_worth_keeping(sentence: str) -> bool:
    """Whether there is something to remember: a statement, or a fragment with a name or number."""
    if is_chinese(sentence):
        return len(content(sentence)) >= 3
    return has_verb(sentence) or (len(content(sentence)) >= 2 and not _is_bare(sentence))


def _is_bare(line: str) -> bool:
    """No first person, no name, no number: nothing that one would look it up by."""
    named = re.search(r"(?<=[\w,;:] )[A-Z]", line) or re.match(NAME + r"(?:['’]s)? ", line)
    return not (_FIRST.search(line) or numbers(line) or named or is_chinese(line))
