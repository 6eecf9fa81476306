"""Values that the language model copies from memories, word for word.

Where the model is a reader of notes too, it copies from those that it finds relevant to the field
(``field_notes``), and once more, by another prompt, from the likeliest alone. What it writes counts
only as whole words of a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log

from agent.applications.forms.candidates.by_meaning import Heard, KindOf, without_label
from agent.applications.forms.candidates.copy_prompts import (
    CHECK,
    FIRST,
    SECOND,
    build_turns,
    check,
)
from agent.applications.forms.candidates.field_notes import FieldNotes, FieldReader, Signs
from agent.applications.forms.matching.label_words import fold, is_unspaced
from agent.language.injection import as_data, steers
from agent.models.closed_question import chance_of_yes
from agent.ports import ChatTurn, LanguageModel
from store.types import Memory, Trust, may_replace

RIGHT, DOUBTFUL = 0.8, 0.3
"""Probabilities that copied words are right: they are filled in from the first; below the second
the person's notes are looked at beside what they told. Set on ``benchmarks.copies_train``."""
ABSENT = -4.0
"""Log-probability (nats) of words that a prompt does not copy, and the least that counts."""
MAX_TOKENS = 24
SURE, LESS_SURE = -0.65, -1.0
"""Where no notes are read: log-probability (nats) of copied words from which they are filled in;
the lower one where the form reader found the same with a chance of ``SEEN``. Set on
``benchmarks.forms_told``."""
BOTH = -1.15
"""The same with the logarithm of the chance that the checked value is right."""
EVEN = 0.5
SEEN, DENIED = 0.25, 0.5
"""Chances of the form reader: from the first it agrees; from the second another value is likelier
than what the model copied, which is then only offered."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Words of a memory that the model copied for a field."""

    heard: Heard
    score: float
    """Their log-probability, in nats; ``-inf`` where the model does not tell it."""
    signs: Signs | None = None
    """What is known of them where notes were read: then ``heard.chance`` is the calibrated
    probability that they are what the field asks for."""

    def judged_by(
        self,
        notes: FieldNotes,
        again: Copy | None,
        heard: Sequence[Heard],
        kind: KindOf | None,
    ) -> Copy:
        """The same, judged by what was read in the memories and by what was copied again."""
        same = again is not None and fold(again.heard.value) == fold(self.heard.value)
        score = max(again.score, ABSENT) if again is not None and same else ABSENT
        own = max(self.score, ABSENT)
        agrees = self._agrees(heard)
        memory = self.heard.memory
        signs = notes.signs(memory, own, score, agrees=agrees)
        if kind is not None and (place := place_of(self.heard.value, memory.text)):
            signs = signs.with_kinds(kind(memory.text, *place))
        return self.with_signs(signs)

    def with_signs(self, signs: Signs) -> Copy:
        """The same, as likely right as the signs say."""
        return replace(self, heard=replace(self.heard, chance=signs.chance), signs=signs)

    def is_sure(self, label: str, heard: Sequence[Heard], llm: LanguageModel) -> bool:
        """Whether they are filled in, given what the form reader found for the field.

        Where no notes were read, what is likely enough is checked by the model: the closed question
        finds other mistakes than the open one.
        """
        if self.signs is not None:
            return self.heard.chance >= RIGHT
        agrees = self._agrees(heard)
        best = max(heard, key=lambda one: one.chance, default=None)
        against = best is not None and best.chance >= DENIED and not agrees
        if against or self.score < (LESS_SURE if agrees else SURE):
            return False
        note = as_data(self.heard.memory.text)
        right = chance_of_yes(CHECK, check(note, as_data(label), self.heard.value), llm)
        if not right:
            return False
        return right >= EVEN if agrees else self.score + log(right) >= BOTH

    def _agrees(self, heard: Sequence[Heard]) -> bool:
        best = max(heard, key=lambda one: one.chance, default=None)
        return best is not None and best.chance >= SEEN and _same(best.value, self.heard.value)


def copied(
    label: str,
    memories: Sequence[Memory],
    llm: LanguageModel,
    *,
    shape: str = "",
    heard: Sequence[Heard] = (),
    notes: FieldReader | None = None,
    kind: KindOf | None = None,
) -> Copy | None:
    """The value that the model copies from a memory; None where it finds none.

    What the person told comes first: other memories are read only where that has no value, and
    where it has a doubtful one, only those that may replace it.
    """
    told = [memory for memory in memories if memory.trust in (None, Trust.TOLD)]
    doubtful = None
    for group in (told, [memory for memory in memories if memory not in told]):
        safe = [memory for memory in group if not steers(memory.text)]
        if doubtful is not None:
            safe = [memory for memory in safe if may_replace(memory.trust, Trust.TOLD)]
        read = notes.read(label, safe) if notes else None
        if read is not None and read.holds_none:
            continue
        copy = _copied(f"{label}{shape}", read.likely if read else safe, llm)
        if copy is not None and read is not None:
            again = _copied(f"{label}{shape}", read.likely[:1], llm, SECOND)
            copy = copy.judged_by(read, again, heard, kind)
            if copy.heard.chance < DOUBTFUL:
                doubtful, copy = doubtful or copy, None
        if copy is not None:
            return copy
    return doubtful


def _copied(
    field: str,
    memories: Sequence[Memory],
    llm: LanguageModel,
    begin: tuple[ChatTurn, ...] = FIRST,
) -> Copy | None:
    if not memories:
        return None
    notes = sorted(memories, key=lambda memory: memory.created)
    scores: list[float] = []
    turns = build_turns(field, notes, begin)
    said = llm.chat(turns, max_tokens=MAX_TOKENS, stop=("\n",), on_scores=scores.extend)
    value = said.strip().strip("\"'.“”").strip()
    if not value or value.upper() == "NONE" or fold(value) == fold(field):
        return None
    holding = [memory for memory in notes if place_of(value, memory.text)]
    if not holding:
        return None
    memory = max(holding, key=lambda m: m.created)
    start, end = place_of(value, memory.text) or (0, 0)
    score = sum(scores) if scores else -inf
    value = without_label(memory.text[start:end], field.partition(" (")[0])
    return Copy(Heard(value, memory, exp(score)), score)


def place_of(value: str, text: str) -> tuple[int, int] | None:
    """Where the value first stands in the text as whole words; None where it does not."""
    said, wanted = text.casefold(), value.casefold()
    if not wanted or len(said) != len(text):
        return None
    start = said.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        beside = text[max(0, start - 1) : start] + text[end : end + 1]
        if is_unspaced(value) or not any(character.isalnum() for character in beside):
            return start, end
        start = said.find(wanted, start + 1)
    return None


def _same(one: str, other: str) -> bool:
    """Whether two values say the same, one perhaps with an article or a title more."""
    return fold(one) in fold(other) or fold(other) in fold(one)
