"""Who fills forms in the simulated lives: what is told of them and the forms they meet.

Two sets that share no value, wording or form. The rules were developed on ``TRAIN``; ``TEST`` was
written before its first run and never used to fix a rule. What changes over the four weeks is a
topic of ``lives_world``; what stays is told once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.applications.forms.formats.open_form import Kind
from benchmarks.shared.simulated_lives.lives_bank import Topic

_NO_QUESTIONS = ("?",)
"""Topics are asked for by forms here, never by questions."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A value as people say it, and its parts as forms ask for them."""

    said: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Stays:
    """A fact that does not change: how it is told, and what it may be."""

    name: str
    subclass: str
    head: str
    relation: str
    tell: tuple[str, ...]
    values: tuple[Meant, ...]


@dataclass(frozen=True, slots=True)
class FormSheet:
    """A form: its source, and the fact or part of one that belongs into each field.

    'address.city' is a part of a value, 'phone' the value as it was said; None where the field must
    stay empty.
    """

    kind: Kind | Literal["labels"]
    source: str
    """Labels are parted by '|'."""
    gold: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class People:
    """One set."""

    topics: tuple[Topic, ...]
    meant: dict[str, Meant]
    """Values of the topics that have parts, by how they are said."""
    stays: tuple[Stays, ...]
    sheets: tuple[FormSheet, ...]


def _topic(
    name: str,
    subclass: str,
    relation: str,
    values: tuple[str, ...],
    tell: tuple[str, ...],
    change: tuple[str, ...],
    dated: tuple[str, ...],
    planned: tuple[str, ...],
) -> Topic:
    return Topic(
        name, subclass, "me", relation, values, tell, change, dated, planned,
        _NO_QUESTIONS, _NO_QUESTIONS, _NO_QUESTIONS,
    )  # fmt: skip


def _address(line: str, unit: str, city: str, state: str, code: str, land: str, iso: str,
             said: str) -> Meant:  # fmt: skip
    whole = f"{line}, {unit}" if unit else line
    lane, _, house = line.rpartition(" ")
    return Meant(said, {"line": line, "lane": lane, "house": house, "unit": unit, "street": whole,
                        "city": city, "state": state, "zip": code, "country": land,
                        "iso": iso})  # fmt: skip


def _name(given: str, family: str) -> Meant:
    return Meant(f"{given} {family}", {"given": given, "family": family})


def _date(said: str, iso: str) -> Meant:
    year, month, day = iso.split("-")
    return Meant(said, {"iso": iso, "year": year, "month": month, "day": day,
                        "dots": f"{day}.{month}.{year}", "us": f"{month}/{day}/{year}",
                        "m": str(int(month)), "d": str(int(day))})  # fmt: skip


def _by_words(values: tuple[Meant, ...]) -> dict[str, Meant]:
    return {value.said: value for value in values}


# --- the set that the rules were developed on ---

_TRAIN_ADDRESSES = (
    _address("12 Oak Street", "", "Springfield", "IL", "62704", "USA", "US",
             "12 Oak Street, Springfield, IL 62704, USA"),
    _address("88 Pine Avenue", "Apt 5", "Denver", "CO", "80203", "USA", "US",
             "88 Pine Avenue, Apt 5, Denver, CO 80203, USA"),
    _address("4 Harbor Road", "Unit 12", "Portland", "ME", "04101", "USA", "US",
             "4 Harbor Road, Unit 12, Portland, ME 04101, USA"),
    _address("310 Lake Drive", "", "Madison", "WI", "53703", "USA", "US",
             "310 Lake Drive, Madison, WI 53703, USA"),
)  # fmt: skip
_TRAIN_PHONES = tuple(
    Meant(said, {"digits": "".join(filter(str.isdigit, said))})
    for said in ("(303) 555-0142", "(217) 555-0187", "(207) 555-0113", "(608) 555-0169")
)

