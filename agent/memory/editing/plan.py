"""Planned edits from drafts and similar memories (EMG-RAG 4.2). Pure: writes nothing.

The paper compares the relations of the draft and of the top-1 memory of the nearest partition.
Exact comparisons come first (``compare``), the first that holds:

1. *the same statement*: same words, or the same relations with the same ends -> unchanged;
2. *the same slot*: same head and relation, another tail, and the relation holds one value at a
   time -> replace;
3. *the same sentence with another value*: what comes before the value is the same, and only a
   number, time, date, code or name differs -> replace;
4. *a part that moves*: the draft gives an event another time -> replace, the rest stays
   (``changes.reschedule``); without a day it is the event still to come (``changes.upcoming``).

Where none holds, the pair judge (``judges``, ``decision``) sees what plain comparison cannot: the
same thing in other words, a denial, another value of a slot that has no name. What it takes for new
may still take the place of a memory, where the statement reader is sure of that (``follows``).
Everything else is a new memory; with an end date it is the time-bound edit, expire. What cannot be
decided is kept beside the old, with a question for the person (``conflicts``).

All comparisons read the draft in the names that the memory uses (``agent.memory.entities``):
'Kenji' and 'my boss' are one where they are told to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.language.dates.time_phrases import without_lead
from agent.memory.editing.beside import both_hold
from agent.memory.editing.changes.named_value import changes_slot
from agent.memory.editing.changes.reschedule import another, merged, moved
from agent.memory.editing.changes.roles import further_name
from agent.memory.editing.changes.upcoming import ahead
from agent.memory.editing.compare import (
    may_be_no_job,
    same_but_value,
    same_statement,
    sameslot,
    words,
)
from agent.memory.editing.conflicts import ConflictQuestion
from agent.memory.editing.decision import Judge, decide
from agent.memory.editing.expiry import beyond_the_end, ended_by, passes, replaces_nothing
from store.derived.partitions import NearMemory
from store.journal import Edit, Expire, Insert, Replace
from store.types import Draft, Memory, Subclass, may_replace

Worded = Callable[[Draft], Callable[[Memory], Draft]]
"""A draft, for each memory in the names that it uses."""
Follows = Callable[[Sequence[tuple[Draft, NearMemory]]], NearMemory | None]
"""Among memories near a draft, each with the draft in its names, the one whose place it takes."""


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What would be done, in order; nothing is written yet."""

    edits: tuple[Edit, ...]
    unchanged: tuple[str, ...]
    """Ids of memories that say already what a draft says: nothing is stored twice."""
    questions: tuple[ConflictQuestion, ...] = ()
    """What could not be decided: an old memory and the text that was stored beside it."""


