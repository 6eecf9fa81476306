"""The command line as its users and their scripts meet it. JSON shapes are a contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.arguments import hoisted, subcommand
from cli.commands.memories import memories
from cli.output.render import counted
from tests.conftest import Result
from tests.support import reference

Memlane = Callable[..., Result]
NOW = ("--now", "2024-05-08T09:00+00:00")


@pytest.fixture
def told(memlane: Memlane) -> Memlane:
    for text in (
        "My name is Wang Xiaoming.",
        "I live in Jurong West, Singapore.",
        "My boss is Kenji Tan.",
        "I like spicy food.",
    ):
        assert memlane(*NOW, "remember", text).code == 0
    return memlane


def test_remember_prints_the_edit_it_made(memlane: Memlane):
    result = memlane(*NOW, "remember", "Tomorrow is my mom's birthday.", "--json")
    assert result.code == 0
    assert result.err == ""
    (edit,) = result.json["edits"]
    assert set(edit) == {"id", "kind", "memory", "before", "after"}
    assert (edit["kind"], edit["before"]) == ("insert", None)
    assert "2024-05-09" in edit["after"]


def test_of_very_many_memories_the_newest_are_listed(
    told: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(memories, "LISTED", 2)
    result = told("memories", "list")
    assert "the newest 2 of 4 memories" in result.err
    assert "spicy" in result.out and "Jurong" not in result.out
    assert "Jurong" in told("memories", "list", "--type", "attribute.address").out
    assert len(told("memories", "list", "--json").json["memories"]) == 4


def test_remember_the_same_again_stores_nothing(told: Memlane):
    result = told("remember", "i like spicy food", "--json")
    assert (result.json["edits"], result.json["unchanged"]) == ([], ["m4"])


def test_remember_a_new_address_replaces_the_old_one(told: Memlane):
    result = told(*NOW, "remember", "I live in Bedok, Singapore.", "--json")
    (edit,) = result.json["edits"]
    assert edit["kind"] == "replace"
    assert edit["before"] == "I live in Jurong West, Singapore."


def test_what_expires_leaves_the_list_by_itself(told: Memlane):
    told(*NOW, "remember", "The sauna is closed.", "--expires", "2024-05-10")
    listed = [m["text"] for m in told(*NOW, "memories", "list", "--json").json["memories"]]
    assert "The sauna is closed." in listed
    later = told("--now", "2024-05-11", "memories", "list", "--json").json["memories"]
    assert "The sauna is closed." not in [memory["text"] for memory in later]
    everything = told("--now", "2024-05-11", "memories", "list", "--all", "--json").json
    states = {memory["text"]: memory["status"] for memory in everything["memories"]}
    assert states["The sauna is closed."] == "expired"


def test_ask_without_a_language_model_gives_the_chosen_memories(told: Memlane):
    result = told("ask", "Where do I live?", "--no-llm", "--json")
    reply = result.json
    assert set(reply) >= {
        "route", "text", "memories", "edits", "abstained", "timing_ms",
    }  # fmt: skip
    assert reply["route"] == "retrieve"
    first = reply["memories"][0]
    assert set(first) == {
        "id", "text", "score", "trust", "standing", "from", "from_inferred", "until",
    }  # fmt: skip
    assert (first["standing"], first["until"]) == ("holds", None)
    assert first["text"] == "I live in Jurong West, Singapore."
    assert 0 <= first["score"] <= 1
    assert set(reply["timing_ms"]) >= {"select", "total"}


def test_ask_of_an_empty_home_abstains(memlane: Memlane):
    result = memlane("ask", "Where do I live?", "--json")  # and needs no language model for that
    assert result.json["abstained"] is True
    assert "don't know" in result.json["text"]


def test_fill_leaves_what_is_unknown_empty(told: Memlane):
    result = told(
        "fill", "--field", "Full name", "--field", "Passport number", "--no-llm", "--json"
    )
    name, passport = result.json["fields"]
    assert {"name", "value", "confidence", "memories", "alternatives"} <= set(name)
    assert name["value"] == "Wang Xiaoming"
    assert name["memories"] == ["m1"]
    assert passport["value"] is None
    assert passport["memories"] == []


def test_fill_reads_a_json_schema(told: Memlane, tmp_path: Path):
    schema = {
        "type": "object",
        "properties": {
            "full_name": {"type": "string", "title": "Full name"},
            "password": {"type": "string", "format": "password"},
        },
    }
    (tmp_path / "form.json").write_text(json.dumps(schema))
    fields = told("fill", str(tmp_path / "form.json"), "--no-llm", "--json").json["fields"]
    assert {f["name"]: f["value"] for f in fields} == {
        "full_name": "Wang Xiaoming",
        "password": None,
    }


def test_ingest_twice_is_a_no_op_and_a_changed_note_updates_what_came_from_it(
    memlane: Memlane, tmp_path: Path
):
    note = tmp_path / "notes" / "home.md"
    note.parent.mkdir()
    note.write_text("My bicycle is green.\nMy gym is Fit24.\n")
    first = memlane("ingest", str(note.parent), "--json").json
    assert [(s["status"], s["memories"]) for s in first["sources"]] == [("new", 2)]
    again = memlane("ingest", str(note.parent), "--json").json
    assert [s["status"] for s in again["sources"]] == ["unchanged"]
    assert again["edits"] == []

    note.write_text("My bicycle is green.\nMy piano teacher is Olga.\n")
    changed = memlane("ingest", str(note), "--json").json
    assert [s["status"] for s in changed["sources"]] == ["changed"]
    listed = memlane("memories", "list", "--json").json["memories"]
    texts = {memory["text"] for memory in listed}
    assert texts == {"My bicycle is green.", "My piano teacher is Olga."}


def test_memories_by_hand_add_show_edit_replace_forget_undo_history(memlane: Memlane):
    place = ("--subclass", "attribute.occupation")
    added = memlane("memories", "add", "I work at Acme.", *place, "--json").json
    assert added["edits"][0]["memory"] == "m1"
    memlane("memories", "edit", "m1", "--text", "I work at Acme Ltd.")
    memlane("memories", "replace", "m1", "I work at Bolt.", *place)
    shown = memlane("memories", "show", "m1", "--json").json
    assert (shown["status"], shown["replaced_by"], shown["raw"]) == (
        "replaced", "m2", "I work at Acme.",
    )  # fmt: skip
    assert [edit["kind"] for edit in shown["edits"]] == ["insert", "amend", "replace"]
    memlane("memories", "forget", "--soft", "m2")
    assert memlane("memories", "list", "--json").json["memories"] == []
    undone = memlane("memories", "undo", "--json").json["edits"][0]
    assert (undone["kind"], undone["after"]) == ("undo", "I work at Bolt.")
    undone = memlane("memories", "undo", "--json").json["edits"][0]
    assert undone["after"] == "I work at Acme Ltd."
    history = memlane("memories", "history", "--json").json["edits"]
    assert [edit["kind"] for edit in history] == [
        "insert", "amend", "replace", "forget", "undo", "undo",
    ]  # fmt: skip
    assert {"at", "actor", "undoes", "source"} <= set(history[0])


def test_tree_shows_the_three_layers(told: Memlane):
    types = told("memories", "tree", "--json").json["types"]
    assert [t["type"] for t in types] == ["Relationship", "Preference", "Event", "Attribute"]
    address = next(s for t in types for s in t["subclasses"] if s["id"] == "attribute.address")
    assert [m["text"] for m in address["memories"]] == ["I live in Jurong West, Singapore."]
    assert "Jurong West" in told("memories", "tree").out


def test_types_list_has_every_subclass_of_table_8(memlane: Memlane):
    names = {row["name"].casefold() for row in memlane("types", "list", "--json").json["types"]}
    for wanted in ("spouse", "teacher", "diet", "car", "sports", "gaming", "life event",
                   "arrangement", "anniversar", "name", "birthday", "gender", "education",
                   "belongings", "address", "occupation"):  # fmt: skip
        assert any(wanted in name for name in names), wanted


def test_export_writes_everything_as_json_lines(told: Memlane, tmp_path: Path):
    result = told("export")
    lines = [json.loads(line) for line in result.out.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "memlane"
    assert {"subclass", "source", "memory", "edit"} <= set(kinds)
    file = tmp_path / "memories.md"
    assert told("export", "--format", "md", "-o", str(file)).code == 0
    assert "\n- My name is Wang Xiaoming. (" in file.read_text()


def test_status_and_doctor_report_a_sound_home(told: Memlane):
    status = told("status", "--json").json
    assert {"running", "pid", "socket", "uptime_s", "queue", "models"} <= set(status)
    assert status["memories"] == {"current": 4}
    result = told("doctor", "--quick", "--json")
    assert result.code == 0, result.json
    assert {"name", "ok", "detail"} == set(result.json["checks"][0])


def test_config_says_where_each_value_came_from(memlane: Memlane, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_K", "9")
    assert memlane("config", "set", "policy", "all").code == 0
    settings = {row["key"]: row for row in memlane("config", "--json").json["settings"]}
    assert (settings["policy"]["value"], settings["policy"]["origin"]) == ("all", "file")
    assert (settings["k"]["value"], settings["k"]["origin"]) == (9, "environment")
    assert settings["home"]["origin"] == "environment"


def test_config_set_keeps_comments(memlane: Memlane, tmp_path: Path):
    (tmp_path / "config.toml").write_text("# mine\nk = 4\n")
    memlane("config", "set", "policy", "all")
    assert (tmp_path / "config.toml").read_text() == '# mine\nk = 4\npolicy = "all"\n'


def test_config_set_prints_the_value_as_it_is_read(memlane: Memlane):
    assert memlane("config", "set", "k", "12", "--json").json["k"] == 12


def test_config_unset_takes_one_setting_out(memlane: Memlane, tmp_path: Path):
    (tmp_path / "config.toml").write_text("# mine\nk = 4\n")
    memlane("config", "set", "policy", "all")
    result = memlane("config", "unset", "policy")
    assert result.code == 0
    assert result.out == "policy = scout  (default)\n"
    assert (tmp_path / "config.toml").read_text() == "# mine\nk = 4\n"
    assert memlane("config", "unset", "policy").code == 0
    assert "There is no setting 'polcy'" in memlane("config", "unset", "polcy").err


def test_models_list_names_all_three(memlane: Memlane):
    models = {m["name"]: m for m in memlane("models", "list", "--json").json["models"]}
    assert set(models) >= {"qwen2.5-coder-1.5b", "smollm2-135m", "all-minilm-l6-v2"}
    assert {"status", "path", "size", "sha256", "kind"} <= set(models["smollm2-135m"])


def test_models_use_takes_any_gguf_and_refuses_what_is_none(memlane: Memlane, tmp_path: Path):
    listed = memlane("models", "list", "--json").json["models"]
    small = next(m["path"] for m in listed if m["name"] == "smollm2-135m")
    assert memlane("models", "use", small).code == 0
    settings = {row["key"]: row for row in memlane("config", "--json").json["settings"]}
    assert settings["llm"]["value"] == small
    (tmp_path / "no.gguf").write_text("hello")
    assert memlane("models", "use", str(tmp_path / "no.gguf")).code == 1


def test_global_options_work_before_and_after_the_subcommand():
    assert hoisted(["ask", "x", "--json", "--home", "/h"]) == ["--json", "--home", "/h", "ask", "x"]
    assert hoisted(["say", "--", "--json"]) == ["say", "--", "--json"]
    assert subcommand(["--json", "--home", "say", "ask", "fill"]) == "ask"
    assert subcommand(["--home=x", "fill"]) == "fill" and subcommand(["--json"]) == ""


def test_version(memlane: Memlane):
    assert memlane("--version").out.startswith("memlane ")
    assert memlane("version").out == memlane("--version").out


def test_the_command_reference_is_what_help_prints(monkeypatch: pytest.MonkeyPatch):
    helps: dict[tuple[str, ...], str] = {}
    printed = reference.help_of
    monkeypatch.setattr(reference, "help_of", lambda words: helps.setdefault(words, printed(words)))
    assert reference.TARGET.read_text(encoding="utf-8") == reference.reference(), (
        "docs/cli.md is out of date: python -m tests.support.reference"
    )
    for words in reference.commands():
        assert helps[words].startswith("Usage: memlane"), words
        assert len(helps[words].splitlines()) > 3, f"{words} has no help"


def test_the_home_is_open_to_its_owner_alone(told: Memlane, own_home: Path):
    assert own_home.stat().st_mode & 0o777 == 0o700
    for path in own_home.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_debug_shows_where_an_error_came_from(memlane: Memlane):
    from store.errors import UnknownId

    with pytest.raises(UnknownId):
        memlane("--debug", "memories", "show", "m99")


@pytest.mark.parametrize(
    ("count", "noun", "told"),
    [
        (1, "memory", "1 memory"),
        (2000, "memory", "2,000 memories"),
        (0, "subclass", "0 subclasses"),
    ],
)
def test_what_is_counted_is_named_in_the_right_number(count: int, noun: str, told: str):
    assert counted(count, noun) == told
