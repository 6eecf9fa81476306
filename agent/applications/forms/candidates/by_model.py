"""Fields filled by the language model: it copies the value from the notes nearest to the field.

It serves the fields that no pattern and no reader filled. A value of which it is not sure is
offered, not filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.applications.forms.candidates.by_meaning import (
    Heard,
    Nearest,
    as_written,
    hear,
    is_open,
    kinds_asked,
)
from agent.applications.forms.candidates.copy_prompts import SHAPES
from agent.applications.forms.candidates.copying import Copy, copied
from agent.applications.forms.candidates.field_notes import TOGETHER, FieldReader, Notes
from agent.applications.forms.candidates.from_facts import sources_of
from agent.applications.forms.candidates.other_fields import judged_together
from agent.applications.forms.candidates.written import MOST_ALTERNATIVES, withdrawn
from agent.applications.forms.facts.read import DATES, Fact
from agent.applications.forms.fields import ME, Asked, FormField, worded
from agent.applications.forms.matching.label_words import fold, words
from agent.applications.forms.values.fit import dates_in, day_of
from agent.language.injection import steers
from agent.memory.time.changed import Newer
from agent.models.readers.form_reader import form_reader
from agent.ports import Embedder, LanguageModel
from agent.results import Alternative, FilledField, Value
from store.types import Memory, may_replace

LIKELIEST, NEAREST = 4, 4
"""Memories that the model reads for a field: by the form reader, and by the sentence encoder, which
gives more (``TOGETHER``) to a reader of notes."""
MOST = 30
"""Fields of a form that the model is asked about; each takes it a second or more."""
CERTAIN = 0.9
"""Confidence from which a value that was matched without the model is not read again."""
DISPUTES = 0.5
"""Probability of what the model copies from which it disputes a value that is filled in: what is
more likely wrong than right does not."""
CODE = 4
"""Digits from which two fields of one form do not share a value."""

SLOTS = {
    "name": "Full name",
    "bday": "Date of birth",
    "tel": "Mobile number",
    "street-address": "Home address",
}
"""Facts that other fields are parts of: asked for by themselves where no pattern found them."""

PARTS_OF_NAME = frozenset(("given-name", "family-name", "additional-name", "honorific-prefix"))


@dataclass(frozen=True, slots=True)
class OpenForm:
    """A form, and what is known of its fields before the language model is asked."""

    fields: Sequence[FormField]
    asked: Sequence[Asked]
    facts: Sequence[Fact]
    heard: Mapping[int, Sequence[Heard]]
    """What the form reader found, by the places of the fields (``by_meaning``)."""
    memories: Mapping[str, Memory]
    """Those that hold, by their ids."""
    newer: Mapping[str, Sequence[Newer]]
    """What may have changed one of them, by its id (``outdated``)."""

    def label(self, place: int) -> str:
        """What a field asks for, in words."""
        return worded(self.fields[place], self.asked[place])


@dataclass(frozen=True, slots=True)
class Copying:
    """What finds memories for a field, reads them and copies from them."""

    llm: LanguageModel
    close: Nearest
    embedder: Embedder
    notes: Notes | None = None

    def reader(self) -> FieldReader | None:
        """The reader of memories; None where there is none."""
        return self.notes() if self.notes else None


def facts_by_model(
    asked: Sequence[Asked], facts: Sequence[Fact], copying: Copying
) -> tuple[Fact, ...]:
    """What the person told of the ``SLOTS`` that fields of the form are, or are parts of.

    ``heard`` and ``copied`` work on the label of the slot as on that of a field.
    """
    known = {fact.key for fact in facts if fact.subject == ME}
    wanted = {source for ask in asked if ask.subject == ME for source in sources_of(ask.key or "")}
    keys = [key for key in SLOTS if key in wanted and key not in known]
    if not keys:
        return ()
    labels = [SLOTS[key] for key in keys]
    reader = form_reader(copying.embedder)
    llm = copying.llm
    heard = hear(labels, copying.close, reader) if reader else [[] for _ in labels]
    found = []
    of_fields = copying.reader()
    close_by = copying.close(labels, TOGETHER if of_fields else NEAREST)
    kinds = kinds_asked(labels, reader)
    for key, label, near, nearest, kind in zip(keys, labels, heard, close_by, kinds, strict=True):
        shape = SHAPES.get("date" if key in DATES else key, "")
        memories = _near(near, nearest)
        copy = copied(label, memories, llm, shape=shape, heard=near, notes=of_fields, kind=kind)
        if copy is None or not copy.is_sure(label, near, llm):
            continue
        days = day_of(copy.heard.value) or list(dates_in(copy.heard.value))
        if key in DATES and not days:
            continue
        value = days[0][0] if key in DATES else copy.heard.value
        memory = copy.heard.memory
        said = frozenset(words(memory.text))
        found.append(Fact(key, value, memory, ME, round(copy.heard.chance, 3), said))
    return tuple(found)


def withdraw_irrelevant(form: OpenForm, results: list[FilledField], copying: Copying) -> None:
    """Empty, in place, fields whose value stands in a memory that the field is hardly about.

    Patterns and the form reader took the vet for the doctor. What is withdrawn is offered, and the
    model looks for another value. A memory that may not replace another one casts no doubt on it
    either.
    """
    doubtful = [n for n, one in enumerate(results) if _is_doubtful(form.asked[n], one)][:MOST]
    reader = copying.reader() if doubtful else None
    if reader is None:
        return
    labels = [form.label(n) for n in doubtful]
    for n, label, nearest in zip(doubtful, labels, copying.close(labels, TOGETHER), strict=True):
        own = [form.memories[name] for name in results[n].memories if name in form.memories]
        trust = own[0].trust if own else None
        rivals = [memory for memory in nearest if may_replace(memory.trust, trust)]
        together = list({memory.id: memory for memory in (*own, *rivals)}.values())
        read = reader.read(label, [memory for memory in together if not steers(memory.text)])
        if read is not None and own and not any(memory in read.likely for memory in own):
            results[n] = replace(withdrawn(results[n]), unmatched=True)


def _is_doubtful(ask: Asked, result: FilledField) -> bool:
    asks = bool(ask.question) and ask.via != "hidden"
    return asks and result.value is not None and (ask.key is None or result.confidence < CERTAIN)


def fill_by_model(form: OpenForm, results: list[FilledField], copying: Copying) -> None:
    """Fill, in place, the open fields; of a form's codes each goes to the likeliest field only.

    A field that is filled already is emptied where the model copies something else for it: which of
    the two belongs there is for the person to say.
    """
    said = copies(form, results, copying)
    used = {str(result.value) for result in results if result.value is not None}
    worth = sorted(said.items(), key=lambda one: one[1].heard.chance)
    best = {copy.heard.value: n for n, copy in worth}
    for n, copy in said.items():
        ask = form.asked[n]
        value = as_written(copy.heard, form.fields[n], ask, form.facts)
        if value is None or value == "":
            continue
        if results[n].value is not None and not _disputed(form, results[n], copy, value):
            continue
        own = not _is_code(copy.heard.value) or (
            best[copy.heard.value] == n
            and str(value) not in used
            and not _of_another(copy.heard.value, ask, form.facts)
        )
        # A part of a name or an address comes from the whole; the model copies the whole.
        whole = ask.key not in PARTS_OF_NAME
        offer = Alternative(value, round(copy.heard.chance, 3), (copy.heard.memory.id,))
        heard = form.heard.get(n, ())
        if results[n].value is not None:
            results[n] = _with_value(withdrawn(results[n]), offer, sure=False)
            continue
        sure = own and whole and copy.is_sure(form.label(n), heard, copying.llm)
        results[n] = _with_value(results[n], offer, sure=sure)


def copies(form: OpenForm, results: Sequence[FilledField], copying: Copying) -> dict[int, Copy]:
    """What the model copies for the fields, by their places; nothing is filled in.

    The open ones come first. Where notes are read, those that are filled are copied as well; where
    all are filled for certain, no model is loaded.
    """
    fields, asked = form.fields, form.asked
    places = [n for n in range(len(fields)) if is_open(fields[n], asked[n], results[n])]
    filled = [
        n
        for n, one in enumerate(results)
        if one.value is not None
        and is_open(fields[n], asked[n], replace(one, value=None, alternatives=()))
    ]
    if not places and not any(_is_doubtful(asked[n], results[n]) for n in filled):
        return {}
    notes = copying.reader()
    if notes is not None:
        places += filled
    if not places:
        return {}
    places = places[:MOST]
    labels = [form.label(n) for n in places]
    said = {}
    near = copying.close(labels, TOGETHER if notes else NEAREST)
    kinds = kinds_asked(labels, form_reader(copying.embedder) if notes else None)
    for n, label, nearest, kind in zip(places, labels, near, kinds, strict=True):
        shape = SHAPES.get("date" if asked[n].key in DATES else fields[n].type, "")
        known = form.heard.get(n, ())
        memories, llm = _near(known, nearest), copying.llm
        copy = copied(label, memories, llm, shape=shape, heard=known, notes=notes, kind=kind)
        if copy is not None:
            said[n] = copy
    shown = {n: as_written(copy.heard, fields[n], asked[n], form.facts) for n, copy in said.items()}
    written = {n: str(shown[n] or copy.heard.value) for n, copy in said.items()}
    rest = [one.value for n, one in enumerate(results) if n not in said and one.value is not None]
    return judged_together(said, written, list(map(str, rest)))


def _disputed(form: OpenForm, result: FilledField, copy: Copy, value: Value) -> bool:
    """Whether the model copied something else for a field that is filled.

    Not where one is a part of the other, nor from a memory that may not replace the other one. What
    may have changed that is looked at apart (``outdated``).
    """
    one, other = fold(str(result.value)), fold(str(value))
    if copy.heard.chance < DISPUTES or one in other or other in one:
        return False
    memory = copy.heard.memory
    own = [form.memories[name] for name in result.memories if name in form.memories]
    later = {newer.memory.id for name in result.memories for newer in form.newer.get(name, ())}
    return memory.id not in later and all(may_replace(memory.trust, had.trust) for had in own)


def _near(heard: Sequence[Heard], nearest: Sequence[Memory]) -> list[Memory]:
    likeliest = sorted(heard, key=lambda one: -one.chance)[:LIKELIEST]
    return list({m.id: m for m in (*(one.memory for one in likeliest), *nearest)}.values())


def _is_code(value: str) -> bool:
    return sum(character.isdigit() for character in value) >= CODE


def _of_another(value: str, ask: Asked, facts: Iterable[Fact]) -> bool:
    """Whether a code is known as what another field asks for, or as somebody else's."""
    known = [fact for fact in facts if _same_code(str(fact.value), value)]
    return bool(known) and all((f.key, f.subject) != (ask.key, ask.subject) for f in known)


def _same_code(one: str, other: str) -> bool:
    return "".join(filter(str.isalnum, one)) == "".join(filter(str.isalnum, other))


def _with_value(result: FilledField, offer: Alternative, *, sure: bool) -> FilledField:
    others = tuple(one for one in result.alternatives if one.value != offer.value)
    if not sure:
        offers = tuple(sorted((offer, *others), key=lambda one: -one.confidence))
        return replace(result, alternatives=offers[:MOST_ALTERNATIVES], unmatched=True)
    return replace(
        result,
        value=offer.value,
        confidence=offer.confidence,
        memories=offer.memories,
        alternatives=others[:MOST_ALTERNATIVES],
        unmatched=False,
    )
