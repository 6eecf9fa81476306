"""Candidates of a change: which older memories a new one is compared with, and how near."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from agent.config import Config
from agent.memory import remember
from agent.memory.changes import Judgements, judge_ahead, possible_changes
from agent.memory.editing.candidates import NEAREST, RECENT
from agent.memory.editing.plan import EditPlan
from agent.memory.gloss import Glosses
from agent.models.readers.second_reader import Beside
from agent.ports import Embedder, Probabilities, Vectors
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, SourceKind, Span
from tests.conftest import ScriptedModel
from tests.support.scripted_readers import ScriptedReader, ScriptedSecond

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


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
