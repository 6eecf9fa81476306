"""Phone number formats: national, international or in parts.

Numbers are read by Google's numbering plan (the ``phonenumbers`` library). What it cannot read is
handed on as it was said, never bent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.applications.forms.fields import FormField
from agent.applications.forms.values.constraints import accepts

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_MASK = re.compile(r"[Xx#_][Xx#_\s().\-/]{5,}[Xx#_]")
_NORTH_AMERICAN = re.compile(r"\(?[\dXx#_]{3}\)?[ .\-/]{0,2}[\dXx#_]{3}[ .\-][\dXx#_]{4}")
_INTERNATIONAL = re.compile(r"\+\s?\d|\binternational\b|\be\.?164\b|\bwith country code\b", re.I)


@lru_cache(maxsize=4096)
def _parsed(text: str, region: str) -> PhoneNumber | None:
    """None for what is no possible number of that country."""
    import phonenumbers  # late: reading the numbering plan takes longer than filling most forms

    try:
        number = phonenumbers.parse(text, region or None)
    except phonenumbers.NumberParseException:
        return None
    return number if phonenumbers.is_possible_number(number) else None


def write_phone(text: str, field: FormField, *, region: str = "", national: bool = False) -> str:
    """The number as the field wants it; as it was said where nothing else is asked.

    ``region`` is the country whose number it is where no calling code says so. An empty text means
    that the field takes none of its notations.
    """
    return next((way for way in _ways(text, field, region, national) if accepts(field, way)), "")


def _ways(text: str, field: FormField, region: str, national: bool) -> Iterator[str]:
    """Notations of the number, the one that is asked for first."""
    number = _parsed(text, region)
    digits = re.sub(r"\D", "", text)
    if number is None:
        yield from (text, digits) if not national else (without_calling_code(text), digits)
        return
    from phonenumbers import PhoneNumberFormat, format_number, national_significant_number

    significant = national_significant_number(number)
    inside = format_number(number, PhoneNumberFormat.NATIONAL)
    outside = format_number(number, PhoneNumberFormat.INTERNATIONAL)
    shown = f"{field.placeholder} {field.hint} {field.label}"
    mask = _MASK.search(field.placeholder)
    if number.country_code == 1:
        mask = _NORTH_AMERICAN.search(field.placeholder) or mask
    if mask and sum(c.isdigit() or c in "Xx#_" for c in mask[0]) == len(significant):
        yield _poured(significant, mask[0])
    ours = re.sub(r"\D", "", inside)
    inner = (inside, ours, significant, *_with_signs(significant))
    outer = (outside, format_number(number, PhoneNumberFormat.E164), digits)
    if national:
        yield from inner
    elif _INTERNATIONAL.search(shown):
        yield from (*outer, *inner)
    else:
        yield from (text, *outer, *inner)


def _poured(digits: str, mask: str) -> str:
    left = iter(digits)
    return re.sub(r"[\dXx#_]", lambda _: next(left), mask)


def _with_signs(significant: str) -> tuple[str, ...]:
    if len(significant) != 10:
        return ()
    a, b, c = significant[:3], significant[3:6], significant[6:]
    return f"{a}-{b}-{c}", f"({a}) {b}-{c}", f"{a}.{b}.{c}", f"{a} {b} {c}"


def without_calling_code(text: str) -> str:
    """The number as it is dialled inside its country, as far as that can be told."""
    number = _parsed(text, "") if text.startswith("+") else None
    if number is None:
        return re.sub(r"^\+\d{1,3}[\s-]+", "", text)
    from phonenumbers import PhoneNumberFormat, format_number

    return format_number(number, PhoneNumberFormat.NATIONAL)


def parts_of_phone(text: str, region: str) -> dict[str, str]:
    """The calling code, and the parts that forms ask for apart, by their keys."""
    number = _parsed(text, region)
    if number is None:
        return {}
    from phonenumbers import length_of_geographical_area_code, national_significant_number

    parts = {"tel-country-code": f"+{number.country_code}"}
    significant = national_significant_number(number)
    area = length_of_geographical_area_code(number)
    if number.country_code == 1:
        area = 3
        parts["tel-local-prefix"] = significant[3:6]
        parts["tel-local-suffix"] = significant[6:]
    if area:
        parts["tel-area-code"] = significant[:area]
        parts["tel-local"] = significant[area:]
    return parts
