"""Tokenizer for search words, in any language.

Words are folded (case, accents, width) and stemmed lightly; a run of Chinese or Japanese
characters, which has no spaces, gives its characters and its pairs of characters. No list of stop
words: how rare a word is decides what it counts (``policies.baselines.bm25``). Pure functions.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol


class _Stemmer(Protocol):
    """The part of the library that we use; it ships no types."""

    def stemWord(self, word: str) -> str: ...


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_ACCENT = re.compile("[\u0300-\u036f]")
# The ending of "Kenji's", "don't", "I've" belongs to no word.
_ENDING = r"(?:['’](?:s|t|m|d|re|ve|ll)\b)?"
_RUN = re.compile(rf"([{_CJK}]+)|((?:(?![{_CJK}])[^\W_])+){_ENDING}")
_ASCII_RUN = re.compile(rf"([a-z0-9]+){_ENDING}")


def words(text: str) -> list[str]:
    """The words of a text in their order, with repetitions.

    >>> words("Kenji's flights to Zürich")
    ['kenji', 'flight', 'to', 'zurich']
    >>> words("我住上海")
    ['我', '住', '上', '海', '我住', '住上', '上海']
    """
    if text.isascii():  # most memories: several times as fast
        return [_stemmed(word) for word in _ASCII_RUN.findall(text.lower())]
    found: list[str] = []
    for match in _RUN.finditer(folded(text)):
        if run := match[1]:
            found += run
            found += (run[at : at + 2] for at in range(len(run) - 1))
        else:
            found.append(_stemmed(match[2]))
    return found


def folded(text: str) -> str:
    """Without differences of case, accent and width."""
    if text.isascii():
        return text.lower()
    # Only Latin, Greek and Cyrillic accents: the marks of Japanese and Arabic tell words apart.
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).casefold()


@lru_cache(maxsize=1 << 16)
def _stemmed(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _stemmer().stemWord(word)


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    import snowballstemmer  # late: it reads twenty languages

    made: _Stemmer = snowballstemmer.stemmer("english")
    return made
