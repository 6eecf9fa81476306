"""Labelled screens -> sentences, without a model."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.extraction.documents.labelled_fields import read_screen
from benchmarks.shared.memories_read import memories_read
from store.types import SourceKind

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)

BOARDING_PASS = """BOARDING PASS
PASSENGER  TAN WEI
FLIGHT  EK349
FROM  SIN  TO  AMS
DATE  12 MAY 2024
DEPARTURE  01:40
SEAT  23A
Have a pleasant flight!"""

HOTEL = """Crowne Plaza Amsterdam
Reservation confirmed
Check-in: 12 May 2024
Check-out: 18 May 2024
Room type: Queen Bed Standard Accessible
Breakfast: included"""


def screenshot(text: str) -> tuple[str, ...]:
    return memories_read(text, SourceKind.SCREENSHOT, NOW)


def test_a_boarding_pass_becomes_full_sentences():
    assert screenshot(BOARDING_PASS) == (
        "The EK349 flight is from Singapore (SIN) to Amsterdam (AMS).",
        "The EK349 flight departs at 01:40 on 12 May 2024.",
        "The passenger of the EK349 flight is Tan Wei.",
        "The seat on the EK349 flight is 23A.",
    )


def test_a_hotel_booking_becomes_full_sentences():
    assert screenshot(HOTEL) == (
        "The Crowne Plaza Amsterdam reservation is for 12 May 2024 to 18 May 2024.",
        "The Crowne Plaza Amsterdam reservation includes a Queen Bed Standard Accessible room.",
        "The Crowne Plaza Amsterdam reservation includes breakfast.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "FLIGHT   GATE   SEAT\nKL1007   D12   9F",
        "FLIGHT GATE SEAT\nKL1007 D12 9F",
        "Flight\nKL1007\nGate  Seat\nD12  9F",
        "FLIGHT\nGATE\nSEAT\nKL1007\nD12\n9F",
        "Flight: KL1007 | Gate: D12 | Seat: 9F",
        "Flight KL1007\nGate D12 Seat 9F",
    ],
)
def test_labels_and_values_are_paired_however_the_screen_lays_them_out(text):
    memories = read_screen(text).memories
    assert set(memories) == {
        "The gate of the KL1007 flight is D12.",
        "The seat on the KL1007 flight is 9F.",
    }


def test_an_e_ticket_without_labels_for_flight_and_route():
    text = (
        "e-ticket\nSwissair\nLX 1007  Zurich (ZRH) - Oslo Gardermoen (OSL)\n"
        "Mon 3 Feb 2025  Dep 09:05  Arr 11:25\nSeat 14C  Economy\nBooking code: QX7P2M"
    )
    assert set(read_screen(text).memories) == {
        "The LX 1007 flight is from Zurich (ZRH) to Oslo Gardermoen (OSL).",
        "The LX 1007 flight departs at 09:05 on Mon 3 Feb 2025.",
        "The LX 1007 flight arrives at 11:25.",
        "The seat on the LX 1007 flight is 14C.",
        "The class of the LX 1007 flight is Economy.",
        "The booking code of the LX 1007 flight is QX7P2M.",
    }


def test_an_unknown_label_is_stated_too():
    screen = read_screen("Flight: KL1007\nSeat: 9F\nMeal code: VGML")
    assert "The Meal code of the KL1007 flight is VGML." in screen.memories


def test_prose_is_no_labelled_screen():
    text = "From Monday on I work at Siemens. The class was fun. Date night with Tom was nice."
    assert read_screen(text).memories == ()
    assert read_screen(text).rest == text
