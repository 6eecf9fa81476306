"""Triples (``head | relation | tail``) from memories (EMG-RAG 4.2, MGL).

Most memories have one of a few dozen shapes ('My X's Y is Z', 'The F flight departs at T'), which
patterns read exactly and at once; the language model is asked, once for all, only about the rest.
Invariants: the user is ``me``; every other head and tail stands in the memory, determiners aside;
a fact told again, or told with a new value, gives the same head and relation (``relation_name``),
because editing compares relations to decide between insertion and replacement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.extraction.triples.patterns import shape_triples, thing
from agent.language.dates.time_phrases import without_end
from agent.language.relation_names import LASTING, relation_name
from agent.language.sentences import sentences, stem, words
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel
from store.types import Triple

ME = "me"
NOTED = "noted"
"""The relation of a memory that no pattern and no model could read."""
BATCH = 8
"""Memories per model call, one line each. A GBNF grammar gave the same lines five times slower."""
LONGEST = 12
"""Words an entity may have; longer tails are cut at a clause border."""

_LEANING = re.compile(
    r"(?:he|she|it|its|they|his|her|hers|their|theirs|him|them|this|that|these|those)\b|[他她它这那其]",
    re.IGNORECASE,
)
"""How an end begins that only an earlier sentence explains."""

_SYSTEM = (
    "For each numbered sentence write its main fact as: head | relation | tail. The person who "
    "wrote the sentences is me. Head and tail are short and copied from the sentence; the relation "
    "is one to three lower-case words."
)
_EXAMPLE = (
    "1. I promised Nadia to water the tomatoes.\n"
    "2. The Bremen depot orders its spare parts from Voss, because they deliver overnight.\n"
    "3. Late trains make me nervous.",
    "1. me | promised to water | the tomatoes\n"
    "2. the Bremen depot | orders spare parts from | Voss\n"
    "3. late trains | make nervous | me",
)
_BEGIN = fixed(_SYSTEM, [_EXAMPLE])


def triples_for(texts: Sequence[str], llm: LanguageModel | None) -> list[tuple[Triple, ...]]:
    """The triples of each memory, main fact first; patterns alone where ``llm`` is None."""
    result = [_validated(_shaped(text), text) for text in texts]
    open_ = [index for index, triples in enumerate(result) if not triples]
    if llm is not None:
        for start in range(0, len(open_), BATCH):
            batch = open_[start : start + BATCH]
            asked = [texts[index] for index in batch]
            reply = llm.chat(build_turns(asked), max_tokens=30 * len(asked) + 10)
            for index, triple in zip(batch, parse_reply(reply, len(asked)), strict=True):
                if triple is not None:
                    result[index] = _validated((triple,), texts[index])
    return [triples or _last_resort(text) for triples, text in zip(result, texts, strict=True)]


def build_turns(texts: Sequence[str]) -> tuple[ChatTurn, ...]:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    return (*_BEGIN, ChatTurn("user", listed))


def parse_reply(reply: str, count: int) -> list[Triple | None]:
    """The triple of each numbered line; None where the line is missing or broken."""
    found: list[Triple | None] = [None] * count
    for line in reply.splitlines():
        # 'head | relation tail' is the form a small model slips into: the verb parts them.
        line = re.sub(
            r"^([^|]+\|)\s*(\w+(?: (?:to|at|in|on|for|from|by|with))?) ([^|]+)$", r"\1\2|\3", line
        )
        match = re.match(r"\s*(\d+)[.)]\s*([^|]+)\|([^|]+)\|([^|]+)$", line)
        if match and 1 <= int(match.group(1)) <= count:
            head, relation, tail = (part.strip() for part in match.groups()[1:])
            if relation_name(relation):
                found[int(match.group(1)) - 1] = Triple(
                    thing(head), relation_name(relation), thing(tail)
                )
    return found


def _shaped(text: str) -> Sequence[Triple]:
    """By the patterns, sentence by sentence: an end never reaches into the next one."""
    parts = sentences(text)
    if len(parts) < 2:
        return shape_triples(text)
    found = [triple for part in parts for triple in shape_triples(part)]
    return [t for t in found if not (_LEANING.match(t.head) or _LEANING.match(t.tail))]


def _validated(triples: Sequence[Triple], text: str) -> tuple[Triple, ...]:
    """Triples whose ends stand in the text, at most three, each end named in the house way."""
    inside = {stem(word) for word in words(text)}
    result: list[Triple] = []
    for triple in triples:
        head, tail = thing(triple.head), thing(triple.tail)
        if triple.relation in LASTING:
            tail = without_end(tail)
        if head == tail or not triple.relation:
            continue
        if all(_stands_in(end, inside) for end in (head, tail)):
            result.append(Triple(head, triple.relation, tail))
    return tuple(dict.fromkeys(result))[:3]


def _stands_in(entity: str, inside: set[str]) -> bool:
    own = [stem(word) for word in words(entity)]
    return entity == ME or (
        0 < len(own) <= LONGEST * 2 and all(word in inside or word == "my" for word in own)
    )


def _last_resort(text: str) -> tuple[Triple, ...]:
    """A memory no pattern or model could read still hangs in the graph, by its whole sentence."""
    first = (sentences(text) or [text])[0].strip().rstrip(".。!")
    return (Triple(ME, NOTED, first),) if first else ()
