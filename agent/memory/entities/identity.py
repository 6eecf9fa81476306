"""Entity resolution: names and phrases to entities (EMG-RAG 4.2, layer 3).

Nothing is stored: identities are a fold of the memories that say them, so that whatever undoes,
forgets, exports or restores those memories does the same to what they joined. Decisions by hand are
such memories too (``agent.memory.entities.merge_split``). Invariants: the same memories give the
same identities; two names that are told to be different are never joined, whatever else is said; a
phrase ('my boss') is who held that role when it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

from agent.extraction.triples.pattern_kinds import PERSON
from agent.memory.entities.names import ME_KEY, ONE_HOLDER, key_of, may_be_one, phrase_of
from agent.memory.entities.statements import Says, Statement, is_identity, statements
from store.graph import MemoryGraph
from store.types import Memory

_DEEPEST = 6
"""Phrases in phrases ('my boss's wife's sister') that are followed; a ring of them ends here."""
_OWN = rf"(?:[Mm]y|[Oo]ur) (?:{PERSON})"
_KEPT = 1024
"""Texts whose mentions are remembered: a draft is compared with the same memories several times."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_OF = rf"(?:['’]s (?:{PERSON}))"


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a text that names somebody."""

    start: int
    end: int
    text: str
    who: str


class Identities:
    """The entities behind names at one time; build it with ``of`` or from memories."""

    def __init__(self, memories: Iterable[Memory], now: datetime) -> None:
        self.now = now
        self.said = statements(memories, now)
        self._parent: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._apart: dict[frozenset[str], str] = {}
        self._decided: dict[frozenset[str], Statement] = {}
        self._denied: set[tuple[str, str, str]] = set()
        self._why: dict[str, list[str]] = {}
        self._found: dict[tuple[str, datetime | None], tuple[Mention, ...]] = {}
        self._roles: dict[tuple[str, str], list[Statement]] = {}
        turns = (moment for said in self.said for moment in (said.start, said.end))
        self._changes = min((m for m in turns if m is not None and m > now), default=None)
        self._join_told()
        # A role's head may itself be a phrase that only the roles resolve: 'my boss's wife'.
        for _ in range(3):
            self._hang_roles()
            self._join_holders()
        self._hang_roles()

    @classmethod
    def of(cls, graph: MemoryGraph, now: datetime) -> Identities:
        """Those of a graph, kept until an edit says something about who is who."""
        lines = graph.journal.list(1)
        last = int(lines[-1].id[1:]) if lines else 0
        kept = _kept.get(graph)
        if kept is None or not kept[1]._still(graph, last - kept[0], now):
            relations = [name for name in graph.memories.relation_names() if is_identity(name)]
            kept = last, cls(graph.memories.with_relations(relations), now)
        _kept[graph] = last, kept[1]
        return kept[1]

    def _still(self, graph: MemoryGraph, new: int, now: datetime) -> bool:
        """Whether these identities hold ``new`` journal lines later, at ``now``."""
        if (
            now < self.now
            or (self._changes is not None and now >= self._changes)
            or not 0 <= new <= 256
        ):
            return False
        changes = [c for e in (graph.journal.list(new) if new else ()) for c in e.changes]
        return not any(
            change.redacted
            or any(
                is_identity(triple.relation)
                for version in (change.before, change.after)
                for triple in (version.triples if version is not None else ())
            )
            for change in changes
        )

    # ---- building -------------------------------------------------------------------------

    def _join_told(self) -> None:
        decided = self._decided
        for said in self.said:
            for name in (said.one, said.other):
                self._shown.setdefault(key_of(name), name)
            if said.says in (Says.SAME, Says.DIFFERENT):
                decided[frozenset((key_of(said.one), key_of(said.other)))] = said  # the last counts
        for pair, said in decided.items():
            if said.says is Says.DIFFERENT:
                self._apart[pair] = said.memory
                for phrase, name in ((said.one, said.other), (said.other, said.one)):
                    if (found := phrase_of(phrase)) is not None:
                        self._denied.add((key_of(found.head), found.role, key_of(name)))
        for said in decided.values():
            if said.says is Says.SAME:
                self._join(said.one, said.other, said.memory)
        for said in self.said:
            if said.says is Says.NAMED:
                self._join(said.one, said.other, said.memory)

    def _hang_roles(self) -> None:
        resolved: dict[tuple[str, str], list[Statement]] = {}
        for said in self.said:
            if said.says is Says.HOLDS:
                resolved.setdefault((self.who(said.one, said.start), said.role), []).append(said)
        self._roles = resolved

    def _join_holders(self) -> None:
        """Names of one who holds a role alone, told of the same time: 'Mr Tan' and 'Kenji'.

        A name that does not go with all the others is the next holder's.
        """
        for (_, role), said in self._roles.items():
            together: list[Statement] = []
            for one in said if role in ONE_HOLDER else ():
                together = [other for other in together if other.holds(one.start)]
                fits = all(
                    key_of(one.other) == key_of(other.other) or may_be_one(one.other, other.other)
                    for other in together
                )
                for other in together if fits else ():
                    self._join(other.other, one.other, one.memory)
                together = [*together, one] if fits else [one]

    def _join(self, one: str, other: str, why: str) -> None:
        a, b = self._root(key_of(one)), self._root(key_of(other))
        if a == b:
            return
        if self.kept_apart(a, b) is not None:
            return
        # The person is the root of everything that is hers; else the name told first.
        keep, lose = (b, a) if b == ME_KEY else (a, b)
        self._parent[lose] = keep
        self._why.setdefault(keep, []).extend([why, *self._why.pop(lose, [])])

    def _root(self, key: str) -> str:
        while (parent := self._parent.get(key)) is not None:
            key = parent
        return key

    # ---- asking ---------------------------------------------------------------------------

    def who(self, name: str, at: datetime | None = None, _depth: int = 0) -> str:
        """The key of the entity that a name or phrase, said at ``at``, means."""
        phrase = phrase_of(name)
        if phrase is None or _depth > _DEEPEST:
            return self._root(key_of(name))
        head = self.who(phrase.head, at, _depth + 1)
        holder = self._holder(head, phrase.role, at or self.now, _depth)
        return holder or self._root(f"{head}'s {phrase.role}")

    def _holder(self, head: str, role: str, at: datetime, depth: int) -> str | None:
        """Who fills a role at a time; None where nobody does, or several."""
        denied = {
            self._root(name)
            for of, what, name in self._denied
            if what == role and self._root(of) == head
        }
        known = [
            said
            for said in self._roles.get((head, role), ())
            if self._root(key_of(said.other)) not in denied
        ]
        if not known:
            return None
        begun = [said for said in known if said.start <= at]
        if role in ONE_HOLDER:
            # Before anybody was named, the first who is named later is meant.
            said = begun[-1] if begun else known[0]
            if begun and said.end is not None and said.end <= at:
                return None
            told = [said]
        else:
            told = [said for said in begun if said.holds(at)] or ([] if begun else known)
        found = {self.who(said.other, at, depth + 1) for said in told}
        found.discard(head)  # nobody is her own cousin
        return found.pop() if len(found) == 1 else None

    def names(self, who: str) -> tuple[str, ...]:
        """The plain names of an entity, the one told first in front."""
        return self._names.get(who) or ((self._shown[who],) if who in self._shown else ())

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for key, shown in self._shown.items():
            if phrase_of(shown) is None:
                found.setdefault(self._root(key), []).append(shown)
        return {root: tuple(names) for root, names in found.items()}

    def phrases(self, who: str, *, ever: bool = False) -> tuple[str, ...]:
        """The phrases that mean an entity now, or with ``ever`` meant it at some time."""
        return tuple(text for text, now in self._phrases.get(who, {}).items() if now or ever)

    @cached_property
    def _phrases(self) -> dict[str, dict[str, bool]]:
        found: dict[str, dict[str, bool]] = {}
        for (head, role), told in self._roles.items():
            present = self._holder(head, role, self.now, 0)
            shown = next(iter(self.names(head)), head)
            for said in told:
                who = self.who(said.other, said.start)
                text = f"my {said.word}" if head == ME_KEY else f"{shown}'s {said.word}"
                found.setdefault(who, {})[text] = who == present
        return found

    def several(self, who: str) -> bool:
        """Whether an entity has more than one name, or a phrase that means or meant it."""
        return len(self._names.get(who, ())) > 1 or who in self._phrases

    def joined_by(self, who: str) -> tuple[str, ...]:
        """The memories that join the names of an entity, and those that give it a role."""
        return tuple(dict.fromkeys([*self._why.get(who, ()), *self._given.get(who, ())]))

    @cached_property
    def _given(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for said in self.said:
            if said.says is Says.HOLDS:
                found.setdefault(self.who(said.other, said.start), []).append(said.memory)
        return found

    def entities(self) -> tuple[str, ...]:
        """Every entity that has more than one name, the person first."""
        several = [who for who in self._names if len(self.called(who)) > 1]
        return tuple(sorted(several, key=lambda who: (who != ME_KEY, who)))

    def called(self, who: str) -> tuple[str, ...]:
        """All that an entity is called now: names, then phrases."""
        return tuple(dict.fromkeys((*self.names(who), *self.phrases(who))))

    def decision(self, one: str, other: str) -> str | None:
        """The memory that says of these very names that they are one or not one."""
        found = self._decided.get(frozenset((key_of(one), key_of(other))))
        return None if found is None else found.memory

    def kept_apart(self, who: str, other: str, besides: str | None = None) -> str | None:
        """A memory, other than ``besides``, that keeps two entities apart by any of their names."""
        for pair, memory in self._apart.items():
            if memory != besides and {self._root(key) for key in pair} == {who, other}:
                return memory
        return None

    def shown(self, name: str) -> str | None:
        """A name as it was first told where it says who is who."""
        return self._shown.get(key_of(name))

    def contested(self, phrase: str) -> bool:
        """Whether a phrase meant different people at different times."""
        found = phrase_of(phrase)
        told = [] if found is None else self._roles.get((self.who(found.head), found.role), [])
        return len({self.who(said.other, said.start) for said in told}) > 1

    def apart(self, one: str, other: str) -> str | None:
        """The memory that says that two names are not one; None where none does."""
        return self._apart.get(frozenset((key_of(one), key_of(other))))

    # ---- in texts -------------------------------------------------------------------------

    def mentions(self, text: str, at: datetime | None = None) -> tuple[Mention, ...]:
        """Who is named in a text: people under their phrases and names, without overlap."""
        if (found := self._found.get((text, at))) is not None:
            return found
        if len(self._found) >= _KEPT:
            self._found.clear()
        words = set(_TOKEN.findall(text))
        near = {name for word in words for name in self._by_word.get(word, ())}
        plain = sorted((re.escape(name) for name in near if name in text), key=len, reverse=True)
        found = tuple(
            Mention(m.start(), m.end(), m.group(), self.who(m.group(), at))
            for m in _pattern(tuple(plain)).finditer(text)
        )
        self._found[text, at] = found
        return found

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        """Names by a word of theirs, so that a text is searched for few of many names."""
        found: dict[str, list[str]] = {}
        for key, name in self._shown.items():
            if phrase_of(name) is None and key != ME_KEY:
                found.setdefault(next(iter(_TOKEN.findall(name)), ""), []).append(name)
        return found


@lru_cache(maxsize=512)
def _pattern(plain: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join([_OWN, *plain])}){_OF}*(?!\w)")


_kept: WeakKeyDictionary[MemoryGraph, tuple[int, Identities]] = WeakKeyDictionary()
