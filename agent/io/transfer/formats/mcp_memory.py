"""Import of memory.json of the MCP reference memory server.

One JSON object a line: entities with observations, and relations between them. Each observation
and each relation is a memory, without a language model; the file itself is their source, and each
points at its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.extraction.triples.read import ME, NOTED, triples_for
from agent.io.transfer.merge import Incoming, Merge
from agent.io.transfer.read import numbered_lines
from agent.io.transfer.records import Rejected
from agent.io.transfer.report import Tally
from agent.language.relation_names import lemma, relation_name
from store.tables.sources import content_hash
from store.types import Draft, Source, SourceKind, SourceStatus, Span, Triple, Trust

Place = Callable[[Sequence[str]], list[str]]
"""Sentences -> subclass ids."""

CHUNK = 256
"""Sentences that are placed at once."""
_FILE = "s0"
_ME = frozenset({"default user", "user", "me", "the user", "i"})


@dataclass(frozen=True, slots=True)
class _Stated:
    """One sentence that a line of the file states."""

    line: int
    raw: str
    span: Span
    """Of the line, in the whole file."""
    sentence: str
    triple: Triple | None


def import_mcp(
    path: Path,
    merge: Merge,
    tally: Tally,
    at: datetime,
    place: Place,
    clean: Callable[[str], str],
) -> None:
    """Take in the file, a broken line rejected and the rest kept.

    ``clean`` takes out of a text what may not be stored.
    """
    whole, found = _read(path, tally, clean)
    if not found:
        return
    source = Source(
        _FILE,
        SourceKind.NOTE,
        whole,
        content_hash(whole),
        at,
        f"mcp:{path.absolute()}",
        status=SourceStatus.EXTRACTED,
    )
    merge.own_source(_FILE, source)
    for begin in range(0, len(found), CHUNK):
        part = found[begin : begin + CHUNK]
        sentences = [stated.sentence for stated in part]
        for stated, subclass, read in zip(
            part, place(sentences), triples_for(sentences, None), strict=True
        ):
            guessed = [t for t in read if t.relation != NOTED or t.head != ME]
            given = [stated.triple] if stated.triple else []
            draft = Draft(
                stated.sentence,
                subclass,
                at,
                tuple(dict.fromkeys([*given, *guessed])) or tuple(read),
                source=_FILE,
                span=stated.span,
                # Kept by a program, in words of its own: not what the person said.
                trust=Trust.RECORDED,
            )
            merge.add(Incoming(draft, stated.line, stated.raw))


def _read(path: Path, tally: Tally, clean: Callable[[str], str]) -> tuple[str, list[_Stated]]:
    """The text of the file, and what its lines state; lines that state nothing are rejected."""
    lines: list[str] = []
    found: list[_Stated] = []
    start = 0
    for number, raw in numbered_lines(path):
        if isinstance(raw, Rejected):
            tally.reject(raw)
            lines.append("\n")
            start += 1
            continue
        text = raw.decode("utf-8", "replace").replace("\x00", "")
        try:
            document = json.loads(text.lstrip("\ufeff")) if text.strip() else None
            if (cleaned := _cleaned(document, clean)) != document:
                # Field by field: a secret never takes the quotes around it along.
                text = json.dumps(cleaned, ensure_ascii=False) + "\n"
            span = Span(start, start + len(text.rstrip("\r\n")))
            for sentence, triple in _statements(cleaned) if text.strip() else ():
                found.append(_Stated(number, text, span, sentence, triple))
        except json.JSONDecodeError as error:
            text = clean(text)
            reason = f"not JSON: {error.msg} at character {error.pos + 1}"
            tally.reject(Rejected(number, reason, text))
        except (ValueError, RecursionError) as error:
            text = clean(text)
            tally.reject(Rejected(number, str(error) or "nested too deeply", text))
        lines.append(text)
        start += len(text)
    return "".join(lines), found


def _cleaned(value: object, clean: Callable[[str], str]) -> object:
    """The same JSON value with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item, clean) for item in value]
    if isinstance(value, dict):
        return {key: _cleaned(item, clean) for key, item in value.items()}
    return value


def _statements(document: object) -> Iterator[tuple[str, Triple | None]]:
    """Sentences of a line, each with its relation; of the whole graph where it is one object."""
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    kind = document.get("type")
    if kind == "entity":
        yield from _entity(document)
    elif kind == "relation":
        yield _relation(document)
    elif "entities" in document or "relations" in document:
        for entity in document.get("entities") or []:
            yield from _entity(entity)
        for relation in document.get("relations") or []:
            yield _relation(relation)
    else:
        raise ValueError(f"type is {kind!r:.60}, neither entity nor relation")


def _entity(entity: object) -> Iterator[tuple[str, Triple | None]]:
    if not isinstance(entity, dict):
        raise ValueError("an entity is not a JSON object")
    name = _words(entity, "name")
    observations = entity.get("observations", [])
    if not isinstance(observations, list) or not all(isinstance(o, str) for o in observations):
        raise ValueError("observations is not a list of texts")
    own = name.casefold() in _ME
    said = [" ".join(observation.split()) for observation in observations]
    for observation in filter(None, said):
        if own:
            yield _ended(f"About me: {observation}"), Triple(ME, NOTED, observation)
        elif re.search(rf"(?<!\w){re.escape(name)}(?!\w)", observation, re.IGNORECASE):
            yield _ended(observation), Triple(name, NOTED, observation)
        else:
            yield _ended(f"{name}: {observation}"), Triple(name, NOTED, observation)
    kind = entity.get("entityType")
    if not any(said) and isinstance(kind, str) and kind.strip():
        yield _ended(f"{name} is of the kind {kind.strip()}"), Triple(name, "is", kind.strip())


def _relation(relation: object) -> tuple[str, Triple | None]:
    if not isinstance(relation, dict):
        raise ValueError("a relation is not a JSON object")
    head, tail = _words(relation, "from"), _words(relation, "to")
    verb = _words(relation, "relationType")
    head_name = "I" if head.casefold() in _ME else head
    tail_name = "me" if tail.casefold() in _ME else tail
    if head_name == "I":  # 'works at' -> 'work at'
        first, _, rest = verb.partition(" ")
        verb = f"{lemma(first)} {rest}".strip()
    return _ended(f"{head_name} {verb} {tail_name}"), Triple(
        ME if head_name == "I" else head,
        relation_name(verb) or verb,
        ME if tail_name == "me" else tail,
    )


def _words(document: dict[str, object], name: str) -> str:
    """'John_Smith' -> 'John Smith'; raises ValueError where there is no text."""
    value = document.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is missing or not a text")
    if value.encode("utf-8", "replace").decode() != value:
        raise ValueError(f"{name} holds half a character (a lone surrogate)")
    return " ".join(value.replace("_", " ").split())


def _ended(sentence: str) -> str:
    sentence = sentence.encode("utf-8", "replace").decode()
    return sentence if sentence.endswith((".", "!", "?", "。")) else f"{sentence}."
