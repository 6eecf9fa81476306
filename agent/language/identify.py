"""The language of a text, by n-grams of bytes (py3langid).

What memlane learned, it learned from English; routing and extraction know Chinese as well. In all
other languages, the steps that would read words by chance are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from agent.language.sentences import is_chinese

HARDLY = 0.02
"""Probability of English below which a text is taken for another language. Of 19,490 English
sentences of ours (voices, banks, lives) two have less; of 62 in German and Spanish, all."""
SURELY = 0.9
"""Probability from which a text is surely in English. None of our German and Spanish texts has it
(a test reads them), nine in ten English ones do."""
FEWEST = 4
"""Words below which a text is taken for English: a name alone is in no language."""
LANGUAGES = tuple(
    """ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv mr ms nb nl no pl pt
    ro ru sk sl sr sv sw ta te th tl tr uk ur vi zh""".split()
)
"""ISO 639 codes that are told apart; with rare languages, foreign names in English mislead."""
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Whether a text may be English; also where it is too short to tell."""
    return language_of(text) == "en"


def is_surely_english(text: str) -> bool:
    """Whether a text is in English and no name or number that stands in any language."""
    if is_chinese(text) or len(_WORD.findall(text)) < FEWEST:
        return False
    return dict(_ranking()(text))["en"] >= SURELY


def is_foreign(text: str) -> bool:
    """Whether a text is in a language of which memlane knows no wording: not English or Chinese."""
    return language_of(text) not in ("en", "zh")


def common_language(question: str, texts: Sequence[str]) -> str:
    """The language of a question; of a short one, that in which most of the texts are."""
    own = language_of(question)
    if own != "en" or not texts:
        return own
    [(most, count)] = Counter(map(language_of, texts)).most_common(1)
    return most if count > len(texts) / 2 and len(_WORD.findall(question)) < FEWEST else own


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The ISO 639 code of a text's language; "en" wherever English is not unlikely."""
    if is_chinese(text):
        return "zh"
    words = _WORD.findall(text)
    # Where words are written in Latin letters, few of them may be names; in Thai one is a sentence.
    if len(words) < FEWEST and max(map(max, words), default="a") < "\u0250":
        return "en"
    ranked = _ranking()(text)
    return "en" if dict(ranked)["en"] >= HARDLY else ranked[0][0]


@cache
def _ranking() -> Callable[[str], list[tuple[str, float]]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([name for name in LANGUAGES if name in identifier.labels])
    rank: Callable[[str], list[tuple[str, float]]] = identifier.rank
    return rank
