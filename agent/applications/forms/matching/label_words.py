"""Words of labels and identifiers, and keys that contain them.

Pure and cached: the same text always means the same keys.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from agent.applications.forms.matching.vocabulary import Policy, vocabulary

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_PHRASE = 7
_LONGEST_TEXT = 400
_SHORT = 3
"""Phrases this short ('via', 'ort', 'mi') must be the whole text: elsewhere they mean others."""
_AFFIX = 5
"""A phrase this long may be found at either end of a run-together word ('useremail')."""


@dataclass(frozen=True, slots=True)
class Match:
    """A key found in a text."""

    key: str
    start: int
    end: int
    """Positions of its words in the text's words."""
    coverage: float
    """Which part of the text's content words it accounts for."""
    exact: bool = True
    """False where only a part of a run-together word matched."""
    alternatives: tuple[str, ...] = ()
    """Other keys that the text offers: 'email or phone'."""


def fold(text: str) -> str:
    """Lower case without accents and width; Hangul and kana stay whole."""
    spread = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in spread if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", plain).lower().replace("ß", "ss")


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a label or identifier: 'txtFirstName' is txt, first, name."""
    return tuple(_WORDS.findall(fold(_CAMEL.sub(" ", text[:_LONGEST_TEXT]))))


def is_unspaced(text: str) -> bool:
    """Whether the text is in a script that writes no spaces between words."""
    return bool(_UNSPACED.search(text))


@cache
def _phrases() -> tuple[dict[tuple[str, ...], str], dict[str, str], dict[str, str]]:
    """Phrases by their words, run together, and those of unspaced scripts."""
    spaced: dict[tuple[str, ...], str] = {}
    joined: dict[str, str] = {}
    unspaced: dict[str, str] = {}
    for key in vocabulary().keys.values():
        for phrase in key.phrases:
            if is_unspaced(phrase):
                unspaced.setdefault(fold(phrase), key.id)
                continue
            parts = words(phrase)
            spaced.setdefault(parts, key.id)
            run_together = "".join(parts)
            if len(run_together) > _SHORT:
                joined.setdefault(run_together, key.id)
    return spaced, joined, unspaced


@lru_cache(maxsize=8192)
def matches(text: str) -> tuple[Match, ...]:
    """Every key named in the text, in order, none inside a longer one."""
    tokens = words(text)
    spaced, _, _ = _phrases()
    found: list[tuple[int, int, str, bool]] = []
    for start in range(len(tokens)):
        for length in range(min(_LONGEST_PHRASE, len(tokens) - start), 0, -1):
            run = tokens[start : start + length]
            key = spaced.get(run)
            if key and (_stands_alone(run, key) or length == _content_count(tokens)):
                found.append((start, start + length, key, True))
                break
        else:
            key = _inside(tokens[start])
            if key:
                found.append((start, start + 1, key, tokens[start] in _phrases()[1]))
    kept: list[tuple[int, int, str, bool]] = []
    for candidate in sorted(found, key=lambda f: (f[0] - f[1], not f[3], f[0])):
        if all(candidate[1] <= k[0] or candidate[0] >= k[1] for k in kept):
            kept.append(candidate)
    content = max(1, _content_count(tokens))
    return tuple(
        Match(key, start, end, min(1.0, _content(tokens[start:end], tokens) / content), exact)
        for start, end, key, exact in sorted(kept)
    )


def _stands_alone(run: tuple[str, ...], key: str) -> bool:
    """Whether a phrase means its key wherever it stands; 'otp' and 'cvv' do, 'mi' does not."""
    length = sum(map(len, run))
    return length > _SHORT or (length == _SHORT and vocabulary().keys[key].policy is Policy.NEVER)


def _inside(token: str) -> str | None:
    """The key of a phrase that is the token run together, or one end of it, or within CJK."""
    _, joined, unspaced = _phrases()
    if token in joined:
        return joined[token]
    if is_unspaced(token):
        inner = [p for p in unspaced if p in token and (len(p) > 1 or len(token) <= 2)]
        return unspaced[max(inner, key=len)] if inner else None
    for length in range(min(len(token) - 1, 24), _AFFIX - 1, -1):
        key = joined.get(token[-length:]) or joined.get(token[:length])
        if key:
            return key
    return None


def _content_count(tokens: tuple[str, ...]) -> int:
    return sum(1 for t in tokens if not _is_modifier(t))


def _content(part: tuple[str, ...], tokens: tuple[str, ...]) -> float:
    own = sum(1 for t in part if not _is_modifier(t))
    # A phrase of modifiers alone ('user', 'account') is the content where nothing else is.
    return float(own or (0 if _content_count(tokens) else 1))


def _is_modifier(token: str) -> bool:
    return token in vocabulary().modifiers or token.isdigit()


@cache
def _role_words() -> dict[tuple[str, ...], str]:
    return {
        words(word): role.replace("-", " ")
        for role, names in vocabulary().roles.items()
        for word in names
    }


@lru_cache(maxsize=8192)
def role_in(text: str) -> str | None:
    """Whose data the text speaks of, when it names somebody: 'Spouse's name' -> spouse."""
    tokens = words(text)
    table = _role_words()
    for length in (3, 2, 1):
        for start in range(len(tokens) - length + 1):
            role = table.get(tokens[start : start + length])
            if role:
                return role
    if is_unspaced(text):
        folded = fold(text)
        for parts, role in table.items():
            if is_unspaced(parts[0]) and "".join(parts) in folded:
                return role
    return None


def whole_role(text: str) -> str | None:
    """The role that the text names and says nothing beside: 'Your dentist' -> dentist."""
    return _role_words().get(tuple(word for word in words(text) if not _is_modifier(word)))


def leftovers(text: str, match: Match) -> tuple[str, ...]:
    """Content words of the text that the match does not account for."""
    tokens = words(text)
    rest = tokens[: match.start] + tokens[match.end :]
    return tuple(t for t in rest if not _is_modifier(t))


_EMPTY_WORDS = frozenset({"optional", "required", "field", "show", "or", "and"})
_NOTICE_WORDS = frozenset(
    {"please", "invalid", "must", "error", "http", "https", "www", "required"}
)


def nearest_words(before: tuple[str, ...]) -> tuple[str, ...]:
    """The last piece of text that says something: not '*', '(optional)', 'Required'."""
    pieces = [p for p in before[-3:] if words(p) and not set(words(p)) <= _EMPTY_WORDS]
    short = [p for p in pieces if len(words(p)) <= 6 and not _NOTICE_WORDS & set(words(p))]
    return tuple((short or pieces)[-1:])
