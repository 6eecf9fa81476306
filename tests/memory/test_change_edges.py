"""Possible changes: edges between memories, what they bring into an answer, what they forbid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from agent.answering.notes.gather import gather
from agent.config import Config
from agent.language.units import units
from agent.memory import remember
from agent.memory.changes import (
    Judgements,
    Newer,
    judge_ahead,
    possible_changes,
    possibly_newer,
)
from agent.memory.editing.candidates import NEAREST, RECENT
from agent.memory.editing.judges.by_reader import judged
from agent.memory.editing.plan import EditPlan
from agent.memory.editing.replacing import allows, changeable, sure_replacements
from agent.memory.gloss import Glosses
from agent.models.readers.second_reader import Beside, SecondReader
from agent.ports import KINDS, ORDERS, RELATIONS, Embedder, Probabilities, Vectors
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Forget, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, SourceKind, Span, Trust
from tests.conftest import Result, ScriptedModel

Memlane = Callable[..., Result]

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


class ScriptedReader:
    """Says of a pair what the words of the newer text promise; everything is relevant."""

    def __init__(
        self, changes: Sequence[str] = (), relation: str = "supersedes", relevant: float = 0.9
    ) -> None:
        self.changes = changes
        self.relation = relation
        self.relevant = relevant

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        return _one_hot([KINDS.index("state")] * len(statements), len(KINDS))

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        rows = [
            RELATIONS.index(self.relation if any(w in new for w in self.changes) else "unrelated")
            for _, new in pairs
        ]
        return _one_hot(rows, len(RELATIONS))

    def orders(self, messages: Sequence[str]) -> Probabilities:
        return _one_hot([0] * len(messages), len(ORDERS))

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        return np.full((len(statements), 1), self.relevant, dtype=np.float32)


def _one_hot(rows: Sequence[int], size: int) -> Probabilities:
    made = np.zeros((len(rows), size), dtype=np.float32)
    made[range(len(rows)), list(rows)] = 1.0
    return made


def insert(graph: MemoryGraph, *texts: str) -> list[str]:
    drafts = [
        Draft(text, "attribute.occupation", NOW + timedelta(days=n)) for n, text in enumerate(texts)
    ]
    return [entry.memory for entry in graph.apply([Insert(d) for d in drafts], at=NOW)]


def noted(text: str, source: str) -> Draft:
    return Draft(text, "attribute.occupation", NOW, source=source, trust=Trust.NOTED)


# ---- the store ------------------------------------------------------------------------------


def test_an_edge_is_found_from_both_of_its_ends_and_kept_once(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
    for probability in (0.3, 0.8):
        edge = ChangeEdge(old, new, ChangeKind.SUPERSEDES, probability)
        graph.change_edges.put([edge], NOW)
    assert graph.change_edges.of([old]) == graph.change_edges.of([new]) == (edge,)


def test_an_edge_of_a_forgotten_memory_counts_no_longer(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
    graph.change_edges.put([ChangeEdge(old, new, ChangeKind.ENDS, 0.9)], NOW)
    graph.apply([Forget(new)], at=NOW)
    assert graph.change_edges.of([old]) == ()


def test_a_dismissed_edge_stays_dismissed(graph: MemoryGraph):
    old, new = insert(graph, "I work at Kindling.", "Bo works at Redford.")
    edge = ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.4)
    graph.change_edges.put([edge], NOW)
    assert graph.change_edges.dismiss(old, new, NOW)
    graph.change_edges.put([edge], NOW)
    assert graph.change_edges.of([old]) == ()
    assert not graph.change_edges.dismiss(old, new, NOW)


def test_a_plan_has_changed_nothing_before_its_day(graph: MemoryGraph):
    (old,) = insert(graph, "I work at Kindling.")
    plan = Draft("I start at Redford on 19 May.", "attribute.occupation", NOW)
    plan = replace(plan, valid_from=NOW + timedelta(days=11))
    (entry,) = graph.apply([Insert(plan)], at=NOW)
    graph.change_edges.put([ChangeEdge(old, entry.memory, ChangeKind.SUPERSEDES, 0.8)], NOW)
    old_one, new_one = memories = graph.memories.of([old, entry.memory])
    assert possibly_newer(memories, graph, least=0.3, by=NOW) == {}
    found = possibly_newer(memories, graph, least=0.3, by=NOW + timedelta(days=11))
    assert found == {old_one.id: (Newer(new_one, ChangeKind.SUPERSEDES, 0.8),)}


# ---- the second reader ----------------------------------------------------------------------


class Doubting:
    """A second reader that gives every change one probability."""

    def __init__(self, chance: float) -> None:
        self.chance = chance
        self.pairs: list[tuple[str, str]] = []

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[float]
    ) -> Probabilities:
        self.pairs += pairs
        return np.full(len(pairs), self.chance, np.float32)


@pytest.mark.parametrize(("chance", "edges"), [(0.05, 0), (0.6, 1)])
def test_the_second_reader_may_take_a_change_away(
    session: Session, monkeypatch: pytest.MonkeyPatch, chance: float, edges: int
):
    second = Doubting(chance)
    monkeypatch.setattr(remember, "second_reader", lambda llm: second)
    old, new = "I work at Kindling.", "I bake at Redford in the mornings."
    session._statements = ScriptedReader(["Redford"])
    remember_all(session, old, new)
    found = session.graph.change_edges.of([m.id for m in session.graph.memories.list()])
    assert [round(edge.probability, 2) for edge in found] == [chance] * edges
    assert second.pairs == [(old, new)]


def remember_all(session: Session, *texts: str) -> None:
    """Store each text as a chat message gives it, in its own words."""
    for days, text in enumerate(texts):
        said = NOW + timedelta(days=days)
        source = session.graph.sources.add(SourceKind.CHAT, text, said)
        draft = Draft(text, "attribute.occupation", said, source=source.id, trust=Trust.TOLD)
        remember.store_drafts([draft], source, session.graph, session, said)


# ---- the command line -----------------------------------------------------------------------


def test_show_tells_possible_changes_and_unlink_takes_them_back(memlane: Memlane, own_home: Path):
    with MemoryGraph.open(own_home) as graph:
        old, new = insert(graph, "I work at Kindling.", "Redford has me on the grill.")
        graph.change_edges.put([ChangeEdge(old, new, ChangeKind.SUPERSEDES, 0.42)], NOW)
    assert f"{new} may supersede {old} (0.42)" in memlane("memories", "show", old).out
    shown = memlane("memories", "show", new, "--json").json
    assert shown["possible_changes"] == [
        {"older": old, "newer": new, "change": "may_supersede", "probability": 0.42}
    ]
    assert f"{new} does not change {old}" in memlane("memories", "unlink", old, new).out
    assert memlane("memories", "show", old, "--json").json["possible_changes"] == []
    assert "no possible change" in memlane("memories", "unlink", old, new).out
    assert memlane("memories", "unlink", old, "m99").code == 1


# ---- replacements ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old", "allowed"),
    [
        (Trust.TOLD, Trust.TOLD, True),
        (None, None, True),
        (Trust.NOTED, Trust.NOTED, True),
        (Trust.NOTED, Trust.TOLD, False),
        (Trust.SEEN, Trust.TOLD, False),
    ],
)
def test_what_is_read_in_files_replaces_nothing_that_was_told(
    new: Trust | None, old: Trust | None, allowed: bool
):
    (sure,) = judged(ScriptedReader(["Redford"]), [("I work at Kindling.", "I work at Redford.")])
    assert allows(sure, new, old) is allowed


def test_a_replacement_that_the_reader_is_not_sure_of_is_an_insert(graph: MemoryGraph):
    (old,) = insert(graph, "Ruth lives in Flat 3.")
    draft = Draft("Ruth Adeyemi lives in Hackney.", "attribute.occupation", NOW)
    plan = EditPlan((Replace(old, draft),), ())
    assert sure_replacements(plan, graph, ScriptedReader()).edits == (Insert(draft),)
    assert sure_replacements(plan, graph, ScriptedReader(["Hackney"])).edits == plan.edits


class ScriptedSecond(SecondReader):
    """Gives every pair the same probability of a change."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[Beside]
    ) -> Vectors:
        return np.full(len(pairs), self.chance, np.float32)


