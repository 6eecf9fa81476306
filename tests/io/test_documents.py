"""Documents and mail: text by real readers, with the page or message of each memory."""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.applications.forms.autofill import fill_from
from agent.applications.forms.fields import FormField
from agent.errors import UnreadableSource
from agent.io.ingest import kind_of
from agent.io.sources.documents import pdf as pdf_reader
from agent.io.sources.documents import plain
from agent.io.sources.documents import read as reading
from agent.io.watch import Watcher
from agent.session.session import Session
from benchmarks.shared.made_documents import Put, epub, pdf
from store.types import SourceKind, Status, Trust
from tests.conftest import NOW, Result
from tests.support.documents import LEASE, lease, mail, mbox, scan, word_file
from tests.support.documents_read import taken, text_of

Memlane = Callable[..., Result]


# ---- what is read -------------------------------------------------------------------------------


def test_a_pdf_gives_its_sentences_with_their_pages_and_its_rows_with_their_heads(
    session: Session, tmp_path: Path
):
    found = taken(session, tmp_path / "x.pdf", lease(Title="Microsoft Word - x.docx"))
    assert {text: where for text, (where, _) in found.items()} == {
        "Lease of Gartenweg 4: The rent is 1,240 euros a month and is due on the first day of each "
        "month.": "page 1",
        "Lease of Gartenweg 4: The deposit was paid to Otto Brandl, who lives next door and keeps "
        "the key to the cellar.": "page 1",
        "Lease of Gartenweg 4: I live in Paris and my phone number is 030 1234567.": "page 1",
        "Lease of Gartenweg 4, Rooms, Kitchen: Size 12 m2, Floor oak.": "page 1",
        "Lease of Gartenweg 4, Rooms, Bath: Size 6 m2, Floor tile.": "page 1",
        "Lease of Gartenweg 4, Rooms: The lease is signed by the tenant and by the landlord of the "
        "house, and ends on 30 June 2027, unless it is renewed in writing by both of them before "
        "that day.": "page 1",
        "Lease of Gartenweg 4, Rooms: The meter in the hall reads 48,213.": "page 3",
    }
    assert {memory.trust for _, memory in found.values()} == {Trust.READ}
    for _, memory in found.values():
        assert memory.span is not None and memory.source is not None


def test_columns_of_running_text_are_read_one_after_the_other(tmp_path: Path):
    page = [
        put
        for row in range(4)
        for put in (
            Put(50, 100 + 14 * row, f"left line {row} of the column goes on"),
            Put(320, 100 + 14 * row, f"right line {row} of the column goes on"),
        )
    ]
    text = text_of(tmp_path / "x.pdf", pdf([page]))
    assert text.index("left line 3") < text.index("right line 0")
    assert "|" not in text


def test_a_scanned_page_goes_through_ocr(session: Session, tmp_path: Path):
    lines = ["The boiler was serviced on 12 March 2024 by Karl Huber."]
    found = taken(session, tmp_path / "Boiler.pdf", scan(lines))
    assert [(where, text) for text, (where, _) in found.items()] == [
        ("page 1", "The boiler was serviced on 12 March 2024 by Karl Huber.")
    ]
    assert not list(session.graph.path.parent.glob(".memlane-*"))  # no picture of it is left


def test_a_word_file_gives_paragraphs_lists_and_tables(session: Session, tmp_path: Path):
    found = taken(session, tmp_path / "cv.docx", word_file())
    assert {text: where for text, (where, _) in found.items()} == {
        "Curriculum vitae: I studied chemistry in Graz.": "paragraph 2",
        "Curriculum vitae, Skills: Python, Welding.": "paragraph 4",
        "Curriculum vitae, Skills, Voest: Years 2012 to 2016.": "paragraph 5",
        "Curriculum vitae, Skills, Bosch: Years 2020.": "paragraph 5",
    }


