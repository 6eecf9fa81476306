"""Memories as editable Markdown with YAML front matter. Pure: opens no file.

Each memory is a block: a line ``---``, its fields in YAML, a line ``---``, and the sentence as
body. A block begins only where ``---`` is followed by a field, so a sentence may be ``---`` itself.
YAML is read as a tree of plain strings and nothing is constructed from it (PyYAML ``compose``),
so 'no' stays a place and no tag can call anything.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from agent.extraction.triples.read import ME, triples_for
from agent.language.dates import parse_when
from agent.language.relation_names import relation_name
from agent.memory.time.history import shown
from store.errors import InvalidInput
from store.journal import Amend, checked_text
from store.row_codecs import entity_key
from store.types import Memory, Triple

FIELDS = ("id", "subclass", "created", "valid_from", "valid_until", "place", "relations")
"""What the front matter holds, in this order. ``id`` and ``created`` are there to be read."""

HEAD = """<!-- Change what is wrong, then save and close. Everything else stays unchanged.
     An emptied field is cleared. id and created cannot be changed. A block you delete changes
     nothing: to remove a memory from answers, use `memlane memories forget`. -->
"""
_BORDER = re.compile(r"---[ \t]*")
_KEY = re.compile(r"[A-Za-z_]+[ \t]*:(?:\s|$)")
_NOTHING = ("", "~", "null", "none")

Plain: TypeAlias = "str | list[Plain]"
"""A value of the front matter as it was typed."""
Clean: TypeAlias = Callable[[str, str], str]
"""A text without its secrets, but for those that the other text holds."""


class _Node(Protocol):
    """A node of PyYAML, which has no types: a string, or a list of nodes."""

    value: object


@dataclass(frozen=True, slots=True)
class Block:
    """One memory as it was typed: its fields as plain strings, and its sentence."""

    id: str
    line: int
    """Where it begins in the file, from 1."""
    fields: Mapping[str, Plain]
    """A string by field; relations as a list of strings or of lists of strings."""
    text: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of one memory, before and after, as people read it."""

    memory: str
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EditedFile:
    """What an edited file asks for."""

    edits: tuple[Amend, ...]
    changes: tuple[FieldChange, ...]
    left_out: tuple[str, ...]
    """Memories whose blocks were deleted; they stay as they were."""


def written(memories: Sequence[Memory]) -> str:
    """The memories as one Markdown file; ``difference`` of it and them is empty."""
    return "\n".join([HEAD, *(_block(memory) for memory in memories)])


def _block(memory: Memory) -> str:
    import yaml

    fields: dict[str, Any] = {
        "id": memory.id,
        "subclass": memory.subclass,
        # Copies: of one object written twice YAML would make an anchor and an alias.
        "created": memory.created.replace(),
        "valid_from": memory.valid_from and memory.valid_from.replace(),
        "valid_until": memory.valid_until and memory.valid_until.replace(),
        "place": memory.place,
        "relations": [[t.head, t.relation, t.tail] for t in memory.triples],
    }
    head = yaml.safe_dump(
        fields, sort_keys=False, allow_unicode=True, width=1 << 20, default_flow_style=None
    )
    head = re.sub(r"(?m)^(\w+): null$", r"\1:", head)
    return f"---\n{head}---\n\n{memory.text}\n"


# ---- reading ---------------------------------------------------------------------------------


def read_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of an edited file.

    :raises InvalidInput: one line that says where the file cannot be understood.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts = [number for number in range(len(lines)) if _begins(lines, number)]
    # The `---` that ends a front matter stands before a body, which may look like a field.
    blocks: list[Block] = []
    after = 0
    for start in starts:
        if start < after:
            continue
        if not blocks and (stray := _prose(lines[:start])):
            raise InvalidInput(
                f"line 1: {stray[:40]!r} comes before the first front matter. Each memory starts "
                "with a line ---, its fields and another line ---."
            )
        end = next((n for n in range(start + 1, len(lines)) if _BORDER.fullmatch(lines[n])), None)
        if end is None:
            raise InvalidInput(f"line {start + 1}: this front matter has no closing line ---.")
        after = end + 1
        stop = next((n for n in starts if n >= after), len(lines))
        fields = _fields("\n".join(lines[start + 1 : end]), start + 2)
        blocks.append(_checked_block(fields, lines[after:stop], start + 1))
    if not blocks:
        raise InvalidInput(
            "There is no front matter left: each memory starts with a line ---, its fields "
            "(id: m12, ...) and another line ---."
        )
    seen: dict[str, int] = {}
    for block in blocks:
        if block.id in seen:
            raise InvalidInput(
                f"line {block.line}: {block.id} appears twice, first on line {seen[block.id]}."
            )
        seen[block.id] = block.line
    return tuple(blocks)


