"""Extraction of standalone first-person sentences from raw text (EMG-RAG 4.1, A.1, A.4).

The paper's prompt (Table 9) asks a large model to "organize the raw user data into standardized
memory data". A 1.5B model needs less freedom: one chunk at a time, a numbered list, worked examples
as chat turns, and a guard (``faithfulness``) that compares each line with its source. No model
reads notes, screens (``documents``) and single clean sentences. The prompt and the parser of its
replies are both here, so that a change to one shows the other.

Invariant: what the source says and the model leaves out comes back through the coverage guard;
what the model adds is dropped. Text inside a source is data and never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from agent.extraction.documents.labelled_fields import read_screen
from agent.extraction.documents.markdown_notes import read_note
from agent.extraction.documents.screens import read_screen_lines
from agent.extraction.documents.vouchers import read_pass
from agent.extraction.faithfulness import clean_sentence, guard, has_verb, is_clean, tied
from agent.language.coreference import split_facts
from agent.language.email_headers import without_headers
from agent.language.identify import is_foreign
from agent.language.sentences import Chunk, chunks, declarative, is_chinese, sentences
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel
from store.errors import MemlaneError
from store.types import SourceKind

MAX_REPLY_TOKENS = 400
"""Room for about 15 sentences from one chunk."""

SYSTEM = """You turn raw text from one person into memories. A memory is one complete sentence \
that can be understood on its own.
- Write in the first person: the person who wrote the text is I.
- Replace he, she, it, they, this and that by the name or the thing meant.
- Keep names, numbers, dates, times, places and the word not exactly as they are.
- Keep a reason, condition or comparison in the same sentence as what it belongs to.
- Leave out questions, requests, greetings, thanks and side remarks. Add nothing.
Answer with a numbered list, or with NONE if there is nothing to remember."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "Hi! My landlord Mr Ruiz wants the rent by the 3rd now. He raised it to 940 euros because "
        "of the new lift, and he doesn't accept cash. Can you write him a short reply?",
        "1. My landlord Mr Ruiz wants the rent by the 3rd.\n"
        "2. My landlord Mr Ruiz raised the rent to 940 euros because of the new lift.\n"
        "3. My landlord Mr Ruiz doesn't accept cash.",
    ),
    ("ok thanks, that helps!! And what time is it in Tokyo right now?", "NONE"),
    (
        "I find printed catalogues wasteful. Ours takes weeks to make and hardly anyone opens it. "
        "Decided to drop it and put the 8,000 into the web shop. Will tell Yusuf on Monday, he "
        "asked about it last week.",
        "1. I find printed catalogues wasteful, because our catalogue takes weeks to make and "
        "hardly anyone opens it.\n"
        "2. I decided to drop our printed catalogue and put the 8,000 into the web shop.\n"
        "3. I will tell Yusuf on Monday that we drop the printed catalogue.",
    ),
)
_BEGIN = fixed(SYSTEM, ((f"Text:\n{text}", reply) for text, reply in EXAMPLES))


class ExtractionFailed(MemlaneError):
    """The model's reply could not be read. The source is kept; ``ingest --retry`` tries again."""


def build_turns(chunk: Chunk, *, people: Sequence[str] = ()) -> tuple[ChatTurn, ...]:
    """The prompt for one chunk. The turns before the last are the same in every call.

    A language model reuses what it has read of a common prefix, so all that varies (people,
    heading) stands in the last turn.
    """
    context = []
    if people:
        context.append("Known people: " + " ".join(people))
    if chunk.heading:
        context.append(f"Heading: {chunk.heading}")
    lead = "\n".join(context) + "\n" if context else ""
    return (*_BEGIN, ChatTurn("user", f"{lead}Text:\n{chunk.text}"))


def parse_reply(reply: str) -> list[str]:
    """The sentences of a numbered list; an empty list for NONE.

    :raises ExtractionFailed: if the reply holds neither list nor NONE nor a plain sentence.
    """
    lines: list[str] = []
    for raw in reply.splitlines():
        match = re.match(r"\s*(?:\d{1,2}[.)]|[-*•])\s*(\S.*)", raw)
        if match:
            lines.append(match.group(1).strip().strip("*").strip())
    if lines:
        return [line for line in lines if line.upper().rstrip(".") != "NONE"]
    if re.match(r"\W*none\b", reply, re.I):
        return []
    told = [line.strip() for line in reply.splitlines() if re.search(r"\w", line)]
    plain = [line for line in told if line.endswith((".", "。", "!"))]
    if plain:
        return plain
    raise ExtractionFailed(
        "The language model's reply could not be read. The text is kept; try again with "
        "'memlane ingest --retry'."
    )


def extract(
    text: str,
    *,
    kind: SourceKind,
    now: datetime,
    people: Sequence[str] = (),
    llm: LanguageModel,
) -> tuple[str, ...]:
    """The memories that ``text`` states, in its order.

    ``people`` are short sentences about people already known ("My boss is Mr Tan."), against
    which names and pronouns are resolved.

    :raises ExtractionFailed: if a reply cannot be read even at a second, warmer try.
    """
    if kind is SourceKind.NOTE:
        return tuple(line.text for line in read_note(text, None, now))
    if kind is SourceKind.SCREENSHOT:
        return tuple(line.text for line in read_screen_lines(text, (), now))
    labelled = kind in (SourceKind.CONTACT, SourceKind.CALENDAR)
    found: list[str] = []
    if labelled and (card := read_pass(text)):
        return (card,)
    screen = read_screen(without_headers(text), least=2 if labelled else 3)
    found += screen.memories
    for chunk in chunks(screen.rest):
        found += _extract_chunk(chunk, now=now, people=people, llm=llm)
    return tuple(dict.fromkeys(found))


def _extract_chunk(
    chunk: Chunk, *, now: datetime, people: Sequence[str], llm: LanguageModel
) -> list[str]:
    lines = chunk.text.splitlines()
    if chunk.heading and len(lines) > 1 and not any(has_verb(line) for line in lines):
        # a list under its heading is one memory: 'Packing list: tent, lamp, stove.'
        items = ", ".join(line.strip("-*•· .") for line in lines)
        return [f"{chunk.heading}: {items}."]
    if is_foreign(chunk.text):
        # The checks on what a model writes know no wording of this language.
        return [part for part in sentences(chunk.text) if not part.endswith("?")]
    parts = [stated for part in sentences(chunk.text) if (stated := declarative(part))]
    if not parts:
        return []
    if all(is_clean(part) for part in parts):
        # Trigger: every sentence that says anything is already a standalone first-person one.
        # Why: a model call costs seconds and can only change names and numbers.
        # Outcome: the sentences themselves, wrappers such as 'by the way' stripped.
        facts = [fact for part in parts for fact in split_facts(clean_sentence(part))]
        return [line for _, line in tied(list(enumerate(facts)))]
    turns = build_turns(chunk, people=people)
    try:
        told = parse_reply(llm.chat(turns, max_tokens=MAX_REPLY_TOKENS))
    except ExtractionFailed:
        told = parse_reply(llm.chat(turns, max_tokens=MAX_REPLY_TOKENS, temperature=0.5, seed=1))
    if is_chinese(chunk.text) and not any(is_chinese(line) for line in told):
        told = []  # the reply is in another language; the coverage guard keeps the sentences
    return list(guard(told, chunk.text, people=people, now=now))
