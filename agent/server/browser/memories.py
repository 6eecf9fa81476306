"""What the extension has remembered: corrections of values, and selected texts."""

from __future__ import annotations

from dataclasses import replace

from agent.applications.forms.corrections import corrected
from agent.extraction.drafts import make_drafts
from agent.extraction.verbatim import facts
from agent.language.injection import steers
from agent.language.validation import checked_message
from agent.memory.remember import store_drafts, without_secrets
from agent.server.browser.forms import site_of
from agent.server.browser.requests import Correct, Proposal, Proposals, Select
from agent.server.web.edits import told
from agent.server.web.requests import Done
from agent.session.session import Session
from store.errors import InvalidInput, MemlaneError
from store.types import SourceKind, SourceStatus, Status


def proposals(session: Session, asked: Correct) -> Proposals:
    """A sentence for the changes of each memory, and for each other change; it stores nothing."""
    graph = session.graph
    found: dict[str, Proposal] = {}
    for number, change in enumerate(asked.changes):
        if (change.key or "").startswith("cc-") or not change.now.strip():
            continue
        kept = [m for m in graph.memories.of(change.memories) if m.status is Status.CURRENT]
        evidence = [replace(m, text=found[m.id].text) if m.id in found else m for m in kept]
        text, memory = corrected(change.label, change.key, change.was, change.now, evidence)
        if memory is None:
            found[f"change {number}"] = Proposal((number,), text, None, "", "")
        elif memory.id in found:
            told = found[memory.id]
            found[memory.id] = replace(told, text=text, changes=(*told.changes, number))
        else:
            seen = graph.journal.of_memory(memory.id)[-1].id
            found[memory.id] = Proposal((number,), text, memory.id, memory.text, seen)
    return Proposals(tuple(found.values()))


def select(session: Session, asked: Select) -> Done:
    """Store a selected text as what it is, a piece of a page that anybody may have written.

    :raises InvalidInput: if it is empty, too long, or gives orders to an assistant.
    """
    graph, now, site = session.graph, session.config.now(), site_of(asked.address)
    text = without_secrets(session, checked_message(" ".join(asked.text.split())))
    if steers(text):
        raise InvalidInput("That reads as an order to an assistant, so it is not stored.")
    source = graph.sources.add(SourceKind.DOCUMENT, text, now)
    try:
        said = facts(text)
        drafts = make_drafts(said, session.placer.place(said), source, llm=None)
        actor = f"browser {site}"
        return told(store_drafts(drafts, source, graph, session, now, actor=actor))
    except MemlaneError as error:
        graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
        raise
