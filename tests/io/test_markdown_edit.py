"""Memories in $EDITOR: Markdown with front matter out, journalled edits back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.io.markdown_edit import difference, read_blocks, written
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Amend, Insert, checked_text
from store.types import Draft, Memory, Triple
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
Memlane = Callable[..., Result]
PLACE = "attribute.address"
ANNA = Memory(
    "m1",
    "My wife Anna works at Siemens.",
    "Relationship",
    "relationship.spouse",
    NOW,
    (Triple("my wife", "works_at", "Siemens"),),
)
HOME = Memory(
    "m2",
    "I live in Bedok.",
    "Attribute",
    PLACE,
    NOW,
    (Triple("me", "lives_in", "Bedok"),),
    valid_from=NOW,
    valid_until=datetime(2025, 1, 1, tzinfo=UTC),
    place="no",
)
BOTH = {"m1": ANNA, "m2": HOME}
KNOWN = ("relationship.spouse", PLACE)


def changed(text: str, before: dict[str, Memory] = BOTH):
    return difference(before, read_blocks(text), subclasses=KNOWN, now=NOW)


def test_what_is_written_and_left_alone_changes_nothing():
    assert changed(written([ANNA, HOME])).edits == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(min_size=1, max_size=80),
    st.text(min_size=1, max_size=40),
    st.lists(st.text(min_size=1, max_size=20), min_size=3, max_size=3),
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
)
def test_any_text_comes_back_as_it_was(text: str, place: str, triple: list[str], until: datetime):
    try:
        clean = checked_text(text.encode("utf-8", "replace").decode())
    except InvalidInput:
        return
    place = checked_text(place) if place.strip("\x00 ").strip() else "here"
    odd = replace(
        ANNA,
        text=clean,
        place=place,
        triples=(Triple(*(part.encode("utf-8", "replace").decode() for part in triple)),),
        valid_until=until.replace(tzinfo=UTC),
    )
    assert changed(written([odd, HOME]), {"m1": odd, "m2": HOME}).edits == ()


@pytest.mark.parametrize("place", ["~", "null", "None", "yes", "2024-05-08", "12:30", "[x]"])
def test_words_that_yaml_reads_as_values_stay_places(place: str):
    odd = replace(HOME, place=place)
    assert changed(written([odd]), {"m2": odd}).edits == ()


@pytest.mark.parametrize("text", ["---", "id: m7", "--- # x", "place: 😀 مرحبا # x", "<!-- x -->"])
def test_a_sentence_may_look_like_front_matter(text: str):
    odd = replace(ANNA, text=text)
    assert changed(written([odd, HOME]), {"m1": odd, "m2": HOME}).edits == ()


def test_a_changed_sentence_takes_its_relations_along():
    (edit,) = changed(written([ANNA, HOME]).replace("at Siemens.", "at Bosch.")).edits
    assert edit.text == "My wife Anna works at Bosch."
    assert Triple("my wife", "works_at", "Bosch") in (edit.triples or ())


def test_relations_that_were_typed_are_not_read_anew():
    text = written([ANNA]).replace("[my wife, works_at, Siemens]", "Anna | works for | Bosch")
    (edit,) = changed(text.replace("at Siemens.", "at Bosch."), {"m1": ANNA}).edits
    assert edit.triples == (Triple("Anna", "works_at", "Bosch"),)


def test_emptied_fields_are_cleared_and_dates_may_be_words():
    text = written([HOME]).replace("place: 'no'", "place:")
    text = text.replace("valid_until: 2025-01-01 00:00:00+00:00", "valid_until: next Friday")
    (edit,) = changed(text, {"m2": HOME}).edits
    assert edit == Amend("m2", valid_until=datetime(2024, 5, 18, tzinfo=UTC), clear=("place",))


def test_a_day_as_an_end_holds_to_the_end_of_that_day():
    text = written([HOME]).replace("2025-01-01 00:00:00+00:00", "2025-03-01")
    (edit,) = changed(text, {"m2": HOME}).edits
    assert edit.valid_until == datetime(2025, 3, 2, tzinfo=UTC)


def test_a_deleted_block_is_left_alone_and_named():
    asked = changed(written([ANNA]))
    assert (asked.edits, asked.left_out) == ((), ("m2",))


BROKEN: dict[str, tuple[str | tuple[str, str], str]] = {
    "the front matter of all is gone": ("hello", "no front matter left"),
    "an empty file": ("", "no front matter left"),
    "an unknown field": (("place:", "plaice:"), "no field 'plaice'. Did you mean place?"),
    "an unknown id": (("id: m2", "id: m9"), "m9 was not opened"),
    "a deleted id": (("id: m2\n", ""), "has no id"),
    "an id twice": (("id: m2", "id: m1"), "m1 appears twice"),
    "a bad date": (("valid_from:\n", "valid_from: 30 February 2024\n"), "m1: valid_from"),
    "an end before the beginning": (("2025-01-01", "2023-01-01"), "m2: valid_until is before"),
    "an unknown subclass": ((PLACE, "attribute.adress"), "Did you mean attribute.address?"),
    "another created": (("created: 2024-05-08", "created: 2023-05-08"), "cannot be changed"),
    "no sentence": (("I live in Bedok.", ""), "m2 has no sentence left"),
    "two paragraphs": (("Bedok.", "Bedok.\n\nAnd more."), "more than one paragraph"),
    "not YAML": (("place: 'no'", "place: a: b"), "is not YAML"),
    "a tag that would call something": (
        ("place: 'no'", "place: !!python/object/apply:os.system [ls]"),
        "place is one value",
    ),
    "a pointer to itself": (("[me, lives_in, Bedok]", "&a [*a]"), "head, relation, tail"),
    "half a relation": (("[me, lives_in, Bedok]", "me | lives_in"), "head, relation, tail"),
    "a relation to itself": (("[me, lives_in, Bedok]", "me | likes | Me"), "related to itself"),
    "an unclosed front matter": (("---\n\nI live", "I live"), "no closing line ---"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line(name: str):
    how, message = BROKEN[name]
    text = written([ANNA, HOME])
    text = how if isinstance(how, str) else text.replace(*how)
    with pytest.raises(InvalidInput) as error:
        changed(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_deleted_front_matter_of_one_memory_never_joins_two():
    text = written([ANNA, HOME])
    start, end = text.index("---\nid: m2"), text.index("I live in Bedok")
    for joined in (text[:start] + text[end:], text[:start].rstrip() + " " + text[end:]):
        with pytest.raises(InvalidInput, match="front matter"):
            changed(joined)


def test_windows_line_ends_and_a_byte_order_mark_are_fine():
    assert changed("\ufeff" + written([ANNA, HOME]).replace("\n", "\r\n")).edits == ()


# ---- the command -----------------------------------------------------------------------------


@pytest.fixture
def home(graph: MemoryGraph) -> MemoryGraph:
    for memory in (ANNA, HOME):
        graph.apply(
            [Insert(Draft(memory.text, memory.subclass, NOW, memory.triples, place="here"))], at=NOW
        )
    return graph


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make $EDITOR run these lines of Python on ``text``, then end with a code."""

    def use(lines: str, code: int = 0) -> None:
        script = tmp_path / "editor.py"
        script.write_text(
            "import sys, pathlib, os\nprint('drawing')\npath = pathlib.Path(sys.argv[1])\n"
            f"text = path.read_text()\n{lines}\n"
            f"if path.exists(): path.write_text(text)\nsys.exit({code})\n"
        )
        monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")
        monkeypatch.delenv("VISUAL", raising=False)

    return use


