"""Trust rules in planning (docs/trust.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agent.language.injection import steers
from agent.memory.editing.changes.roles import same_holder
from agent.memory.editing.conflicts import ConflictQuestion
from agent.memory.editing.plan import EditPlan
from agent.memory.uncertain.contradictions import contradictions
from store.derived.partitions import NearMemory
from store.journal import Edit, Expire, Insert, Replace
from store.types import Draft, Memory, Trust, lowest, may_replace


def within_trust(
    plan: EditPlan,
    drafts: Sequence[Draft],
    known: Callable[[str], Memory],
    near: Callable[[Draft], Sequence[NearMemory]],
    may_change: Callable[[Draft, Memory], bool] = lambda draft, memory: True,
) -> EditPlan:
    """The plan without replacements that its drafts may not make.

    Such a draft is stored beside the old memory, and the person is asked which holds. When they
    say so, all that contradicted one another gives way, not only what came first. A sentence that
    was put together from draft and old memory is derived from both, so it gets the lower trust of
    the two. An order to an assistant replaces nothing, whoever's note it stands in.
    """
    said = {draft.text for draft in drafts}
    taken = {edit.memory for edit in plan.edits if not isinstance(edit, Insert)}
    edits: list[Edit] = []
    questions = list(plan.questions)
    for edit in plan.edits:
        if not isinstance(edit, Replace):
            edits.append(edit)
            continue
        draft, old = edit.draft, known(edit.memory)
        if steers(draft.text):
            edits.append(Insert(draft))
        elif not may_replace(draft.trust, old.trust):
            edits.append(Insert(draft))
            questions.append(ConflictQuestion(old.id, draft.text))
        elif draft.text not in said:
            trust = lowest((draft.trust or Trust.TOLD, old.trust or Trust.TOLD))
            edits.append(replace(edit, draft=replace(draft, trust=trust)))
        else:
            edits.append(edit)
            for rival in _rivals(old, draft, [match.memory for match in near(draft)]):
                if rival.id not in taken and may_change(draft, rival):
                    taken.add(rival.id)
                    since = draft.valid_from or draft.created
                    edits.append(Expire(rival.id, max(since, rival.valid_from or since)))
    return replace(plan, edits=tuple(edits), questions=tuple(questions))


def _rivals(old: Memory, draft: Draft, around: Sequence[Memory]) -> Iterator[Memory]:
    """What contradicted the replaced memory or named the same person, and may end with it."""
    for other in around:
        clashes = other.id != old.id and (
            contradictions([old, other]) or same_holder(draft, old, other)
        )
        if clashes and other.text != draft.text and may_replace(draft.trust, other.trust):
            yield other
