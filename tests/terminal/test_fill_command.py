"""``memlane fill`` end to end: consent, the filled page, and one clear line for what is no form."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.ports import Embedder
from cli.input import confirm as confirm_input
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
from tests.conftest import NOW, Result

Memlane = Callable[..., Result]
PAGE = """<form action="https://www.pay.example/x"><label>First name <input name=first></label>
<label>Passport number <input name=pp></label><label>Password <input type=password name=pw></label>
<label>IBAN <input name=iban></label></form>
"""


@pytest.fixture
def known(own_home: Path, memlane: Memlane) -> Memlane:
    """A home that knows a name and a passport number; no model is needed for these."""
    with MemoryGraph.open(own_home) as graph:
        for text, kind in (
            ("My name is Iris Keller.", "attribute.name"),
            ("My passport number is C01X00T47.", "attribute.identity"),
            ("I take ibuprofen for my back.", "attribute.health"),
            ("My back medicine is ibuprofen.", "attribute.health"),
            ("My password is hunter2.", "attribute.identity"),
        ):
            graph.apply([Insert(Draft(text=text, subclass=kind, created=NOW))], at=NOW)
    return memlane


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "form.html"
    path.write_text(PAGE, "utf-8")
    return path


def by_name(result: Result) -> dict[str, dict[str, object]]:
    return {field["name"]: field for field in result.json["fields"]}


def test_a_sensitive_field_stays_empty_without_consent_and_says_so(known: Memlane, page: Path):
    result = known("fill", page, "--no-llm", "--json")
    fields = by_name(result)
    assert fields["first"]["value"] == "Iris"
    passport = fields["pp"]
    assert (passport["value"], passport["memories"], passport["consent"]) == (None, [], "needed")
    assert passport["sensitive"] is True
    assert "C01X00T47" not in result.out
    assert (fields["iban"]["consent"], fields["pw"]["value"]) == (None, None)
    (line,) = result.err.strip().splitlines()
    assert "'Passport number'" in line and "pay.example" in line and "--consent" in line
    assert result.code == 0


def test_consent_is_given_once_for_a_field_and_a_site_and_taken_back(known: Memlane, page: Path):
    given = by_name(known("fill", page, "--no-llm", "--consent", "--json"))
    assert (given["pp"]["value"], given["pp"]["consent"]) == ("C01X00T47", "given")
    later = by_name(known("fill", page, "--no-llm", "--json"))
    assert later["pp"]["value"] == "C01X00T47"
    other = by_name(known("fill", page, "--no-llm", "--json", "--site", "https://else.example/y"))
    assert (other["pp"]["value"], other["pp"]["consent"]) == (None, "needed")
    (said,) = known("consent", "list", "--json").json["consents"]
    assert (said["field"], said["site"], said["given"]) == ("passport-number", "pay.example", True)
    assert "passport-number: filled for pay.example" in known("consent", "list").out
    assert known("consent", "remove", "passport-number").code == 0
    again = by_name(known("fill", page, "--no-llm", "--json"))
    assert again["pp"]["consent"] == "needed"
    assert known("consent", "remove", "passport-number").code == 1
    assert known("consent", "remove").code == 2


@pytest.mark.parametrize(("answer", "value"), [(True, "C01X00T47"), (False, None)])
def test_a_person_is_asked_once(
    known: Memlane, page: Path, monkeypatch: pytest.MonkeyPatch, answer: bool, value: str | None
):
    asked: list[str] = []

    def confirm(question: str, **options: object) -> bool:
        asked.append(question)
        return answer

    monkeypatch.setattr(confirm_input, "interactive", lambda run: True)
    monkeypatch.setattr(confirm_input, "typer", SimpleNamespace(confirm=confirm))
    first = known("fill", page, "--no-llm")
    second = known("fill", page, "--no-llm")
    assert len(asked) == 1 and "pay.example" in asked[0]
    for result in (first, second):
        assert ("C01X00T47" in result.out) is (value is not None)
    assert ("stays empty because you refused" in second.err) is not answer


def test_health_asks_for_consent_in_whatever_words(known: Memlane):
    (field,) = known("fill", "--field", "Back medicine", "--no-llm", "--json").json["fields"]
    assert (field["value"], field["consent"]) == (None, "needed")
    (field,) = known("fill", "--field", "Back medicine", "--no-llm", "--consent", "--json").json[
        "fields"
    ]
    assert field["value"] == "ibuprofen"


def test_the_filled_page_goes_to_stdout_and_nothing_else(known: Memlane, page: Path):
    result = known("fill", page, "--no-llm", "--apply")
    assert result.out == PAGE.replace("<input name=first>", '<input value="Iris" name=first>')
    assert "1 of 4 fields filled" in result.err
    assert page.read_text("utf-8") == PAGE


def test_the_filled_page_is_written_over_nothing_unasked(known: Memlane, page: Path):
    out = page.with_name("filled.html")
    result = known("fill", page, "--no-llm", "--apply", "-o", out, "--json")
    assert result.json["written"] == str(out)
    assert 'value="Iris"' in out.read_text("utf-8")
    assert out.stat().st_mode & 0o777 == 0o600
    refused = known("fill", page, "--no-llm", "--apply", "-o", page)
    assert refused.code == 2 and "--overwrite" in refused.err
    assert page.read_text("utf-8") == PAGE
    assert known("fill", page, "--no-llm", "--apply", "-o", page, "--overwrite").code == 0
    assert 'value="Iris"' in page.read_text("utf-8")


def test_a_page_comes_from_a_pipe(known: Memlane, monkeypatch: pytest.MonkeyPatch):
    piped = SimpleNamespace(buffer=io.BytesIO(PAGE.encode()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", piped)
    assert by_name(known("fill", "-", "--no-llm", "--json"))["first"]["value"] == "Iris"


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("a.html", b"<frameset><frame src=x.html></frameset>", (), "frame"),
        ("a.html", b"no page at all", (), "no form fields"),
        ("a.html", b"\x89PNG\0\0", (), "not a text file"),
        ("a.txt", b"just prose, no page. It goes on, and on.", ("--apply",), "--apply fills HTML"),
        ("a.json", b'{"properties": {"a": {"$ref": "#"}}}', (), "circular references"),
        ("a.json", b"{", (), "not valid JSON"),
        ("a.csv", b"1,2,3", (), "header"),
        ("a.html", b"<input name=a>", ("--apply", "--json"), "-o FILE"),
        ("a.html", b"<input name=a>", ("--overwrite",), "--apply"),
        ("a.html", b"<input name=a>", ("--site", "://"), "not a site"),
    ],
)
def test_bad_input_gives_one_clear_line(
    known: Memlane, tmp_path: Path, name: str, content: bytes, options: tuple[str, ...], said: str
):
    form = tmp_path / name
    form.write_bytes(content)
    result = known("fill", form, "--no-llm", *options)
    assert result.code == 2
    assert result.out == "" or said in result.json["error"]  # only with --json
    assert said in result.err and result.err.count("\n") == 1


def test_frames_that_were_not_read_are_told(known: Memlane, tmp_path: Path):
    form = tmp_path / "a.html"
    form.write_text("<iframe src=b.html></iframe><label>First name <input name=n></label>")
    result = known("fill", form, "--no-llm", "--json")
    assert result.json["fields"][0]["value"] == "Iris"
    assert result.json["notes"] == [result.err.strip().removeprefix("memlane: ")]
    assert "1 frame not read" in result.err


def test_common_fields_load_no_model(known: Memlane, page: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("agent.models.lazy._load_encoder", refuse)
    monkeypatch.setattr("agent.models.lazy._load_llm", refuse)
    assert known("fill", "--field", "First name", "--field", "Passport number").code == 0


def test_a_session_withholds_too(known: Memlane, own_home: Path, embedder: Embedder):
    from agent.applications.forms.formats.open_form import fields_from_labels
    from agent.config import load_config
    from agent.session.session import open_session

    with open_session(load_config(now=NOW), embedder=embedder) as session:
        fields = fields_from_labels(["Passport number"])
        (withheld,) = session.fill(fields, use_llm=False)
        assert (withheld.value, withheld.alternatives) == (None, ())
        session.graph.form_consents.put("passport-number", "", given=True, at=NOW)
        assert session.fill(fields, use_llm=False)[0].value == "C01X00T47"
        assert not session.graph.verify()
