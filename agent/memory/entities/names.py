"""Parts of names, and compatibility of two names.

Pure functions over text; nothing here decides that two are one, that takes a statement
(``agent.memory.entities.statements``) or the person.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

from agent.extraction.triples.pattern_kinds import PERSON
from agent.language.relation_names import attribute_name
from store.row_codecs import entity_key

ME_KEY = "me"
LONGEST = 120
"""Characters of a name; longer 'names' are sentences that no pattern could read."""

_MALE, _FEMALE = frozenset({"mr"}), frozenset({"mrs", "ms", "miss"})
_TITLES = _MALE | _FEMALE | {"dr", "prof", "professor"}
_I = frozenset({"me", "i", "myself", "we", "us"})
_ROLE = re.compile(
    rf"(?:(?:my|our) )?({PERSON}|dog|cat|pet|rabbit|parrot|horse|hamster)", re.IGNORECASE
)
_POSSESSIVE = re.compile(rf"(.+)(?:['’]s|s['’]) ({PERSON})", re.IGNORECASE)

_SAME_ROLE = {
    "mum": "mother", "mom": "mother", "dad": "father", "co_worker": "colleague",
    "coworker": "colleague", "roommate": "flatmate", "married_to": "spouse", "wife": "spouse",
    "husband": "spouse", "kid": "child", "neighbor": "neighbour", "advisor": "adviser",
    "fiancee": "fiance", "fiancée": "fiance", "fiancé": "fiance",
}  # fmt: skip
"""Roles that one person fills under several words."""
ONE_HOLDER = frozenset(
    """boss manager supervisor spouse partner girlfriend boyfriend fiance mother father landlord
    landlady dentist therapist accountant secretary mother_in_law father_in_law""".split()
)
"""Roles that one person holds at a time; of the others ('my friend') there may be several."""


_REMEMBERED = 8192
"""Names whose reading is kept: a plan asks for the same few some hundred times."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name that says who somebody is to somebody: 'my boss', 'Tom's cousin'."""

    head: str
    role: str


@lru_cache(maxsize=_REMEMBERED)
def key_of(name: str) -> str:
    """What makes two spellings one name; 'I' and 'myself' are ``me``."""
    key = entity_key(name)
    return ME_KEY if key in _I else key


@lru_cache(maxsize=_REMEMBERED)
def role_name(relation: str) -> str:
    """A relation or kinship word as a role: 'mum' and 'mother' are one."""
    role = attribute_name(relation.replace("_", " "))
    return _SAME_ROLE.get(role, role)


def is_role(relation: str) -> bool:
    """Whether a relation says who somebody is: boss, cousin, married_to, dog."""
    if relation == "married_to":
        return True
    return any(_ROLE.fullmatch(relation.replace("_", joined)) is not None for joined in (" ", "-"))


@lru_cache(maxsize=_REMEMBERED)
def phrase_of(name: str) -> Phrase | None:
    """'my boss' -> (me, boss), 'Tom's cousin' -> (Tom, cousin); None for a plain name."""
    spoken = " ".join(name.split())
    if len(spoken) > LONGEST:
        return None
    if (own := _ROLE.fullmatch(spoken)) is not None:
        return Phrase(ME_KEY, role_name(own[1]))
    if (other := _POSSESSIVE.fullmatch(spoken)) is not None:
        # "James'" gives back its s; of "Tom's" nothing was taken.
        s = "s" if spoken[other.end(1)].casefold() == "s" else ""
        return Phrase(other[1] + s, role_name(other[2]))
    return None


@dataclass(frozen=True, slots=True)
class Parts:
    """A person's name in its parts, folded."""

    title: str
    words: tuple[str, ...]

    @property
    def family(self) -> str:
        """The last word where it is known to be the family's: after a title, or of several."""
        return self.words[-1] if self.words and (self.title or len(self.words) > 1) else ""

    @property
    def given(self) -> str:
        """The first word where it is not the family's."""
        return self.words[0] if len(self.words) > 1 or not self.title else ""


def parts(name: str) -> Parts:
    """'Mr Kenji Tan' -> title mr, words kenji tan."""
    words = [word.strip(".,") for word in entity_key(name).split()]
    title = words[0] if words and words[0] in _TITLES else ""
    return Parts(title, tuple(words[1:] if title else words))


def may_be_one(one: str, other: str) -> bool:
    """Whether both can be names of one person who holds a role alone.

    'Mr Tan' and 'Kenji' complete one another, 'Mr Tan' and 'Kenji Tan' share a part; 'Kenji' and
    'Rosa', 'Mr Tan' and 'Kenji Lim', 'Mr Tan' and 'Ms Tan' cannot be one.
    """
    a, b = parts(one), parts(other)
    if not a.words or not b.words or entity_key(one) == entity_key(other):
        return False
    if (a.title in _MALE and b.title in _FEMALE) or (a.title in _FEMALE and b.title in _MALE):
        return False
    if a.family and b.family and a.family != b.family:
        return False
    if a.given and b.given and a.given != b.given:
        return False
    if not a.family and not b.family:
        return False
    # Complementary: a title with a family name, and a given name that is not that family name.
    return bool(set(a.words) & set(b.words)) or not (a.family and b.family)


def share_a_part(one: str, other: str) -> bool:
    """Whether one of two compatible names is a part of the other: 'Mr Tan' and 'Kenji Tan'."""
    return may_be_one(one, other) and bool(set(parts(one).words) & set(parts(other).words))


def near(one: str, other: str) -> bool:
    """Whether two one-word names differ in a letter or two: 'Jon' and 'John'."""
    a, b = entity_key(one), entity_key(other)
    if a == b or " " in a or " " in b or min(len(a), len(b)) < 3 or a[0] != b[0]:
        return False
    if any(character.isdigit() for character in a + b):
        return False
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.8


def is_name(name: str) -> bool:
    """Whether it is written like a name: capitalised, or in letters that know no case."""
    bare = name.strip()
    return (
        bool(bare)
        and len(bare) <= LONGEST
        and bare.casefold() not in _I
        and (bare[0].isupper() or not (bare[0].islower() or bare[0].isdigit()))
    )