def edits_kept(own_home: Path) -> list[Path]:
    return list((own_home / "edits").glob("*"))


def test_edits_of_two_memories_are_one_batch_that_undo_takes_back(
    home: MemoryGraph, memlane: Memlane, editor, own_home: Path
):
    editor("text = text.replace('Siemens', 'Bosch').replace('place: here', 'place:')")
    result = memlane("memories", "edit", "m1", "m2", "--json")
    assert result.code == 0, result.err
    assert [edit["kind"] for edit in result.json["edits"]] == ["amend", "amend"]
    fields = {(c["memory"], c["field"]) for c in result.json["changes"]}
    assert fields >= {("m1", "text"), ("m1", "place"), ("m2", "place")}
    assert home.memories.get("m1").text == "My wife Anna works at Bosch."
    assert home.memories.get("m2").place is None
    assert edits_kept(own_home) == []
    first = result.json["edits"][0]["id"]
    assert memlane("memories", "undo", first, "--batch", "--yes").code == 0
    assert home.memories.get("m1").text == ANNA.text
    assert home.memories.get("m2").place == "here"
    assert home.verify() == ()


def test_what_will_change_is_shown(home: MemoryGraph, memlane: Memlane, editor):
    editor("text = text.replace('Siemens', 'Bosch')")
    out = memlane("memories", "edit", "m1").out
    assert "- My wife Anna works at Siemens." in out
    assert "+ My wife Anna works at Bosch." in out
    assert "memories undo e3" in out


def test_nothing_changed_says_so(home: MemoryGraph, memlane: Memlane, editor, own_home: Path):
    editor("")
    assert "Nothing changed." in memlane("memories", "edit", "m1").out
    assert edits_kept(own_home) == []
    assert len(home.journal.list()) == 2