def test_what_the_second_reader_takes_for_no_change_replaces_nothing(
    graph: MemoryGraph, settings: Config, embedder: Embedder
):
    models = Session(settings, graph, embedder=embedder, statements=ScriptedReader(["Redford"]))
    (old,) = insert(graph, "I work at Kindling.")
    draft = Draft("I work at Redford.", "attribute.occupation", NOW)
    plan = EditPlan((Replace(old, draft),), ())
    vectors = {draft.text: embedder.encode([draft.text])[0]}

    def judged_by(chance: float) -> EditPlan:
        second = ScriptedSecond(chance)
        return judge_ahead(plan, vectors, graph, models, NOW, Judgements(), second)

    assert judged_by(0.9).edits == plan.edits
    assert judged_by(0.1).edits == (Insert(draft),)


def told_beside(known: Judgements, drafts: Sequence[Draft]) -> dict[str, set[str]]:
    """By the text of each draft, the texts that it was judged beside."""
    return {
        draft.text: {text for pair in known.read if draft.text in pair for text in pair}
        - {draft.text}
        for draft in drafts
    }


def test_a_sentence_is_judged_beside_as_few_however_many_come_with_it(
    graph: MemoryGraph, settings: Config, embedder: Embedder
):
    models = Session(settings, graph, embedder=embedder, statements=ScriptedReader())
    names = ("Ada", "Bo", "Cy", "Dot", "Eve", "Fay", "Gus", "Hal", "Ida", "Jo", "Kit", "Lou", "Max")
    for text in (*(f"{name} has a boat." for name in names), *(f"{n} likes tea." for n in names)):
        models.remember(text)
    drafts = [Draft(f"{name} sold the boat.", "attribute.occupation", NOW) for name in names[:6]]
    vectors = {draft.text: embedder.encode([draft.text])[0] for draft in drafts}
    known = Judgements()
    judge_ahead(EditPlan(tuple(map(Insert, drafts)), ()), vectors, graph, models, NOW, known)
    beside = [len(older) for older in told_beside(known, drafts).values()]
    assert all(NEAREST <= count <= NEAREST + RECENT for count in beside)


