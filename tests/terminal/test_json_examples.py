"""docs/cli.md shows what every command prints with ``--json``: its examples are run here.

Keys, types and nesting are compared, as the head of the page says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.ports import Embedder
from tests.support import reference
from tests.support.json_examples import Ran, cut, lines, play
from tests.support.json_layout import WIDTH, Example, block, brief, fullest, layout, shape

ANEW = f"To write the examples anew: {reference.RECORDER}"
SHOWN = reference.examples()


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> list[Ran]:
    """All examples, run once, in their order."""
    return list(play(tmp_path_factory.mktemp("person").resolve(), embedder))


def test_the_page_shows_the_lines_that_are_run():
    assert [one.line for one in SHOWN] == lines(), ANEW


@pytest.mark.parametrize("number", range(len(SHOWN)), ids=[one.line for one in SHOWN])
def test_a_command_prints_what_the_page_shows(number: int, printed: list[Ran]):
    shown, ran = SHOWN[number], printed[number]
    assert ran.line == shown.line, ANEW
    differing = list(differences(shown, ran))
    assert not differing, f"{ran.line}: {'; '.join(differing)}. {ANEW}\n{ran.err}"


def test_every_command_has_an_example_or_prints_no_json():
    shown = {one.command for one in SHOWN}
    others, doing = reference.same_as(), reference.doing()
    assert shown | reference.WITHOUT_JSON.keys() <= doing.keys()
    for words in doing:
        ways = [words in shown, words in others, words in reference.WITHOUT_JSON]
        assert sum(ways) == 1, (
            f"memlane {' '.join(words)}: give it a line in tests/support/json_lines.py, or "
            f"name it in tests.support.reference.WITHOUT_JSON. {ANEW}"
        )


def test_a_failure_is_shown_too():
    (failure,) = [one for one in SHOWN if one.failed]
    assert failure.documents[0]["exit_code"] == failure.code == 1


# ---- what is compared -----------------------------------------------------------------------


def differences(shown: Example, ran: Ran) -> Iterator[str]:
    """What is otherwise than the page shows it, in words."""
    if ran.code != shown.code:
        yield f"the exit code is {ran.code}, not {shown.code}"
    documents = ran.documents
    if len(documents) != len(shown.documents):
        yield f"it prints {len(documents)} documents, not {len(shown.documents)}"
    for new, old in zip(documents, shown.documents, strict=False):
        now, before = (dict(_places(shape(one))) for one in (new, old))
        yield from (f"gained {place}" for place in now if place not in before)
        yield from (f"gained {place} in a part of them" for place in _apart(new))
        yield from (f"lost {place}" for place in before if place not in now)
        yield from (
            f"{place} is {now[place]}, not {before[place]}"
            for place in now
            if place in before and now[place] != before[place]
        )


def _places(shape: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Each key of a document by where it is, with its type: ('edits[].id', 'text')."""
    if isinstance(shape, dict):
        if place:
            yield place, "object"
        for key, inside in shape.items():
            yield from _places(inside, f"{place}.{key}" if place else key)
    elif isinstance(shape, list):
        yield place, "list" if shape else "empty list"
        for inside in shape:
            yield from _places(inside, f"{place}[]")
    else:
        yield place, str(shape)


def _apart(value: object, place: str = "") -> Iterator[str]:
    """The keys that the element of a list which is shown does not have, and another one has."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _apart(inside, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        shown = fullest(value)
        assert isinstance(shown, dict)
        more = dict.fromkeys(key for one in value for key in one if key not in shown)
        yield from (f"{place}[].{key}" for key in more)
        for one in value:
            yield from _apart(one, f"{place}[]")


DOCUMENT: dict[str, Any] = {
    "edits": [{"id": "e1", "before": None}, {"id": "e2", "before": "I ran."}],
    "timing_ms": {"log": 0.2},
    "ok": True,
    "k": 6,
    "texts": ["a", "b", "c", "d"],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"k": 7.5, "ok": False, "timing_ms": {"all": 1}, "texts": ["z"]}, []),
        ({"edits": [DOCUMENT["edits"][1]]}, []),
        ({"new": 1}, ["gained new"]),
        (
            {"edits": [{"number": "e1", "before": "I ran."}]},
            ["gained edits[].number", "lost edits[].id"],
        ),
        ({"edits": [*DOCUMENT["edits"], {"why": ""}]}, ["gained edits[].why in a part of them"]),
        ({"k": "6"}, ["k is text, not number"]),
        ({"k": True}, ["k is boolean, not number"]),
        (
            {"edits": []},
            [
                "lost edits[]", "lost edits[].id", "lost edits[].before",
                "edits is empty list, not list",
            ],
        ),
        ({"timing_ms": {"log": "0.2"}}, ["timing_ms.* is text, not number"]),
        ({"texts": "a"}, ["lost texts[]", "texts is text, not list"]),
    ],
)  # fmt: skip
def test_a_key_that_comes_goes_or_changes_is_told(change: dict[str, object], said: list[str]):
    shown = Example(("undo",), "memlane undo --json", 0, (cut(DOCUMENT),))
    ran = Ran("memlane undo --json", 0, json.dumps({**DOCUMENT, **change}), "")
    assert list(differences(shown, ran)) == said


def test_a_lost_key_another_code_and_more_documents_are_told():
    shown = Example(("undo",), "memlane undo --json", 0, ({"id": "e1", "at": None},))
    ran = Ran("memlane undo --json", 1, '{"id": "e2"}\n{}', "")
    assert list(differences(shown, ran)) == [
        "the exit code is 1, not 0", "it prints 2 documents, not 1", "lost at",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="Expecting value"):
        list(differences(shown, Ran("memlane undo --json", 0, '{"id": "e2"} done', "")))


# ---- how it is shown ------------------------------------------------------------------------


@pytest.mark.parametrize("one", SHOWN, ids=[one.line for one in SHOWN])
def test_a_document_is_laid_out_in_few_lines_and_is_the_same(one: Example):
    for document in one.documents:
        text = layout(document)
        assert json.loads(text) == document
        assert max(map(len, text.splitlines())) <= WIDTH + 2


def test_no_example_is_long():
    page = reference.TARGET.read_text(encoding="utf-8")
    shown = re.findall(r"^\$ memlane .*\n(?:(?!```|\$ ).*\n)*", page, re.MULTILINE)
    assert len(shown) == len(SHOWN)
    assert max(example.count("\n") for example in shown) <= 20


def test_an_example_shows_what_it_adds_to_one_before():
    memory = {"id": "m1", "text": "I live in Bergen.", "pinned": False}
    long = "I moved here from Trondheim with my family a few years ago, and I do like the rain."
    one = {"why": long, "at": None, "memories": [memory]}
    first = Example(("list",), "memlane list --json", 0, (one,))
    other = {"why": long, "at": "now", "memories": [], "to": "x"}
    second = Example(("list",), "memlane list -o x --json", 0, (other,))
    assert block([brief(first, memory), second]).splitlines()[1:-1] == [
        "$ memlane list --json",
        f'{{"why": "{long}",',
        ' "at": null, "memories": [{"id": "m1", "text": "I live in Bergen.", ...}]}',
        "$ memlane list -o x --json",
        '{..., "at": "now", "to": "x"}',
    ]


def test_nothing_of_this_machine_is_on_the_page():
    text = reference.EXAMPLES.read_text(encoding="utf-8")
    assert str(Path(__file__).parents[2]) not in text and "/tmp/" not in text
