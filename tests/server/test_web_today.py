"""The page's view of a day: what is shown there is decided there, and undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.graph import MemoryGraph
from tests.server.test_web_page import opened
from tests.support.a_day import prepare_day
from tests.support.web_work import Opened, page_of


@pytest.fixture
def day(own_home: Path) -> Iterator[Opened]:
    prepare_day(own_home)
    yield from page_of(own_home)


def test_the_view_has_all_of_the_digest(day: Opened):
    found = day.ask("today")
    assert found["summary"] == "1 coming, 2 changed, 2 in doubt, 2 to forget or keep"
    assert [one["memory"] for one in found["coming"]] == ["m1"]
    assert [one["id"] for one in found["changed"]] == ["e5"]
    assert [one["memory"]["id"] for one in found["ended"]] == ["m7"]
    assert [one["probability"] for one in found["doubts"]] == [None, 0.62]
    assert [one["card"]["memory"]["id"] for one in found["faded"]] == ["m6"]


@pytest.mark.parametrize("holds", ["old", "new", "both"])
def test_a_possible_change_is_decided_there(day: Opened, holds: str):
    for older, newer in (("m4", "m5"), ("m2", "m3")):
        day.ask("decide", older=older, newer=newer, holds=holds)
    assert day.ask("today")["doubts"] == []
    again = day.post("decide", {"older": "m4", "newer": "m5", "holds": holds})
    assert again.status_code == 409


def test_a_pin_is_set_and_taken_off(day: Opened):
    done = day.ask("pin", memory="m6", seen="e6", pinned=True)
    assert day.ask("today")["faded"] == []
    assert day.post("pin", {"memory": "m6", "seen": "e6", "pinned": False}).status_code == 409
    day.ask("pin", memory="m6", seen=done["entries"][0], pinned=False)
    assert len(day.ask("today")["faded"]) == 1


def test_it_is_read_and_decided_in_a_browser(own_home: Path):
    prepare_day(own_home)
    with opened(own_home) as page:
        page.keyboard.press("d")
        page.wait_for_selector(".today")
        assert page.locator("h2").all_inner_texts() == [
            "Coming", "In doubt", "Faded", "Over", "Changed",
        ]  # fmt: skip
        page.locator(".undecided", has_text="62 %").locator("button:text('Both')").click()
        page.wait_for_selector(".notice span:text('Decided')")
        assert page.locator(".today .undecided").count() == 1
        page.locator(".card", has_text="ramen").click()
        page.click("[data-act=pin]")
        page.wait_for_selector("[data-act=pin]:text('Unpin')")
        assert page.locator("h2:text('Faded')").count() == 0
    with MemoryGraph.open(own_home) as graph:
        assert graph.memories.get("m6").pinned and graph.verify() == ()
