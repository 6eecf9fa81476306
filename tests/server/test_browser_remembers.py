"""What the extension has remembered, and browsers that are no longer paired."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.graph import MemoryGraph
from store.types import Trust
from tests.support.extension import Paired, browser_with_extension, code_for, filled, paired_with
from tests.support.form_pages import PAGES, fill_home
from tests.support.residents import started


@pytest.fixture
def alone(tmp_path: Path, own_home: Path) -> Iterator[Paired]:
    with paired_with(own_home, tmp_path) as paired:
        yield paired


def test_a_change_is_offered_and_remembered_only_if_the_person_says_so(alone: Paired):
    popup = alone.on("/address")
    filled(popup)
    alone.close()
    page = alone.browser.page
    by_the_page = """const last = document.querySelector('[name=last]'); last.value = 'Falk';
        for (const type of ['input', 'change', 'blur']) last.dispatchEvent(new Event(type))"""
    page.evaluate(by_the_page)  # nothing comes of it
    page.click("[name=postcode]", click_count=3)
    page.keyboard.type("YO1 7HH")
    page.click("[name=city]", click_count=3)
    page.keyboard.type("York")
    page.click("[name=first]", click_count=3)
    page.keyboard.type("Ines")
    page.click("button")  # sent; the next page is another one
    page.wait_for_selector("text=Sent.")
    page.wait_for_timeout(300)
    assert alone.badge() == "3"
    with alone.graph() as graph:
        before = graph.journal.newest(1)[0].id
    popup = alone.popup = alone.browser.popup()
    popup.until("!changes.hidden")
    assert popup.run("changes.children.length") == 2 and "Falk" not in popup.text()
    assert "Ines" in popup.run("changes.children[0].querySelector('textarea').value")
    popup.run("changes.children[0].querySelector('button').click()")  # No
    popup.until("changes.children.length === 1")
    with alone.graph() as graph:
        assert graph.journal.newest(1)[0].id == before  # shown, refused: nothing is stored
    assert alone.badge() == "2"
    # Both others are of one memory, so they are one sentence.
    text = "changes.querySelector('textarea').value"
    assert popup.run(text) == "I live at 12 Mill Road, York YO1 7HH, United Kingdom."
    popup.run(f"{text} = 'I live at 3 Moor Lane, York YO1 7HH.'")
    popup.click("Remember", "#changes")
    popup.until("note.textContent.startsWith('Remembered')")
    alone.close()
    assert alone.badge() == ""
    rows = alone.on("/address").rows()
    assert "3 Moor Lane" in rows["Street"] and "York" in rows["Town or city"]


def test_a_selection_is_remembered_as_somebody_elses_words(alone: Paired):
    alone.browser.goto("story.example", "/story")
    text = alone.page("story.textContent")
    # The menu of the browser is not part of a page: what it calls is called.
    alone.browser.worker.evaluate(
        """async (text) => { const [tab] = await chrome.tabs.query({active: true});
           chrome.contextMenus.onClicked.dispatch({menuItemId: 'select', selectionText: text,
           pageUrl: tab.url}, tab); }""",
        text,
    )
    for _ in range(100):
        with alone.graph() as graph:
            found = [m for m in graph.memories.list() if m.text == text]
        if found:
            break
        alone.browser.page.wait_for_timeout(100)
    assert [m.trust for m in found] == [Trust.READ]
    with alone.graph() as graph:
        assert graph.journal.of_memory(found[0].id)[-1].actor == "browser http://story.example"


def test_a_removed_browser_is_told_so_and_a_home_that_is_down_too(tmp_path: Path, own_home: Path):
    fill_home(own_home)
    with browser_with_extension(tmp_path, PAGES) as browser:
        with started(own_home):
            browser.goto("address.example", "/address")
            popup = browser.popup()
            port = code_for(own_home).split("-")[0]
            popup.run(f"code.value = '{port}-0000-000'")
            popup.click("Pair")
            popup.until("note.textContent.includes('wrong or too old')")
            popup.run(f"code.value = '{code_for(own_home)}'")
            popup.click("Pair")
            popup.until("fields.textContent.includes('12 Mill Road')")
            popup.close()
            with MemoryGraph.open(own_home) as graph:
                graph.browsers.remove(graph.browsers.list()[0].id)
            popup = browser.popup()
            popup.until("note.textContent.includes('not paired')")
            assert "Mill" not in popup.text() and popup.run("!pair.hidden")
            popup.close()
        popup = browser.popup()
        popup.until("note.textContent.includes('memlane up')")