TRAIN = People(
    topics=(
        _topic(
            "address", "attribute.address", "lives_in",
            tuple(value.said for value in _TRAIN_ADDRESSES),
            ("I live at {v}.", "My address is {v}.", "My home address is {v}."),
            ("I moved to {v}.", "My new address is {v}.", "I live at {v} now."),
            ("I moved to {v} on {d}.", "Since {d} I live at {v}."),
            ("I'm moving to {v} on {d}.", "From {d} my address is {v}."),
        ),
        _topic(
            "phone", "attribute.contact", "phone", tuple(value.said for value in _TRAIN_PHONES),
            ("My phone number is {v}.", "You can call me at {v}."),
            ("My new phone number is {v}.", "My phone number changed to {v}."),
            ("Since {d} my phone number is {v}.",),
            ("From {d} my phone number is {v}.",),
        ),
        _topic(
            "mail", "attribute.contact", "email",
            ("sam@post.example", "s.weber@mail.example", "sw77@inbox.example"),
            ("My email address is {v}.", "You can reach me at {v}."),
            ("My new email address is {v}.", "My email address changed to {v}."),
            ("Since {d} my email address is {v}.",),
            ("From {d} my email address is {v}.",),
        ),
        _topic(
            "firm", "attribute.occupation", "works_at",
            ("Acme", "Bolt & Sons", "Norbank", "Vantage Media"),
            ("I work at {v}.", "I work for {v}."),
            ("I now work at {v}.", "I joined {v}.", "I started a new job at {v}."),
            ("I started at {v} on {d}.", "I have worked for {v} since {d}."),
            ("I start at {v} on {d}.", "From {d} I will work for {v}."),
        ),
    ),
    meant=_by_words((*_TRAIN_ADDRESSES, *_TRAIN_PHONES)),
    stays=(
        Stays("name", "attribute.name", "me", "name",
              ("My name is {v}.", "My full name is {v}.", "I'm called {v}."),
              (_name("Samuel", "Weber"), _name("Dana", "Okafor"), _name("Julia", "Marsh"))),
        Stays("born", "attribute.birthday", "me", "birthday",
              ("I was born on {v}.", "My birthday is {v}."),
              (_date("3 May 1990", "1990-05-03"), _date("November 21, 1984", "1984-11-21"),
               _date("1977-02-09", "1977-02-09"))),
        Stays("passport", "attribute.identity", "me", "passport_number",
              ("My passport number is {v}.",),
              (Meant("E12345678", {}), Meant("K4471902", {}))),
        Stays("spouse", "relationship.relatives", "me", "wife",
              ("My wife is {v}.", "My wife's name is {v}."),
              (Meant("Anna Weber", {}), Meant("Li Na", {}))),
        Stays("spouse phone", "attribute.contact", "my wife", "phone",
              ("My wife's phone number is {v}.",),
              (Meant("(312) 555-0155", {}), Meant("(415) 555-0121", {}))),
        Stays("allergy", "attribute.health", "me", "allergic_to", ("I am allergic to {v}.",),
              (Meant("peanuts", {}), Meant("penicillin", {}))),
        Stays("nation", "attribute.identity", "me", "nationality", ("I am {v}.",),
              (Meant("American", {"iso": "US"}), Meant("Canadian", {"iso": "CA"}))),
    ),
    sheets=(
        FormSheet("html", """<form id=checkout action=/order>
<h2>Delivery address</h2>
<label for=f1>First name</label><input id=f1 name=first>
<label for=f2>Last name</label><input id=f2 name=last>
<label for=f3>Company (optional)</label><input id=f3 name="shipping[company]">
<label for=f4>Street address</label><input id=f4 name=street>
<label for=f5>Apartment, suite</label><input id=f5 name=apt>
<label for=f6>City</label><input id=f6 name=city>
<label for=f7>State</label><select id=f7 name=state><option value="">--</option>
<option value=CO>Colorado</option><option value=IL>Illinois</option><option value=ME>Maine</option>
<option value=WI>Wisconsin</option></select>
<label for=f8>ZIP code</label><input id=f8 name=zip maxlength=5>
<label for=f9>Country</label><select id=f9 name=country><option value=CA>Canada</option>
<option value=US>United States</option></select>
<label for=f10>E-mail</label><input id=f10 name=mail type=email>
<label for=f11>Phone</label><input id=f11 name=phone pattern="[0-9]{10}">
<label for=f12>Promo code</label><input id=f12 name=promo>
<label for=f13>Name on card</label><input id=f13 name=cardname autocomplete=cc-name>
<label for=f14>CVV</label><input id=f14 name=cvv></form>""",
                  {"first": "name.given", "last": "name.family", "shipping[company]": None,
                   "street": "address.line", "apt": "address.unit", "city": "address.city",
                   "state": "address.state", "zip": "address.zip", "country": "address.iso",
                   "mail": "mail", "phone": "phone.digits", "promo": None, "cardname": "name",
                   "cvv": None}),
        FormSheet("json", """{"title": "Employee", "properties": {
"fullName": {"type": "string"}, "dateOfBirth": {"type": "string", "format": "date"},
"employer": {"type": "string"}, "email": {"type": "string", "format": "email"},
"nationality": {"type": "string", "minLength": 2, "maxLength": 2},
"home": {"type": "object", "properties": {"street": {"type": "string"},
"postalCode": {"type": "string"}, "city": {"type": "string"}}},
"iban": {"type": "string"}, "shoeSize": {"type": "integer"}}}""",
                  {"fullName": "name", "dateOfBirth": "born.iso", "employer": "firm",
                   "email": "mail", "nationality": "nation.iso", "home.street": "address.street",
                   "home.postalCode": "address.zip", "home.city": "address.city", "iban": None,
                   "shoeSize": None}),
        FormSheet("labels", "Passport number|Spouse's name|Spouse's phone|Allergies|"
                  "Date of birth (MM/DD/YYYY)|Driving licence number|Home address|One-time code",
                  {"Passport number": "passport", "Spouse's name": "spouse",
                   "Spouse's phone": "spouse phone", "Allergies": "allergy",
                   "Date of birth (MM/DD/YYYY)": "born.us", "Driving licence number": None,
                   "Home address": "address", "One-time code": None}),
        FormSheet("labels", "Name of your boss|Landlord|Gym|Favourite film|Blood type|Vet's name",
                  {"Name of your boss": "boss", "Landlord": "landlord", "Gym": "gym",
                   "Favourite film": "film", "Blood type": None, "Vet's name": None}),
        FormSheet("csv", "first_name;last_name;phone;city;zip;company;fax",
                  {"first_name": "name.given", "last_name": "name.family", "phone": "phone",
                   "city": "address.city", "zip": "address.zip", "company": "firm", "fax": None}),
    ),
)  # fmt: skip


