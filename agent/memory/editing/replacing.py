"""Which automatic replacement may be made at all.

A replacement hides what somebody told, so the rules that plan one are not enough: the statement
reader has to be sure of it, and what is read in files never takes the place of what was told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from agent.extraction.documents.wiki_links import title_of
from agent.language.identify import is_english, is_foreign
from agent.language.sentences import is_chinese
from agent.memory.editing.judges.by_reader import Judged, judged
from agent.memory.editing.plan import EditPlan, Follows, Worded
from agent.ports import RELATIONS, StatementReader
from store.derived.partitions import NearMemory
from store.graph import MemoryGraph
from store.journal import Insert, Replace
from store.types import Draft, Memory, Trust, may_replace

COMPARED = 8
"""Memories near a new one that it may take the place of, at most."""
ALIKE = 0.3
"""Cosine similarity below which a memory is not taken for what a new one is about."""
SURE_TOLD, SURE_READ = 0.85, 0.99
"""Score that a planned replacement needs: told by the user, read in a file. Of 72 replacements that
rules planned for four voices it did not learn from, 0.83 were right; of those with the first score,
0.96 (48 of 50), with the second 16 of 17 (``benchmarks.replacements``)."""
SURE_ALONE = 0.991
"""The same where no rule planned it: the reader named the pair by itself. On those voices 42 of the
42 replacements by rules and reader together were right; at 0.97 54 of 56, but answers in homes of
several stories (``benchmarks.homes``) lost one of 40. In integers the reader gives two wrong pairs
0.9901 that floats give 0.9899 and less."""

_FOLLOWS = tuple(RELATIONS.index(name) for name in ("supersedes", "corrects", "ends", "same"))
_TOLD = (None, Trust.TOLD)


def follows(reader: StatementReader) -> Follows:
    """Which memory the reader alone is sure that a draft takes the place of, the likeliest.

    The reader knows English alone.
    """

    def followed(near: Sequence[tuple[Draft, NearMemory]]) -> NearMemory | None:
        close = [
            (draft, match)
            for draft, match in near
            if match.score >= ALIKE and is_english(draft.text) and is_english(match.memory.text)
        ][:COMPARED]
        if not close:
            return None
        chances = reader.relations([(match.memory.text, draft.text) for draft, match in close])
        scores = chances[:, list(_FOLLOWS)].sum(axis=1)
        best = int(scores.argmax())
        return close[best][1] if scores[best] >= SURE_ALONE else None

    return followed


def sure_replacements(
    plan: EditPlan,
    graph: MemoryGraph,
    reader: StatementReader,
    worded: Worded = lambda draft: lambda _: draft,
) -> EditPlan:
    """The plan without replacements that the reader is not sure of.

    A replacement hides what somebody told, so the rules that plan one are not enough. What is taken
    out is inserted beside the older memory; an edge between the two tells that it may have changed
    it. The reader reads a draft in the names that the older memory uses (``worded``).
    """
    risky = [edit for edit in plan.edits if isinstance(edit, Replace)]
    if not risky:
        return plan
    older = graph.memories.of([edit.memory for edit in risky])
    pairs = [
        (old.text, worded(edit.draft)(old).text) for edit, old in zip(risky, older, strict=True)
    ]
    unsure = {
        edit.memory
        for edit, old, one in zip(risky, older, judged(reader, pairs), strict=True)
        # What may not replace at all is asked about (``agent.memory.uncertain.trust``).
        if may_replace(edit.draft.trust, old.trust)
        and (is_foreign(edit.draft.text) or not allows(one, edit.draft.trust, old.trust))
        and (edit.draft.trust not in _TOLD or not is_chinese(edit.draft.text))
    }
    edits = tuple(
        Insert(edit.draft) if isinstance(edit, Replace) and edit.memory in unsure else edit
        for edit in plan.edits
    )
    return replace(plan, edits=edits)


def allows(judgement: Judged, new: Trust | None, old: Trust | None) -> bool:
    """Whether a planned replacement is sure enough; what is read in files replaces nothing told."""
    if new not in _TOLD and old in _TOLD:
        return False
    return judgement.changed + judgement.same >= (SURE_TOLD if new in _TOLD else SURE_READ)


def changeable(
    graph: MemoryGraph, reader: StatementReader | None
) -> Callable[[Draft, Memory], bool]:
    """Which older memories a draft may change at all, told by whence both were read.

    What the user tells may change anything. What is read in a file changes what an older version
    of the same file said; of another file about the same person or topic, only what the reader is
    sure of; and never what the user told. A picture that contradicts that is asked about.
    """
    source_of = cache(graph.sources.get)

    def may(draft: Draft, memory: Memory) -> bool:
        new = source_of(draft.source) if draft.source else None
        if new is None or new.locator is None:
            return True
        if memory.trust in _TOLD:
            return not may_replace(draft.trust, memory.trust)
        old = source_of(memory.source) if memory.source else None
        if old is None or old.locator == new.locator:
            return True
        # Files are read in any order: an older one changes nothing that a newer one says.
        if title_of(old) != title_of(new) or reader is None or draft.created < memory.created:
            return False
        (one,) = judged(reader, [(memory.text, draft.text)])
        return allows(one, draft.trust, memory.trust)

    return may
