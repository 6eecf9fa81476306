"""Rated items: fields, names and place in the graph (MAP 4.1).

The fields are relations of the memory, so the graph is the profile table: whatever undoes, forgets,
exports or merges memories does the same to ratings, and a walk finds what shares a genre.

    me -rated-> Heat      Heat -rating-> 5 of 5      Heat -kind-> film
    Heat -genre-> crime   Heat -reason-> loved the pacing   Heat -same_as-> Heat (1995)

Pure functions over values; no model, no database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.language.relation_names import SAME_AS
from store.errors import InvalidInput
from store.row_codecs import entity_key
from store.types import Draft, Memory, Triple

ME = "me"
RATED, RATING, KIND, GENRE, REASON = "rated", "rating", "kind", "genre", "reason"
STARS = 5
"""The scale where none is given, and the one that everything is compared on (MAP Figure 4)."""
LONGEST_NAME = 120
_SCORE = re.compile(r"(\d+(?:\.\d+)?) of (\d+)")
_YEAR = re.compile(r"(?<!\s)\s*\((\d{4})\)\s*$")
_LAST_ARTICLE = re.compile(r"^(.*), (the|a|an|der|die|das|le|la|les|il|el)$", re.IGNORECASE)
_QUOTES = "\"'“”‘’«»„《》「」"

_KINDS = {
    "film": "movie motion-picture documentary",
    "book": "novel memoir paperback audiobook",
    "series": "show tv-show sitcom miniseries anime",
    "album": "record lp",
    "song": "track single",
    "game": "videogame boardgame video-game board-game",
    "dish": "meal food starter dessert curry ramen pizza soup cake",
    "restaurant": "café cafe bistro bar pub diner pizzeria bakery",
    "hotel": "hostel guesthouse",
    "place": "museum park beach gallery exhibition castle",
    "play": "musical opera concert gig",
    "podcast": "",
    "app": "",
    "wine": "beer whisky coffee tea",
    "course": "class workshop",
    "product": "phone laptop camera headphones",
}
KINDS: dict[str, str] = {
    word.replace("-", " "): kind
    for kind, words in _KINDS.items()
    for word in (kind, *words.split())
}
"""What a thing may be called, and its kind: 'movie' and 'film' are one."""


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that can be rated, and what is known of it."""

    name: str
    kind: str | None = None
    genres: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """What it is, in words that an encoder compares (MAP 4.3)."""
        what = f"{self.name}, {self.kind}" if self.kind else self.name
        return f"{what}: {', '.join(self.genres)}" if self.genres else what


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated(Item):
    """A thing and what the person gave it."""

    rating: float
    scale: int = STARS
    """The best rating there is; the worst is 1, above a scale of 10 it is 0."""
    reason: str | None = None
    memory: str | None = None
    """The memory that says so; None where it is not stored."""

    @property
    def stars(self) -> float:
        """The rating from 1 to 5, whatever scale it was given on."""
        low = lowest(self.scale)
        return 1.0 + (STARS - 1.0) * (self.rating - low) / (self.scale - low)

    @property
    def score(self) -> str:
        """'5 of 5', '7.5 of 10'."""
        return f"{self.rating:g} of {self.scale}"


def lowest(scale: int) -> int:
    """The worst rating of a scale: nobody gives no star, but 0 of 100 is said."""
    return 0 if scale > 10 else 1


def checked_item(item: Item) -> Item:
    """The same, with name, kind and genres as they are compared.

    :raises InvalidInput: if it has no name.
    """
    name = clean_name(item.name)
    if not name or len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"An item needs a name of at most {LONGEST_NAME} characters: memlane rate Heat 4"
        )
    further = tuple(dict.fromkeys(a for a in map(clean_name, item.aliases) if a and a != name))
    return Item(name, kind_of(item.kind), genres_of(item.genres), further)


def checked(rated: Rated) -> Rated:
    """The same, with its item as ``checked_item`` has it.

    :raises InvalidInput: if the rating is out of its scale, or the item has no name.
    """
    item = checked_item(rated)
    if rated.scale < 2:
        raise InvalidInput(f"A scale of {rated.scale} tells nothing: give 5, 10 or 100.")
    low = lowest(rated.scale)
    if not low <= rated.rating <= rated.scale:
        further = "" if rated.scale > STARS else " Give another scale with the rating, as in 7/10."
        raise InvalidInput(
            f"{rated.rating:g} is outside the scale: ratings of {item.name!r} go from {low} to "
            f"{rated.scale}.{further}"
        )
    return replace(
        rated,
        name=item.name,
        kind=item.kind,
        genres=item.genres,
        aliases=item.aliases,
        reason=(rated.reason or "").strip(" .") or None,
    )


