"""Sentences from labelled values on screens, without a model (EMG-RAG Figure 1).

Tickets, bookings, vouchers, receipts, appointments, parcels and contact cards are lists of
'label value' lines once they are read (OCR). A template per label states each value exactly; an
unknown label falls back to 'The LABEL of SUBJECT is VALUE.', so nothing is lost. Lines that are
no such pair are handed back for the language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.extraction.documents.label_tables import CITIES, GENERIC, SLOT, TEMPLATES
from agent.language.sentences import capitalized, is_noise


@dataclass(frozen=True, slots=True)
class Screen:
    """What a labelled screen states, and the lines that are for the language model."""

    memories: tuple[str, ...]
    rest: str
    known: float = 0.0
    """Part of its rows that are labels of known meaning with their values."""


@dataclass(frozen=True, slots=True)
class Field:
    """One label with its value; ``slot`` is the meaning of the label where we know it."""

    label: str
    slot: str
    value: str


_MONTH = re.compile(
    r"\b(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|SEPT|OCT|NOV|DEC|JANUARY|FEBRUARY|MARCH|APRIL|JUNE"
    r"|JULY|AUGUST|SEPTEMBER|OCTOBER|NOVEMBER|DECEMBER|MON|TUE|WED|THU|FRI|SAT|SUN)\b"
)
_PRICE = re.compile(r"^(?:[A-Z]{3}|[€$£¥])?\s?\d[\d.,]*\s?(?:[A-Z]{3}|[€$£¥])?$")
_LABEL_RUN = re.compile(
    r"(?<![\w-])("
    + "|".join(sorted(map(re.escape, SLOT), key=len, reverse=True))
    + r")(?![\w-])\.?:?\s+",
    re.I,
)


_HEADING_SLOTS = frozenset({"ticket", "order", "event", "status", "payment", "tracking"})
"""Labels that, alone on a line, are the heading of the screen."""
_ROUTE = re.compile(
    r"(?:(.{2,30}?)\s*(?:→|->|➔|✈|=>)\s*(.{2,30})"
    r"|(.{2,30}\([A-Z]{3}\)|[A-Z]{3})\s*[-–—]\s*(.{2,30}\([A-Z]{3}\)|[A-Z]{3}))"
)
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:\d{1,2}\.? [a-z]{3,9}\.?,? \d{4}"
    r"|[a-z]{3,9} \d{1,2},? \d{4}|\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4})",
    re.I,
)
_FLIGHT = re.compile(r"(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}")
_CLASS = re.compile(r"(?:premium )?economy|business|first(?: class)?|second class|1st|2nd", re.I)


def read_screen(text: str, *, least: int = 2) -> Screen:
    """State every labelled value of a screen; ``least`` fields of known meaning make it one."""
    fields, others = _fields(text.splitlines())
    known = {field.slot for field in fields if field.slot}
    heading = next((line for line in others if _is_title(line)), "")
    subject = _subject(fields, heading, text)
    if len(known) + (len(fields) > len(known)) < least or not known or not subject:
        return Screen((), text)
    memories = list(_state(fields, subject, heading))
    rest: list[str] = []
    for line in others:
        if line == heading or is_generic(line) or is_noise(line):
            continue
        if len(line.split()) >= 4 and re.search(r"[.!]$", line):
            rest.append(line)
        elif len(line.split()) >= 2:
            memories.append(f"{capitalized(subject)}: {line}.")
    count = sum(bool(line.strip()) for line in text.splitlines())
    share = sum(bool(field.slot) for field in fields) / max(1, count)
    return Screen(tuple(dict.fromkeys(memories)), "\n".join(rest), share)


def _fields(lines: Iterable[str]) -> tuple[list[Field], list[str]]:
    """Every label/value pair, and the lines that are none."""
    fields: list[Field] = []
    others: list[str] = []
    rows = [line.strip() for line in lines if line.strip()]
    at = 0
    while at < len(rows):
        labels = _labels(rows[at])
        if not labels:
            found, spare = ([], [rows[at]]) if is_generic(rows[at]) else _pairs(rows[at])
            fields += found
            others += spare
            at += 1
            continue
        # Labels alone on their row: their values are on the next row, or, where each label has
        # a row of its own, on as many rows as there are labels.
        start = at
        while at < len(rows) and (more := _labels(rows[at])):
            labels = labels if at == start else [*labels, *more]
            at += 1
        deep = at - start
        below = rows[at : at + deep]
        values = below if deep > 1 else _cells(" ".join(below), len(labels))
        whole = len(values) == len(labels) and len(below) == deep
        if whole and not any(_slot(value) or _run(value) for value in values):
            fields += [_field(*pair) for pair in zip(labels, values, strict=True)]
            at += deep
        else:
            others += rows[start:at]
    return fields, others


def _cells(row: str, count: int) -> list[str]:
    """The cells of a row; its words where that gives the count that is looked for."""
    cells = [cell for cell in re.split(r"\t+|\s{2,}|\s*\|\s*", row) if cell]
    return cells if len(cells) == count or len(row.split()) != count else row.split()


def _labels(row: str) -> list[str]:
    """The labels of a row that holds nothing else."""
    if _slot(row) in _HEADING_SLOTS and ":" not in row:
        return []
    cells = _cells(row, 0)
    labels = cells if len(cells) > 1 or _slot(row) else row.split()
    return labels if all(_slot(label) for label in labels) else []


def _pairs(line: str) -> tuple[list[Field], list[str]]:
    """The fields of a line, and its cells that are none; a line without any comes back whole."""
    cells = _cells(line, 0)
    found: list[Field] = []
    spare: list[str] = []
    index = 0
    while index < len(cells):
        cell = cells[index]
        following = cells[index + 1] if index + 1 < len(cells) else ""
        colon = re.fullmatch(r"([^\d:：]{1,35}?)\s*[:：]\s*(\S.*)", cell)
        labelled = colon and (
            _slot(colon[1]) or (_is_label(colon[1]) and len(colon[1].split()) <= 4)
        )
        if colon and labelled:
            found.append(_field(colon[1], colon[2]))
        elif (
            following
            and not _slot(following)
            and (_slot(cell) or (len(cells) == 2 and _is_label(cell) and _PRICE.match(following)))
        ):
            found.append(_field(cell.rstrip(":"), following))
            index += 1
        elif more := (_run(cell) or _bare(cell)):
            found += more
        else:
            spare.append(cell)
        index += 1
    return (found, spare) if found else ([], [line])


def _bare(cell: str) -> list[Field]:
    """Values that need no label: a route, a date, a flight number, a travel class."""
    route = _ROUTE.fullmatch(cell)
    if route:
        ends = [end for end in route.groups() if end]
        return [_field("from", ends[0]), _field("to", ends[1])]
    for label, pattern in (("date", _DATE), ("flight", _FLIGHT), ("class", _CLASS)):
        if pattern.fullmatch(cell):
            return [_field(label, cell)]
    return []


def _run(cell: str) -> list[Field]:
    """'FROM SIN TO AMS', 'Coach 4 Seat 11C': labels and values parted by single spaces."""
    if len(cell.split()) > 10 or _LABEL_RUN.match(cell) is None:
        return []
    marks = list(_LABEL_RUN.finditer(cell))
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    values = [cell[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    if any(not re.match(r"[A-Z0-9€$£¥+]", value) or value.endswith(".") for value in values):
        return []
    if not all(mark.group(1)[:1].isupper() for mark in marks[:1]):
        return []
    return [_field(mark.group(1), value) for mark, value in zip(marks, values, strict=True)]


def _slot(label: str) -> str:
    return SLOT.get(re.sub(r"\s+", " ", label.strip().rstrip(":.：#").lower()), "")


def _is_label(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Z][\w&/'’.-]*(?: [\w&/'’.()-]+){0,5}", text.strip()))


def _field(label: str, value: str) -> Field:
    label = label.strip().rstrip(":.")
    value = _MONTH.sub(lambda match: match.group().capitalize(), value.strip())
    slot = _slot(label)
    if slot in {"passenger", "guest", "patient", "name", "with"} and value.isupper():
        value = value.title()
    return Field(label.lower() if label.isupper() or slot else label, slot, value)


def _is_title(line: str) -> bool:
    return (
        not is_generic(line)
        and not is_noise(line)
        and len(line.split()) <= 7
        and not re.search(r"[.!?:]$", line)
        and bool(re.match(r"[A-Z0-9]", line))
        and not re.fullmatch(r"[\d:., ]+|.*\d{1,2}:\d{2}", line)
    )


def is_generic(line: str) -> bool:
    return all(word in GENERIC for word in re.findall(r"[\w-]+", line.lower()))


def _subject(fields: list[Field], heading: str, text: str) -> str:
    """What the values are about: 'the EK349 flight', 'the Crowne Plaza reservation'."""
    values = {field.slot: field.value for field in reversed(fields) if field.slot}
    low = text.lower()
    title = heading.title() if heading.isupper() and len(heading) > 4 else heading
    title = title.removeprefix("The ")

    def named(noun: str) -> str:
        return f"the {title} {noun}" if title else f"the {noun}"

    for slot in ("flight", "train", "bus"):
        if slot in values:
            return f"the {values[slot]} {slot}"
    if "tracking" in values or "parcel" in low or "shipment" in low:
        return named("parcel")
    if re.search(r"\b(?:voucher|coupon|gift card)\b", low):
        return named("voucher")
    if {"check_in", "room"} & values.keys() or re.search(r"\b(?:reservation|booking)\b", low):
        return named("reservation")
    if "patient" in values or "appointment" in low:
        return named("appointment")
    if "order" in values:
        return named("order")
    if re.search(r"\b(?:receipt|invoice)\b", low):
        return named("purchase")
    if {"phone", "email", "company", "role", "birthday"} & values.keys():
        return values.get("name") or title
    if "event" in values:
        return f"the event {values['event']}"
    if "ticket" in low:
        return named("ticket")
    return f"the {title}" if title else ""


def _state(fields: list[Field], subject: str, heading: str) -> Iterable[str]:
    values = {field.slot: field.value for field in reversed(fields) if field.slot}
    big = capitalized(subject)
    used: set[str] = {"flight", "train", "bus", "event", "status"}
    if values.get("name", "") == subject:
        used.add("name")
    places = {slot: _place(values[slot]) for slot in ("from", "to") if slot in values}
    if len(places) == 2:
        yield f"{big} is from {places['from']} to {places['to']}."
    elif places:
        slot, place = next(iter(places.items()))
        yield f"{big} is {slot} {place}."
    used |= {"from", "to"}
    if "check_in" in values and "check_out" in values:
        yield f"{big} is for {values['check_in']} to {values['check_out']}."
        used |= {"check_in", "check_out"}
    on = f" on {values['date']}" if "date" in values else ""
    when = next((slot for slot in ("departs", "time") if slot in values), "")
    if when:
        verb = "departs" if when == "departs" else "is"
        preposition = "at" if re.match(r"\d{1,2}[:.h]?\d*", values[when]) else ""
        until = f" to {values['ends']}" if when == "time" and "ends" in values else ""
        yield f"{big} {verb} {preposition} {values[when]}{until}{on}.".replace("  ", " ")
        used |= {when, "date"} | ({"ends"} if until else set())
    elif on:
        yield f"{big} is{on}."
        used.add("date")
    for field in fields:
        if field.slot in used:
            continue
        if field.slot == "breakfast":
            yield (
                f"{big} includes breakfast."
                if re.match(r"incl|yes|✓", field.value, re.I)
                else f"The {field.label} of {subject} is {field.value}."
            )
        elif field.slot == "room" and not re.search(r"room|suite|studio|flat", field.value, re.I):
            yield f"{big} includes a {field.value} room."
        elif field.slot in {"guests", "nights"}:
            count = f"{field.value} {field.label}" if field.value.isdigit() else field.value
            yield f"{big} is for {count}."
        elif field.slot in TEMPLATES:
            yield TEMPLATES[field.slot].format(s=subject, S=big, v=field.value, l=field.label)
        elif not field.slot and _PRICE.match(field.value) and subject.endswith("purchase"):
            shop = f" at {heading}" if heading else ""
            yield f"I bought {field.label}{shop} for {field.value}."
        else:
            yield f"The {field.label} of {subject} is {field.value}."


def _place(value: str) -> str:
    """An airport code with its city: 'Singapore (SIN)'."""
    city = CITIES.get(value.strip())
    return f"{city} ({value.strip()})" if city else value
