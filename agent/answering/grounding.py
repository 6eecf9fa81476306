"""Rule-based check of an answer against its evidence.

A small model cannot be trusted to cite. Comparing its words with those of the memories it was
shown can be, costs nothing, and needs no second call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations, islice

from policies.selection import Choice
from store.types import Memory

NEAR = 0.35
"""Cosine similarity from which a memory may answer a question with which it shares no word."""

_HARD = re.compile(r"\d[\d:.,/-]*\d|\d|\b[A-Z][\w'’]*")
_SHORT = frozenset(("i", "you", "your", "yes", "no", "am", "pm"))
"""Words that an answer may say whatever the notes hold."""
_WORD = re.compile(r"[a-z0-9][a-z0-9:.@-]*[a-z0-9]|[a-z0-9]", re.IGNORECASE)
STOP = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her his
    how i in is it its me my of on or our she so some than that the their them they this to was
    we were what when where which who whom whose why will with would you your s t m d ll re ve about
    please tell know time day until""".split()
)
"""Words that say nothing of what a question is about."""


def invented(
    said: str, question: str, memories: Sequence[Memory], times: Iterable[datetime]
) -> set[str]:
    """Numbers and names of the answer that neither notes nor question contain.

    An answer of one word is a name too. ``times`` are those that it may tell too, in whatever form.
    """
    dated = [f"{t:%A %Y-%m-%d %H:%M %B %d} {t.hour % 12 or 12}:{t:%M}" for t in times]
    sources = " ".join([question, *dated, *(_everything(memory) for memory in memories)])
    known = {_bare(token) for token in _HARD.findall(sources)} | {
        word.casefold() for word in _WORD.findall(sources)
    }
    words = _WORD.findall(said)
    if len(words) == 1 and words[0].isalpha() and not _month(words[0].casefold()):
        return set(words) if words[0].casefold() not in known | _SHORT else set()
    # The first word of a sentence is capitalised without being a name.
    body = re.sub(r"(^|[.!?]\s+)([A-Z])", lambda m: m[1] + m[2].lower(), said)
    found = set()
    for token in _HARD.findall(body):
        bare = _bare(token)
        if bare in known or bare in _SHORT:
            continue
        if bare.isdigit() and any(
            bare.lstrip("0") == part.lstrip("0") for k in known for part in re.split(r"\D", k)
        ):
            continue  # a part of a known date or time: '12' of 2024-05-12
        if _month(bare) and any(re.fullmatch(rf"\d{{4}}-{_month(bare)}-\d\d.*", k) for k in known):
            continue  # May of 2024-05-12
        found.add(token)
    return found


def _everything(memory: Memory) -> str:
    until = f"{memory.valid_until:%Y-%m-%d %H:%M}" if memory.valid_until else ""
    return f"{memory.text} {memory.place or ''} {until}"


def _bare(token: str) -> str:
    return re.sub(r"['’]s?$", "", token.casefold()).strip(".,:/-'’")


def _month(word: str) -> str | None:
    for number in range(1, 13):
        name = datetime(2000, number, 1).strftime("%B").casefold()
        if word in (name, name[:3]):
            return f"{number:02}"
    return None


def terms(text: str) -> set[str]:
    """Content words of a text, folded and roughly stemmed."""
    return set(content_words(text))


def content_words(text: str) -> dict[str, str]:
    """The same in their order, each with the word as it is written."""
    found: dict[str, str] = {}
    for written in _WORD.findall(text):
        word = re.sub(r"['’]s$", "", written)
        if word.casefold() not in STOP:
            found.setdefault(_stem(word.casefold()), word)
    return found


def _stem(word: str) -> str:
    if any(c.isdigit() for c in word) or len(word) < 4:
        return word
    return re.sub(r"(?:ations?|ings?|edly|ed|es|s|ure|e)$", "", word)


def evidence(question: str, said: str, chosen: Sequence[Choice]) -> tuple[Choice, ...]:
    """The chosen memories that the answer rests on, in their order.

    Memories are taken while they cover further words of question and answer, those that cover the
    answer first. Then come the links: of two taken memories that share no name, one may still be
    about the other through a third that names something of both (the boss's flight to Amsterdam,
    EK349 to Amsterdam, EK349's departure: the chain of the paper's Table 1).
    """
    cover = {c.memory.id: terms(c.memory.text) for c in chosen}
    open_answer = terms(said)
    open_question = terms(question) - open_answer
    taken: list[Choice] = []
    left = list(chosen)

    def gain(choice: Choice) -> tuple[int, float]:
        words = cover[choice.memory.id]
        return 2 * len(words & open_answer) + len(words & open_question), choice.score

    while left and gain(best := max(left, key=gain))[0]:
        taken.append(best)
        left.remove(best)
        open_answer -= cover[best.memory.id]
        open_question -= cover[best.memory.id]
    taken += _links(taken, left)
    return tuple(choice for choice in chosen if choice in taken)


def _links(taken: Sequence[Choice], left: Sequence[Choice]) -> list[Choice]:
    found: list[Choice] = []
    for one, other in combinations(taken, 2):
        ours, theirs = names(one.memory.text), names(other.memory.text)
        if ours & theirs:
            continue
        between = (c for c in left if (n := names(c.memory.text)) & ours and n & theirs)
        found += [link for link in islice(between, 1) if link not in found]
    return found


def supported(question: str, rests_on: Sequence[Choice], near: Mapping[str, float]) -> bool:
    """Whether the evidence is about the question at all.

    It is when they share a content word, or when their meanings are near without one: ``near`` is
    the cosine similarity of each chosen memory with the question, by id.
    """
    asked = terms(question)
    if any(asked & about(choice.memory) for choice in rests_on):
        return True
    return max((near.get(c.memory.id, 0.0) for c in rests_on), default=0.0) >= NEAR


def about(memory: Memory) -> set[str]:
    """Words of a memory and of its relations: 'I moved to Tampines' is about where I live."""
    relations = " ".join(f"{t.head} {t.relation} {t.tail}" for t in memory.triples)
    return terms(f"{memory.text} {relations.replace('_', ' ')}")


def names(text: str) -> set[str]:
    """Proper names, codes and numbers of a text, folded."""
    found = {_bare(token) for token in _HARD.findall(text)} | {
        word.casefold() for word in _WORD.findall(text) if any(c.isdigit() for c in word)
    }
    return found - STOP