def clean_name(name: str) -> str:
    """A name without quotes, and with its article where people say it: 'Godfather, The'."""
    bare = " ".join(name.split()).strip(_QUOTES + " ,;:").strip()
    year = _YEAR.search(bare)
    stem = _YEAR.sub("", bare)
    if turned := _LAST_ARTICLE.match(stem):
        stem = f"{turned[2]} {turned[1]}"
    return f"{stem} ({year[1]})" if year else stem


def kind_of(word: str | None) -> str | None:
    """The kind that a word means; a word that we do not know is a kind of its own."""
    folded = " ".join((word or "").casefold().split())
    return KINDS.get(folded) or KINDS.get(folded.removesuffix("s")) or folded or None


def genres_of(genres: Iterable[str]) -> tuple[str, ...]:
    """Genres folded, each once, in their order."""
    return tuple(dict.fromkeys(g for g in (" ".join(x.casefold().split()) for x in genres) if g))


@dataclass(frozen=True, slots=True)
class Key:
    """What makes two names one item: the name folded, and the year where one is said."""

    name: str
    year: str | None

    def fits(self, other: Key) -> bool:
        """'Heat' may be 'Heat (1995)'; 'Heat (1986)' is another film."""
        return self.name == other.name and (None in (self.year, other.year) or self == other)


def key_of(name: str) -> Key:
    """The key of a name as it was told."""
    clean = clean_name(name)
    year = _YEAR.search(clean)
    stem = re.sub(r"[^\w\s&+]", "", entity_key(_YEAR.sub("", clean)))
    return Key(" ".join(stem.split()), year[1] if year else None)


def same_item(one: Item, other: Item) -> bool:
    """Whether two are one thing: by any of their names, and not a film and a book."""
    if None not in (one.kind, other.kind) and one.kind != other.kind:
        return False
    ours = [key_of(name) for name in (one.name, *one.aliases)]
    theirs = [key_of(name) for name in (other.name, *other.aliases)]
    return any(a.fits(b) for a in ours for b in theirs)


# ---- in the graph -------------------------------------------------------------------------


def triples_of(rated: Rated) -> tuple[Triple, ...]:
    """The fields as relations; ``rated_of`` reads them back."""
    name = rated.name
    fields = [Triple(ME, RATED, name), Triple(name, RATING, rated.score)]
    fields += [Triple(name, KIND, rated.kind)] if rated.kind else []
    fields += [Triple(name, GENRE, genre) for genre in rated.genres]
    fields += [Triple(name, REASON, rated.reason)] if rated.reason else []
    fields += [Triple(name, SAME_AS, alias) for alias in rated.aliases]
    return tuple(fields)


def rated_of(memory: Memory | Draft) -> Rated | None:
    """The rated thing of a memory; None where it is no rating, or its score cannot be read."""
    named = next((t.tail for t in memory.triples if (t.head, t.relation) == (ME, RATED)), None)
    if named is None:
        return None
    fields: dict[str, list[str]] = {}
    for triple in memory.triples:
        if triple.head == named:
            fields.setdefault(triple.relation, []).append(triple.tail)
    score = _SCORE.fullmatch(next(iter(fields.get(RATING, ())), ""))
    if score is None:
        return None
    return Rated(
        named,
        # An entity is spelt as it was first told: 'Crime', 'a film'.
        kind_of(entity_key(next(iter(fields.get(KIND, ())), ""))),
        genres_of(map(entity_key, fields.get(GENRE, ()))),
        tuple(fields.get(SAME_AS, ())),
        rating=float(score[1]),
        scale=int(score[2]),
        reason=next(iter(fields.get(REASON, ())), None),
        memory=memory.id if isinstance(memory, Memory) else None,
    )


def sentence_of(rated: Rated) -> str:
    """The memory's sentence: 'I rated the film Heat 5 of 5 (crime, thriller): loved the pacing.'"""
    bare = rated.kind is None or rated.name.startswith("the ")
    what = rated.name if bare else f"the {rated.kind} {rated.name}"
    listed = f" ({', '.join(rated.genres)})" if rated.genres else ""
    why = f": {rated.reason}" if rated.reason else ""
    return f"I rated {what} {rated.score}{listed}{why}."