def test_a_book_gives_its_chapters(session: Session, tmp_path: Path):
    book = epub(
        "The Garden",
        [
            "<h1>Spring</h1><p>The roses grow <i>behind</i> the shed.</p>",
            "<h1>Summer</h1><p>The well holds 400 litres.</p>",
        ],
    )
    found = taken(session, tmp_path / "b.epub", book)
    assert {text: where for text, (where, _) in found.items()} == {
        "The Garden, Spring: The roses grow behind the shed.": "chapter 1, paragraph 2",
        "The Garden, Summer: The well holds 400 litres.": "chapter 2, paragraph 2",
    }


PAGE = """<html><head><title>Manual</title><style>p {}</style></head><body>
<nav>Home | About us</nav><h1>Router</h1>
<p>Its address is
192.168.2.1.</p><p style="display: none">Nobody sees that the code is 77.</p>
<p hidden>Nor this.</p><ul><li>Port one is for the <b>T</b>V.</li></ul>
<table><tr><th>Part</th><th>Price</th></tr>
<tr><td rowspan="2">Case</td><td>3 EUR</td></tr><tr><td>4 EUR</td></tr></table>
<table><tr><td><p>Support is open on Mondays.</p></td></tr></table>
<dl><dt>Warranty</dt><dd>two years</dd></dl><script>let x = "The code is 78.";</script>
</body></html>"""


