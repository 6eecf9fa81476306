"""Conversations and messages as the memories that memlane reads out of them, without a model.

Each turn is read as ``ingest`` reads a note (``agent.extraction.drafts.drafts_of_document``): its
sentences in their own words, pronouns and dates resolved, questions left out, relations by patterns
alone. The file's name is the speaker's, so what no pattern reads hangs on her. Two things are added
here, as the turns of two people have no user: her name stands before each of her sentences, as
``qa_data`` has it, and she is meant by *me* in her relations.

A memory's ``source`` is the turn that it comes from, so gold turns become gold memories and
what is chosen is judged by turns. A turn that nothing is read from cannot be chosen: its question
loses that evidence. What was read is kept outside the repository, by texts and by the revision of
the code that reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agent.codec import decode, encode
from agent.extraction.drafts import drafts_of_document
from agent.ports import Vectors
from agent.session.session import Session
from benchmarks.shared.common import ROOT
from benchmarks.shared.questions.qa_data import Collection
from benchmarks.shared.questions.qa_views import Put
from policies.base import Question
from store.derived.view import SELF, GraphView
from store.row_codecs import entity_key
from store.types import Memory, Source, SourceKind

FOLDER = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "memlane-benchmarks"


@dataclass(frozen=True)
class Talk(GraphView):
    """The view of a conversation, whose speakers link no more than the person does in a home.

    All of it is about them: with them as links nearly every memory leads to every other.
    """

    speakers: frozenset[str] = frozenset()
    """Keys of entities."""

    def narrowed(self, rows: Sequence[int]) -> GraphView:
        view = super().narrowed(rows)
        return view if view is self else Talk(
            view.memories, view.vectors, view.current, view.cache, speakers=self.speakers
        )  # fmt: skip

    def linked(self, row: int) -> tuple[int, ...]:
        keys = self.entities(row) - {SELF} - self.speakers
        return tuple(sorted({n for key in keys for n in self.about(key).tolist()} - {row}))


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """What one conversation became, with its vectors in the order of the memories."""

    collection: Collection
    """Of the turns: its items' gold ids are turns."""
    view: GraphView

    def puts(self, session: Session) -> list[Put]:
        """Its questions; gold ids are those of the memories read from the gold turns.

        ``required`` is None where nothing was read from any of them. A question sees what was told
        before it.
        """
        items = self.collection.items
        vectors = session.embedder.encode([item.text for item in items])
        of: dict[str, set[str]] = {}
        for memory in self.view.memories:
            of.setdefault(memory.source or "", set()).add(memory.id)
        views: dict[object, GraphView] = {}
        puts = []
        for item, vector in zip(items, vectors, strict=True):
            told = [n for n, m in enumerate(self.view.memories) if m.created <= item.asked]
            view = views.setdefault(len(told), self.view.narrowed(told))
            gold = frozenset(id_ for turn in item.required or () for id_ in of.get(turn, ()))
            known = None if item.required is None or (item.required and not gold) else gold
            question = Question(item.text, vector, item.asked)
            puts.append(Put(item, self.collection.name, question, view, known))
        return puts


def graph_of(
    collection: Collection, session: Session, folder: Path = FOLDER, *, speakers_link: bool = False
) -> Graph:
    """Reads a conversation, or finds what was read of it before."""
    kept = folder / f"{_key(collection, session)}.npz"
    if not kept.exists():
        memories, vectors = read(collection, session)
        folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, vectors=vectors, memories=json.dumps([encode(m) for m in memories]))
        part.replace(kept)
    with np.load(kept, allow_pickle=False) as held:
        vectors, plain = held["vectors"], json.loads(str(held["memories"]))
    found = tuple(decode(Memory, one) for one in plain)
    current = frozenset(memory.id for memory in found)
    people = () if speakers_link else collection.speakers
    speakers = frozenset(entity_key(name) for name in people if name)
    return Graph(collection, Talk(found, vectors, current, speakers=speakers))


def read(collection: Collection, session: Session) -> tuple[list[Memory], Vectors]:
    """The memories of all turns, in their order, each in its subclass, and their vectors."""
    types = {subclass.id: subclass.type for subclass in session.graph.subclasses()}
    memories = []
    for turn, speaker in zip(collection.memories, collection.speakers, strict=True):
        for n, memory in enumerate(_of_turn(turn, speaker)):
            memories.append(replace(memory, id=f"{turn.id}#{n}", source=turn.id))
    texts = [memory.text for memory in memories]
    vectors = session.embedder.encode(texts)
    places = session.placer.place_vectors(texts, vectors) if texts else []
    return [
        replace(memory, subclass=place, type=types[place])
        for memory, place in zip(memories, places, strict=True)
    ], vectors


def _of_turn(turn: Memory, speaker: str) -> list[Memory]:
    said = turn.text.removeprefix(f"{speaker}: ")
    source = Source(
        turn.id, SourceKind.NOTE, said, "", turn.created, f"{speaker}.md" if speaker else None,
        turn.place,
    )  # fmt: skip
    drafts = drafts_of_document(source, (), lambda texts: [turn.subclass] * len(texts))
    return [
        replace(
            turn,
            text=_by(speaker, draft.text),
            triples=tuple(
                replace(t, head=_who(t.head, speaker), tail=_who(t.tail, speaker))
                for t in draft.triples
            ),
            valid_from=draft.valid_from,
            valid_until=draft.valid_until,
        )
        for draft in drafts
    ]


def _by(speaker: str, text: str) -> str:
    return text if not speaker or text.startswith(f"{speaker}:") else f"{speaker}: {text}"


def _who(end: str, speaker: str) -> str:
    return speaker if speaker and end == SELF else end


def _key(collection: Collection, session: Session) -> str:
    told = [(m.id, m.text, m.created.isoformat()) for m in collection.memories]
    texts = json.dumps([told, collection.speakers])
    whole = f"{_reader()}\n{session.embedder.identity}\n{texts}"
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def _reader() -> str:
    """What identifies the code that reads: the committed state of its folder."""
    words = ["git", "rev-parse", "HEAD:agent", "HEAD:benchmarks/shared/questions"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def turns_of(ids: Sequence[str], view: GraphView) -> frozenset[str]:
    """The turns that these memories come from."""
    return frozenset(view.memories[view.row[one]].source or "" for one in ids)