def _begins(lines: Sequence[str], number: int) -> bool:
    if not _BORDER.fullmatch(lines[number]):
        return False
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return _KEY.match(following.lstrip("# ")) is not None


def _prose(lines: Sequence[str]) -> str:
    """What of these lines is no comment."""
    return re.sub(r"<!--.*?-->", "", "\n".join(lines), flags=re.DOTALL).strip()


def _fields(text: str, first_line: int) -> dict[str, Plain]:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = first_line + (mark.line if mark else 0)
        why = getattr(error, "problem", None) or "a sign that YAML does not allow"
        raise InvalidInput(
            f"line {where}: the front matter is not YAML ({why}). "
            "Text with a colon or quotes in it goes in 'single quotes'."
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise InvalidInput(f"line {first_line}: the front matter has no fields.")
    found: dict[str, Plain] = {}
    for key, value in node.value:
        name, line = str(key.value), first_line + key.start_mark.line
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, 1)
            hint = f" Did you mean {near[0]}?" if near else f" Fields: {', '.join(FIELDS)}."
            raise InvalidInput(f"line {line}: there is no field {name!r}.{hint}")
        if name in found:
            raise InvalidInput(f"line {line}: {name} appears twice.")
        if name != "relations" and not isinstance(value, yaml.ScalarNode):
            raise InvalidInput(f"line {line}: {name} is one value, not a list.")
        found[name] = _plain(value, line)
    return found


def _plain(node: _Node, line: int, depth: int = 0) -> Plain:
    if isinstance(node.value, str):
        return node.value
    items = node.value if isinstance(node.value, list) else []
    if depth > 1 or any(isinstance(item, tuple) for item in items):  # a mapping holds pairs
        raise InvalidInput(f"line {line}: a relation is [head, relation, tail].")
    return [_plain(item, line, depth + 1) for item in items]


def _checked_block(fields: Mapping[str, Plain], body: Sequence[str], line: int) -> Block:
    memory = str(fields.get("id", "")).strip().lower()
    if not memory:
        raise InvalidInput(
            f"line {line}: this memory has no id. To add a new one: memlane memories add TEXT"
        )
    text = "\n".join(body).strip()
    if not text:
        raise InvalidInput(
            f"line {line}: {memory} has no sentence left. To remove it from answers: memlane "
            f"memories forget {memory}"
        )
    if re.search(r"\n[ \t]*\n", text):
        # Trigger: two paragraphs in one body. Why: that is what remains when the front matter of
        # the next memory is deleted. Outcome: refused, so two memories never become one unseen.
        raise InvalidInput(
            f"line {line}: {memory} has more than one paragraph, and a memory is one. Is the "
            "front matter of the next memory gone?"
        )
    return Block(memory, line, fields, checked_text(text))


# ---- difference ------------------------------------------------------------------------------


def difference(
    before: Mapping[str, Memory],
    blocks: Sequence[Block],
    *,
    subclasses: Collection[str],
    now: datetime,
    clean: Clean = lambda text, kept: text,
) -> EditedFile:
    """What has to be amended so that the memories are as the file says.

    ``before`` are the memories that the file was written from, by id. ``clean`` takes the secrets
    out of what was typed but for those that the memory held before.

    :raises InvalidInput: one line that names the memory and what is wrong with it.
    """
    edits: list[Amend] = []
    changes: list[FieldChange] = []
    present = {block.id for block in blocks}
    for block in blocks:
        if block.id not in before:
            known = ", ".join(list(before)[:5]) + (", ..." if len(before) > 5 else "")
            raise InvalidInput(
                f"line {block.line}: {block.id} was not opened for editing (it was: {known})."
            )
        for other, memory in before.items():
            swallowed = memory.text in block.text and memory.text not in before[block.id].text
            if other not in present and swallowed:
                raise InvalidInput(
                    f"line {block.line}: {block.id} now holds the sentence of {other}, whose "
                    "front matter is gone."
                )
        memory = before[block.id]
        edit, changed = _amend(memory, _without_secrets(memory, block, clean), subclasses, now)
        if edit is not None:
            edits.append(edit)
            changes += changed
    return EditedFile(tuple(edits), tuple(changes), tuple(id for id in before if id not in present))