def test_a_web_page_gives_what_a_browser_shows(tmp_path: Path):
    assert text_of(tmp_path / "p.html", PAGE.encode()) == (
        "---\ntitle: Manual\n---\n# Router\n\nIts address is 192.168.2.1.\n\n"
        "- Port one is for the TV.\n\n"
        "| Part | Price |\n|---|---|\n| Case | 3 EUR |\n| Case | 4 EUR |\n\n"
        "Support is open on Mondays.\n\n- Warranty: two years"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_web_page_is_read_in_its_encoding(tmp_path: Path, encoding: str):
    head = "" if encoding == "utf-8" else '<meta charset="iso-8859-1">'
    page = f"<html><head>{head}</head><body><p>Der Schlüssel hängt am Haken.</p></body></html>"
    assert text_of(tmp_path / "p.htm", page.encode(encoding)) == "Der Schlüssel hängt am Haken."


def test_a_deep_page_costs_no_stack(tmp_path: Path):
    said = "The key is under the stone."
    page = "<div>" * 1_000 + said
    assert text_of(tmp_path / "p.html", page.encode()) == said
    with pytest.raises(UnreadableSource, match="shows no text"):
        text_of(tmp_path / "p.html", b"<div>" * 200_000)


# ---- what a document may do ---------------------------------------------------------------------


def test_a_document_replaces_nothing_that_was_told_and_its_i_fills_no_form(
    session: Session, tmp_path: Path
):
    session.remember("I live in Vienna.")
    found = taken(session, tmp_path / "x.pdf", lease())
    (said,) = [text for text in found if "Paris" in text]
    current = {memory.text for memory in session.graph.memories.list(Status.CURRENT)}
    assert "I live in Vienna." in current and said in current
    assert all("me" not in (t.head, t.tail) for _, m in found.values() for t in m.triples)
    fields = [FormField("city", label="City"), FormField("tel", label="Phone number", type="tel")]
    city, phone = fill_from(session, fields, NOW, use_llm=False)
    assert (city.value, phone.value) == ("Vienna", None)
    assert not phone.alternatives


def test_a_changed_document_changes_its_own_memories(session: Session, tmp_path: Path):
    path = tmp_path / "x.pdf"
    taken(session, path, pdf([[Put(50, 60, "The meter in the hall reads 100.")]], Title="Flat"))
    found = taken(
        session, path, pdf([[Put(50, 60, "The meter in the hall reads 200.")]], Title="Flat")
    )
    assert list(found) == ["Flat: The meter in the hall reads 200."]
    current = {memory.text for memory in session.graph.memories.list(Status.CURRENT)}
    assert current == set(found)


def test_secrets_in_documents_are_not_stored(session: Session, tmp_path: Path):
    said = "The card number is 4111 1111 1111 1111 and the desk is in room 12."
    found = taken(session, tmp_path / "x.pdf", pdf([[Put(50, 60, said)]], Title="Desk"))
    assert list(found) == ["The card number is [card number redacted] and the desk is in room 12."]


# ---- files that cannot be read ------------------------------------------------------------------


def repacked(data: bytes, **files: str | None) -> bytes:
    """A packed document with files added, or left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name not in files:
                new.writestr(name, old.read(name))
        for name, text in files.items():
            if text is not None:
                new.writestr(name, text)
    return out.getvalue()


DRM = (
    '<encryption><CipherData><CipherReference URI="OEBPS/text/c%200.xhtml"/></CipherData>'
    "</encryption>"
)
BROKEN = {
    "locked.pdf": (lease(locked=True), "protected by a password"),
    "broken.pdf": (lease()[:300], "damaged, or no PDF file"),
    "text.pdf": (b"hello", "damaged, or no PDF file"),
    "empty.pdf": (b"", "is empty"),
    "blank.pdf": (pdf([[]]), "shows no text"),
    "locked.docx": (b"\xd0\xcf\x11\xe0" + b"x" * 500, "protected by a password"),
    "broken.docx": (word_file()[:9000], "damaged, or no DOCX file"),
    "book.docx": (epub("x", ["<p>x</p>"]), "damaged, or no DOCX file"),
    "broken.epub": (word_file(), "damaged, or no EPUB file"),
    "empty.epub": (epub("x", []), "has no text"),
    "drm.epub": (
        repacked(epub("x", ["<p>x</p>"]), **{"META-INF/encryption.xml": DRM}),
        "copy protection",
    ),
    "empty.html": (b"<html><script>x</script></html>", "shows no text"),
    "no.eml": (b"hello there", "has no mail in it"),
    "no.mbox": (b"hello there", "has no mail in it"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_one_line_and_loses_nothing(
    session: Session, tmp_path: Path, name: str
):
    data, reason = BROKEN[name]
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.html").write_text("<p>The key is in the shed.</p>")
    reports = {
        Path(r.path).name: r for r in session.ingest([tmp_path / name, tmp_path / "good.html"])
    }
    failed = reports[name]
    assert failed.status == "failed" and failed.reason is not None
    assert reason in failed.reason and "\n" not in failed.reason
    assert reports["good.html"].memories == 1
    assert len(session.graph.sources.list()) == 1


def test_a_broken_version_leaves_what_the_file_gave(session: Session, tmp_path: Path):
    before = taken(session, tmp_path / "x.pdf", lease())
    (tmp_path / "x.pdf").write_bytes(lease(locked=True))
    (report,) = session.ingest([tmp_path / "x.pdf"])
    assert report.status == "failed"
    assert {memory.text for memory in session.graph.memories.list(Status.CURRENT)} == set(before)


def test_huge_documents_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pdf_reader, "MAX_PAGES", 2)
    with pytest.raises(UnreadableSource, match="3 pages; at most 2"):
        text_of(tmp_path / "x.pdf", lease())
    monkeypatch.undo()
    monkeypatch.setattr(pdf_reader, "MAX_SCANNED", 0)
    with pytest.raises(UnreadableSource, match="1 scanned pages; at most 0"):
        text_of(tmp_path / "x.pdf", scan(["x"]))
    monkeypatch.setattr(plain, "MAX_UNPACKED", 1000)
    with pytest.raises(UnreadableSource, match="unpacks to more than"):
        text_of(tmp_path / "x.docx", word_file())
    monkeypatch.setattr(reading, "MAX_CHARACTERS", 10)
    with pytest.raises(UnreadableSource, match="characters of text; at most 10"):
        text_of(tmp_path / "x.html", b"<p>The key is in the shed.</p>")


def test_parts_of_damaged_documents_raise_nothing_else(tmp_path: Path):
    for name, data in (("x.docx", word_file()), ("x.epub", epub("x", ["<p>The key.</p>"] * 3))):
        for at in range(0, len(data), max(1, len(data) // 60)):
            changed = bytearray(data)
            changed[at] ^= 0x55
            try:
                text_of(tmp_path / name, bytes(changed))
            except UnreadableSource as error:
                assert "\n" not in str(error)


# ---- without the extra --------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the readers of documents."""
    real = importlib.util.find_spec
    gone = ("pypdfium2", "docx", "lxml")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in gone else real(name)
    )


