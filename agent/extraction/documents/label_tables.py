"""Labels on tickets, bookings, receipts and cards, with sentence templates.

Data for ``agent.extraction.documents.labelled_fields``: a new label is a word in ``LABELS``, a new
way to say one a line in ``TEMPLATES``.
"""

from __future__ import annotations

LABELS: dict[str, str] = {
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
SLOT = {label: slot for slot, labels in LABELS.items() for label in labels.split("|")}

TEMPLATES: dict[str, str] = {
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

GENERIC = frozenset(
    """a an and appointment appointments boarding booking bookings business card confirmation
    confirmed contact coupon delivery details e-ticket email eticket event for gift hotel info
    information invoice is itinerary its meeting my new of on order our parcel pass purchase receipt
    reminder reservation shipment status summary thank thanks the ticket tickets train travel trip
    update voucher way we with you your upcoming successful success paid completed complete
    passenger copy payment flight plane bus electronic save share close back menu today
    done cancel edit view all more help ok""".split()
)
"""Words of headings that name the kind of a screen and not what it is about."""
