"""Values in a field's notation, and a field that stays empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.applications.forms.candidates.from_facts import Candidate, home_country
from agent.applications.forms.facts.read import DATES, Fact
from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.values.fit import fit_date
from agent.applications.forms.values.phones import write_phone
from agent.results import Alternative, FilledField

MOST_ALTERNATIVES = 3
_PHONES = frozenset({"tel", "tel-national"})


def empty(field: FormField, ask: Asked) -> FilledField:
    """The field without a value; without a label it is called by the words beside it."""
    label = field.label or ask.question
    return FilledField(field.name, label, None, 0.0, key=ask.key, note=ask.note)


def withdrawn(result: FilledField, *first: Alternative) -> FilledField:
    """The field left empty; what it had is offered, after ``first``."""
    assert result.value is not None
    had = Alternative(result.value, result.confidence, result.memories)
    offers = (*first, had, *result.alternatives)[:MOST_ALTERNATIVES]
    return replace(result, value=None, confidence=0.0, memories=(), alternatives=offers)


def written(
    candidate: Candidate, field: FormField, ask: Asked, facts: Sequence[Fact]
) -> Candidate | None:
    """Dates and phone numbers in the field's notation; None where it takes none of theirs."""
    if candidate.key in DATES:
        text = fit_date(candidate.value, field, candidate.key)
        return replace(candidate, value=text) if text else None
    if candidate.key not in _PHONES or field.options or field.type in ("number", "integer"):
        return candidate
    home = home_country(ask.subject, facts)
    national = candidate.key == "tel-national" or "tel-country-code" in ask.beside
    text = write_phone(
        candidate.value, field, region=home[0].code if home else "", national=national
    )
    memories = candidate.memories
    if home and text.startswith("+") and not candidate.value.startswith("+"):
        memories = (*memories, home[1])  # the calling code follows from where they live
    return replace(candidate, value=text, memories=memories) if text else None