@pytest.mark.parametrize("in_one_message", [True, False])
def test_what_the_sentence_before_names_is_a_candidate(
    graph: MemoryGraph, settings: Config, embedder: Embedder, in_one_message: bool
):
    models = Session(settings, graph, embedder=embedder, statements=ScriptedReader())
    visit, day = np.eye(embedder.dimension, dtype=np.float32)[:2]
    others = [f"Something is on the {number}th." for number in range(4, 4 + NEAREST + RECENT)]
    old = {"My dentist is on the 12th.": visit}
    for number, text in enumerate(others, 2):  # each a little about days
        own = np.eye(embedder.dimension, dtype=np.float32)[number]
        old[text] = np.float32(0.3) * day + np.float32(np.sqrt(1 - 0.3**2)) * own
    drafts = [Draft(text, "attribute.occupation", NOW) for text in old]
    model = embedder.identity
    graph.apply([Insert(draft) for draft in drafts], at=NOW, model=model, vectors=old)
    sources = [graph.sources.add(SourceKind.CHAT, text, NOW).id for text in ("One.", "Two.")]
    new = [
        Draft("The dentist rang.", "attribute.occupation", NOW, source=sources[0], span=Span(0, 4)),
        Draft(
            "It is the 19th now.",
            "attribute.occupation",
            NOW,
            source=sources[0 if in_one_message else 1],
            span=Span(5, 9),
        ),
    ]
    known = Judgements()
    vectors = {new[0].text: visit, new[1].text: day}
    judge_ahead(EditPlan(tuple(map(Insert, new)), ()), vectors, graph, models, NOW, known)
    beside = told_beside(known, new)[new[1].text]
    assert ("My dentist is on the 12th." in beside) is in_one_message


