"""The page of memlane web: who is let in, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import Refused
from agent.server.web.access import LINK_S, Keys
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Triple
from tests.conftest import NOW
from tests.support.web_work import FLIGHT, PORT, Opened, filled, id_of, page_of

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "agent" / "server" / "web" / "static"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """One that is only looked at: all tests share it."""
    yield from page_of(filled(tmp_path_factory.mktemp("shared") / "home"))


@pytest.fixture
def own_page(own_home: Path) -> Iterator[Opened]:
    """One that is changed."""
    yield from page_of(filled(own_home))


# ---- the door -------------------------------------------------------------------------------

REFUSED = {
    "a name that was made to point here": ({"Host": f"evil.example:{PORT}"}, 403),
    "no port in the name": ({"Host": "127.0.0.1"}, 403),
    "another port": ({"Host": "127.0.0.1:1"}, 403),
    "another site": ({"Origin": "https://evil.example"}, 403),
    "a page of another port of this machine": ({"Origin": "http://127.0.0.1:9"}, 403),
    "a sandboxed page": ({"Origin": "null"}, 403),
    "this address over TLS": ({"Origin": f"https://127.0.0.1:{PORT}"}, 403),
    "a browser that says cross-site": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "a browser that says same-site": ({"Sec-Fetch-Site": "same-site"}, 403),
    "no key": ({"Authorization": ""}, 401),
    "a wrong key": ({"Authorization": "Bearer x" * 8}, 401),
    "a key of no ASCII": ({"Authorization": "Bearer käse"}, 401),
    "another scheme": ({"Authorization": "Basic bWU6bWU="}, 401),
    "a form": ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "a form in disguise": ({"Content-Type": "text/plain"}, 415),
}


@pytest.mark.parametrize("why", REFUSED)
def test_who_may_not_come_in_is_told_so_in_one_line(page: Opened, why: str):
    headers, status = REFUSED[why]
    before = page.ask("start")["latest"]
    given = {"Authorization": f"Bearer {page.key}", "Content-Type": "application/json"} | headers
    encoded = [(name.encode(), value.encode()) for name, value in given.items()]
    for name in ("start", "undo"):
        answer = page.http.post(f"/api/{name}", content=b'{"entry": "e1"}', headers=encoded)
        assert answer.status_code == status, answer.text
        said = answer.json()["error"]
        assert said["kind"] == "Refused"
        assert said["message"] and "\n" not in said["message"]
        assert "EK349" not in answer.text
    assert page.ask("start")["latest"] == before


@pytest.mark.parametrize("path", ["/", "/app.js"])
def test_the_page_itself_is_not_shown_to_other_sites(page: Opened, path: str):
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = page.http.get(path, headers=headers)
        assert answer.status_code == 403
        assert answer.text.startswith("memlane: ") and answer.text.count("\n") == 1


def test_memory_is_never_read_by_an_address(page: Opened):
    for name in ("start", "undo", "look"):
        answer = page.http.get(f"/api/{name}", headers={"Authorization": f"Bearer {page.key}"})
        assert answer.status_code == 405
    assert page.http.get("/static/../../config.toml").status_code == 404
    assert page.http.get("/..%2f..%2fmemlane.db").status_code == 404


def test_a_link_opens_the_page_once_and_for_a_while(page: Opened):
    code = page.keys.link()
    assert page.http.post("/api/enter", json={"code": code}).status_code == 200
    again = page.http.post("/api/enter", json={"code": code})
    assert again.status_code == 403 and "memlane web" in again.json()["error"]["message"]
    clock = [0.0]
    keys = Keys(lambda: clock[0])
    late, early = keys.link(), keys.link()
    clock[0] = LINK_S - 1
    assert keys.opens(keys.enter(early))
    clock[0] = LINK_S + 1
    with pytest.raises(Refused):
        keys.enter(late)


def test_closing_the_page_voids_every_key(own_page: Opened):
    link = own_page.keys.link()
    own_page.keys.void()
    assert own_page.post("start", {}).status_code == 401
    assert own_page.http.post("/api/enter", json={"code": link}).status_code == 403


def test_every_answer_forbids_scripts_frames_and_caches(page: Opened):
    answers = [
        page.http.get("/"),
        page.http.get("/style.css"),
        page.http.get("/nothing"),
        page.post("start", {}),
        page.post("start", {}, Origin="https://evil.example"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and "form-action 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers


def test_the_page_brings_along_all_that_it_needs():
    served = sorted(path for path in STATIC.iterdir() if path.is_file())
    assert {path.suffix for path in served} == {".html", ".css", ".js", ".svg"}
    for path in served:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"(?m)(^|\s)//.*$", "", text), f"{path.name} asks elsewhere"
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"localStorage|document\.cookie", text)
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", html)
    for name in re.findall(r'(?:src|href)="/([^"]+)"', html):
        assert (STATIC / name).exists()


# ---- what it shows --------------------------------------------------------------------------


def test_a_home_at_a_glance(page: Opened):
    found = page.ask("start")
    assert found["memories"] == 35 and found["history"] == 1
    assert [name for name, _ in found["types"]] == [
        "Relationship",
        "Preference",
        "Event",
        "Attribute",
    ]
    assert sum(number for _, number in found["types"]) == 35


def test_the_graph_is_walked_from_neighbour_to_neighbour(page: Opened):
    around = page.ask("around", entity="me")
    beside = {one["name"]: one for one in around["neighbours"]}
    assert beside["Jonas"]["relations"] == ["partner"] and beside["Jonas"]["onward"] == 3
    assert beside["Jonas"]["type"] == "Relationship"
    pairs = {(pair["head"], pair["tail"]) for pair in around["pairs"]}
    assert ("daniel okafor", "nordlicht studio") in pairs
    onward = page.ask("around", entity="Jonas")
    assert {one["name"] for one in onward["neighbours"]} == {
        "me",
        "Rosenhof school",
        "hazelnuts",
        "cello",
        "Kammerchor",
    }
    joined = page.ask("at", entity="Jonas", beside="me")
    assert [card["memory"]["text"] for card in joined["cards"]] == [
        "My partner Jonas teaches music at the Rosenhof school."
    ]


def test_neighbours_and_memories_come_a_page_at_a_time(page: Opened):
    whole = page.ask("around", entity="me", limit=200)
    first = page.ask("around", entity="me", limit=5)
    second = page.ask("around", entity="me", limit=5, offset=5)
    assert first["total"] == second["total"] == len(whole["neighbours"])
    assert first["neighbours"] + second["neighbours"] == whole["neighbours"][:10]
    alone = page.ask("around", entity="me", type="Preference")
    assert {one["type"] for one in alone["neighbours"]} == {"Preference"}
    days = page.ask("in_time", limit=7)
    later = page.ask("in_time", limit=7, offset=7)
    assert days["total"] == 36 and len(days["cards"]) == 7
    moments = [c["memory"]["valid_from"] or c["memory"]["created"] for c in days["cards"]]
    assert moments == sorted(moments, reverse=True)
    assert not {c["memory"]["id"] for c in days["cards"]} & {
        c["memory"]["id"] for c in later["cards"]
    }
    assert sum(month["memories"] for month in days["months"]) == 36
    early = page.ask("in_time", before="2023-12-01")
    assert all(card["memory"]["created"] < "2023-12-01" for card in early["cards"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cello", "Jonas plays the cello in the Kammerchor evenings."),
        ("half mara", "I finished the Müggelsee half marathon in 1:58."),
        ('"thunder" AND', "Mia is afraid of thunder."),
        ("under*) OR (", None),
        ("llegar", None),
        ("§§§ -", None),
    ],
)
def test_search_takes_whatever_is_typed(page: Opened, text: str, found: str | None):
    texts = [card["memory"]["text"] for card in page.ask("search", text=text)["cards"]]
    assert found is None or found in texts


def test_search_finds_words_that_are_begun_and_names(page: Opened):
    hits = page.ask("search", text="ros")
    assert hits["entities"] == ["Rosenhof school"]
    assert page.ask("search", text="school")["entities"] == ["Rosenhof school"]
    assert page.ask("search", text="%")["entities"] == []


def test_a_memory_comes_with_its_source_and_its_life(page: Opened):
    text = "The Crowne Plaza reservation is for 2024-05-12 to 2024-05-18."
    found = page.ask("look", memory=id_of(page, text))
    assert found["source"]["said"] == text
    assert found["source"]["before"].startswith("# Hotel in Amsterdam")
    assert found["source"]["locator"].endswith("hotel.md")
    flight = page.ask("look", memory=id_of(page, FLIGHT))
    assert [one["what"] for one in flight["moments"]] == ["inserted", "replaced"]
    assert "01:40" in flight["moments"][1]["detail"]
    # The insertion cannot be taken back before the replacement that rests on it.
    assert [one["undoable"] for one in flight["moments"]] == [False, True]
    old = page.ask("look", memory=flight["moments"][0]["memory"])
    assert old["card"]["stand"] == "replaced"


def test_why_shows_the_decisions_behind_an_answer(page: Opened):
    (turn,) = page.ask("answers")["turns"]
    found = page.ask("why", turn=turn["turn"])
    assert found["words"].startswith("I looked at 4 memories and used ")
    assert [step["chosen"] for step in found["steps"]] == [True, True, True, False]
    assert [step["used"] for step in found["steps"]] == [True, True, False, False]
    assert found["steps"][1]["via"] == found["steps"][0]["memory"]


def test_a_question_from_the_page_is_a_turn_with_its_reasons(own_page: Opened):
    reply = own_page.ask("ask", question="Who plays the cello?", use_llm=False)
    assert own_page.ask("answers")["turns"][0]["turn"] == reply["turn"]
    assert own_page.ask("why", turn=reply["turn"])["steps"]


def test_forgotten_memories_are_found_nowhere_but_in_the_journal(own_page: Opened):
    text = "Mia is afraid of thunder."
    memory = id_of(own_page, text)
    seen = own_page.ask("look", memory=memory)["seen"]
    own_page.ask("leave", memory=memory, seen=seen)
    assert not [
        c for c in own_page.ask("search", text=text)["cards"] if c["memory"]["id"] == memory
    ]
    assert text not in str(own_page.ask("in_time", limit=200))
    assert "thunder" not in str(own_page.ask("around", entity="Mia"))
    assert own_page.ask("journal")["lines"][0]["before"] == text


@pytest.mark.parametrize(
    ("name", "said", "status"),
    [
        ("look", {"memory": "m999"}, 404),
        ("look", {"memory": "t1"}, 404),
        ("look", {}, 400),
        ("look", {"memory": "m1", "more": 1}, 400),
        ("around", {"entity": "Nobody"}, 404),
        ("around", {"entity": "me", "limit": 0}, 400),
        ("around", {"entity": "me", "limit": 5000}, 400),
        ("in_time", {"offset": -1}, 400),
        ("why", {"turn": "t99"}, 404),
        ("journal", {"before": "x"}, 404),
        ("undo", {"entry": "e999"}, 404),
        ("tell", {"text": "   "}, 400),
        ("enter", {"code": ""}, 403),
        ("search", [], 400),
    ],
)
def test_rubbish_is_answered_in_one_line(page: Opened, name: str, said: object, status: int):
    answer = page.post(name, said)
    assert answer.status_code == status, answer.text
    assert "\n" not in answer.json()["error"]["message"]


def test_a_look_stays_small_in_a_large_home(own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        edits = [
            Insert(
                Draft(
                    f"I met person {number}.",
                    "relationship.colleague_friends",
                    NOW,
                    (Triple("me", "met", f"person {number}"),),
                )
            )
            for number in range(2000)
        ]
        graph.apply(edits, at=NOW)
    for page in page_of(own_home):
        for name, said in (
            ("start", {}),
            ("around", {"entity": "me"}),
            ("at", {"entity": "me"}),
            ("in_time", {}),
            ("search", {"text": "person"}),
            ("journal", {}),
        ):
            answer = page.post(name, said)
            assert answer.status_code == 200 and len(answer.content) < 60_000, name
