"""Where a memory was read, how far that is trusted, and what trust decides."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.answering.answer import build_turns
from agent.extraction.source_spans import SourceMap, foreign
from agent.memory.uncertain.contradictions import contradictions, trusted_first
from agent.session.session import Session
from policies.selection import Choice
from store.graph import MemoryGraph
from store.journal import Amend, Insert
from store.row_codecs import memory_from_payload, memory_payload
from store.types import (
    Draft,
    Memory,
    Source,
    SourceKind,
    Span,
    Status,
    Triple,
    Trust,
    lowest,
    may_replace,
)
from tests.conftest import ScriptedModel

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
ASSETS = Path(__file__).parents[2] / "cli" / "assets"


def source(text: str, kind: SourceKind = SourceKind.NOTE) -> Source:
    return Source("s1", kind, text, "", NOW)


def read_from(sentence: str, text: str, *others: str, kind: SourceKind = SourceKind.NOTE):
    span = SourceMap(source(text, kind), dict.fromkeys([sentence, *others])).locate(sentence)
    return None if span is None else span.of(text)


NOTE = (
    "Hi! By the way, my sister Mia moved to Porto in March.\n"
    "She opened a bakery there, it is called Forno. It opens at 06:30 on weekdays.\n"
    "\n"
    "Dinner at Trattoria Luna on Saturday, I booked a table for four.\n"
)


SENTENCES = (
    "My sister Mia moved to Porto in March.",
    "Mia opened a bakery called Forno.",
    "Forno opens at 06:30 on weekdays.",
    "I booked a table for four at Trattoria Luna on Saturday.",
)


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("My sister Mia moved to Porto in March.", "my sister Mia moved to Porto in March."),
        ("Mia opened a bakery called Forno.",
         "She opened a bakery there, it is called Forno."),
        ("Forno opens at 06:30 on weekdays.", "It opens at 06:30 on weekdays."),
        ("I booked a table for four at Trattoria Luna on Saturday.",
         "Dinner at Trattoria Luna on Saturday, I booked a table for four."),
    ],
)  # fmt: skip
def test_the_span_is_the_sentence_that_says_it(sentence: str, wanted: str):
    assert read_from(sentence, NOTE, *SENTENCES) == wanted


SCREEN = (
    "CROWNE PLAZA AMSTERDAM\nReservation confirmed\nConfirmation number: 88213407\n"
    "Check-in: 12 May 2024\nCheck-out: 18 May 2024\nBreakfast: included"
)
STATED = (
    "The confirmation number of the Crowne Plaza Amsterdam reservation is 88213407.",
    "The Crowne Plaza Amsterdam reservation is for 12 May 2024 to 18 May 2024.",
    "The Crowne Plaza Amsterdam reservation includes breakfast.",
)


def test_on_a_screen_the_span_is_the_labelled_lines():
    found = [read_from(s, SCREEN, *STATED, kind=SourceKind.SCREENSHOT) for s in STATED]
    assert found == [
        "Confirmation number: 88213407",
        "Check-in: 12 May 2024\nCheck-out: 18 May 2024",
        "Breakfast: included",
    ]


def test_a_memory_that_shares_nothing_with_the_source_has_no_span():
    assert read_from("The gate of the EK349 flight is B7.", NOTE) is None
    assert read_from("我住在新加坡。", NOTE) is None


def test_chinese_is_found_too():
    text = "你好！我叫陈伟。我住在新加坡，在医院工作。"
    assert read_from("我住在新加坡。", text) == "我住在新加坡"


@given(st.text(max_size=200), st.text(max_size=60))
def test_a_span_always_lies_in_the_text(text: str, sentence: str):
    """Property: whatever text and sentence are, a span is a non-empty stretch of the text."""
    span = SourceMap(source(text)).locate(sentence)
    assert span is None or 0 <= span.start < span.end <= len(text)


def test_what_is_typed_by_hand_is_its_own_span(session: Session):
    session.remember("  My bike is a blue Trek, bought in 2019.  ")
    (memory,) = session.graph.memories.list()
    raw = session.graph.sources.get(memory.source or "")
    assert memory.span is not None
    assert memory.span.of(raw.text) == "My bike is a blue Trek, bought in 2019."
    assert memory.trust is Trust.TOLD


def test_said_in_chat_each_memory_points_at_its_sentence(session: Session):
    session.respond("I live in Jurong West. My boss is Kenji Tan.")
    spans = {}
    for memory in session.graph.memories.list():
        raw = session.graph.sources.get(memory.source or "").text
        assert memory.span is not None
        spans[memory.text] = memory.span.of(raw)
    assert spans == {t: t for t in ("I live in Jurong West.", "My boss is Kenji Tan.")}


def test_a_screenshot_read_by_ocr_gives_spans_and_low_trust(session: Session):
    list(session.ingest([ASSETS / "boarding-pass.png"]))
    memories = session.graph.memories.list(Status.CURRENT)
    assert memories
    assert {memory.trust for memory in memories} == {Trust.SEEN}
    departs = next(memory for memory in memories if "departs at" in memory.text)
    raw = session.graph.sources.get(departs.source or "").text
    assert departs.span is not None
    assert "01:40" in departs.span.of(raw)


# ---- trust --------------------------------------------------------------------------------


def test_each_kind_of_source_has_its_trust():
    kinds = {kind: SourceMap(source("My cat is grey.", kind)).trust(None) for kind in SourceKind}
    assert kinds == {
        SourceKind.CHAT: Trust.TOLD,
        SourceKind.MANUAL: Trust.TOLD,
        SourceKind.NOTE: Trust.NOTED,
        SourceKind.CALENDAR: Trust.RECORDED,
        SourceKind.CONTACT: Trust.RECORDED,
        SourceKind.SCREENSHOT: Trust.SEEN,
        SourceKind.DOCUMENT: Trust.READ,
        SourceKind.MAIL: Trust.READ,
    }
    assert [t.rank for t in (Trust.TOLD, Trust.NOTED, Trust.RECORDED, Trust.SEEN)] == [4, 3, 2, 1]


MAIL = (
    "My note on the move.\n"
    "---------- Forwarded message ----------\n"
    "From: Bob <bob@example.com>\nTo: me\nSubject: keys\n\n"
    "The keys are at 12 Elm Street.\n"
    "--- end of forwarded message ---\n"
    "I pick the keys up on Friday.\n"
    "> The van costs 90 euros.\n"
    "I think the van is too small.\n"
)


@pytest.mark.parametrize(
    ("sentence", "trust"),
    [
        ("I pick the keys up on Friday.", Trust.NOTED),
        ("I think the van is too small.", Trust.NOTED),
        ("The keys are at 12 Elm Street.", Trust.RELAYED),
        ("The van costs 90 euros.", Trust.RELAYED),
    ],
)
def test_somebody_elses_words_in_a_note_are_theirs(sentence: str, trust: Trust):
    found = SourceMap(source(MAIL))
    assert found.trust(found.locate(sentence)) is trust


@pytest.mark.parametrize(
    "text",
    [
        "From: Ana\nTo: me\nSubject: x\n\nThe code is 4711.",
        "On Mon, 6 May 2024 at 10:00, Ana <a@example.com> wrote:\nThe code is 4711.",
        "Am 6. Mai 2024 schrieb Ana Huber:\nThe code is 4711.",
        "-----Original Message-----\nThe code is 4711.",
        "Fwd: door\nThe code is 4711.",
        "> The code is 4711.",
    ],
)
def test_forwarded_and_quoted_text_is_recognised(text: str):
    found = SourceMap(source(text))
    assert found.trust(found.locate("The code is 4711.")) is Trust.RELAYED


def test_an_ordinary_note_holds_nobody_elses_words():
    assert foreign("# Plans\nFrom Monday on I swim.\n- to buy: milk\nDate: Friday\n") == ()


def test_without_a_span_a_text_that_quotes_is_trusted_as_the_quote():
    assert SourceMap(source(MAIL)).trust(None) is Trust.RELAYED
    assert SourceMap(source(NOTE)).trust(None) is Trust.NOTED


def test_only_equal_or_better_trust_replaces_and_the_persons_own_words_always_do():
    told, noted, recorded, seen, read, relayed = Trust
    for own, old in itertools.product((told, noted, None), (*Trust, None)):
        assert may_replace(own, old)
    for other in (recorded, seen, read, relayed):
        assert not may_replace(other, told)
        assert not may_replace(other, noted)
        assert not may_replace(other, None)
        assert may_replace(other, seen)
    assert may_replace(recorded, recorded)
    assert not may_replace(seen, recorded)


def test_what_is_derived_has_the_lowest_trust_of_its_evidence():
    assert lowest([Trust.TOLD, Trust.SEEN, Trust.NOTED]) is Trust.SEEN
    with pytest.raises(ValueError):
        lowest([])


def test_a_quoted_mail_does_not_replace_what_the_person_said(
    session: Session, scripted: ScriptedModel, tmp_path: Path
):
    session.remember("The gate of the EK349 flight is B7.")
    scripted.replies.append("1. The gate of the EK349 flight is C2.")
    note = tmp_path / "mail.md"
    note.write_text("> The gate of the EK349 flight is C2.\n")
    list(session.ingest([note]))
    texts = {m.text: m.trust for m in session.graph.memories.list(Status.CURRENT)}
    assert texts == {
        "The gate of the EK349 flight is B7.": Trust.TOLD,
        "The gate of the EK349 flight is C2.": Trust.RELAYED,
    }
    session.respond("The gate of the EK349 flight is D4.")  # the person's own word replaces
    holding = [m.text for m in session.graph.memories.list() if m.holds_at(NOW)]
    assert holding == ["The gate of the EK349 flight is D4."]
    assert session.graph.verify() == ()


def test_what_the_person_writes_replaces_a_screenshot(session: Session):
    list(session.ingest([ASSETS / "boarding-pass.png"]))
    session.respond("The EK349 flight departs at 01:30 on 2024-05-12 now.")
    texts = [m.text for m in session.graph.memories.list(Status.CURRENT) if "departs" in m.text]
    assert len(texts) == 1
    assert "01:30" in texts[0]


def test_a_screenshot_that_the_person_corrected_is_theirs(graph: MemoryGraph):
    raw = graph.sources.add(SourceKind.SCREENSHOT, DEPARTS, NOW)
    graph.apply([Insert(Draft(DEPARTS, "event.arrangement", NOW, source=raw.id))], at=NOW)
    graph.apply([Amend("m1", place="Singapore")], at=NOW, actor="user")
    assert graph.memories.get("m1").trust is Trust.SEEN
    graph.apply([Amend("m1", text=MOVED)], at=NOW, actor="user")
    assert graph.memories.get("m1").trust is Trust.TOLD
    graph.undo(at=NOW)
    assert graph.memories.get("m1").trust is Trust.SEEN


# ---- display ------------------------------------------------------------------------------


def memory(key: str, text: str, trust: Trust, *triples: Triple) -> Memory:
    return Memory(key, text, "Event", "event.arrangement", NOW, triples, trust=trust)


DEPARTS = "The EK349 flight departs at 01:40."
MOVED = "The EK349 flight departs at 01:30."


def test_contradicting_notes_tell_the_model_where_they_are_from():
    pair = (memory("m1", DEPARTS, Trust.SEEN), memory("m2", MOVED, Trust.TOLD))
    alone = build_turns("When?", [Choice(pair[0], 0.9)], NOW)[-1].content
    assert "1. The EK349 flight departs at 01:40.\n" in alone
    both = build_turns("When?", [Choice(m, 0.9) for m in pair], NOW)[-1].content
    assert f"1. {DEPARTS} (from a screenshot, 2024-05-08)\n" in both
    assert f"2. {MOVED} (I said so, 2024-05-08)\n" in both


def test_contradictions_are_two_values_of_one_thing():
    seen = memory("m1", DEPARTS, Trust.SEEN)
    (doubt,) = contradictions([seen, memory("m2", MOVED, Trust.TOLD)])
    assert (doubt.first.id, doubt.second.id) == ("m2", "m1")  # the better trusted first
    other = memory("m3", "The EK350 flight departs at 01:30.", Trust.TOLD)
    assert contradictions([seen, other, memory("m4", "I like tea.", Trust.TOLD)]) == ()


def test_of_two_that_contradict_each_other_the_more_trusted_is_shown_first():
    seen, told = memory("m1", DEPARTS, Trust.SEEN), memory("m2", MOVED, Trust.TOLD)
    tea = memory("m3", "I like tea.", Trust.NOTED)
    shown = [Choice(one, 0.7) for one in (seen, tea, told)]
    doubts = contradictions([seen, tea, told])
    assert [one.memory.id for one in trusted_first(shown, doubts)] == ["m2", "m1", "m3"]
    assert trusted_first(shown, ()) == tuple(shown)


def test_show_prints_source_locator_time_and_the_quoted_span(memlane, tmp_path: Path):
    note = tmp_path / "gym.md"
    note.write_text("Some words first.\nMy gym is called Fit24.\n")
    memlane("--now", "2024-05-08T09:00:00+00:00", "ingest", str(note))
    key = memlane("memories", "list", "--json").json["memories"][-1]["id"]
    shown = memlane("memories", "show", key, "--json").json
    assert shown["span"] == {"start": 18, "end": 41, "text": "My gym is called Fit24."}
    assert shown["trust"] == "noted"
    assert (shown["origin"]["kind"], shown["origin"]["locator"]) == ("note", str(note))
    assert shown["origin"]["captured"].startswith("2024-05-08T09:00")
    out = memlane("memories", "show", key).out
    for words in ("from your note", str(note), "2024-05-08 09:00", '"My gym is called Fit24."'):
        assert words in out


def test_an_answer_says_that_it_rests_on_a_screenshot(memlane, own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        raw = graph.sources.add(SourceKind.SCREENSHOT, DEPARTS, NOW)
        graph.apply([Insert(Draft(DEPARTS, "event.arrangement", NOW, source=raw.id))], at=NOW)
        graph.apply([Insert(Draft(MOVED, "event.arrangement", NOW))], at=NOW)
    asked = ("ask", "When does the EK349 flight depart?", "--no-llm")
    reply = memlane(*asked, "--json").json
    assert {m["id"]: m["trust"] for m in reply["memories"]} == {"m1": "seen", "m2": "told"}
    assert reply["doubts"] == [{"memories": ["m2", "m1"], "trust": ["told", "seen"]}]
    out = memlane(*asked).out
    assert "(from a screenshot)" in out
    assert "contradict each other" in out


# ---- stored -------------------------------------------------------------------------------


def test_span_and_trust_survive_the_journal_and_old_lines_still_load():
    told = Memory("m1", "I ski.", "Event", "event.x", NOW, span=Span(3, 9), trust=Trust.SEEN)
    assert memory_from_payload(json.loads(json.dumps(memory_payload(told)))) == told
    old = {k: v for k, v in memory_payload(told).items() if k not in ("span", "trust", "v")}
    loaded = memory_from_payload(old)
    assert (loaded.span, loaded.trust) == (None, None)


def test_a_home_from_before_provenance_still_verifies_and_can_be_edited(own_home: Path):
    """As an older memlane left it: no span and no trust in rows and journal."""
    with MemoryGraph.open(own_home) as graph:
        raw = graph.sources.add(SourceKind.SCREENSHOT, "I live in Bedok.", NOW)
        graph.apply(
            [Insert(Draft("I live in Bedok.", "attribute.address", NOW, source=raw.id))], at=NOW
        )
        rows = graph._rows
        rows.execute("INSERT INTO redacting VALUES ('x')")
        (line,) = rows.query("SELECT changes FROM journal")
        changes = json.loads(line["changes"])
        for name in ("span", "trust", "v"):
            del changes[0]["after"][name]
        rows.execute("UPDATE journal SET changes = ?, redacted = 'x'", [json.dumps(changes)])
        rows.execute("DROP TRIGGER journal_no_update")
        rows.execute("UPDATE journal SET redacted = NULL")
        rows.execute("UPDATE memories SET trust = NULL")
        rows.db.conn.commit()
    with MemoryGraph.open(own_home) as graph:
        assert graph.memories.get("m1").trust is Trust.SEEN  # as its source's kind says
        assert graph.verify() == ()
        graph.apply([Amend("m1", text="I live in Tampines.")], at=NOW)
        assert graph.verify() == ()
        graph.undo(at=NOW)
        assert graph.verify() == ()