def test_what_is_read_in_a_file_is_not_judged_beside_what_was_said_last(
    graph: MemoryGraph, settings: Config, embedder: Embedder
):
    models = Session(settings, graph, embedder=embedder, statements=ScriptedReader())
    texts = (*(f"{name} has a boat." for name in "ABCDEFGH"), "I had soup.")
    for text in texts:
        models.remember(text)
    for kind in (SourceKind.CHAT, SourceKind.NOTE):
        source = graph.sources.add(kind, "Z has a boat.", NOW)
        draft = Draft("Z has a boat.", "attribute.occupation", NOW, source=source.id)
        vectors = {draft.text: embedder.encode([draft.text])[0]}
        known = Judgements()
        judge_ahead(EditPlan((Insert(draft),), ()), vectors, graph, models, NOW, known)
        beside = told_beside(known, [draft])[draft.text]
        assert ("I had soup." in beside) is (kind is SourceKind.CHAT)


class SeesNearness(ScriptedSecond):
    """Keeps what is told beside each pair."""

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[Beside]
    ) -> Vectors:
        self.near = {pair: one.near for pair, one in zip(pairs, beside, strict=True)}
        return super().changes(pairs, first, beside)


@pytest.mark.parametrize("language", ["en", "de"])
def test_how_near_two_sentences_are_is_told_where_the_encoder_knows_the_language(
    graph: MemoryGraph, settings: Config, embedder: Embedder, language: str
):
    old, new = {
        "en": ("I live in Leeds.", "I moved to York."),
        "de": ("Ich wohne seit drei Jahren in Leeds.", "Ich bin nach York umgezogen."),
    }[language]
    reader = ScriptedReader(["York"])
    models = Session(settings, graph, embedder=embedder, statements=reader)
    made = embedder.encode([old, new])
    draft = Draft(
        old, "attribute.address", NOW, source=graph.sources.add(SourceKind.CHAT, old, NOW).id
    )
    graph.apply([Insert(draft)], at=NOW, model=embedder.identity, vectors={old: made[0]})
    glosses = Glosses(graph.path.parent, ScriptedModel(["I live in Leeds.", "I moved to York."]))
    for text in (old, new) if language == "de" else ():
        glosses.make(text)
    plan = EditPlan((Insert(Draft(new, "attribute.address", NOW)),), ())
    second = SeesNearness(0.9)
    judge_ahead(plan, {new: made[1]}, graph, models, NOW, Judgements(), second)
    cosine = pytest.approx(float(made[0] @ made[1]), abs=1e-5)
    assert second.near == {(old, new): cosine if language == "en" else None}


