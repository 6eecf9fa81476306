"""What an answer rests on, by exact rules: which memories support it, and what it made up.

A small model cannot be trusted to cite. Comparing its words with those of the memories it was
shown can be, costs nothing, and needs no second call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from policies.base import Choice
from store.records import entity_key
from store.types import Memory, Status

_HARD = re.compile(r"\d[\d:.,/-]*\d|\d|\b[A-Z][\w'’]*")
_WORD = re.compile(r"[a-z0-9][a-z0-9:.@-]*[a-z0-9]|[a-z0-9]", re.IGNORECASE)
_STOP = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her his
    how i in is it its me my of on or our she so some than that the their them they this to was
    we were what when where which who whom whose why will with would you your s t re ve about
    please tell know time day""".split()
)


def invented(said: str, question: str, memories: Sequence[Memory], now: datetime) -> set[str]:
    """Numbers and names of the answer that neither notes nor question contain."""
    sources = " ".join(
        [question, f"{now:%A %Y-%m-%d %H:%M %B %d}", *(_everything(memory) for memory in memories)]
    )
    known = {_bare(token) for token in _HARD.findall(sources)} | {
        word.casefold() for word in _WORD.findall(sources)
    }
    # The first word of a sentence is capitalised without being a name.
    body = re.sub(r"(^|[.!?]\s+)([A-Z])", lambda m: m[1] + m[2].lower(), said)
    found = set()
    for token in _HARD.findall(body):
        bare = _bare(token)
        if bare in known or bare in {"i", "you", "your", "yes", "no", "am", "pm"}:
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
    found = set()
    for word in _WORD.findall(text.casefold()):
        word = re.sub(r"['’]s$", "", word)
        if word in _STOP:
            continue
        found.add(_stem(word))
    return found


def _stem(word: str) -> str:
    if any(c.isdigit() for c in word) or len(word) < 5:
        return word
    return re.sub(r"(?:ations?|ations|ings?|edly|ed|es|s|ure|e)$", "", word)


def evidence(question: str, said: str, chosen: Sequence[Choice]) -> tuple[Choice, ...]:
    """The chosen memories that the answer rests on, in their order.

    Memories are taken while they cover further words of question and answer, those that cover the
    answer first; then the ones that link what was taken: a memory that shares an entity or a code
    with two taken memories that share none with each other (M2 of the paper's Table 1).
    """
    if not chosen:
        return ()
    cover = {c.memory.id: terms(c.memory.text) for c in chosen}
    # What the user asked for weighs less than what was answered.
    open_answer = terms(said)
    open_question = terms(question) - open_answer
    taken: list[str] = []
    while True:
        best = max(
            (c for c in chosen if c.memory.id not in taken),
            key=lambda c: (
                2 * len(cover[c.memory.id] & open_answer) + len(cover[c.memory.id] & open_question),
                c.score,
            ),
            default=None,
        )
        if best is None:
            break
        gained = cover[best.memory.id] & (open_answer | open_question)
        if not gained:
            break
        taken.append(best.memory.id)
        open_answer -= gained
        open_question -= gained
    taken_set = set(taken) | _links([c.memory for c in chosen], set(taken))
    return tuple(c for c in chosen if c.memory.id in taken_set)


def _links(memories: Sequence[Memory], taken: set[str]) -> set[str]:
    keys = {m.id: _keys(m) for m in memories}
    found = set()
    for memory in memories:
        if memory.id in taken or memory.status is not Status.CURRENT:
            continue
        touched = [other for other in taken if keys[other] & keys[memory.id]]
        if any(not keys[a] & keys[b] for i, a in enumerate(touched) for b in touched[i + 1 :]):
            found.add(memory.id)
    return found


def _keys(memory: Memory) -> set[str]:
    """What ties memories to each other: entities other than the user, codes, and nouns shared."""
    ends = {entity_key(end) for t in memory.triples for end in (t.head, t.tail)} - {"me", "i"}
    return ends | terms(memory.text)
