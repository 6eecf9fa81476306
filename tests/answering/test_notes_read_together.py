"""Notes that the language model read together: which count, and when there is no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from agent.answering.notes.candidates import Candidates
from agent.answering.notes.reading import first_of
from agent.config import Config
from agent.memory.gloss import Glosses
from agent.models.readers.note_reader import NOTES, DatedNote, NoteProbabilities
from agent.ports import Embedder
from agent.results import Route
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Expire, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, Memory, SourceKind, Span, Trust
from tests.conftest import NOW, ScriptedModel
from tests.support.scripted_readers import ScriptedReader


class ScriptedNoteReader:
    """Takes the notes with these words for the answer, to begin with those that name Redford."""

    def __init__(self, answered: float, **likely: float) -> None:
        self.answered = answered
        self.likely = likely or {"Redford": 0.8}
        self.first: list[float] = []
        self.asked: list[tuple[str, set[str]]] = []

    def read(
        self, question: str, notes: Sequence[DatedNote], first: Sequence[float]
    ) -> NoteProbabilities:
        self.first = list(first)
        self.asked.append((question, {text for _, text in notes}))
        relevance = [
            max((chance for word, chance in self.likely.items() if word in text), default=0.01)
            for _, text in notes
        ]
        return NoteProbabilities(np.array(relevance, np.float32), self.answered)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(["You work at Redford."])


@pytest.fixture
def session(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path, model: ScriptedModel
) -> Session:
    texts = ("I work at Redford.", "I worked at Kindling.", "My sister works at Lund.")
    drafts = [Draft(text, "attribute.occupation", NOW) for text in texts]
    graph.apply([Insert(draft) for draft in drafts], at=NOW)
    config = replace(settings, home=own_home, fixed_now=NOW)
    return Session(config, graph, embedder=embedder, llm=model, statements=ScriptedReader())


def test_the_model_is_shown_what_it_found_likely(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    reply = session.ask("Where do I work?")
    assert reply.text == "You work at Redford."
    shown = model.asked[-1][-1].content
    assert "Redford" in shown and "Kindling" not in shown
    assert reader.first == pytest.approx([0.9] * 3)  # the statement reader's opinion counts too


def test_in_another_language_they_are_read_as_they_stand_and_in_english(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    text, gloss = "Seit März arbeite ich nicht mehr bei Redford.", "I left Redford in March."
    session.graph.apply([Insert(Draft(text, "attribute.occupation", NOW))], at=NOW)
    model.replies = [gloss, "Where do I work?", "Bei Redford."]
    Glosses(session.graph.path.parent, model).make(text)

    session.ask("Wo arbeite ich denn jetzt eigentlich?")

    assert [question for question, _ in reader.asked] == [
        "Wo arbeite ich denn jetzt eigentlich?",
        "Where do I work?",
    ]
    assert text in reader.asked[0][1] and gloss in reader.asked[1][1]


def test_of_several_facts_in_a_line_each_is_read_by_itself_too(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    line = "So I'm Ada, 58, potter, two greyhounds, and evenings I teach at Moorside."
    said = session.graph.sources.add(SourceKind.CHAT, line, NOW)
    drafts = [
        Draft(text, "attribute.occupation", NOW, source=said.id, span=Span(0, len(line)))
        for text in ("I'm a potter.", "In the evenings I teach at Moorside.")
    ]
    session.graph.apply([Insert(draft) for draft in drafts], at=NOW)
    session.ask("Where do I work?")
    texts = reader.asked[0][1]
    assert {line, "I'm a potter.", "In the evenings I teach at Moorside."} <= texts
    assert len(texts) == 6


@pytest.mark.parametrize(
    ("answered", "text"),
    [
        (0.1, "I don't know: I remember nothing about that."),
        (
            0.3,
            "I am not sure that you told me. The nearest is this. "
            "On 2024-05-08 you said: “I work at Redford.”",
        ),
    ],
)
def test_where_hardly_any_note_answers_the_model_is_not_asked(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch,
    answered: float, text: str,
):  # fmt: skip
    reader = ScriptedNoteReader(answered)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    reply = session.ask("Where do I work?")
    assert reply.abstained and reply.text == text
    assert model.asked == []


@pytest.mark.parametrize(
    ("relevance", "near", "first"),
    [
        ((0.9, 0.1, 0.1), (0.2, 0.5, 0.4), ""),  # none is near by both
        ((0.9, 0.85, 0.1), (0.2, 0.5, 0.9), "b"),
        ((0.79, 0.1, 0.1), (0.9, 0.1, 0.1), ""),
    ],
)
def test_the_nearest_is_near_by_meaning_and_by_the_reader(
    relevance: tuple[float, ...], near: tuple[float, ...], first: str
):
    names = "abc"
    memories = {name: Memory(name, "", "", "", NOW) for name in names}
    cosines = dict(zip(names, near, strict=True))
    pool = Candidates(memories, {}, (), cosines, frozenset(), {})
    assert first_of(pool, dict(zip(names, relevance, strict=True))) == first


def test_what_has_ended_is_told_as_over(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.graph.apply([Expire("m1", NOW - timedelta(days=1))], at=NOW)
    monkeypatch.setattr(
        "agent.answering.notes.gather.note_reader", lambda _: ScriptedNoteReader(answered=0.9)
    )
    reply = session.ask("Where do I work?")
    assert reply.text.startswith("No longer.") and "Redford" in reply.text
    assert [choice.memory.id for choice in reply.memories] == ["m1"]
    assert model.asked == []


def test_what_has_ended_is_no_answer_beside_what_holds(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.graph.apply([Expire("m2", NOW - timedelta(days=1))], at=NOW)
    monkeypatch.setattr(
        "agent.answering.notes.gather.note_reader", lambda _: ScriptedNoteReader(answered=0.9)
    )
    assert session.ask("Where do I work?").text == "You work at Redford."
    assert "Kindling" not in model.asked[-1][-1].content


def test_a_note_that_answers_better_is_not_hidden_by_what_may_have_changed_it(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.graph.change_edges.put([ChangeEdge("m1", "m3", ChangeKind.SUPERSEDES, 0.8)], NOW)
    monkeypatch.setattr(
        "agent.answering.notes.gather.note_reader", lambda _: ScriptedNoteReader(answered=0.9)
    )
    assert session.ask("Where do I work?").text == "You work at Redford."
    assert "Redford" in model.asked[-1][-1].content


def test_a_likely_change_counts_where_the_question_is_hardly_about_either_note(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.graph.change_edges.put([ChangeEdge("m1", "m3", ChangeKind.SUPERSEDES, 0.8)], NOW)
    reader = ScriptedNoteReader(answered=0.9, Redford=0.2)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    session.ask("Where do I work?")
    assert "Lund" in model.asked[-1][-1].content and "Redford" not in model.asked[-1][-1].content


def test_a_doubtful_change_counts_where_the_newer_note_is_the_answer(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.graph.change_edges.put([ChangeEdge("m2", "m1", ChangeKind.SUPERSEDES, 0.2)], NOW)
    monkeypatch.setattr(
        "agent.answering.notes.gather.note_reader", lambda _: ScriptedNoteReader(answered=0.9)
    )
    session.ask("Where do I work?")
    assert "Kindling" not in model.asked[-1][-1].content


def test_what_probably_changed_passes_on_how_likely_it_is_needed(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    model.replies[:] = ["I don't know."]
    session.graph.change_edges.put([ChangeEdge("m1", "m3", ChangeKind.SUPERSEDES, 0.97)], NOW)
    reader = ScriptedNoteReader(answered=0.95, Redford=0.9, Kindling=0.3)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    reply = session.ask("Where do I work?")
    assert not reply.abstained and "at Lund" in reply.text and "Kindling" not in reply.text


@pytest.mark.parametrize(("minutes", "chance", "whole"), [(3, 0.6, True), (90, 0.6, False),
                                                         (3, 0.4, False)])  # fmt: skip
def test_a_correction_is_read_with_what_it_corrects(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch,
    minutes: int, chance: float, whole: bool,
):  # fmt: skip
    reader = ScriptedNoteReader(answered=0.9, dental=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    texts = ("The dental check is at the mill at 16:20.", "Oh no, I read it wrong, it's 16:40.")
    for number, text in enumerate(texts):
        said = NOW - timedelta(days=1) + timedelta(minutes=number * minutes)
        source = session.graph.sources.add(SourceKind.CHAT, text, said)
        draft = Draft(text, "attribute.occupation", said, source=source.id, span=Span(0, len(text)))
        session.graph.apply([Insert(replace(draft, trust=Trust.TOLD))], at=said)
    session.graph.change_edges.put([ChangeEdge("m4", "m5", ChangeKind.CORRECTS, chance)], NOW)
    session.ask("When is the dental check?")
    together = "The dental check is at the mill at …. Oh no, I read it wrong, it's 16:40."
    assert (together in reader.asked[0][1]) is whole is not (texts[1] in reader.asked[0][1])
    assert (together in model.asked[-1][-1].content) is whole


@pytest.mark.parametrize("change", [ChangeKind.SUPERSEDES, ChangeKind.ADDS])
def test_what_may_have_changed_a_note_is_read_however_far_from_the_question(
    session: Session, monkeypatch: pytest.MonkeyPatch, change: ChangeKind
):
    reader = ScriptedNoteReader(answered=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    far = ("They rang and it is over.", "The other lot took me.")
    texts = (*(f"I work at {name}." for name in "ABCDEFGHI"), *far)
    drafts = [Draft(text, "attribute.occupation", NOW) for text in texts]
    session.graph.apply([Insert(draft) for draft in drafts], at=NOW)
    chain = [ChangeEdge("m1", "m13", change, 0.2), ChangeEdge("m13", "m14", change, 0.6)]
    session.graph.change_edges.put(chain, NOW)
    session.ask("Where do I work?")
    read = reader.asked[0][1]
    assert len(read) == NOTES
    assert set(far) <= read if change is ChangeKind.SUPERSEDES else not set(far) & read


def test_what_a_note_has_ended_comes_with_it_however_little_it_answers(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    model.replies[:] = ["Yes, you work at Redford."]
    session.graph.change_edges.put([ChangeEdge("m2", "m1", ChangeKind.ENDS, 0.8)], NOW)
    monkeypatch.setattr(
        "agent.answering.notes.gather.note_reader", lambda _: ScriptedNoteReader(answered=0.9)
    )
    assert session.ask("Do I work there?").text.startswith("No longer. On 2024-05-08 you said:")


def test_where_nothing_is_sure_what_other_readers_put_first_is_shown_too(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.3, Lund=0.2)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    session.statements = ScriptedReader(relevant=0.95)
    reply = session.ask("Where do I work?")
    assert reply.abstained and "at Lund.”" in reply.text and "at Redford.”" in reply.text
    assert "Kindling" not in reply.text


@pytest.mark.parametrize(
    ("later", "told"),
    [
        ("The knee man has bumped me to the 26th of March.", "26th of March"),
        ("They rang about the knee and it is later now.", "12 March"),  # tells no day
    ],
)
def test_a_later_note_that_surely_answers_goes_before_a_sentence_on_an_older_one(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, later: str, told: str
):
    reader = ScriptedNoteReader(answered=0.9, Amiri=0.5, **{"now": 0.7, "bumped": 0.7})
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    month_ago = NOW - timedelta(days=30)
    first = Draft("Dr Amiri looks at my knee on 12 March.", "event.arrangement", month_ago)
    drafts = [first, Draft(later, "event.arrangement", NOW)]
    session.graph.apply([Insert(draft) for draft in drafts], at=NOW)
    model.replies[:] = ["Dr Amiri looks at your knee on 12 March."]
    assert told in session.ask("When am I at Dr Amiri's with my knee?").text


def test_a_question_about_the_past_reads_notes_where_nothing_was_replaced(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.9)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    session.ask("Who was it that works at Lund?")
    assert reader.asked

    reader.asked.clear()
    new = Draft("My sister works at Kew.", "attribute.occupation", NOW)
    session.graph.apply([Replace("m3", new)], at=NOW)
    model.replies[:] = ["Your sister worked at Lund."]
    session.ask("Where was my sister working?")
    assert not reader.asked


def test_what_falls_on_a_day_ahead_is_told_where_no_note_answers(
    session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = ScriptedNoteReader(answered=0.01)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    day = "On Sat 25 May 2024: Dentist 08:45."
    seen = Draft(day, "event.arrangement", NOW, trust=Trust.SEEN)
    session.graph.apply([Insert(seen)], at=NOW)
    model.replies = ["You have the dentist at 08:45."]
    reply = session.ask("What do I have on 25 May?")
    assert "dentist at 08:45" in reply.text
    assert day in model.asked[-1][-1].content


@pytest.mark.parametrize(("relevance", "read"), [(0.1, False), (0.9, True)])
def test_small_talk_waits_for_no_reading_unless_a_note_seems_to_be_about_it(
    relevance: float,
    read: bool,
    session: Session,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
):
    reader = ScriptedNoteReader(answered=0.1)
    monkeypatch.setattr("agent.answering.notes.gather.note_reader", lambda _: reader)
    session.statements = ScriptedReader(relevant=relevance)
    monkeypatch.setattr(Session, "tells", lambda *_: False)
    model.replies = ["You are welcome."]
    reply = session.respond("Thanks, that was great!")
    assert reply.route is Route.NEITHER and reply.text == "You are welcome."
    assert bool(reader.asked) is read
