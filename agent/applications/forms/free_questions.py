"""Free-text fields: 'Library card number', 'Favourite colour', 'Vegetarian?'.

A memory answers such a field only if it names everything the field names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.applications.forms.facts.attribute_patterns import VALUES
from agent.applications.forms.facts.verb_patterns import NEGATED, OUTDATED
from agent.applications.forms.fields import ME, Asked, FormField
from agent.applications.forms.matching.label_words import fold, is_unspaced, role_in, words
from agent.applications.forms.values.fit import dates_in, fit, fit_date, without_when
from agent.results import Value
from store.types import Memory, Trust

_IDLE = frozenset(
    "a an the of for to in on at is are was do does did have has your my you i me it and or please"
    " enter what which who when where how many much number no code id name date time field optional"
    " required select choose s if any be been".split()
)
_CONSENT = frozenset(
    "agree accept terms conditions consent newsletter subscribe remember updates offers marketing"
    " privacy policy robot confirm keep signed save".split()
)
_NOT = re.compile(r"\b(?:not|never|no longer|don['’]t|doesn['’]t|can['’]t|cannot)\b", re.IGNORECASE)
_COPULA = re.compile(
    r"\s(?P<verb>(?:is|are|was|will be)(?: now)?(?: called| named)?|changed to|:|=)"
    r"\s+(?:the |a |an |on |at )?",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"^(?:since|from|as of|on|these days|now|today)\b.{0,30}?,? (?=(?:my|our)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a memory says to a field's question."""

    value: Value
    confidence: float
    memories: tuple[str, ...]


def answers(
    questions: Sequence[tuple[FormField, Asked]],
    memories: Sequence[Memory],
) -> dict[int, Answer]:
    """Answers by ``id`` of the field; fields without one are absent."""
    found: dict[int, Answer] = {}
    stems = [(memory, _stems(memory.text)) for memory in memories]
    for field, ask in questions:
        if field.type == "radio" and not field.options:
            continue
        if field.type in ("radio", "checkbox", "boolean") and _CONSENT & set(words(ask.question)):
            continue
        content = _stems(ask.question) - _IDLE
        if not content:
            continue
        holding = [m for m, said in stems if content <= said and _speaks_of(m.text, ask.subject)]
        holding.sort(key=lambda m: ((m.trust or Trust.TOLD).rank, m.created), reverse=True)
        answer = next((a for m in holding if (a := _stated(field, ask, m, content))), None)
        if answer is not None:
            found[id(field)] = answer
    return found


@lru_cache(maxsize=20_000)
def _stems(text: str) -> frozenset[str]:
    """Words without plural and verb endings, so that 'allergies' meets 'allergy'."""
    return frozenset(_stem(w) for w in words(text))


def _stem(word: str) -> str:
    if len(word) > 4:
        word = word.replace("our", "or")  # colour and color are one word
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


def _speaks_of(text: str, subject: str) -> bool:
    about = role_in(re.sub(r"\b(?:work|office|company)\b", "", text, flags=re.IGNORECASE))
    return about == subject if subject != ME else about in (None, "employer")


def _stated(field: FormField, ask: Asked, memory: Memory, content: frozenset[str]) -> Answer | None:
    text = " ".join(memory.text.split()).rstrip(".")
    if field.type in ("checkbox", "boolean"):
        return _yes_or_no(field, memory, content)
    asked = set(words(ask.question))
    if field.type in ("date", "datetime-local", "month") or "date" in asked or "when" in asked:
        dates = [d for d, _, _ in dates_in(text)]
        written = fit_date(dates[0], field) if len(set(dates)) == 1 else None
        return Answer(written, 0.8, (memory.id,)) if written else None
    text = _SINCE.sub("", text)
    for copula in _COPULA.finditer(text):
        before, after = text[: copula.start()], text[copula.end() :]
        turned = _turned(text, copula, content)
        value = fit(turned, None, field) if turned else None
        if value is not None:
            return Answer(value, 0.8, (memory.id,))
        if not content <= _stems(before) or set(words(before)) & OUTDATED or NEGATED.match(after):
            continue
        if not re.match(r"(?:my|our|the|i|it)\b|我", before, re.IGNORECASE):
            continue
        shape = _shape(field, asked)
        match = re.match(VALUES[shape], after)
        if match is None or re.match(r"(?:my|our)\b", after, re.IGNORECASE):
            continue
        # Words beside the asked ones may make it another thing: 'my old library card number'.
        spare = len(_stems(before) - content - _IDLE)
        value = fit(without_when(match.group().strip()), None, field)
        if value is not None and not ("name" in asked and _is_number(value)):
            return Answer(value, max(0.5, 0.85 - 0.1 * spare), (memory.id,))
    if field.options:
        return _option(field, memory)
    return None


def _is_number(value: Value) -> bool:
    return not any(char.isalpha() for char in str(value))


def _turned(text: str, copula: re.Match[str], content: frozenset[str]) -> str | None:
    """The value of 'VALUE is my gym'; None where the sentence says more, or something else."""
    before, after = text[: copula.start()], without_when(text[copula.end("verb") :].strip())
    mine = re.match(r"(?:my|our)\s", after, re.IGNORECASE)
    named = before[:1].isupper() or before[:1].isdigit() or is_unspaced(before)
    if mine is None or not named or len(before.split()) > 5 or re.match(r"(?:I|My|We)\b", before):
        return None
    said = _stems(after)
    if not content <= said or said - content - _IDLE or set(words(after)) & OUTDATED:
        return None
    return before


def _shape(field: FormField, asked: set[str]) -> str:
    if field.type in ("number", "integer"):
        return "number"
    if asked & {"number", "no", "code", "id"}:
        return "code"
    return "phrase"


def _option(field: FormField, memory: Memory) -> Answer | None:
    """The only option that the memory names."""
    said = fold(memory.text)
    named = [
        o
        for o in field.options
        if len(o.text) > 1 and re.search(rf"\b{re.escape(fold(o.text))}\b", said)
    ]
    if len(named) != 1 or _NOT.search(memory.text):
        return None
    return Answer(named[0].value or named[0].text, 0.75, (memory.id,))


def _yes_or_no(field: FormField, memory: Memory, content: frozenset[str]) -> Answer | None:
    first_person = re.match(r"I(?:['’]m|['’]ve)?\b", memory.text)
    rest = _stems(memory.text) - content - _IDLE - {"am", "m", "not", "never", "don", "t", "strict"}
    if first_person is None or len(rest) > 1:
        return None
    yes = not _NOT.search(memory.text)
    if field.type == "checkbox":
        return Answer(True, 0.8, (memory.id,)) if yes else None
    return Answer(yes, 0.8, (memory.id,))
