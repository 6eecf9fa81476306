"""Text output for people. Memory text is never markup: a console reads it only where asked to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from cli.output import json_output
from cli.output.json_output import state

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import FileReport, FilledField, Remembered, Reply
    from store.erasure.run import Forgotten
    from store.journal import Entry
    from store.types import Memory, Source


def shown_name(path: str) -> str:
    """A file's name as a screen may show it: no control character, nothing that is not UTF-8."""
    return "".join(sign if sign.isprintable() else "?" for sign in path)


def counted(count: int, noun: str) -> str:
    """'1 memory', '2,000 memories'."""
    if count == 1:
        return f"1 {noun}"
    ending = {"y": "ies", "s": "ses"}.get(noun[-1])
    return f"{count:,} {noun[:-1] + ending if ending else noun + 's'}"


def report_line(report: FileReport) -> str:
    """What became of one file, in plain text."""
    reason = f": {shown_name(report.reason)}" if report.reason else ""
    done = f"{report.status:<9} {counted(report.memories, 'memory'):>12}"
    return f"{done}  {shown_name(report.path)}{reason}"


def edit_line(entry: Entry) -> str:
    """One edit in plain text, with its id for undo."""
    before, after = entry.before, entry.after
    match entry.kind.value:
        case "erase":
            return f"{entry.id} erase {_redacted(entry)}: forgotten for good"
        case _ if entry.redacted:
            what = f"{after or before or ''} (forgotten in part: {_redacted(entry)})"
            what = what if after or before else "(forgotten for good)"
        case "amend" if before == after:
            what = f"{after} ({_fields(entry)})"
        case "replace" | "amend":
            what = f"{before} -> {after}"
        case "forget":
            what = f"{before} (no longer used)"
        case "undo":
            what = f"{entry.undoes}: {after or 'removed ' + repr(before)}"
        case _:
            last = entry.changes[-1].after
            until = (
                f" (until {last.valid_until:%Y-%m-%d %H:%M})" if last and last.valid_until else ""
            )
            what = f"{after}{until}"
    return f"{entry.id} {entry.kind.value} {entry.memory}: {what}"


def _fields(entry: Entry) -> str:
    from agent.memory.time.history import field_changes

    change = entry.changes[-1]
    return field_changes(change.before, change.after) if change.before and change.after else ""


def _redacted(entry: Entry) -> str:
    return ", ".join(change.memory for change in entry.changes if change.redacted)


def edits(out: Console, entries: Iterable[Entry]) -> None:
    for entry in entries:
        out.print(f"  {edit_line(entry)}", style="dim")


def by_whom(actor: str | None, source: Source | None) -> str:
    """Who made an edit, and from what."""
    who = "by you" if actor == "user" else "by memlane"
    if source is None:
        return who
    name = f" {PurePath(source.locator).name}" if source.locator else ""
    return f"{who}, from {source.id} ({source.kind.value}{name}, {source.captured:%Y-%m-%d %H:%M})"


HARDLY = 0.5
"""Chance that memory holds the answer, below which a list of memories says so."""
NAMED = 4
"""Edits of one message up to which each is named for undo."""


def undo_of(entries: Sequence[Entry]) -> str:
    """What to give to ``undo`` so that all these edits, made in one go, are taken back."""
    if len(entries) > NAMED:
        return f"{entries[0].id} --batch"
    return " ".join(entry.id for entry in entries)


def reply(out: Console, reply: Reply) -> None:
    if reply.route.value == "update":
        if reply.answer:
            out.print(reply.answer)
            evidence(out, reply)
        if not reply.entries:
            out.print(reply.noted)
        else:
            out.print("Remembered:")
            edits(out, reply.entries)
            out.print(f"  undo with: memlane memories undo {undo_of(reply.entries)}", style="dim")
        _questions(out, reply)
        return
    if reply.text:
        out.print(reply.text)
    elif reply.likely is not None and reply.likely < HARDLY:
        out.print(f"Probably none of these answers it (chance {reply.likely:.0%}):")
    evidence(out, reply)
    _questions(out, reply)


def evidence(out: Console, reply: Reply) -> None:
    """What an answer rests on, a line each, and what of it is in doubt."""
    from agent.results import phrase

    for chosen in reply.memories:
        trust = chosen.memory.trust
        where = "" if trust is None or trust == "told" else f" ({phrase(trust)})"
        mark = reply.marks.get(chosen.memory.id)
        when = f" ({mark.standing.value}: {mark})" if mark and mark.standing != "holds" else ""
        told = "(as quoted)" if chosen.memory.text in reply.text else chosen.memory.text
        out.print(f"  {chosen.memory.id} {chosen.score:.2f} {told}{when}{where}", style="dim")
    for line in reply.inferred:
        out.print(f"  {line.id} (inferred) {line.text}", style="dim")
    for doubt in reply.doubts:
        out.print(
            f"  {doubt.first.id} ({phrase(doubt.first.trust)}) and {doubt.second.id} "
            f"({phrase(doubt.second.trust)}) contradict each other: "
            f"{doubt.second.text}",
            style="yellow",
        )


def _questions(out: Console, reply: Reply) -> None:
    """What memlane asks, where the text does not ask it already."""
    for question in reply.questions:
        if reply.entries or question not in reply.text:
            out.print(question)