def _without_secrets(memory: Memory, block: Block, clean: Clean) -> Block:
    """The block with all that a person can write in it cleaned."""
    kept = _block(memory)
    typed = {name: _cleaned(value, kept, clean) for name, value in block.fields.items()}
    return replace(block, fields=typed, text=checked_text(clean(block.text, kept)))


def _cleaned(value: Plain, kept: str, clean: Clean) -> Plain:
    if isinstance(value, str):
        return clean(value, kept)
    return [_cleaned(one, kept, clean) for one in value]


def _amend(
    memory: Memory, block: Block, subclasses: Collection[str], now: datetime
) -> tuple[Amend | None, list[FieldChange]]:
    (before,) = read_blocks(_block(memory))

    def left_alone(field: str) -> bool:
        # Typed is compared with typed: what YAML or a date cannot hold exactly is no change.
        return bool(block.fields.get(field, "") == before.fields.get(field, ""))

    given: dict[str, Any] = {}
    clear: list[str] = []
    if block.text != before.text:
        given["text"] = block.text
    subclass = _scalar(block, "subclass")
    if subclass is None or subclass not in subclasses:
        near = difflib.get_close_matches(subclass or "", subclasses, 1)
        hint = f" Did you mean {near[0]}?" if near else " `memlane types list` shows them."
        raise InvalidInput(f"{memory.id}: there is no subclass {subclass or ''!r}.{hint}")
    if subclass != memory.subclass:
        given["subclass"] = subclass
    if "created" in block.fields and _moment(block, "created", now) != memory.created:
        raise InvalidInput(
            f"{memory.id}: created is when it was said and cannot be changed; valid_from and "
            "valid_until can."
        )
    wanted: dict[str, Any] = {
        "valid_from": _moment(block, "valid_from", now),
        "valid_until": _moment(block, "valid_until", now, end=True),
        "place": _scalar(block, "place"),
    }
    for name, value in wanted.items():
        if left_alone(name):
            wanted[name] = getattr(memory, name)
        elif value is None:
            clear.append(name)
        elif value != getattr(memory, name):
            given[name] = value
    start, end = wanted["valid_from"], wanted["valid_until"]
    if start is not None and end is not None and end < start:
        raise InvalidInput(f"{memory.id}: valid_until is before valid_from.")
    triples = memory.triples if left_alone("relations") else _triples(memory.id, block)
    if triples != memory.triples:
        given["triples"] = triples
    elif "text" in given:
        (read,) = triples_for([block.text], None)
        if read != memory.triples:
            given["triples"] = read
    if not given and not clear:
        return None, []
    edit = Amend(memory.id, **given, clear=tuple(clear))
    return edit, [
        FieldChange(memory.id, _shown_name(name), shown(getattr(memory, name)), shown(value))
        for name, value in edit.given().items()
    ]


def _scalar(block: Block, field: str) -> str | None:
    value = str(block.fields.get(field, "")).strip()
    return None if value.casefold() in _NOTHING else value


def _moment(block: Block, field: str, now: datetime, *, end: bool = False) -> datetime | None:
    value = _scalar(block, field)
    if value is None:
        return None
    try:
        return parse_when(value, now, end=end)
    except InvalidInput as error:
        raise InvalidInput(f"{block.id}: {field}: {error}") from error


def _triples(memory: str, block: Block) -> tuple[Triple, ...]:
    listed = block.fields.get("relations", [])
    if isinstance(listed, str):
        if listed.strip().casefold() in _NOTHING:
            return ()
        listed = [listed]
    return tuple(dict.fromkeys(_triple(memory, item) for item in listed))


def _triple(memory: str, item: Plain) -> Triple:
    parts = item.split("|") if isinstance(item, str) else item
    ends = [" ".join(str(part).split()) for part in parts]
    if len(ends) != 3 or not all(ends) or not all(isinstance(part, str) for part in parts):
        raise InvalidInput(
            f"{memory}: the relation {' | '.join(map(str, parts))[:60]!r} is not "
            "[head, relation, tail]."
        )
    head, relation, tail = ends
    if entity_key(head) == entity_key(tail):
        raise InvalidInput(f"{memory}: {head!r} cannot be related to itself.")
    # A name that stands already is kept; a new one takes the house form, so edits compare.
    name = relation if re.fullmatch(r"[a-z0-9_]+", relation) else relation_name(relation)
    return Triple(_me(head), name or relation, _me(tail))


def _me(entity: str) -> str:
    return ME if entity.casefold() in ("i", "me", "you") else entity


def _shown_name(field: str) -> str:
    return "relations" if field == "triples" else field
