"""Field types: label, options and matched key."""

from __future__ import annotations

from dataclasses import dataclass

from agent.applications.forms.matching.vocabulary import Policy, vocabulary

ME = "me"
"""The subject of what is asked of, or stated about, the person themself."""
EMPTY = "stays-empty"
"""How a field was settled that asks for nothing remembered about a person."""
MAX_FIELDS = 2000
"""More is no form that a person fills; readers refuse it with one clear line."""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select, radio group or enum: what is submitted and what people see."""

    value: str
    text: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One thing that a form asks for, with all the words around it that hint at what."""

    name: str
    label: str = ""
    type: str = "text"
    """The HTML input type or the JSON Schema type or format, in lower case."""
    autocomplete: str = ""
    id: str = ""
    placeholder: str = ""
    hint: str = ""
    """``aria-label``, ``title`` or the schema's description."""
    text_before: tuple[str, ...] = ()
    """Pieces of visible text before the field, nearest last."""
    text_after: tuple[str, ...] = ()
    """Pieces of visible text between this field and the next."""
    section: str = ""
    """The heading of its group: a fieldset's legend, the property that holds a schema's."""
    options: tuple[Option, ...] = ()
    pattern: str = ""
    """What the whole value must match, where the form says so."""
    min_length: int = 0
    max_length: int | None = None
    other_labels: tuple[str, ...] = ()
    """Labels that the page gives it besides ``label``."""
    site: str = ""
    """The host that the value goes to; empty where the form names none."""
    form: int = 0
    """Which form of the page; fields of one form are about the same thing."""
    form_words: str = ""
    """The form's id, name, action and buttons: 'login', 'sign up'."""
    hidden: bool = False
    """Not shown to people: bait for bots, or state of the page."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a field asks for, and how sure we are of that."""

    key: str | None
    """A key of the vocabulary; None for a free question and for what is not asked of a person."""
    subject: str = ME
    confidence: float = 0.0
    via: str = ""
    instead: tuple[str, ...] = ()
    """Keys whose value serves as well, best first: a log-in's user name may be the e-mail."""
    question: str = ""
    """The field in its own words."""
    qualifiers: frozenset[str] = frozenset()
    """Other words of the label ('work', 'hotel'), which choose among several values."""
    beside: frozenset[str] = frozenset()
    """Keys that other fields of the same form ask for, of the same person."""
    delivery: bool = False
    """Whether it is a line of a delivery or billing address."""
    unclear: bool = False
    """Whether its own words ask for two things at once."""
    note: str = ""
    """What to tell the person about it, in one line."""

    @property
    def consent_name(self) -> str:
        """What the person agrees to have filled: 'passport-number', 'mother: passport-number'."""
        asked = self.key or " ".join(self.question.lower().split())
        return asked if self.subject == ME else f"{self.subject}: {asked}"

    @property
    def fillable(self) -> bool:
        """Whether a memory may answer it at all."""
        if self.unclear or self.via == EMPTY:
            return False
        return self.key is None or vocabulary().keys[self.key].policy is Policy.FILL


def worded(field: FormField, ask: Asked) -> str:
    """A field as the reader learned fields: its own words, then the heading above it."""
    words = ask.question or field.name
    return f"{words}, {field.section}" if field.section and len(field.section) < 40 else words