def remembered(out: Console, done: Remembered) -> None:
    if done.queued:
        out.print(
            f"Stored ({done.source.id}). Its memory will be ready in a moment: memlane status"
        )
    for memory in done.unchanged:
        out.print(f"I knew that already ({memory}).")
    edits(out, done.entries)
    for old, new in done.open:
        out.print(
            f"{old.id} and {new.id} contradict each other; in the next chat I will ask which one "
            "is true."
        )
    if done.note:
        out.print(done.note)


def file_reports(out: Console, reports: Sequence[FileReport]) -> None:
    for report in reports:
        out.print(report_line(report))
        edits(out, report.entries)


def memory_table(
    out: Console, memories: Sequence[Memory], now: datetime, *, searched: bool = False
) -> None:
    """One row for each memory; texts wrap, and what is not plainly current says so."""
    from rich.table import Table

    if not memories:
        out.print(
            "No memory contains these words."
            if searched
            else "No memories. Tell me something: memlane say 'My name is ...'"
        )
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("memory", overflow="fold")
    table.add_column("subclass, state", overflow="fold", no_wrap=True)
    for memory in memories:
        about = [memory.subclass]
        if (standing := state(memory, now)) != "current":
            about.append(standing)
        if memory.pinned:
            about.append("pinned")
        if memory.valid_until:
            about.append(f"until {memory.valid_until:%Y-%m-%d %H:%M}")
        table.add_row(memory.id, memory.text, "\n".join(about))
    out.print(table, soft_wrap=False)


def memory_card(out: Console, memory: Memory, now: datetime, source: Source | None) -> None:
    from agent.extraction.documents.sections import around
    from agent.results import phrase

    span = json_output.span(memory, source)
    part = f"{span['part']}: " if span and "part" in span else ""
    rows = {
        "id": memory.id,
        "text": memory.text,
        "subclass": f"{memory.type} / {memory.subclass}",
        "state": state(memory, now),
        "said": f"{memory.created:%Y-%m-%d %H:%M}",
        "valid from": f"{memory.valid_from:%Y-%m-%d %H:%M}" if memory.valid_from else None,
        "valid until": f"{memory.valid_until:%Y-%m-%d %H:%M}" if memory.valid_until else None,
        "place": memory.place,
        "pinned": "yes" if memory.pinned else None,
        "replaced by": memory.replaced_by,
        "relations": "; ".join(f"{t.head} -{t.relation}-> {t.tail}" for t in memory.triples),
        "trust": f"{memory.trust} ({phrase(memory.trust)})",
        "source": None if source is None else _origin(source),
        "read from": None
        if span is None
        else f'{part}"{span["text"]}" (characters {span["start"]} to {span["end"]})',
        "raw text": None if source is None else around(source, memory.span),
    }
    for name, value in rows.items():
        if value:
            out.print(f"[bold]{name:<12}[/bold] {escape(str(value))}", markup=True)


def _origin(source: Source) -> str:
    locator = f" {source.locator}" if source.locator else ""
    return f"{source.id}, {source.kind.value}{locator}, {source.captured:%Y-%m-%d %H:%M}"


def softly_forgotten(out: Console, entries: Sequence[Entry], until: datetime) -> None:
    edits(out, entries)
    out.print(
        f"Hidden from every answer. 'memlane memories undo {entries[-1].id}' restores it until "
        f"{until:%Y-%m-%d}; after that it is erased for good."
    )


def forgotten(out: Console, done: Forgotten) -> None:
    """What went, what was looked through for it, and what is left to the person."""
    plan, erased = done.plan, done.erased
    ids = ", ".join(memory.id for memory in plan.memories)
    out.print(
        f"Forgotten for good: {ids}, with {len(plan.entries)} edits of its history, the raw text "
        f"it was read from and {len(erased.turns)} turns. This cannot be undone."
    )
    looked = f"{done.searched.files} files, {done.searched.size / 1e6:.1f} MB"
    if done.verified:
        out.print(f"Searched every byte of {looked}: no trace of it is left.")
    for name in done.cleaned:
        out.print(f"Also removed from the home: the text of it in {name}.")
    for memory in plan.stays:
        out.print(f"{memory.id} stays: it was replaced by this memory, or replaced it.")
    for path in json_output.outside(plan):
        out.print(f"Your own file still contains it: {path}")


def filled(out: Console, fields: Sequence[FilledField]) -> None:
    for field in fields:
        value = _left_empty(field) if field.value is None else str(field.value)
        evidence = f"  [{field.confidence:.2f} from {', '.join(field.memories)}]"
        out.print(f"{field.label or field.name}: {value}" + (evidence if field.memories else ""))
        for other in field.alternatives:
            out.print(f"    or {other.value}  [{', '.join(other.memories)}]")


def _left_empty(field: FilledField) -> str:
    if field.consent is not None:
        return "(empty: you have not agreed to it)"
    if field.alternatives:
        return "(empty: your choice)"
    from agent.applications.forms.matching.vocabulary import Policy, vocabulary

    if field.key is not None and vocabulary().keys[field.key].policy is Policy.NEVER:
        return "(never filled)"
    return "(empty: I did not match it)" if field.unmatched else "(empty: nothing remembered)"
