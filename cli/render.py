"""How people see it. Memory text is printed as it is: never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.markup import escape

from cli.shapes import state

if TYPE_CHECKING:
    from rich.console import Console

    from agent.autofill import FilledField
    from agent.ingest import FileReport
    from agent.remembering import Remembered
    from agent.session import Reply
    from store.journal import Entry
    from store.types import Memory, Subclass


def edit_line(entry: Entry) -> str:
    """One edit in plain text, with its id for undo."""
    before, after = entry.before, entry.after
    match entry.kind.value:
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


def edits(out: Console, entries: Iterable[Entry]) -> None:
    for entry in entries:
        out.print(f"  [dim]{escape(edit_line(entry))}[/dim]")


def reply(out: Console, said: Reply) -> None:
    if said.route.value == "update":
        if not said.entries:
            out.print(said.text, markup=False)
        else:
            out.print("Remembered:")
            edits(out, said.entries)
            out.print(f"  [dim]take back with: memlane memories undo {said.entries[-1].id}[/dim]")
        return
    if said.text:
        out.print(said.text, markup=False)
    for chosen in said.memories:
        out.print(
            f"  [dim]{chosen.memory.id} {chosen.score:.2f} {escape(chosen.memory.text)}[/dim]"
        )


def why(out: Console, said: Reply) -> None:
    if said.selection is None:
        out.print("No memories were needed for that.")
        return
    used = {chosen.memory.id for chosen in said.memories}
    for step in said.selection.trace:
        mark = "used" if step.memory in used else "read" if step.chosen else "left out"
        out.print(f"  {step.memory} {step.score:.2f} {mark}: {step.reason}", markup=False)


def remembered(out: Console, done: Remembered) -> None:
    for memory in done.unchanged:
        out.print(f"I knew that already ({memory}).")
    edits(out, done.entries)


def file_reports(out: Console, reports: Sequence[FileReport]) -> None:
    for report in reports:
        reason = f": {report.reason}" if report.reason else ""
        out.print(
            f"{report.status:<9} {report.memories:>3} memories  {report.path}{reason}", markup=False
        )
        edits(out, report.entries)


def memory_table(out: Console, memories: Sequence[Memory], now: datetime) -> None:
    from rich.table import Table

    if not memories:
        out.print("No memories. Tell me something: memlane say 'My name is ...'")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("id", "memory", "subclass", "state", "until"):
        table.add_column(column, overflow="fold", no_wrap=column != "memory")
    for memory in memories:
        until = f"{memory.valid_until:%Y-%m-%d %H:%M}" if memory.valid_until else ""
        table.add_row(memory.id, escape(memory.text), memory.subclass, state(memory, now), until)
    out.print(table, soft_wrap=False)


def memory_card(out: Console, memory: Memory, now: datetime, source_text: str | None) -> None:
    rows = {
        "id": memory.id,
        "text": memory.text,
        "subclass": f"{memory.type} / {memory.subclass}",
        "state": state(memory, now),
        "said": f"{memory.created:%Y-%m-%d %H:%M}",
        "holds from": f"{memory.valid_from:%Y-%m-%d %H:%M}" if memory.valid_from else None,
        "holds until": f"{memory.valid_until:%Y-%m-%d %H:%M}" if memory.valid_until else None,
        "place": memory.place,
        "replaced by": memory.replaced_by,
        "relations": "; ".join(f"{t.head} -{t.relation}-> {t.tail}" for t in memory.triples),
        "source": memory.source,
        "raw text": source_text,
    }
    for name, value in rows.items():
        if value:
            out.print(f"[bold]{name:<12}[/bold] {escape(str(value))}")


def filled(out: Console, fields: Sequence[FilledField]) -> None:
    for field in fields:
        value = "(empty: nothing remembered)" if field.value is None else str(field.value)
        evidence = f"  [{field.confidence:.2f} from {', '.join(field.memories)}]"
        out.print(
            f"{field.label or field.name}: {value}" + (evidence if field.memories else ""),
            markup=False,
        )
        for other in field.alternatives:
            out.print(f"    or {other.value}  [{', '.join(other.memories)}]", markup=False)


def tree(out: Console, subclasses: Sequence[Subclass], memories: Sequence[Memory]) -> None:
    from rich.tree import Tree

    root = Tree("you")
    types: dict[str, Tree] = {}
    for subclass in subclasses:
        members = [memory for memory in memories if memory.subclass == subclass.id]
        if not members:
            continue
        if subclass.type not in types:
            types[subclass.type] = root.add(f"[bold]{subclass.type}[/bold]")
        branch = types[subclass.type].add(f"{subclass.name} [dim]{subclass.id}[/dim]")
        for memory in members:
            leaf = branch.add(f"[dim]{memory.id}[/dim] {escape(memory.text)}")
            for triple in memory.triples:
                leaf.add(
                    f"[dim]{escape(f'{triple.head} -{triple.relation}-> {triple.tail}')}[/dim]"
                )
    out.print(root, soft_wrap=False)