def test_what_cannot_be_applied_is_kept_and_can_be_mended(
    home: MemoryGraph, memlane: Memlane, editor, own_home: Path
):
    editor("text = 'I typed this for an hour.'")
    result = memlane("memories", "edit", "m1")
    assert result.code != 0
    (kept,) = edits_kept(own_home)
    assert str(kept) in result.err
    assert len(result.err.removeprefix("drawing\n").strip().splitlines()) == 1
    assert kept.read_text() == "I typed this for an hour."
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_text(written([replace(home.memories.get("m1"), text="My wife Anna is at Bosch.")]))
    assert memlane("memories", "edit", "--file", str(kept)).code == 0
    assert home.memories.get("m1").text == "My wife Anna is at Bosch."
    assert edits_kept(own_home) == []


def test_an_editor_that_fails_changes_nothing(
    home: MemoryGraph, memlane: Memlane, editor, own_home: Path
):
    editor("", code=3)
    result = memlane("memories", "edit", "m1")
    assert (result.code, edits_kept(own_home)) == (2, [])
    assert "exited with code 3; nothing was changed" in result.err
    editor("text = text.replace('Siemens', 'Bosch')", code=1)
    result = memlane("memories", "edit", "m1")
    (kept,) = edits_kept(own_home)  # an editor that crashed after saving keeps the work
    assert str(kept) in result.err
    assert home.memories.get("m1").text == ANNA.text


def test_an_editor_that_removes_the_file(home: MemoryGraph, memlane: Memlane, editor):
    editor("path.unlink()")
    assert "removed the file" in memlane("memories", "edit", "m1").err


@pytest.mark.parametrize("command", ["no-such-editor --wait", "'unclosed"])
def test_an_editor_that_is_not_there(
    home: MemoryGraph, memlane: Memlane, monkeypatch: pytest.MonkeyPatch, command: str
):
    monkeypatch.setenv("VISUAL", command)
    result = memlane("memories", "edit", "m1")
    assert result.code == 2
    assert "cannot be found" in result.err


def test_without_a_terminal_and_an_editor_the_options_are_named(
    home: MemoryGraph, memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert "--text" in memlane("memories", "edit", "m1").err


def test_a_memory_that_changed_meanwhile_is_not_overwritten(
    home: MemoryGraph, memlane: Memlane, editor, own_home: Path
):
    database = own_home / "memlane.db"
    editor(
        "from store.graph import MemoryGraph\nfrom store.journal import Amend\n"
        "from datetime import datetime, UTC\n"
        f"with MemoryGraph.open(pathlib.Path({str(database.parent)!r})) as graph:\n"
        "    graph.apply([Amend('m1', place='there')], at=datetime.now(UTC))\n"
        "text = text.replace('Siemens', 'Bosch')"
    )
    result = memlane("memories", "edit", "m1")
    assert result.code == 1
    assert "changed by somebody else" in result.err
    assert home.memories.get("m1").text == ANNA.text
    assert len(edits_kept(own_home)) == 1


def test_a_whole_subclass_or_words_choose_what_opens(home: MemoryGraph, memlane: Memlane, editor):
    editor("print(text, file=sys.stderr)")
    for arguments, wanted in (
        (("--all", PLACE), "m2"),
        (("--all", "relationship"), "m1"),
        (("--search", "siemens"), "m1"),
    ):
        shown = memlane("memories", "edit", *arguments).err
        assert [f"id: {m}" in shown for m in ("m1", "m2")] == [wanted == "m1", wanted == "m2"]


def test_options_change_without_an_editor(home: MemoryGraph, memlane: Memlane):
    memlane("memories", "edit", "m1", "m2", "--place", "Office")
    assert {home.memories.get(m).place for m in ("m1", "m2")} == {"Office"}


def test_dry_run_shows_and_keeps(home: MemoryGraph, memlane: Memlane, editor, own_home: Path):
    editor("text = text.replace('Siemens', 'Bosch')")
    result = memlane("memories", "edit", "m1", "--dry-run", "--json").json
    assert [c["field"] for c in result["changes"]] == ["text", "relations"]
    assert home.memories.get("m1").text == ANNA.text
    assert [str(path) for path in edits_kept(own_home)] == [result["file"]]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("m1", "--all", PLACE),
        ("m99",),
        ("--all", "nowhere"),
        ("--search", "zebra"),
        ("m1", "m2", "--text", "x"),
        ("--file", "/no/such/file"),
    ],
)
def test_wrong_requests_end_with_one_line(
    home: MemoryGraph, memlane: Memlane, arguments: tuple[str, ...]
):
    result = memlane("memories", "edit", *arguments)
    assert result.code in (1, 2)
    assert len(result.err.strip().splitlines()) == 1
    assert "Traceback" not in result.err
