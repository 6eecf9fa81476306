"""How much letters look like a word's: by the pairs of letters in the word lists of BIP 39."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

_LETTERS = re.compile(r"[a-z]+")


def bits_per_pair(text: str) -> float:
    """How surprising a letter is after the one before it, in bits, on average; 0 without pairs.

    About 3.3 in words, 6.6 where letters were drawn at random.
    """
    pairs, firsts = _counts()
    found = [*_pairs_of(text)]
    bits = (math.log2((firsts[one[0]] + 26) / (pairs[one] + 1)) for one in found)
    return sum(bits) / len(found) if found else 0.0


@cache
def _counts() -> tuple[Counter[str], Counter[str]]:
    """How often each pair is in words, and each letter with one behind it."""
    from mnemonic import Mnemonic

    words = (word for name in Mnemonic.list_languages() for word in Mnemonic(name).wordlist)
    pairs = Counter(pair for word in words for pair in _pairs_of(word))
    firsts = Counter[str]()
    for pair, times in pairs.items():
        firsts[pair[0]] += times
    return pairs, firsts


def _pairs_of(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKD", text.lower())
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign))
    for run in _LETTERS.findall(bare):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
