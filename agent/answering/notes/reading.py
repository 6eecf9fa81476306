"""What is read for a question: how likely it needs each passage, and which are read together.

The statement reader looks at each passage alone. The language model reads the likeliest with what
may have changed them, so it sees what a later note did to an earlier one
(``models.readers.note_reader``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from agent.answering.notes.candidates import HOPS, Candidates
from agent.errors import PromptTooLong
from agent.language.identify import is_english
from agent.language.injection import steers
from agent.memory.passages import Passage
from agent.models.readers.note_reader import LONGEST, NOTES, DatedNote, NoteReader
from agent.ports import StatementReader
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind

BRINGING = 2
"""Likeliest memories that bring the lines around them into what is read together."""
ABOUT, NEAR = 0.8, 0.35
"""Relevance by the statement reader, and cosine to the question, from which the note that both put
first is shown where the notes that were read together hardly answer: each reader misses some, and
"I remember nothing about that" must be true."""
UNREAD = 0.4
"""Relevance of a passage in another language that has no gloss."""
WHOLE = 0.8
"""Of a passage's length that of a memory which says all of it."""
SMOOTHING = 10
"""Of reciprocal rank fusion: how much less the first ranks count."""


def relevance_of(
    question: str | None, passages: Mapping[str, Passage], reader: StatementReader
) -> dict[str, float]:
    """Of each passage, how likely the answer needs it; ``UNREAD`` where the reader cannot say."""
    texts = list({passage.read for passage in passages.values() if passage.read})
    if question is None or not texts:
        return dict.fromkeys(passages, UNREAD)
    known = dict(zip(texts, reader.relevance(question, texts)[:, 0].tolist(), strict=True))
    return {name: known.get(passage.read, UNREAD) for name, passage in passages.items()}


def read_together(
    question: str,
    gloss: str,
    pool: Candidates,
    relevance: Mapping[str, float],
    reader: NoteReader,
) -> tuple[float, dict[str, float]] | None:
    """How likely any note answers, and each answers and holds; None if they are too long.

    In another language they are read as they stand and in English (``gloss`` of the question). The
    weights learned from English, and a translation loses something: both go wrong on their own.
    """
    listed = _with_changes(_listed(pool, relevance), pool.edges)
    listed = [name for name in listed if not steers(pool.passages[name].text)]
    notes: dict[DatedNote, str] = {}
    whole = [(_passage(pool, n), n) for n in listed]
    for line, name in (*whole, *((line, n) for n in listed for line in _own(pool, n))):
        if len(notes) < NOTES:
            notes.setdefault(line, name)
    first = [relevance[name] for name in notes.values()]
    try:
        estimates = [reader.read(question, list(notes), first)]
        if gloss != question:
            glosses = [
                (said, _in_english(text, pool.passages[name]))
                for (said, text), name in notes.items()
            ]
            estimates.append(reader.read(gloss, glosses, first))
    except PromptTooLong:  # in scripts of which each character is several tokens
        return None
    together = np.mean([one.relevance for one in estimates], axis=0)
    known = dict(zip(notes, together.tolist(), strict=True))
    # What was not read is no likelier than what was.
    least = min(known.values(), default=0.0)
    return max(one.answered for one in estimates), {
        name: max(
            (known[line] for line in (_passage(pool, name), *_own(pool, name)) if line in known),
            default=min(chance, least),
        )
        for name, chance in relevance.items()
    }


def first_of(pool: Candidates, relevance: Mapping[str, float]) -> str:
    """Of what the statement reader and nearness both think near, what they together put first."""
    listed = _listed(pool, relevance)
    near = (name for name in listed if relevance[name] >= ABOUT and pool.near[name] >= NEAR)
    return next(near, "")


def _passage(pool: Candidates, name: str) -> DatedNote:
    passage = pool.passages[name]
    return passage.said, passage.with_corrected(passage.words, LONGEST)


def _own(pool: Candidates, name: str) -> list[DatedNote]:
    """A memory's own sentence, where its passage says more; it is read if there is room.

    Of several facts in a line the reader misses one, and finds it beside the line
    (``python -m benchmarks.several_facts``).
    """
    passage, text = pool.passages[name], pool.memories[name].text
    return [(passage.said, text)] if len(text) < WHOLE * len(passage.words) else []


def _listed(pool: Candidates, relevance: Mapping[str, float]) -> list[str]:
    """The ids of the likeliest memories, by the reader and by nearness together."""
    score = dict.fromkeys(pool.memories, 0.0)
    for by in (relevance, pool.near):
        for rank, name in enumerate(sorted(score, key=lambda name: -by[name])):
            score[name] += 1 / (SMOOTHING + rank)
    for name in sorted(score, key=lambda name: -score[name])[:BRINGING]:
        for line in pool.around.get(name, ()):
            score[line] = max(score[line], score[name])
    return sorted(score, key=lambda name: -score[name])


def _with_changes(listed: Iterable[str], edges: Iterable[ChangeEdge]) -> list[str]:
    """Memories, each followed by what has most likely changed it, and that by what changed that.

    'I have changed the number on the side gate' is not near 'What opens it?', and what was not
    read takes nothing's place.
    """
    changing = [edge for edge in edges if edge.change is not ChangeKind.ADDS]
    newer = {edge.older: edge.newer for edge in sorted(changing, key=lambda one: one.probability)}
    order: dict[str, None] = {}
    for name in listed:
        at: str | None = name
        while at is not None and at not in order:
            order[at] = None
            at = newer.get(at)
    return list(order)


def _in_english(text: str, passage: Passage) -> str:
    """A line, or the gloss of its passage where it is in another language and there is one."""
    return text if is_english(text) else passage.read or text


def spread(relevance: Mapping[str, float], edges: Iterable[ChangeEdge]) -> dict[str, float]:
    """What may have changed something relevant is relevant itself."""
    spreading = dict(relevance)
    for _ in range(HOPS):
        for edge in edges:
            along = spreading[edge.older] * edge.probability
            spreading[edge.newer] = max(spreading[edge.newer], along)
    return spreading
