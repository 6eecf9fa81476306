"""Questions as policies meet them: each with its view, its gold ids and the time it asks about.

*Plain* sets (conversations, messages) are walked as they were told, every memory placed in its
subclass by the product. *Lived* ones go through the product: the gold memories of a simulated life
are stored and edited as they are told, and at the end of each week every policy gets exactly the
question and the view that ``agent.answering.retrieve`` hands to one. Nothing that retrieval adds to
a selection afterwards takes part, so the policies alone are compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from agent.answering.answer import Answer, answer
from agent.answering.question.question_time import Asked
from agent.answering.retrieve import retrieve
from agent.memory.remember import store_drafts
from agent.memory.time.timeline import Timeline
from agent.memory.vectors.waiting import ensure_vectors
from agent.ports import LanguageModel, NameEncoder, TokenEncoder
from agent.session.session import Session
from benchmarks.shared.questions.qa_data import Collection, Item, simulated
from benchmarks.shared.simulated_lives.lives import fresh, gold_draft
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.shared.simulated_lives.lives_world import write_life
from policies.base import Episode, Question
from policies.purple.purple import TokenVectors
from policies.scoring.question_entities import NameVectors
from policies.selection import Choice, Selection
from store.derived.view import GraphView


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """A question put to a policy."""

    item: Item
    collection: str
    question: Question
    view: GraphView
    required: frozenset[str] | None
    """Ids in the view that the answer needs, as ``Item.required``."""
    asked: Asked | None = None
    """The time it asks about, where the product has read it."""

    @property
    def episode(self) -> Episode:
        """For training."""
        return Episode(self.item.key, self.question, self.view, self.required)


def plain(collections: Sequence[Collection], session: Session) -> list[Put]:
    """Every question of conversations that are never edited."""
    puts = []
    types = {subclass.id: subclass.type for subclass in session.graph.subclasses()}
    for one in collections:
        texts = [memory.text for memory in one.memories]
        vectors = session.embedder.encode(texts)
        places = session.placer.place_vectors(texts, vectors)
        memories = tuple(
            replace(memory, subclass=place, type=types[place])
            for memory, place in zip(one.memories, places, strict=True)
        )
        placed = replace(one, memories=memories)
        questions = session.embedder.encode([item.text for item in one.items])
        whole = placed.view(vectors)
        for item, vector in zip(one.items, questions, strict=True):
            view = whole.narrowed(placed.told_by(item.asked))  # the same one where all was told
            question = Question(item.text, vector, item.asked)
            puts.append(Put(item, one.name, question, view, item.required))
    return puts


def lived(bank: Bank, seeds: Iterable[int], models: Session) -> Iterator[Put]:
    """Every question of simulated lives, at the end of the week it is asked in."""
    for seed in seeds:
        collection = simulated(bank, seed)
        with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
            waiting = list(write_life(bank, seed).told)
            keys: dict[str, str] = {}
            for item in collection.items:
                while waiting and waiting[0].at <= item.asked:
                    told = waiting.pop(0)
                    source = session.graph.sources.add(told.kind, told.raw, told.at)
                    keys[source.id] = told.key
                    draft = gold_draft(told, source.id)
                    store_drafts([draft], source, session.graph, session, told.at)
                yield _put(item, collection.name, session, keys)


def _put(item: Item, collection: str, session: Session, keys: dict[str, str]) -> Put:
    graph, embedder = session.graph, session.embedder
    ensure_vectors(graph, embedder)
    listening = _Listening()
    found = retrieve(item.text, graph, listening, embedder, item.asked)
    question, view = listening.heard[0]
    needed = item.required or frozenset()
    # Looked for in the whole graph: what the view lacks was lost before any policy saw it.
    everything = graph.view(item.asked, embedder.identity, history=True).memories
    required = frozenset(m.id for m in everything if keys[m.source or ""] in needed)
    unknown = bool(needed) and not required
    return Put(item, collection, question, view, None if unknown else required, found.asked)


@dataclass(slots=True)
class _Listening:
    """A policy that chooses nothing and remembers what it was given."""

    heard: list[tuple[Question, GraphView]] = field(default_factory=list)
    name: str = "listening"

    def select(self, question: Question, view: GraphView) -> Selection:
        self.heard.append((question, view))
        return Selection(self.name, (), ())


def names_of(models: Session) -> NameVectors | None:
    """The encoder of short names, as the product has it."""
    embedder = models.embedder
    return embedder.encode_names if isinstance(embedder, NameEncoder) else None


def tokens_of(models: Session) -> TokenVectors | None:
    """The encoder of single tokens, as the product has it."""
    embedder = models.embedder
    return embedder.encode_tokens if isinstance(embedder, TokenEncoder) else None


def sample(puts: Sequence[Put], count: int, seed: int) -> list[Put]:
    """``count`` of the questions drawn by seed, in the order they were given; all if fewer."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(puts))[:count]
    return [puts[row] for row in sorted(rows)]


def respond(put: Put, chosen: Sequence[Choice], llm: LanguageModel) -> Answer:
    """The product's answer from these memories."""
    history = put.asked is not None and put.asked.needs_history
    line = Timeline(put.view.memories if history else [choice.memory for choice in chosen])
    now, vector = put.question.now, put.question.vector
    marks = {choice.memory.id: line.mark(choice.memory, now) for choice in chosen}
    near = {
        choice.memory.id: float(put.view.vectors[put.view.row[choice.memory.id]] @ vector)
        for choice in chosen
    }
    return answer(put.item.text, chosen, now=now, llm=llm, asked=put.asked, marks=marks, near=near)
