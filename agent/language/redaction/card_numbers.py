"""Card and bank account numbers with a checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import luhn
from stdnum.iso7064 import mod_97_10

Spans = Iterator[tuple[int, int]]

_DIGITS = re.compile(
    r"(?<![\w+.,/#-])[0-9](?:(?:[ \u00a0]{1,3}|-)?[0-9]){12,18}(?![\w-]|[.,/][0-9])"
)
_NO_CARD = re.compile(
    r"(?:isbn|ean|gtin|upc|imei|iccid|tracking|parcel|sendung|order|bestell|invoice|rechnung|ticket"
    r"|barcode|serial|meter|phone|tel|fax|booking|miles|frequent)\S*"
    r"(?:[ .:#]+\w{0,9}){0,2}[ .:#]*$",
    re.IGNORECASE,
)
"""Stands before numbers of so many digits that are no card's."""


def cards(text: str) -> Spans:
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"[^0-9]", "", match.group())
        before = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
        if _is_card(digits) and _groups(match.group()) and not _NO_CARD.search(before):
            yield match.span()


def _is_card(digits: str) -> bool:
    """A number that a card network gives out (ISO/IEC 7812), with a right check digit."""
    size, four = len(digits), int(digits[:4])
    network = (
        (digits[0] == "4" and size in (13, 16, 19))
        or ((5100 <= four <= 5599 or 2221 <= four <= 2720) and size == 16)
        or (digits[:2] in ("34", "37") and size == 15)
        or ((3000 <= four <= 3059 or digits[:2] in ("36", "38", "39")) and size == 14)
        or ((four == 6011 or digits[:2] == "65" or 6440 <= four <= 6499) and size in (16, 19))
        or (3528 <= four <= 3589 and size == 16)
        or (digits[:2] == "62" and 16 <= size <= 19)
        or (digits[:2] in ("50", "56", "57", "58", "63", "67") and size in (16, 19))
    )
    return network and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def _groups(written: str) -> bool:
    """Whether the spaces stand as on a card, so that two numbers side by side are not one."""
    sizes = [len(part) for part in re.split(r"[ \u00a0]+|-", written)]
    return len(sizes) == 1 or (sizes[0] == 4 and all(2 <= size <= 7 for size in sizes[1:]))


_IBAN = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]{2}[0-9]{2}(?:(?:[ \u00a0]{1,3}|-)?[A-Z0-9]){11,30})(?![A-Za-z0-9])"
)


def ibans(text: str) -> Spans:
    for match in _IBAN.finditer(text):
        # The pattern may run on into capitals that follow: the longest start that checks is it.
        written = match.group()
        for cut in [
            len(written),
            *(m.start() for m in reversed([*re.finditer(r"[ \u00a0-]", written)])),
        ]:
            code = re.sub(r"[ \u00a0-]", "", written[:cut])
            if len(code) < 15:
                break
            if len(code) <= 34 and mod_97_10.is_valid(code[4:] + code[:4]):
                yield match.start(), match.start() + cut
                break
