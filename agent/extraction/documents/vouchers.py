"""Vouchers, passes and tickets without labels, read without a model.

'Rossi / DINNER VOUCHER / Valid until 20 June / No. 88213' names no label but its end, so it is no
screen of labelled values (``labelled_fields``); a small model makes stories of it. What such a card
says is always the same: what it is, whose, its number, and until when it holds.
"""

from __future__ import annotations

import re

from agent.language.patterns import bounded
from agent.language.sentences import is_noise

MOST_LINES = 8
"""Lines of a card; a longer text is a letter about one."""

_KIND = re.compile(
    r"\b(?:voucher|coupon|gift card|pass|ticket|card|membership|permit|licen[cs]e|subscription"
    r"|warranty|guarantee|prescription|visa|passport|token|credit)\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:(?:valid|good|usable) (?:until|till|to|through|thru|for use until)|expir(?:es|y|ation)"
    r"(?: date)?(?: on)?|use (?:by|before)|redeem by)\s*:?\s+(\S.*\d.*)",
    re.IGNORECASE,
)
_NUMBER = bounded(
    r"(?:no|nr|number|code|ref|id|card no|voucher no)\b[.:#]*\s*([A-Z0-9][\w -]*\d[\w-]*)",
    re.IGNORECASE,
)


def read_pass(text: str) -> str | None:
    """The sentence of such a card; None for any other text."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not is_noise(line)]
    ends = [found[1] for line in lines if (found := _END.fullmatch(line.rstrip(".")))]
    if len(ends) != 1 or not 2 <= len(lines) <= MOST_LINES:
        return None
    number = next((found[1] for line in lines if (found := _NUMBER.fullmatch(line))), None)
    rest = [
        line
        for line in lines
        if not _END.fullmatch(line.rstrip(".")) and not _NUMBER.fullmatch(line)
    ]
    kinds = [line for line in rest if _KIND.search(line)]
    issuers = [line for line in rest if line not in kinds]
    if len(kinds) != 1 or len(issuers) > 1 or any(len(line.split()) > 8 for line in rest):
        return None
    whose = f" from {issuers[0]}" if issuers else ""
    numbered = f", No. {number}," if number else ""
    return f"My {_lowered(kinds[0])}{whose}{numbered} is valid until {ends[0]}."


def _lowered(title: str) -> str:
    """'DINNER VOUCHER', 'Day Pass' and 'Bus pass for Zone 2' as they stand in a sentence."""
    words = title.rstrip(".").split()
    if all(word.isupper() or word.istitle() for word in words):
        return " ".join(words).lower()
    return " ".join([words[0].lower(), *words[1:]])
