"""Alias rewriting for comparison and search.

Texts stay as they were told. Before a draft is compared with a memory it is worded in the memory's
own names ('Kenji switched to tea' beside 'My boss drinks coffee' becomes 'My boss switched ...'),
and a question is asked under every name of whom it is about. Pure functions over text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from agent.extraction.triples.patterns import thing
from agent.memory.entities.identity import Identities, Mention
from agent.memory.entities.names import ME_KEY, is_role, key_of, phrase_of
from agent.memory.entities.statements import is_identity
from store.types import Draft, Memory, Triple

VARIANTS = 4
"""Other wordings of a text that are looked for at most."""


def in_names_of(draft: Draft, known: Identities) -> Callable[[Memory], Draft]:
    """How the draft would be said with the names that a memory uses; itself where it is.

    What says who is who is left as it was told: in other names it would say nothing.
    """
    if any(is_identity(t.relation) and not is_role(t.relation) for t in draft.triples):
        return lambda _: draft
    ends_told = {known.who(end, draft.created) for t in draft.triples for end in (t.head, t.tail)}
    if not known.mentions(draft.text, draft.created) and not any(map(known.several, ends_told)):
        return lambda _: draft
    return lambda memory: _in_names_of(draft, memory, known)


def _in_names_of(draft: Draft, memory: Memory, known: Identities) -> Draft:
    theirs = {m.who: m.text for m in known.mentions(memory.text, memory.created)}
    ends = {known.who(end, memory.created): end for t in memory.triples for end in (t.head, t.tail)}

    def named(end: str) -> str:
        same = ends.get(known.who(end, draft.created), end)
        if key_of(same) != key_of(end):
            return same
        # 'Kenji's review' is no entity with names of its own, but names one.
        swaps = _swaps(end, draft.created, theirs, known)
        return thing(_swapped(end, swaps)) if swaps else end

    text = _swapped(draft.text, _swaps(draft.text, draft.created, theirs, known))
    triples = tuple(Triple(named(t.head), t.relation, named(t.tail)) for t in draft.triples)
    if text == draft.text and triples == draft.triples:
        return draft
    return replace(draft, text=text, triples=triples)


def _swaps(
    text: str, at: datetime, theirs: Mapping[str, str], known: Identities
) -> list[tuple[Mention, str]]:
    """The mentions of a text, each with the name that is used for the same one there."""
    return [
        (mention, theirs[mention.who])
        for mention in known.mentions(text, at)
        if mention.who in theirs and mention.who != ME_KEY
    ]


def _swapped(text: str, swaps: list[tuple[Mention, str]]) -> str:
    for mention, name in reversed(swaps):
        if key_of(name) == key_of(mention.text):
            continue
        text = text[: mention.start] + _cased(name, mention.start) + text[mention.end :]
    return text


def _cased(name: str, at: int) -> str:
    if at == 0:
        return name[:1].upper() + name[1:]
    return name[:1].lower() + name[1:] if phrase_of(name) is not None and name[:1] in "MO" else name


def others(name: str, at: datetime, known: Identities) -> tuple[str, ...]:
    """The other names and phrases, present and past, of whom a name means."""
    who = known.who(name, at)
    called = (*known.names(who), *known.phrases(who, ever=True))
    return tuple(other for other in called if key_of(other) != key_of(name))


def also_said(text: str, at: datetime, known: Identities) -> tuple[dict[str, str], tuple[str, ...]]:
    """The text under other names of those it mentions, and who each name in all of them means."""
    return _under_all_names(text, at, known.mentions(text, at), known)


def also_said_then(
    text: str, start: datetime | None, end: datetime | None, known: Identities
) -> tuple[dict[str, str], tuple[str, ...]]:
    """``also_said`` for a question about a time that is over, half open.

    A name means whom it always meant. 'My boss' counts only where it meant one person all that
    time: whoever asks for the boss of March, when there were two, is told of both.
    """
    if start is None or end is None:
        first = last = start or end
    else:
        first, last = start, max(start, end - timedelta(seconds=1))
    found = [
        mention
        for mention in known.mentions(text, first)
        if phrase_of(mention.text) is None
        or (first is not None and known.who(mention.text, last) == mention.who)
    ]
    return _under_all_names(text, first or known.now, found, known)


def _under_all_names(
    text: str, at: datetime, mentions: Iterable[Mention], known: Identities
) -> tuple[dict[str, str], tuple[str, ...]]:
    means: dict[str, str] = {}
    variants: list[str] = []
    for mention in mentions:
        means[key_of(mention.text)] = mention.who
        for name in others(mention.text, at, known):
            means.setdefault(key_of(name), mention.who)
            said = "I" if key_of(name) == ME_KEY else name
            variants.append(_swapped(text, [(mention, said)]))
    return means, tuple(dict.fromkeys(variants))[:VARIANTS]


def other_slots(draft: Draft, known: Identities) -> tuple[Triple, ...]:
    """The draft's relations with their heads under other names, as they may have been told."""
    return tuple(
        Triple(thing(name), triple.relation, triple.tail)
        for triple in draft.triples
        for name in others(triple.head, draft.created, known)
    )


def mixed_up(means: Mapping[str, str], memory: Memory, known: Identities) -> bool:
    """Whether a memory speaks of somebody else under the same phrase.

    'My boss drinks coffee' was said of the boss of then; whoever asks for the present one is not
    told it.
    """
    if not means:
        return False
    said = known.mentions(memory.text, memory.created)
    whom = {mention.who for mention in said}
    return any(
        (who := means.get(key_of(mention.text))) is not None
        and who != mention.who
        and who not in whom
        for mention in said
    )
