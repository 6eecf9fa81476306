"""Labelled values on a screen -> sentences, without a model (EMG-RAG Figure 1, Table 1).

Tickets, bookings, vouchers, receipts, appointments, parcels and contact cards are lists of
'label value' lines once they are read (OCR). A template per label states each value exactly; an
unknown label falls back to 'The LABEL of SUBJECT is VALUE.', so nothing is lost. Lines that are
no such pair are handed back for the language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.sentences import is_noise

_LABELS: dict[str, str] = {
    # slot: the labels that mean it, as they appear in lower case
    "passenger": "passenger|passenger name|name of passenger|traveller|traveler|passengers",
    "guest": "guest|guest name|booked by|booked for|lead guest|name of guest",
    "patient": "patient|patient name|client|client name|attendee",
    "flight": "flight|flight no|flight number|flt",
    "train": "train|train no|train number|service",
    "bus": "bus|bus no|coach no",
    "from": "from|origin|departing from|departs from|departure airport|departure station",
    "to": "to|destination|arriving at|arrival airport|arrival station|arrives at",
    "date": "date|travel date|day|appointment date|departure date|date of travel|event date",
    "departs": "departure|departs|dep|depart|departure time|leaves|std|outbound",
    "arrives": "arrival|arrives|arr|arrive|arrival time|sta",
    "boarding": "boarding|boarding time|boards|boarding at",
    "gate": "gate",
    "terminal": "terminal",
    "seat": "seat|seats|seat no|seat number",
    "coach": "coach|carriage|car|wagon",
    "platform": "platform|track|gleis",
    "class": "class|cabin|travel class",
    "check_in": "check-in|check in|checkin|arrival date",
    "check_out": "check-out|check out|checkout",
    "room": "room|room type|room category|accommodation",
    "breakfast": "breakfast|board|meal plan|meals",
    "nights": "nights|number of nights|stay|length of stay",
    "guests": "guests|number of guests|party size|adults|people|persons",
    "reference": "pnr|booking reference|booking ref|booking code|booking number|booking no"
    "|booking id|confirmation number|confirmation no|confirmation code|confirmation"
    "|reservation number|reservation no|reservation code|record locator|reference|ref",
    "order": "order number|order no|order id|order|order #",
    "ticket": "ticket number|ticket no|e-ticket|eticket|ticket",
    "total": "total|total price|amount|amount paid|price|total amount|paid|grand total|cost|fare",
    "expires": "valid until|valid till|expires|expires on|expiry|expiry date|expiration date"
    "|valid through|use by|valid to|expiration",
    "code": "code|voucher code|promo code|coupon code|discount code",
    "value": "value|voucher value|balance",
    "tracking": "tracking number|tracking no|tracking|tracking code|tracking id|track & trace"
    "|parcel number|shipment number",
    "sender": "sender|sent by|shipped by|seller|sold by|from sender",
    "carrier": "carrier|courier|shipped with|delivered by",
    "delivery": "expected delivery|estimated delivery|delivery|delivery date|delivery time|eta"
    "|arriving|expected",
    "deliver_to": "deliver to|delivery address|ship to|shipping address|delivered to|pickup point"
    "|pick-up point|pick up at",
    "time": "time|start time|at|starts|start|appointment time|when",
    "ends": "ends|end|end time|until",
    "with": "with|doctor|physician|dentist|therapist|practitioner|provider|host|organizer"
    "|organiser",
    "address": "address|home address|street address",
    "location": "location|venue|place|where|clinic|branch",
    "name": "name|full name|contact|display name",
    "role": "title|job title|role|position|occupation|function",
    "company": "company|organisation|organization|employer|firm|org",
    "department": "department|team",
    "phone": "phone|phone number|mobile|mobile number|cell|tel|telephone|home phone|work phone",
    "email": "email|e-mail|mail|email address|e-mail address|work email",
    "website": "website|web|url|homepage",
    "birthday": "birthday|date of birth|born|dob|bday",
    "warranty": "warranty until|warranty|guarantee until|warranty expires",
    "payment": "paid by|payment method|paid with|payment|card",
    "event": "event|subject|meeting|summary",
    "status": "status",
}
_SLOT = {label: slot for slot, labels in _LABELS.items() for label in labels.split("|")}

_TEMPLATES: dict[str, str] = {
    "passenger": "The passenger of {s} is {v}.",
    "guest": "The guest of {s} is {v}.",
    "patient": "The patient of {s} is {v}.",
    "departs": "{S} departs at {v}.",
    "arrives": "{S} arrives at {v}.",
    "boarding": "Boarding of {s} is at {v}.",
    "gate": "The gate of {s} is {v}.",
    "terminal": "The terminal of {s} is {v}.",
    "seat": "The seat on {s} is {v}.",
    "coach": "The coach of {s} is {v}.",
    "platform": "The platform of {s} is {v}.",
    "class": "The class of {s} is {v}.",
    "room": "{S} includes a {v}.",
    "nights": "{S} is for {v}.",
    "guests": "{S} is for {v}.",
    "reference": "The {l} of {s} is {v}.",
    "order": "The order number of {s} is {v}.",
    "ticket": "The ticket number of {s} is {v}.",
    "total": "{S} costs {v}.",
    "expires": "{S} expires on {v}.",
    "code": "The code of {s} is {v}.",
    "value": "{S} is worth {v}.",
    "tracking": "The tracking number of {s} is {v}.",
    "sender": "The sender of {s} is {v}.",
    "carrier": "The carrier of {s} is {v}.",
    "delivery": "{S} is expected on {v}.",
    "deliver_to": "{S} will be delivered to {v}.",
    "with": "{S} is with {v}.",
    "address": "The address of {s} is {v}.",
    "location": "{S} is at {v}.",
    "role": "{S} is {v}.",
    "company": "{S} works at {v}.",
    "department": "{S} works in {v}.",
    "phone": "{S}'s phone number is {v}.",
    "email": "{S}'s e-mail address is {v}.",
    "website": "{S}'s website is {v}.",
    "birthday": "{S}'s birthday is {v}.",
    "warranty": "The warranty of {s} runs until {v}.",
    "payment": "{S} was paid by {v}.",
}

_CITIES = """
AMS Amsterdam,ARN Stockholm,ATH Athens,ATL Atlanta,AUH Abu Dhabi,BCN Barcelona,BER Berlin,
BKK Bangkok,BLR Bengaluru,BOM Mumbai,BOS Boston,BRU Brussels,BUD Budapest,CAN Guangzhou,
CDG Paris,CGK Jakarta,CPH Copenhagen,DEL Delhi,DEN Denver,DFW Dallas,DOH Doha,DUB Dublin,
DUS Dusseldorf,DXB Dubai,EWR Newark,EZE Buenos Aires,FCO Rome,FRA Frankfurt,GRU Sao Paulo,
GVA Geneva,HAM Hamburg,HEL Helsinki,HKG Hong Kong,HND Tokyo,IAD Washington,ICN Seoul,
IST Istanbul,JFK New York,JNB Johannesburg,KIX Osaka,KUL Kuala Lumpur,LAX Los Angeles,
LGW London,LHR London,LIS Lisbon,MAD Madrid,MAN Manchester,MEL Melbourne,MEX Mexico City,
MIA Miami,MNL Manila,MUC Munich,MXP Milan,NBO Nairobi,NCE Nice,NRT Tokyo,ORD Chicago,
ORY Paris,OSL Oslo,PEK Beijing,PKX Beijing,PRG Prague,PVG Shanghai,RIX Riga,SEA Seattle,
SFO San Francisco,SGN Ho Chi Minh City,SHA Shanghai,SIN Singapore,STN London,SVO Moscow,
SYD Sydney,SZX Shenzhen,TLL Tallinn,TLV Tel Aviv,TPE Taipei,VCE Venice,VIE Vienna,
WAW Warsaw,YUL Montreal,YVR Vancouver,YYZ Toronto,ZRH Zurich
"""
CITIES: dict[str, str] = {entry[:3]: entry[4:] for entry in _CITIES.replace("\n", "").split(",")}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a labelled screen states, and the lines that are for the language model."""

    memories: tuple[str, ...]
    rest: str


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
_GENERIC = frozenset(
    """a an and appointment appointments boarding booking bookings business card confirmation
    confirmed contact coupon delivery details e-ticket email eticket event for gift hotel info
    information invoice is itinerary its meeting my new of on order our parcel pass purchase receipt
    reminder reservation shipment status summary thank thanks the ticket tickets train travel trip
    update voucher way we with you your upcoming successful success paid completed complete
    passenger copy payment flight plane bus electronic save share close back menu today
    done cancel edit view all more help ok""".split()
)
_LABEL_RUN = re.compile(
    r"(?<![\w-])("
    + "|".join(sorted(map(re.escape, _SLOT), key=len, reverse=True))
    + r")(?![\w-])\.?:?\s+",
    re.I,
)


