"""Pairs of a whole home for the statement reader: what is nearest and has nothing to do with it.

An episode is a few messages about one thing. In a home nearly all pairs that the reader judges are
of different things: a new sentence is compared with the nearest older ones, a question with the
nearest passages. A reader that knows only pairs of one episode takes most of them for changes.
So each sentence and each question is paired with the nearest sentences by the same voice about
other topics, as the product finds them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agent.language.units import in_message
from agent.ports import RELATIONS, Embedder, Vectors
from benchmarks.training.reader.reader_data import TOLD, Episode, Example, units_of

LOOKED_AT = 12
"""Nearest sentences of other topics that a pair is drawn from, as many as the product looks at."""
PAIRS = 3
"""Pairs drawn for each sentence."""
QUESTIONED = 8
"""Sentences drawn for each question: half of its nearest, half of all."""
WEIGHT = 0.8
"""Of an example: another episode may, rarely, hold what a question asks for."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A unit of a message, as the product reads and stores it."""

    episode: Episode
    read: str
    stored: str
    """The memory extracted from it, or its own words."""
    told: bool


def negatives(episodes: Sequence[Episode], embedder: Embedder, seed: int = 0) -> list[Example]:
    """Unrelated pairs and irrelevant sentences, near by meaning; voice by voice."""
    chance = random.Random(seed)
    voices: dict[str, list[Episode]] = {}
    for episode in episodes:
        voices.setdefault(episode.voice, []).append(episode)
    made: list[Example] = []
    for own in voices.values():
        sentences = [one for episode in own for one in _sentences(episode, chance)]
        vectors = embedder.encode([one.stored for one in sentences])
        made += _pairs(sentences, vectors, chance)
        made += _questions(own, sentences, vectors, embedder, chance)
    return made


def _sentences(episode: Episode, chance: random.Random) -> Iterator[Sentence]:
    for number, row in enumerate(units_of(episode)):
        for unit, held in row:
            told = [one for one in held if one.kind in TOLD and one.memory]
            stored = chance.choice(told).memory if told else unit.text
            read = in_message(unit, episode.messages[number][1])
            yield Sentence(episode, read, stored, bool(told))


def _pairs(
    sentences: Sequence[Sentence], vectors: Vectors, chance: random.Random
) -> Iterator[Example]:
    near = vectors @ vectors.T
    topics = np.array([one.episode.topic for one in sentences])
    for row, one in enumerate(sentences):
        others = np.flatnonzero(topics != one.episode.topic)
        found = others[np.argsort(-near[row][others])][:LOOKED_AT].tolist()
        for column in chance.sample(found, min(PAIRS, len(found))):
            other = sentences[column]
            if not (one.told or other.told):
                continue
            pair = [one, other]
            chance.shuffle(pair)
            stored = chance.random() < 0.5
            first, second = (each.stored if stored else each.read for each in pair)
            yield _example(one.episode, "relation", first, second, RELATIONS.index("unrelated"))


def _questions(
    episodes: Sequence[Episode],
    sentences: Sequence[Sentence],
    vectors: Vectors,
    embedder: Embedder,
    chance: random.Random,
) -> Iterator[Example]:
    near = embedder.encode([episode.question for episode in episodes]) @ vectors.T
    topics = np.array([one.episode.topic for one in sentences])
    for episode, row in zip(episodes, near, strict=True):
        others = np.flatnonzero(topics != episode.topic)
        nearest = others[np.argsort(-row[others])][:LOOKED_AT].tolist()
        half = min(QUESTIONED // 2, len(nearest))
        drawn = chance.sample(nearest, half) + chance.sample(others.tolist(), half)
        for column in dict.fromkeys(drawn):
            one = sentences[column]
            text = one.stored if chance.random() < 0.3 else one.read
            yield _example(episode, "relevance", episode.question, text, 0)


def _example(episode: Episode, task: str, first: str, second: str, label: int) -> Example:
    return Example(task, first, second, label, WEIGHT, episode.voice, episode.topic)