@pytest.mark.usefixtures("bare")
def test_without_the_extra_a_line_says_what_to_install(session: Session, tmp_path: Path):
    for name, data in (
        ("x.pdf", lease()),
        ("x.docx", word_file()),
        ("m.eml", mail("The key is red.")),
    ):
        (tmp_path / name).write_bytes(data)
    reports = {Path(r.path).name: r for r in session.ingest([tmp_path])}
    for name in ("x.pdf", "x.docx"):
        assert reports[name].status == "skipped"
        reason = reports[name].reason
        assert reason is not None and reason.endswith("pip install '.[documents]'")
    assert reports["m.eml"].memories == 1  # plain mail needs nothing


def test_a_watcher_finds_documents_when_the_extra_comes(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "x.pdf").write_bytes(lease())
    session.graph.watched.add_folder(folder, NOW)
    clock = [1000.0]
    watcher = Watcher(session, clock=lambda: clock[0], wait=lambda: "")
    with monkeypatch.context() as away:
        away.setattr(reading, "missing_reader", lambda path: "no")
        away.setattr("agent.io.watch.missing_reader", lambda path: "no")
        watcher.begin()
        assert watcher.table.waiting() == 0
    watcher.begin()
    clock[0] += 10
    report = watcher.step()
    assert report is not None and report.memories == len(LEASE) + 4


# ---- the terminal -------------------------------------------------------------------------------


def test_show_and_why_name_the_page(memlane: Memlane, tmp_path: Path):
    (tmp_path / "lease.pdf").write_bytes(lease())
    done = memlane("ingest", str(tmp_path / "lease.pdf"), "--json").json
    ids = {edit["after"]: edit["memory"] for edit in done["edits"]}
    (meter,) = [name for text, name in ids.items() if "meter" in text]
    shown = memlane("memories", "show", meter).out
    assert 'page 3: "The meter in the hall reads 48,213."' in shown
    assert "Kitchen" not in shown  # the text of its page, not of the whole lease
    assert memlane("memories", "show", meter, "--json").json["span"]["part"] == "page 3"
    memlane("ask", "What does the meter in the hall read?", "--no-llm")
    assert "(page 3 of lease.pdf)" in memlane("why").out
    steps = memlane("why", "--json").json["steps"]
    assert "page 3 of lease.pdf" in {step.get("where") for step in steps}
    assert memlane("memories", "undo", "--run", done["run"], "--yes").code == 0
    assert "No memories" in memlane("memories", "list").out


def test_a_home_with_documents_travels(memlane: Memlane, tmp_path: Path, monkeypatch: Any):
    (tmp_path / "lease.pdf").write_bytes(lease())
    (tmp_path / "m.mbox").write_bytes(mbox(mail("The key is red."), mail("The shed is blue.")))
    assert memlane("ingest", str(tmp_path / "lease.pdf"), str(tmp_path / "m.mbox")).code == 0
    assert memlane("export", "--output", str(tmp_path / "out.jsonl")).code == 0
    before = memlane("memories", "list", "--json").json
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "other"))
    assert memlane("import", str(tmp_path / "out.jsonl")).code == 0
    after = memlane("memories", "list", "--json").json
    assert json.dumps(after).count('"read"') == json.dumps(before).count('"read"') > 5


def test_endings_are_read_in_any_case():
    assert kind_of(Path("x.PDF")) is kind_of(Path("x.xhtml")) is SourceKind.DOCUMENT
    assert kind_of(Path("x.Eml")) is SourceKind.MAIL
