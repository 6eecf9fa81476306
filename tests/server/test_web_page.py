"""The page in a real browser: walked, searched, edited, undone, by pointer and by keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent.config import load_config
from agent.server.resident.client import Client
from agent.server.resident.paths import Place
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Triple
from tests.conftest import NOW
from tests.support.browsers import browsing
from tests.support.residents import started
from tests.support.web_sample import fill

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

WAIT_MS = 90_000
MEAN = "<img src=x onerror=\"document.title='taken'\"> & </script><script>document.title='taken'"


@contextmanager
def opened(home: Path, size: dict[str, int] | None = None) -> Iterator[Page]:
    """The page of a home, just opened by its link; nothing may be written to the console."""
    with browsing(size=size or {"width": 1280, "height": 800}) as page, started(home):
        page.set_default_timeout(WAIT_MS)
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(link_to(home))
        page.wait_for_selector("body.ready")
        yield page
        origin = page.url.rstrip("/")
        assert all(url.startswith(origin) for url in asked), "the page asked somebody else"
        assert not complaints, complaints


def link_to(home: Path) -> str:
    config = load_config({"home": str(home)}, now=NOW)
    (page,) = Client(config, Place(home).socket).web()
    assert page.link
    return page.link


@pytest.fixture
def sample(own_home: Path) -> Path:
    with MemoryGraph.open(own_home) as graph:
        fill(graph)
    return own_home


@pytest.fixture
def page(sample: Path) -> Iterator[Page]:
    with opened(sample) as page:
        yield page


def standing(home: Path, text: str) -> bool:
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()
        return any(m.status == "current" for m in graph.memories.saying(text))


def search_and_mark(page: Page, typed: str) -> None:
    """Search by keys and mark the second of what is found."""
    page.keyboard.press("/")
    page.keyboard.type(typed)
    page.wait_for_selector(".hits .entity")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")


def test_it_is_walked_searched_edited_and_undone(page: Page, sample: Path):
    # The code of the link is gone from the address, and from where 'back' leads.
    assert page.url.count("#") == 0 and page.url.endswith("/")
    assert page.evaluate("history.length") == 2
    assert page.locator(".node").count() == 28
    page.locator(".node", has_text="Crowne Plaza").click()
    page.wait_for_selector(".trail strong:text('Crowne Plaza')")
    page.locator(".node", has_text="Amsterdam").click()
    page.wait_for_selector(".trail strong:text('Amsterdam')")
    assert page.locator(".trail button").all_text_contents() == ["you", "Crowne Plaza"]
    page.go_back()
    page.wait_for_selector(".trail strong:text('Crowne Plaza')")
    assert "Crowne" not in page.url and page.title() == "memlane"

    search_and_mark(page, "thund")
    page.keyboard.press("Enter")
    page.wait_for_selector(".saying:text('Mia is afraid of thunder.')")
    assert "told" in page.locator(".facts").inner_text().lower()

    page.keyboard.press("e")
    page.fill(".form textarea", "Mia is afraid of thunder and of dogs.")
    page.click(".form button[type=submit]")
    page.wait_for_selector(".saying:text('and of dogs')")
    assert standing(sample, "Mia is afraid of thunder and of dogs.")
    page.click(".notice button:text('Undo')")
    page.wait_for_selector(".saying:text-is('Mia is afraid of thunder.')")
    assert standing(sample, "Mia is afraid of thunder.")
    assert page.locator(".life li").count() == 3


def test_an_answer_shows_what_it_rests_on(page: Page):
    page.click("button[data-view=answers]")
    page.click(".turn")
    page.wait_for_selector(".step")
    assert page.locator(".steps > .used").count() == 2
    assert page.locator("[data-depth='1'] .step", has_text="01:30").count() == 1
    page.click(".left summary")
    assert page.locator(".left .step").inner_text().startswith("The seat for the EK349")
    page.fill(".ask input[name=question]", "Who plays the cello?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".side .asked:text('Who plays the cello?')")
    assert page.locator(".step").count() > 0


def test_the_timeline_and_the_journal_are_read_and_taken_back(page: Page, sample: Path):
    page.keyboard.press("t")
    page.wait_for_selector(".days .card")
    assert page.locator(".days .card").count() == 36
    page.locator(".bar").nth(3).click()
    page.wait_for_selector("h1:text('Before')")
    assert 0 < page.locator(".days .card").count() < 36
    page.keyboard.press("c")
    page.locator(".change.replace button:text('Undo')").click()
    page.wait_for_selector(".change.replace.undone")
    assert standing(sample, "The EK349 flight departs at 01:40 on 2024-05-12.")
    page.locator(".change.undo button:text('Do again')").first.click()
    page.locator(".change.undo").nth(1).wait_for()
    assert standing(sample, "The EK349 flight departs at 01:30 on 2024-05-12 now.")


def test_keys_alone_are_enough(page: Page):
    page.keyboard.press("n")
    first = page.evaluate("document.activeElement.dataset.entity")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.entity")
    assert first and second and first != second
    page.keyboard.press("Enter")
    page.wait_for_selector(f".trail strong:text('{second}')")
    page.wait_for_selector(".node:focus")
    page.keyboard.press("Backspace")
    page.wait_for_selector(".trail strong:text('you')")
    # No waiting in between: what stands at the side belongs to what stands in the middle.
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector(".saying")
    page.keyboard.press("Escape")
    page.wait_for_selector(".cards .card")
    page.keyboard.press("?")
    assert page.locator("dialog[open] kbd").count() > 5


def test_both_halves_change_together(page: Page):
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/at", hold)
    with page.expect_request("**/api/at"):
        page.locator(".node", has_text="Crowne Plaza").click()
    page.wait_for_timeout(300)
    assert page.locator(".trail strong").inner_text() == "you"
    for route in held:
        route.continue_()
    page.wait_for_selector(".trail strong:text('Crowne Plaza')")
    assert page.locator(".side h2").inner_text() == "Crowne Plaza"


def test_what_is_marked_stays_marked_while_one_types_on(page: Page):
    search_and_mark(page, "thun")
    with page.expect_response("**/api/search"):
        page.keyboard.type("d")
    page.keyboard.press("Enter")
    page.wait_for_selector(".saying:text('Mia is afraid of thunder.')")
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.type("Kammerchor")
    page.keyboard.press("Enter")  # before anything is found
    page.wait_for_selector(".trail strong:text('Kammerchor')")


def test_what_a_memory_says_stays_text(own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        triples = (Triple("me", MEAN, MEAN),)
        edits = [Insert(Draft(MEAN, "preference.other", NOW, triples, place=MEAN))]
        graph.apply(edits, at=NOW)
        graph.turns.log(NOW, MEAN, "retrieve", MEAN, {"policy": MEAN, "steps": [
            {"memory": "m1", "score": 0.5, "chosen": True, "why": MEAN}]})  # fmt: skip
    with opened(own_home) as page:
        for key, waits in (("g", ".node"), ("t", ".days"), ("c", ".change"), ("a", ".turn")):
            page.keyboard.press(key)
            page.wait_for_selector(waits)
            assert page.locator("main img, main script").count() == 0
        page.click(".turn")
        page.wait_for_selector(".step")
        page.click(".step")
        page.wait_for_selector(".saying")
        assert page.locator(".saying").inner_text() == MEAN
        page.fill("#search", "onerror")
        page.wait_for_selector(".hits .hit")
        assert page.locator("main img, main script, .hits img").count() == 0
        assert page.title() == "memlane"


def test_a_new_home_invites_and_takes_its_first_memory(own_home: Path):
    own_home.mkdir(parents=True)
    with opened(own_home) as page:
        page.wait_for_selector(".welcome h1")
        page.locator(".idea").first.click()
        page.keyboard.press("Enter")
        page.wait_for_selector(".node")
        assert standing(own_home, "My sister Ada lives in Lisbon.")


def test_without_its_link_the_page_shows_nothing(sample: Path):
    with browsing() as page, started(sample):
        link = link_to(sample)
        page.goto(link.split("#")[0])
        page.wait_for_selector(".gate")
        assert "memlane web" in page.locator(".gate").inner_text()
        page.goto("about:blank")
        page.goto(link)
        page.wait_for_selector("body.ready")
        assert page.context.browser
        other = page.context.browser.new_context().new_page()
        other.goto(link)  # spent
        other.wait_for_selector(".gate")
        assert other.locator(".node").count() == 0
        # A page from elsewhere can neither ask anything nor show the page in a frame.
        other.goto("data:text/html,<iframe></iframe>")
        said = other.evaluate(
            """(base) => fetch(base + 'api/start', {method: 'POST', body: '{}'})
               .then((answer) => answer.status, () => 'refused')""",
            link.split("#")[0],
        )
        assert said == "refused"


def test_a_small_window_has_it_all(sample: Path):
    with opened(sample, {"width": 390, "height": 780}) as page:
        page.wait_for_selector(".node")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        page.locator(".card").first.click()
        page.wait_for_selector(".saying")
