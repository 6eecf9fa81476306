"""Fill and consent for a page in a browser.

The site of a page is the host whose scripts can read its fields, whatever the form says of where it
is sent. Card fields stay empty until the person allows them for the site; ``Consent`` says that in
the same table as ``memlane fill``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from agent.applications.forms.fields import MAX_FIELDS, FormField
from agent.applications.forms.formats.html import read_page
from agent.applications.forms.formats.open_form import MAX_CHARACTERS
from agent.applications.forms.formats.page import Page, Spot, host_of
from agent.results import FilledField, Value, phrase
from agent.server.browser.requests import Agree, Evidence, Needs, Offer, PageField, PageForm
from agent.server.web.requests import Done
from agent.session.session import Session
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.types import Memory

CARD = "payment card"
"""The name of the permission to fill card fields."""
_NUMBER = re.compile(r'<[a-z]{1,8} data-memlane="(\d{1,6})"')
_LOOPBACK = ("127.0.0.1", "localhost")


def site_of(address: str) -> str:
    """The site for which consents count; a page without encryption is one of its own.

    :raises InvalidInput: if it is no web page.
    """
    host = host_of(address)
    if not host or "//" not in address:
        raise InvalidInput("memlane fills web pages only (http, https).")
    plain = urlsplit(address.strip()).scheme != "https" and host not in _LOOPBACK
    return f"http://{host}" if plain else host


def read_form(text: str, site: str) -> tuple[Page, tuple[str, ...]]:
    """The fields of a page as going to ``site``, and what to tell of the page.

    :raises InvalidInput: if there is nothing to fill, or too much.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"This page is longer than {MAX_CHARACTERS:,} characters.")
    page = read_page(text)
    if len(page.fields) > MAX_FIELDS:
        raise InvalidInput(f"This page has more than {MAX_FIELDS:,} fields.")
    notes = ["Frames of this page are not read."] if page.frames else []
    if not page.fields:
        raise InvalidInput(" ".join(["No fields to fill can be seen on this page.", *notes]))
    for other in sorted({f.site for f in page.fields} - {"", host_of(site)}):
        notes.append(f"This form is sent to {other}.")
    fields = tuple(replace(field, site=site) for field in page.fields)
    return replace(page, fields=fields), tuple(notes)


def shown(
    session: Session,
    page: Page,
    site: str,
    results: Sequence[FilledField],
    notes: tuple[str, ...],
) -> PageForm:
    """The results with their evidence; card fields without values until they are allowed."""
    graph = session.graph
    card = graph.form_consents.get(CARD, site).given
    told = {id for result in results for id in result.memories}
    told |= {id for result in results for other in result.alternatives for id in other.memories}
    memories = {memory.id: memory for memory in graph.memories.of(tuple(told))}
    fields = []
    for field, spot, result in zip(page.fields, page.spots, results, strict=True):
        if (number := _number(spot.tag.raw)) is None:
            continue  # not of a page that the extension read
        needs, consent = _withheld(field, result, card)
        if needs == "card":
            result = replace(result, value=None, alternatives=())
        offers = tuple(_offers(result, field, spot, number, memories))
        fields.append(
            PageField(
                number,
                " ".join((result.label or result.name).split()),
                offers,
                result.value is not None,
                result.key,
                needs,
                consent,
                result.note,
            )
        )
    return PageForm(site, tuple(fields), notes)


def _withheld(field: FormField, result: FilledField, card: bool | None) -> tuple[Needs, str]:
    """What keeps the value of a field back, and what the person would agree to."""
    of_card = (result.key or "").startswith("cc-") or any(
        token.startswith("cc-") for token in field.autocomplete.split()
    )
    if of_card and not card and (result.value is not None or result.alternatives or result.consent):
        return "card", CARD
    said = result.consent
    if said is None or said.given:
        return "", ""
    return ("consent" if said.given is None else "refused"), said.field


def _offers(
    result: FilledField,
    field: FormField,
    spot: Spot,
    number: int,
    memories: Mapping[str, Memory],
) -> Iterable[Offer]:
    texts = {option.value: option.text for option in field.options}
    told = ([(result.value, result.memories)] if result.value is not None else []) + [
        (other.value, other.memories) for other in result.alternatives
    ]
    for value, ids in told:
        shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
        evidence = tuple(_evidence(memories[id]) for id in ids if id in memories)
        yield Offer(value, texts.get(shown) or shown, _chosen(spot, value, number), evidence)


def _evidence(memory: Memory) -> Evidence:
    return Evidence(memory.id, memory.text, phrase(memory.trust))


def _chosen(spot: Spot, value: Value, number: int) -> int:
    """The radio button of a value; of any other field the field itself."""
    found = (_number(tag.raw) for tag in spot.choices if tag.value == str(value))
    return next((one for one in found if one is not None), number)


def _number(tag: str) -> int | None:
    found = _NUMBER.match(tag)
    return int(found[1]) if found else None


def agree(session: Session, asked: Agree) -> Done:
    """Keep what the person said to a field and a site."""
    if not (0 < len(asked.field) <= 500 and 0 < len(asked.site) <= 300):
        raise InvalidInput("A consent is for a field and a site.")
    graph: MemoryGraph = session.graph
    graph.form_consents.put(asked.field, asked.site, given=asked.given, at=session.config.now())
    return Done((), None)