class CountingReader(ScriptedReader):
    """Keeps the pairs of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[tuple[str, str]]] = []

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        self.calls.append(list(pairs))
        return super().relations(pairs)


@pytest.mark.parametrize("kind", [SourceKind.NOTE, SourceKind.DOCUMENT])
def test_sentences_of_a_source_do_not_crowd_out_its_candidates(
    graph: MemoryGraph, settings: Config, embedder: Embedder, kind: SourceKind
):
    reader = CountingReader()
    models = Session(settings, graph, embedder=embedder, statements=reader)
    models.remember("Ada has a boat.")
    text = "\n".join(f"{name} has a boat." for name in ("Bo", "Cy", "Dot", "Eve", "Fay", "Gus"))
    source = graph.sources.add(kind, text, NOW, locator="/boats.md")
    remember.remember_source(source, graph, models, NOW)
    new = [memory for memory in graph.memories.list() if memory.source == source.id]
    assert len(new) == 6
    reader.calls.clear()
    found = possible_changes(new, (), graph, models, NOW, Judgements())
    assert found == () and len(reader.calls[0]) == len(new)  # each beside Ada's alone


@pytest.mark.parametrize(
    ("locator", "text", "sure", "allowed"),
    [
        ("/Otto.md", "Otto works at Redford.", "", True),  # a newer version of the same file
        ("/b.md", "# Otto\nOtto works at Redford.", "", False),
        ("/b.md", "# Otto\nOtto works at Redford.", "Redford", True),
        ("/Ida.md", "Otto works at Redford.", "Redford", False),
    ],
)
def test_a_file_changes_what_it_said_and_of_others_what_is_sure(
    graph: MemoryGraph, locator: str, text: str, sure: str, allowed: bool
):
    before = graph.sources.add(SourceKind.NOTE, "Otto bakes.", NOW, locator="/Otto.md")
    source = graph.sources.add(SourceKind.NOTE, text, NOW, locator=locator)
    old = noted("Otto bakes.", before.id)
    draft = noted("Otto works at Redford.", source.id)
    (entry,) = graph.apply([Insert(old)], at=NOW)
    may = changeable(graph, ScriptedReader([sure] if sure else []))
    assert may(draft, graph.memories.get(entry.memory)) is allowed


def test_a_note_changes_nothing_that_was_told(graph: MemoryGraph):
    (told,) = insert(graph, "I work at Kindling.")
    source = graph.sources.add(SourceKind.NOTE, "I work at Redford.", NOW, locator="/me.md")
    draft = noted("I work at Redford.", source.id)
    may = changeable(graph, ScriptedReader(["Redford"]))
    assert not may(draft, graph.memories.get(told))


# ---- units ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("ok", ["ok"]),
        (
            "I live in Lyon, by the river. Bo lives in Nice, by the sea.",
            ["I live in Lyon, by the river.", "Bo lives in Nice, by the sea."],
        ),
        ("Finally. I live in Lyon, by the river.", ["Finally. I live in Lyon, by the river."]),
    ],
)
def test_units_are_sentences_and_short_ones_stand_with_their_neighbour(
    text: str, expected: list[str]
):
    found = units(text)
    assert [unit.text for unit in found] == expected
    assert all(unit.text == text[unit.start : unit.end] for unit in found)


@pytest.mark.parametrize(
    ("trust", "holds"), [(Trust.RELAYED, "m1"), (Trust.SEEN, "m1"), (Trust.TOLD, "m2")]
)
def test_what_is_trusted_less_changes_nothing_that_was_told(
    session: Session, trust: Trust, holds: str
):
    for text, origin in (("My number is 1111.", Trust.TOLD), ("My number is 2222.", trust)):
        session.graph.apply([Insert(Draft(text, "attribute.contact", NOW, trust=origin))], at=NOW)
    session.graph.change_edges.put(
        [ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, 0.98)], session.config.now()
    )
    found = session.retrieve("What is my number?")
    notes = gather("What is my number?", found, session, ScriptedReader())
    assert [note.memory.id for note in notes if note.holds] == [holds]


class OutsideTransactions:
    """The real reader, which may not be asked while the write lock is held."""

    def __init__(self, session: Session) -> None:
        assert session.statements is not None
        self._reader, self._graph = session.statements, session.graph
        self.asked = 0

    def __getattr__(self, name: str) -> Callable[..., Probabilities]:
        read: Callable[..., Probabilities] = getattr(self._reader, name)

        def checked(*given: object) -> Probabilities:
            assert not self._graph._rows.db.conn.in_transaction
            self.asked += 1
            return read(*given)

        return checked


def test_no_model_works_while_others_wait_to_write(session: Session, monkeypatch):
    told = [
        "My dentist is Dr Adams.",
        "I live in Utrecht.",
        "My dentist is Dr Brown now, no longer Dr Adams.",
        "I moved to Oslo.",
    ]
    plain = [session.remember(text) for text in told[:2]]
    reader = OutsideTransactions(session)
    monkeypatch.setitem(session.__dict__, "statements", reader)
    for text in told[2:]:
        session.remember(text)
    assert plain and reader.asked
    edges = session.graph.change_edges.of([m.id for m in session.graph.memories.list()])
    assert {edge.older for edge in edges} >= {"m1", "m2"}