# --- the set that is only measured ---

_TEST_ADDRESSES = (
    _address("Gartenweg 17", "", "Freiburg", "", "79098", "Germany", "DE",
             "Gartenweg 17, 79098 Freiburg, Germany"),
    _address("Lindenallee 3b", "", "Leipzig", "", "04107", "Germany", "DE",
             "Lindenallee 3b, 04107 Leipzig, Germany"),
    _address("Am Ufer 220", "", "Bremen", "", "28195", "Germany", "DE",
             "Am Ufer 220, 28195 Bremen, Germany"),
    _address("Rosenstr. 41", "", "Mainz", "", "55116", "Germany", "DE",
             "Rosenstr. 41, 55116 Mainz, Germany"),
)  # fmt: skip
_TEST_PHONES = (
    Meant("+49 761 5550142", {"e164": "+497615550142"}),
    Meant("+49 341 5550187", {"e164": "+493415550187"}),
    Meant("+49 421 5550113", {"e164": "+494215550113"}),
    Meant("+49 30 55501690", {"e164": "+493055501690"}),
)

TEST = People(
    topics=(
        _topic(
            "address", "attribute.address", "lives_in",
            tuple(value.said for value in _TEST_ADDRESSES),
            ("{v} is my address.", "We live at {v}.", "My postal address is {v}."),
            ("I have a new address: {v}.", "We've moved house to {v}.",
             "Please note that I live at {v} from today."),
            ("We have been living at {v} since {d}.", "On {d} we moved to {v}."),
            ("On {d} I will move to {v}.", "My address will be {v} from {d}."),
        ),
        _topic(
            "phone", "attribute.contact", "phone", tuple(value.said for value in _TEST_PHONES),
            ("My mobile number is {v}.", "{v} is my number.", "Reach me on {v}."),
            ("I've changed my mobile number to {v}.", "My mobile number is {v} from now on."),
            ("My mobile number is {v} since {d}.",),
            ("My mobile number will be {v} from {d}.",),
        ),
        _topic(
            "mail", "attribute.contact", "email",
            ("mira.voss@brief.example", "mv@werkstatt.example", "post@mira.example"),
            ("{v} is my e-mail address.", "Write to me at {v}.", "I can be e-mailed at {v}."),
            ("Please use my new e-mail address, {v}.", "My e-mail address is now {v}."),
            ("As of {d} my e-mail address is {v}.",),
            ("My e-mail address will be {v} from {d}.",),
        ),
        _topic(
            "firm", "attribute.occupation", "works_at",
            ("Halvorsen Ltd", "Brightwater", "Orbis Labs", "Quill Press"),
            ("I am employed by {v}.", "{v} is my employer.", "I've got a job with {v}."),
            ("{v} is my employer from today on.", "I joined {v} this morning."),
            ("I have been employed at {v} since {d}.", "I changed jobs on {d} and work for {v}."),
            ("I'll be joining {v} on {d}.", "From {d} onwards I work for {v}."),
        ),
    ),
    meant=_by_words((*_TEST_ADDRESSES, *_TEST_PHONES)),
    stays=(
        Stays("name", "attribute.name", "me", "name",
              ("I am {v}.", "{v} is my name.", "My legal name is {v}."),
              (_name("Mira", "Voss"), _name("Jonas", "Feld"), _name("Elif", "Yilmaz"))),
        Stays("born", "attribute.birthday", "me", "birthday",
              ("My date of birth is {v}.", "I came into the world on {v}."),
              (_date("14 August 1992", "1992-08-14"), _date("30 January 1968", "1968-01-30"),
               _date("7 December 2001", "2001-12-07"))),
        Stays("passport", "attribute.identity", "me", "passport_number",
              ("The number of my passport is {v}.", "My passport has the number {v}."),
              (Meant("C4VPL20X1", {}), Meant("F77K3M210", {}))),
        Stays("emergency", "relationship.relatives", "me", "emergency_contact",
              ("My emergency contact is {v}.", "In an emergency please call my brother {v}."),
              (Meant("Tarek Haddad", {}), Meant("Ole Brandt", {}))),
        Stays("diet", "attribute.health", "me", "diet",
              ("I'm a {v}.", "I have been a {v} for years."),
              (Meant("vegetarian", {"code": "vlml"}), Meant("vegan", {"code": "vgml"}))),
        Stays("height", "attribute.health", "me", "height",
              ("I am {v} tall.", "My height is {v}."),
              (Meant("172 cm", {"number": "172"}), Meant("181 cm", {"number": "181"}))),
        Stays("flyer", "attribute.belongings", "me", "frequent_flyer_number",
              ("My frequent flyer number is {v}.", "{v} is my frequent flyer number."),
              (Meant("992004118", {}), Meant("LH5521907", {}))),
    ),
    sheets=(
        FormSheet("html", """<!doctype html><html lang=de><body><form method=post>
<fieldset><legend>Ihre Angaben</legend>
<p>Vorname<br><input name=vn></p><p>Nachname<br><input name=nn></p>
<p>Straße<br><input name=str></p><p>Hausnummer<br><input name=hnr></p>
<p>PLZ<br><input name=plz maxlength=5></p><p>Ort<br><input name=ort></p>
<p>Geburtsdatum<br><input name=geb placeholder="TT.MM.JJJJ"></p>
<p>E-Mail<br><input name=email></p>
<p>Telefon<br><input name=tel placeholder="+49 30 1234567" pattern="[+][0-9]+"></p>
<p>Passwort<br><input type=password name=pw></p>
<p>Gutscheincode<br><input name=gut></p></fieldset></form>""",
                  {"vn": "name.given", "nn": "name.family", "str": "address.lane",
                   "hnr": "address.house", "plz": "address.zip", "ort": "address.city",
                   "geb": "born.dots", "email": "mail", "tel": "phone.e164", "pw": None,
                   "gut": None}),
        FormSheet("html", """<form><label>Traveller name <input autocomplete=name name=n></label>
<label>Day <select name=bd autocomplete=bday-day><option>1<option>7<option>14<option>30</select>
</label><label>Month <select name=bm autocomplete=bday-month><option value="">Month
<option value=1>January<option value=2>February<option value=3>March<option value=4>April
<option value=5>May<option value=6>June<option value=7>July<option value=8>August
<option value=9>September<option value=10>October<option value=11>November
<option value=12>December</select></label>
<label>Year <input name=by autocomplete=bday-year></label>
<label>Passport No. <input name=pn></label>
<label>Frequent flyer number <input name=ff></label>
<label>Meal preference <select name=meal><option value=std>Standard<option value=vgml>Vegan
<option value=vlml>Vegetarian</select></label>
<label>Passport expiry date <input name=px type=date></label>
<label>Seat number <input name=seat></label></form>""",
                  {"n": "name", "bd": "born.d", "bm": "born.m", "by": "born.year",
                   "pn": "passport", "ff": "flyer", "meal": "diet.code", "px": None,
                   "seat": None}),
        FormSheet("json", """{"$defs": {"person": {"properties": {
"given_name": {"type": "string"}, "family_name": {"type": "string"}}}},
"type": "object", "properties": {"applicant": {"$ref": "#/$defs/person"},
"country": {"type": "string", "pattern": "^[A-Z]{2}$"}, "employer": {"type": "string"},
"height_cm": {"type": "integer", "title": "Height (cm)"},
"email": {"type": "string"}, "national_id": {"type": "string"},
"security_code": {"type": "string"}}}""",
                  {"applicant.given_name": "name.given", "applicant.family_name": "name.family",
                   "country": "address.iso", "employer": "firm", "height_cm": "height.number",
                   "email": "mail", "national_id": None, "security_code": None}),
        FormSheet("labels", "Emergency contact|Manager|Dentist|Fitness club|Favourite song|"
                  "Mobile|Employer|City of residence|Bank account number|Vaccination status",
                  {"Emergency contact": "emergency", "Manager": "manager", "Dentist": "dentist",
                   "Fitness club": "fitness", "Favourite song": "song", "Mobile": "phone",
                   "Employer": "firm", "City of residence": "address.city",
                   "Bank account number": None, "Vaccination status": None}),
        FormSheet("csv", "Name,Postal address,E-mail,Birthday,Licence plate",
                  {"Name": "name", "Postal address": "address", "E-mail": "mail",
                   "Birthday": "born.iso", "Licence plate": None}),
    ),
)  # fmt: skip

PEOPLE = {"train": TRAIN, "test": TEST}