def plan_edits(
    drafts: Sequence[Draft],
    near: Callable[[Draft], Sequence[NearMemory]],
    subclasses: Mapping[str, Subclass],
    judge: Judge | None = None,
    worded: Worded = lambda draft: lambda _: draft,
    follows: Follows | None = None,
    may_change: Callable[[Draft, Memory], bool] = lambda draft, memory: True,
) -> EditPlan:
    """Decide for each draft between insert, expire, replace and nothing.

    ``near`` gives the stored memories that a draft may be about, best first. Without ``judge`` only
    the exact comparisons decide. What a draft ``may_change`` not is only compared for the same.
    """
    edits: list[Edit] = []
    unchanged: list[str] = []
    questions: list[ConflictQuestion] = []
    taken: set[str] = set()
    seen: set[str] = set()
    for draft in drafts:
        said = " ".join(words(draft.text))
        if said in seen:
            continue
        seen.add(said)
        alike = near(draft)
        matches = [match for match in alike if may_change(draft, match.memory)]
        named = worded(draft)
        told = {match.memory.id: named(match.memory) for match in alike}
        ending = ended_by(draft, [m for m in matches if m.memory.id not in taken])
        if ending is not None and draft.valid_until is not None:
            taken.add(ending.memory.id)
            edits.append(Expire(ending.memory.id, draft.valid_until))
            besides = beyond_the_end(draft, ending.memory)
            edits += [] if besides is None else [Insert(besides)]
            continue
        same = next((m for m in alike if same_statement(told[m.memory.id], m)), None)
        if same is not None:
            unchanged.append(same.memory.id)
            continue
        if replaces_nothing(draft):
            edits.append(Insert(draft))
            continue
        free = [
            match
            for match in matches
            # What one text says stands together: its own sentences never undo one another.
            if match.memory.id not in taken and match.memory.source != (draft.source or "")
            if not passes(draft, match)
        ]
        if further_name(draft, [match.memory for match in free]):
            edits.append(Insert(draft))
            continue
        fits = [m for m in free if _takes_the_place(told[m.memory.id], m, subclasses)]
        changed, doubtful = ahead(draft, fits)
        old = changed[0] if changed else None
        if old is None and doubtful is None:
            doubtful = next((m for m in free if may_be_no_job(told[m.memory.id], m)), None)
        if doubtful is not None:
            questions.append(ConflictQuestion(doubtful.memory.id, draft.text))
        elif old is None and judge is not None:
            decision = decide(((_undated(told[m.memory.id]), m) for m in free), judge)
            if decision.match is not None and decision.same:
                unchanged.append(decision.match.memory.id)
                continue
            if decision.match is not None and decision.asks:
                questions.append(ConflictQuestion(decision.match.memory.id, draft.text))
            old = decision.match if decision.replaces else None
        if old is None and follows is not None:
            pairs = [(_undated(told[match.memory.id]), match) for match in free]
            old = follows([pair for pair in pairs if not both_hold(*pair)])
        if old is None:
            edits.append(Insert(draft))
        else:
            taken.add(old.memory.id)
            edits.append(Replace(old.memory.id, _whole(draft, told[old.memory.id], old.memory)))
            for again in (match.memory for match in changed[1:]):
                if may_replace(draft.trust, again.trust):
                    taken.add(again.id)
                    edits.append(_as_well(draft, told[again.id], again))
    return EditPlan(tuple(edits), tuple(unchanged), tuple(questions))


def _as_well(draft: Draft, named: Draft, memory: Memory) -> Edit:
    """What becomes of a memory that tells again what the draft has changed already.

    Where the draft adds nothing to it, it ends: the draft would stand there twice.
    """
    whole = _whole(draft, named, memory)
    if whole is not draft:
        return Replace(memory.id, whole)
    since = draft.valid_from or draft.created
    return Expire(memory.id, max(since, memory.valid_from or since))


def _whole(draft: Draft, named: Draft, memory: Memory) -> Draft:
    """The draft with what the memory knows beyond it; ``named`` is it in the memory's names."""
    whole = merged(named, memory)
    return draft if whole is named else whole


def _undated(draft: Draft) -> Draft:
    """The draft as the judge reads it: the day from which it holds is no part of its fact."""
    bare = without_lead(draft.text)
    return draft if bare == draft.text else replace(draft, text=bare)


def _takes_the_place(draft: Draft, match: NearMemory, subclasses: Mapping[str, Subclass]) -> bool:
    """Whether exact comparison shows that the draft says anew what the memory said."""
    old = match.memory
    return (
        (sameslot(draft, match, subclasses) and not another(draft, old))
        or (changes_slot(draft, match) and not may_be_no_job(draft, match))
        or same_but_value(draft.text, old.text)
        or moved(draft, old)
    )


def leftovers(plan: EditPlan, made: Sequence[Memory]) -> tuple[str, ...]:
    """Of the memories that an older version of a file gave, those the new one no longer states."""
    kept = {*plan.unchanged} | {edit.memory for edit in plan.edits if isinstance(edit, Replace)}
    return tuple(memory.id for memory in made if memory.id not in kept)
