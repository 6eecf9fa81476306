"""What the person told in sessions of coding agents, to be remembered if they want.

Most of what is typed there are orders and remarks on the work at hand, so a sentence is offered
only where it likely tells something that lasts. Nothing is stored before the person accepts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agent.errors import UnreadableSource
from agent.extraction.told import FEWEST
from agent.io.transfer.formats.agent_transcripts import read_transcripts
from agent.io.transfer.formats.chat_exports import OwnTurn
from agent.language.redaction import redact, what_is_gone
from agent.language.sentences import declarative, is_question, sentences, words
from agent.ports import KINDS
from agent.results import Remembered, Route
from agent.server.hooks.ended import Ended, EndedSessions
from agent.server.hooks.folders import project_of
from agent.session.session import Session

LASTS = ("state", "preference", "plan")
"""Kinds of statements that are offered: events are mostly of the work, as 'the test fails'."""
LIKELY = 0.6
"""Probability of these kinds from which a sentence is offered; chosen on 45 of our own."""
LONGEST = 300
"""Characters of a sentence that is offered; a longer one was pasted."""
MAX_MESSAGE = 1_000
"""Characters of a message that are read; what follows is mostly pasted."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence that the person may want to be remembered."""

    key: str
    """Made of its words: the same sentence is offered once."""
    text: str
    """As it was typed; one that had a secret in it is not offered."""
    said: datetime
    tool: str
    project: str
    """The folder of the project that it was said in."""


def offers(session: Session, ended: Sequence[Ended], decided: frozenset[str]) -> list[Offer]:
    """What is offered of these sessions, oldest first, without what was decided before."""
    found: dict[str, Offer] = {}
    for one in ended:
        for offer in _offers_of(one, session):
            if offer.key not in decided:
                found.setdefault(offer.key, offer)
    return sorted(found.values(), key=lambda offer: offer.said)


def accept(session: Session, offer: Offer) -> Remembered:
    """Remember a sentence as ``memlane remember`` would, as said then and in that project."""
    return session.remember(offer.text, at=offer.said, place=offer.project or None)


def close(sessions: EndedSessions, ended: Sequence[Ended]) -> None:
    """Mark sessions as reviewed until their transcripts change, when they were resumed."""
    for one in ended:
        sessions.put(replace(one, reviewed=Path(one.transcript).stat().st_mtime))


def _offers_of(ended: Ended, session: Session) -> Iterator[Offer]:
    now = session.config.now()
    try:
        turns = [
            turn
            for turn in read_transcripts(Path(ended.transcript), ended.tool, now)
            if isinstance(turn, OwnTurn)
        ]
    except UnreadableSource:
        return
    texts = [
        (sentence, turn)
        for turn in turns
        for sentence in sentences(redact(turn.text, reader=session.secrets).text[:MAX_MESSAGE])
        if len(words(sentence)) >= FEWEST and len(sentence) <= LONGEST
        if declarative(sentence) and not is_question(sentence) and not what_is_gone(sentence)
    ]
    for (text, turn), chance in zip(texts, _chances([t for t, _ in texts], session), strict=True):
        if chance >= LIKELY:
            key = hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:8]
            said = min(turn.said.astimezone(now.tzinfo), now)
            yield Offer(key, text, said, ended.tool, project_of(turn.place or ended.folder))


def _chances(texts: Sequence[str], session: Session) -> list[float]:
    """How likely each sentence tells something that lasts."""
    if not texts:
        return []
    if session.statements is None:
        return [session.router.detect(text).probabilities[Route.UPDATE] for text in texts]
    rows = [KINDS.index(name) for name in LASTS]
    return [float(row[rows].sum()) for row in session.statements.kinds(texts)]
