"""The sentence that a corrected form value could be remembered as; the person sees it first."""

from __future__ import annotations

from collections.abc import Sequence

from store.types import Memory

_ALIKE = 4
"""Letters and digits at whose end a value and what a memory says are the same: a phone number in
another notation."""
_NAMES = {
    "tel": "phone number",
    "tel-national": "phone number",
    "bday": "date of birth",
    "address-level1": "state",
    "address-level2": "city",
    "address-line1": "street",
    "address-line2": "address line 2",
    "organization": "employer",
    "organization-title": "job title",
    "sex": "gender",
    "url": "website",
}
"""How a sentence calls keys whose id is no English for it."""


def corrected(
    label: str, key: str | None, was: str, now: str, evidence: Sequence[Memory]
) -> tuple[str, Memory | None]:
    """The sentence, and the memory in whose place it stands; None where it stands by itself.

    The memory keeps its words but for the value, where the value stands in it once as it was filled
    in, or behind its 'is' in another notation.
    """
    was, now = was.strip(), " ".join(now.split())
    for memory in evidence:
        if was and _stands_once(was, memory.text):
            return memory.text.replace(was, now), memory
    for memory in evidence:
        head, verb, tail = memory.text.partition(" is ")
        ends = [_plain(text)[-_ALIKE:] for text in (was, tail)]
        if verb and len(ends[0]) == _ALIKE and ends[0] == ends[1]:
            return f"{head} is {now}.", memory
    called = _NAMES.get(key, key.replace("-", " ")) if key else label.strip(" :*?").lower()
    return f"My {called} is {now}.", None


def _stands_once(value: str, text: str) -> bool:
    """Whether a value is in a text just once, and is no part of a longer word or number."""
    before, _, after = text.partition(value)
    return text.count(value) == 1 and not (before[-1:].isalnum() or after[:1].isalnum())


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
