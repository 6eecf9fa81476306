"""Rules across the fields of one form.

Which fields stand beside a field decides how much of a value goes into it; a name or a label that
asks for two things is noticed, told, and never guessed at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.matching.label_words import role_in, words

_ADDRESSES = frozenset({"street-address", "address-line1", "postal-code", "address-level2"})
_DELIVERY_WORDS = frozenset(
    "shipping ship delivery deliver billing bill invoice checkout lieferung rechnung livraison"
    " facturation envio entrega".split()
)
_NUMBER_BOXES = ("tel-area-code", "tel-local-prefix", "tel-local-suffix")


def settle_together(
    fields: Sequence[FormField], asked: list[Asked], key_of: Callable[[str], str | None]
) -> None:
    """Note in ``asked``, in place, what stands beside each field and what is not clear.

    ``key_of`` says what a label asks for by itself.
    """
    _settle_number_boxes(fields, asked)
    groups: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
    for field, ask in zip(fields, asked, strict=True):
        if ask.key is not None and not field.hidden:
            groups[field.form, ask.subject].add(ask.key)
    for i, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        beside = frozenset(groups[field.form, ask.subject] - {ask.key})
        asked[i] = replace(
            ask,
            beside=beside,
            delivery=bool(beside & _ADDRESSES) and bool(_DELIVERY_WORDS & _all_words(field)),
        )
    _note_two_labels(fields, asked, key_of)
    _note_two_meanings(fields, asked)


def _all_words(field: FormField) -> set[str]:
    texts = (field.autocomplete, field.name, field.id, field.section, field.form_words)
    return {word for text in texts for word in words(text)}


def _settle_number_boxes(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """Three boxes of 3, 3 and 4 digits side by side take a North American number."""
    for i in range(len(fields) - 2):
        three = range(i, i + 3)
        lengths = [fields[n].max_length for n in three]
        if lengths == [3, 3, 4] and {asked[n].key for n in three} == {"tel"}:
            for n, key in zip(three, _NUMBER_BOXES, strict=True):
                asked[n] = replace(asked[n], key=key, via="shape")


def _note_two_labels(
    fields: Sequence[FormField], asked: list[Asked], key_of: Callable[[str], str | None]
) -> None:
    """A field whose labels ask for different things stays empty."""
    for i, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        if ask.via == "autocomplete":
            continue
        for label in field.other_labels:
            key = key_of(label)
            same = (key, role_in(label)) == (ask.key, role_in(field.label))
            if key is not None and not same:
                note = (
                    f"{field.name!r} has two labels that ask for different things"
                    f" ({field.label!r} and {label!r}): left empty, fill it in yourself."
                )
                asked[i] = replace(ask, unclear=True, note=note)
                break


def _note_two_meanings(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """A name that two fields of a form share, whose labels ask for different things."""
    named: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for i, field in enumerate(fields):
        if field.label and not field.hidden and not field.name.endswith("[]"):
            named[field.form, field.name].append(i)
    for (_, name), places in named.items():
        meanings = {(asked[i].key, asked[i].subject) for i in places}
        if len(meanings) < 2:
            continue
        labels = " and ".join(dict.fromkeys(repr(fields[i].label) for i in places))
        note = f"{name!r} is asked more than once ({labels}): each is filled by its own label."
        for i in places:
            if not asked[i].note:
                asked[i] = replace(asked[i], note=note)