def read_screen(text: str, *, least: int = 2) -> Screen:
    """State every labelled value of a screen; ``least`` fields of known meaning make it one."""
    fields, others = _fields(text.splitlines())
    known = {field.slot for field in fields if field.slot}
    heading = next((line for line in others if _is_title(line)), "")
    subject = _subject(fields, heading, text)
    if len(known) + (len(fields) > len(known)) < least or not known or not subject:
        return Screen((), text)
    memories = list(_state(fields, subject, heading, text))
    rest: list[str] = []
    for line in others:
        if line == heading or _is_generic(line) or is_noise(line):
            continue
        if len(line.split()) >= 4 and re.search(r"[.!]$", line):
            rest.append(line)
        elif len(line.split()) >= 2:
            memories.append(f"{_capital(subject)}: {line}.")
    return Screen(tuple(dict.fromkeys(memories)), "\n".join(rest))


def _fields(lines: Iterable[str]) -> tuple[list[Field], list[str]]:
    """Every label/value pair, and the lines that are none."""
    fields: list[Field] = []
    others: list[str] = []
    waiting: list[str] = []  # labels alone on their line; their values are on the next
    for line in (line.strip() for line in lines):
        if not line:
            continue
        cells = [cell for cell in re.split(r"\t+|\s{2,}|\s*\|\s*", line) if cell]
        if waiting:
            values = cells if len(cells) == len(waiting) else line.split()
            if len(values) == len(waiting) and not any(_slot(value) for value in values):
                fields += [_field(*pair) for pair in zip(waiting, values, strict=True)]
                waiting = []
                continue
            others.append(" ".join(waiting))
            waiting = []
        labels = cells if len(cells) > 1 or _slot(line) else line.split()
        if all(_slot(label) for label in labels):
            waiting = labels
            continue
        found = [] if _is_generic(line) else _pairs(line, cells)
        if found:
            fields += found
        else:
            others.append(line)
    if waiting:
        others.append(" ".join(waiting))
    return fields, others


