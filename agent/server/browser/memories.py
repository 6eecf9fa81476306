"""What the extension has remembered: corrections of values, and selected texts."""

from __future__ import annotations

from agent.applications.forms.corrections import corrected
from agent.extraction.drafts import make_drafts
from agent.extraction.verbatim import facts
from agent.language.injection import steers
from agent.language.validation import checked_message
from agent.memory.remember import store_drafts, without_secrets
from agent.server.browser.forms import site_of
from agent.server.browser.requests import Changed, Correct, Proposal, Proposals, Select
from agent.server.web.edits import told
from agent.server.web.requests import Done
from agent.session.session import Session
from store.errors import InvalidInput, MemlaneError
from store.types import SourceKind, SourceStatus, Status


def proposals(session: Session, asked: Correct) -> Proposals:
    """A sentence for each change; it stores nothing."""
    return Proposals(tuple(_proposal(session, change) for change in asked.changes))


def _proposal(session: Session, change: Changed) -> Proposal | None:
    if (change.key or "").startswith("cc-") or not change.now.strip():
        return None
    graph = session.graph
    evidence = [m for m in graph.memories.of(change.memories) if m.status is Status.CURRENT]
    text, memory = corrected(change.label, change.key, change.was, change.now, evidence)
    if memory is None:
        return Proposal(text, None, "", "")
    seen = graph.journal.of_memory(memory.id)[-1].id
    return Proposal(text, memory.id, memory.text, seen)


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
