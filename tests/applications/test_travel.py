"""Travel: from a name, a nickname or an event to an address, by memories alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.applications.services.places import event_place, places_in
from agent.applications.services.travel import travel
from agent.errors import NotRemembered
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Insert, Replace
from store.types import Memory, Triple
from tests.applications.test_services import draft
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def tell(graph: MemoryGraph, *texts: str) -> None:
    for text in texts:
        graph.apply([Insert(draft(text, subclass="attribute.address"))], at=NOW)


@pytest.mark.parametrize(
    ("said", "subject", "where"),
    [
        ("Orchard Clinic is at 12 Mill Road, Leeds.", "Orchard Clinic", "12 Mill Road, Leeds"),
        ("The address of the Orchard Clinic is 12 Mill Road.", "Orchard Clinic", "12 Mill Road"),
        ("My sister Anna lives in Porto.", "my sister", "Porto"),
        ("I live at 221B Baker Street, London NW1 6XE.", "me", "221B Baker Street, London NW1 6XE"),
        ("My address is 7 Rue Cler, Paris.", "me", "7 Rue Cler, Paris"),
        ("My office is at 1 King Street, London.", "office", "1 King Street, London"),
        ("Dr Lund's practice is in Hill Road.", "Dr Lund", "Hill Road"),
        ("Acme is located at 9 Dock Street, Oslo.", "Acme", "9 Dock Street, Oslo"),
        ("The gym is on Station Road 15.", "gym", "Station Road 15"),
    ],
)
def test_places_are_read_as_they_are_told(said: str, subject: str, where: str):
    one = draft(said)
    told = Memory("m1", one.text, "Attribute", one.subclass, NOW, one.triples)
    assert (subject, where) in {(p.subject, p.where) for p in places_in(told)}


@pytest.mark.parametrize(
    "said",
    ["Tom is in a meeting.", "My sister is in good health.", "The exam is on 20 May.",
     "Anna does not live in Porto.", "I work at night."],
)  # fmt: skip
def test_a_state_is_no_place(said: str):
    one = draft(said)
    told = Memory("m1", one.text, "Attribute", one.subclass, NOW, one.triples)
    assert list(places_in(told)) == []


def test_where_an_event_takes_place():
    def where(text: str) -> str | None:
        one = draft(text)
        return event_place(Memory("m1", one.text, "Event", one.subclass, NOW, one.triples))

    assert where("I have a dentist appointment at Orchard Clinic on 14 May at 15:40.") == (
        "Orchard Clinic"
    )
    assert where("My check-up at Orchard Clinic is on 14 May at 15:40.") == "Orchard Clinic"
    assert where("Dinner with Ben at Taverna Nikos on 14 May at 19:00.") == "Taverna Nikos"
    assert where("I have a job interview with Marlow & Sons on 14 May at 9:00.") is None
    assert where("The exam is on 20 May at 10:00.") is None


def test_a_person_a_place_and_home(graph: MemoryGraph):
    tell(graph, "My sister Anna lives at 5 Elm Street, York.", "I live at 7 Rue Cler, Paris.",
         "Orchard Clinic is at 12 Mill Road, Leeds.")  # fmt: skip
    assert travel(graph, "my sister", NOW).address == "5 Elm Street, York"
    assert travel(graph, "Anna", NOW).address == "5 Elm Street, York"
    assert travel(graph, "to the Orchard Clinic", NOW).address == "12 Mill Road, Leeds"
    found = travel(graph, "home", NOW)
    assert (found.address, found.memories) == ("7 Rue Cler, Paris", ("m2",))


def test_an_event_leads_on_to_the_address_of_its_place(graph: MemoryGraph):
    tell(graph, "I have a dentist appointment at Orchard Clinic on 14 May at 15:40.",
         "Orchard Clinic is at 12 Mill Road, Leeds.")  # fmt: skip
    found = travel(graph, "dentist", NOW)
    assert found.address == "12 Mill Road, Leeds"
    assert found.memories == ("m1", "m2")
    assert found.link == "geo:0,0?q=12%20Mill%20Road%2C%20Leeds"
    assert found.map.endswith("12%20Mill%20Road%2C%20Leeds")


def test_with_whom_leads_to_where_and_a_name_alone_is_no_address(graph: MemoryGraph):
    tell(graph, "I have a job interview with Marlow & Sons on 14 May at 9:00.")
    with pytest.raises(NotRemembered, match="but not where"):
        travel(graph, "interview", NOW)
    tell(graph, "Marlow & Sons is at 9 Dock Street, Hull.")
    assert travel(graph, "interview", NOW).address == "9 Dock Street, Hull"


def test_where_it_was_said_is_not_where_it_is(graph: MemoryGraph):
    graph.apply([Insert(replace(draft("The exam is on 20 May at 10:00."), place="Oslo"))], at=NOW)
    with pytest.raises(NotRemembered, match="but not where"):
        travel(graph, "exam", NOW)


def test_steps_lead_from_what_is_mine_to_where_it_is(graph: MemoryGraph):
    graph.apply(
        [Insert(draft("My cat is called Pixel.")), Insert(draft("The vet of Pixel is Dr Baker.")),
         Insert(draft("Dr Baker's practice is in Hill Road."))],
        at=NOW,
    )  # fmt: skip
    stored = graph.memories.list()
    assert Triple("Pixel", "vet", "Dr Baker") in stored[1].triples
    found = travel(graph, "my cat's vet", NOW)
    assert found.address == "Hill Road"
    assert set(found.memories) >= {"m2", "m3"}


def test_work_is_the_office_or_the_employers_address(graph: MemoryGraph):
    tell(graph, "I work at Acme.", "Acme is located at 9 Dock Street, Oslo.")
    assert travel(graph, "work", NOW).address == "9 Dock Street, Oslo"
    tell(graph, "My office is at 1 King Street, Oslo.")
    assert travel(graph, "work", NOW).address == "1 King Street, Oslo"


def test_only_the_address_that_holds_is_told(graph: MemoryGraph):
    tell(graph, "My sister lives at 5 Elm Street, York.")
    moved = draft("My sister lives at 3 Hill Lane, Bath.")
    graph.apply([Replace("m1", moved)], at=NOW)
    found = travel(graph, "my sister", NOW)
    assert (found.address, found.others) == ("3 Hill Lane, Bath", ())


def test_the_more_exact_of_one_place_is_told_and_another_is_named(graph: MemoryGraph):
    tell(graph, "Anna's address is Rua Nova 8, Porto.", "Anna lives in Porto.")
    assert travel(graph, "Anna", NOW).address == "Rua Nova 8, Porto"
    tell(graph, "Anna's address is Via Roma 2, Lucca.")
    found = travel(graph, "Anna", NOW)
    assert found.address == "Via Roma 2, Lucca"
    assert "Rua Nova 8, Porto" in found.others


def test_coordinates_make_a_plain_geo_link(graph: MemoryGraph):
    tell(graph, "The cabin is at 59.9139, 10.7522.")
    assert travel(graph, "cabin", NOW).link == "geo:59.9139,10.7522"


# ---- what is not known ----------------------------------------------------------------------


def test_a_known_nickname_is_followed(graph: MemoryGraph):
    tell(graph, "Rosa Weber lives at 5 Elm Street, York.")
    with pytest.raises(NotRemembered, match="Granny"):
        travel(graph, "Granny", NOW)
    graph.apply([Insert(draft("Granny and Rosa Weber are the same person."))], at=NOW)
    found = travel(graph, "Granny", NOW)
    assert found.address == "5 Elm Street, York"
    assert set(found.memories) == {"m1", "m2"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Bunny", "No memory says who, what or where 'Bunny' is"),
        ("Tom", "I know 'Tom', but not its address"),
        ("exam", "but not where"),
    ],
)
def test_what_is_missing_is_told_in_one_line(memlane, graph, asked: str, said: str):
    tell(graph, "Tom is my brother.", "The exam is on 20 May at 10:00.")
    done: Result = memlane("travel", asked, "--now", NOW.isoformat())
    assert done.code == 1 and done.out == ""
    assert said in done.err and done.err.count("\n") == 1


def test_nothing_and_far_too_much_are_refused(graph: MemoryGraph):
    for asked in ("", "  ?", "x" * 500):
        with pytest.raises(InvalidInput):
            travel(graph, asked, NOW)


def test_travel_prints_the_shape_of_the_contract(memlane, graph):
    tell(graph, "Orchard Clinic is at 12 Mill Road, Leeds.")
    done: Result = memlane("travel", "Orchard Clinic", "--now", NOW.isoformat(), "--json")
    assert done.code == 0
    assert done.json == {
        "destination": "Orchard Clinic",
        "address": "12 Mill Road, Leeds",
        "link": "geo:0,0?q=12%20Mill%20Road%2C%20Leeds",
        "map": "https://www.openstreetmap.org/search?query=12%20Mill%20Road%2C%20Leeds",
        "memories": ["m1"],
        "others": [],
    }
