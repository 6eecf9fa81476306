"""Which facts another one has taken the place of, by the day from which each holds.

Somebody has one home and one employer at a time. Memory keeps both memories where nobody is sure
that the later one changed the earlier; a form takes one value, and that is the later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from agent.applications.forms.facts.read import THINGS, Fact
from agent.applications.forms.matching.label_words import words
from store.types import may_replace


def holds_from(fact: Fact) -> datetime:
    """A plan holds from its own day; what was told after its day counts from the telling."""
    told = fact.memory.created
    return max(told, fact.begins) if fact.begins is not None else told


def outlived(
    facts: Sequence[Fact], now: datetime, apt: Callable[[Fact], tuple[float, ...]]
) -> set[Fact]:
    """Those that do not hold at ``now``, as another one of the same thing of the same person does.

    :param apt: how well a fact fits what is asked, the larger the better: a later mobile number is
        no later work number.
    """
    fits = {fact: apt(fact) for fact in facts}
    begun = [fact for fact in facts if holds_from(fact) <= now]
    ones = [fact for fact in begun if fact.only]
    return {
        fact
        for fact in facts
        if fact.subject != THINGS
        and any(
            fits[other] >= fits[fact] and _same(other, fact) and _is_after(other, fact, now)
            for other in (begun if fact.only else ones)
        )
    }


def _same(one: Fact, other: Fact) -> bool:
    """Whether they are of one thing of one person, told in two memories."""
    return (one.key, one.subject) == (other.key, other.subject) and one.memory is not other.memory


def _is_after(begun: Fact, fact: Fact, now: datetime) -> bool:
    """Whether ``begun`` holds and the fact not: it waits for its day, or its day is over."""
    if fact.only and holds_from(fact) > now:
        return True
    return (
        begun.only
        and holds_from(begun) > holds_from(fact)
        and may_replace(begun.memory.trust, fact.memory.trust)
        # 'I live in Leeds' is no other place than '5 Mill Road, Leeds'.
        and not set(words(begun.value)) <= set(words(fact.value))
    )
