"""The sentence that a corrected form value could be remembered as; the person sees it first."""

from __future__ import annotations

from collections.abc import Sequence

from store.types import Memory

_MOST_WORDS = 6
"""Words behind 'is' that can be the value alone."""
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

    The memory keeps its words but for the value, where the value stands in it as it was filled in,
    or where it is all that stands behind its 'is'.
    """
    now = " ".join(now.split())
    for memory in evidence:
        if was.strip() and memory.text.count(was) == 1:
            return memory.text.replace(was, now), memory
    if len(evidence) == 1:
        head, verb, tail = evidence[0].text.partition(" is ")
        if verb and len(tail.split()) <= _MOST_WORDS and "," not in tail:
            return f"{head} is {now}.", evidence[0]
    called = _NAMES.get(key, key.replace("-", " ")) if key else label.strip(" :*?").lower()
    return f"My {called} is {now}.", None