def _pairs(line: str, cells: list[str]) -> list[Field]:
    route = re.fullmatch(r"(.{2,30}?)\s*(?:→|->|➔|✈|=>)\s*(.{2,30})", line)
    if route and ":" not in route.group(1):
        return [_field("from", route.group(1)), _field("to", route.group(2))]
    found: list[Field] = []
    index = 0
    while index < len(cells):
        cell = cells[index]
        following = cells[index + 1] if index + 1 < len(cells) else ""
        colon = re.fullmatch(r"([^\d:：]{1,35}?)\s*[:：]\s*(\S.*)", cell)
        if (
            colon
            and len(colon.group(1).split()) <= 4
            and (_slot(colon.group(1)) or _is_label(colon.group(1)))
        ):
            found.append(_field(*colon.groups()))
        elif (
            following
            and not _slot(following)
            and (
                _slot(cell) or (len(cells) == 2 and _is_label(cell) and re.search(r"\d", following))
            )
        ):
            found.append(_field(cell.rstrip(":"), following))
            index += 1
        elif run := _run(cell):
            found += run
        else:
            return []
        index += 1
    return found


def _run(cell: str) -> list[Field]:
    """'FROM SIN TO AMS', 'Coach 4 Seat 11C': labels and values parted by single spaces."""
    marks = list(_LABEL_RUN.finditer(cell))
    if not marks or marks[0].start() != 0 or len(cell.split()) > 10:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    values = [cell[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    if any(not re.match(r"[A-Z0-9€$£¥+]", value) or value.endswith(".") for value in values):
        return []
    if not all(mark.group(1)[:1].isupper() for mark in marks[:1]):
        return []
    return [_field(mark.group(1), value) for mark, value in zip(marks, values, strict=True)]


def _slot(label: str) -> str:
    return _SLOT.get(re.sub(r"\s+", " ", label.strip().rstrip(":.：#").lower()), "")


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
        not _is_generic(line)
        and not is_noise(line)
        and len(line.split()) <= 7
        and not re.search(r"[.!?:]$", line)
        and bool(re.match(r"[A-Z0-9]", line))
        and not re.fullmatch(r"[\d:., ]+|.*\d{1,2}:\d{2}", line)
    )


def _is_generic(line: str) -> bool:
    return all(word in _GENERIC for word in re.findall(r"[\w-]+", line.lower()))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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


def _state(fields: list[Field], subject: str, heading: str, text: str) -> Iterable[str]:
    values = {field.slot: field.value for field in reversed(fields) if field.slot}
    big = _capital(subject)
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
        label = field.label if not field.label.isupper() else field.label.lower()
        if field.slot == "breakfast":
            yield (
                f"{big} includes breakfast."
                if re.match(r"incl|yes|✓", field.value, re.I)
                else f"The {label} of {subject} is {field.value}."
            )
        elif field.slot == "room" and not re.search(r"room|suite|studio|flat", field.value, re.I):
            yield f"{big} includes a {field.value} room."
        elif field.slot in _TEMPLATES:
            yield _TEMPLATES[field.slot].format(s=subject, S=big, v=field.value, l=label)
        elif not field.slot and _PRICE.match(field.value) and subject.endswith("purchase"):
            shop = f" at {heading}" if heading else ""
            yield f"I bought {field.label}{shop} for {field.value}."
        else:
            yield f"The {label} of {subject} is {field.value}."


def _place(value: str) -> str:
    """An airport code with its city: 'Singapore (SIN)'."""
    city = CITIES.get(value.strip())
    return f"{city} ({value.strip()})" if city else value
