"""Facts told in other languages: 'Meine Telefonnummer ist ...'.

What is told is named by the words of labels (``keys.toml``), which are in many languages. A
sentence counts only where it is nothing but "my", a label, a word or two of up to four letters, and
a value of the label's own kind to its end: so whose it is and what it is are never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.applications.forms.facts.attribute_patterns import ATTRIBUTES, VALUES
from agent.applications.forms.matching.label_words import matches, words
from agent.applications.forms.matching.vocabulary import vocabulary
from agent.language.dates import find_times
from store.types import Memory

_LONGEST_LABEL = 5
"""Words of a label."""
_LINKS = (1, 2)
"""Words between the label and its value: 'ist', 'est le'."""
_LONGEST_LINK = 4
"""Letters of such a word."""
_SHAPES = {attribute.key: attribute.value for attribute in ATTRIBUTES if not attribute.subject}


def from_own_language(memory: Memory) -> Iterator[tuple[str, str]]:
    """The key and value that a memory tells of the person; none or one."""
    first, *rest = memory.text.rstrip(" .").split() or [""]
    if first.casefold() not in vocabulary().mine:
        return
    for length in range(min(_LONGEST_LABEL, len(rest) - 2), 0, -1):
        key = _key_of(" ".join(rest[:length]))
        if key is None:
            continue
        for links in _LINKS:
            between, value = rest[length : length + links], " ".join(rest[length + links :])
            if all(len(word) <= _LONGEST_LINK and word.isalpha() for word in between):
                shaped = _shaped(memory, _SHAPES[key], value)
                if shaped is not None:
                    yield key, shaped
                    return
        return


def _key_of(label: str) -> str | None:
    """The key that a label is the exact wording of."""
    found = matches(label)
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(words(label)))
    return found[0].key if whole and found[0].exact and found[0].key in _SHAPES else None


def _shaped(memory: Memory, shape: str, value: str) -> str | None:
    """The value as its kind is written, or None where it is of another kind."""
    if shape == "date":
        spans = find_times(memory.text, memory.created)
        days = [span.start for span in spans if span.start and span.grain == "day"]
        sure = len(days) == 1 and all(span.explicit_year for span in spans)
        return f"{days[0]:%Y-%m-%d}" if sure else None
    return value if value and re.fullmatch(VALUES[shape], value) else None
