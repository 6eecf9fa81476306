"""``memlane memories edit``: edits by options or in $EDITOR."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.confirm import interactive
from cli.input.editor_process import editor_command, open_editor, scratch
from cli.output import json_output, render
from store.errors import EditConflict, InvalidInput, MemlaneError, UnknownId

if TYPE_CHECKING:
    from rich.console import Console

    from agent.io.markdown_edit import EditedFile
    from store.graph import MemoryGraph
    from store.types import Memory

MOST = 200
"""Memories that are opened in one file."""


def edit(
    context: typer.Context,
    memories: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Memories such as m12.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="The corrected text.")] = None,
    subclass: Annotated[
        str | None, typer.Option("--subclass", help="Its subclass; see: memlane types list")
    ] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="WHEN", help="When it starts to be true.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="Open memories that contain these words in the editor.")
    ] = None,
    whole: Annotated[
        str | None,
        typer.Option("--all", metavar="SUBCLASS", help="Open all memories of a subclass or type."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Apply this edited file instead; - reads stdin."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, without changing anything.")
    ] = False,
) -> None:
    """Correct memories in place.

    Use this when a memory was wrong from the start; when something has changed, use replace. An
    option such as --text changes only that field. Otherwise the memories open in $VISUAL or $EDITOR
    as Markdown with front matter, and your changes are applied as one batch of edits. Changes that
    cannot be applied are kept in a file, so nothing you typed is lost.

    \b
    Examples:
      memlane memories edit m12
      memlane memories edit m3 m4 m9
      memlane memories edit --all attribute.address
      memlane memories edit --search dentist
      memlane memories edit m12 --text 'I work at Acme Ltd.' --expires 2025-01-31
    """
    run: Run = context.obj
    ids = list(dict.fromkeys(memory.lower() for memory in memories or []))
    options = (text, subclass, place, since, expires)
    ways = [bool(ids), search is not None, whole is not None, file is not None]
    if sum(ways) != 1:
        raise InvalidInput("Name the memories: ids such as m12, --search, --all or --file.")
    if any(option is not None for option in options):
        if not ids:
            raise InvalidInput("--text, --subclass, --place, --from and --expires need ids.")
        _edit_by_options(run, ids, text, subclass, place, since, expires)
        return
    with run.graph() as graph:
        if file is not None:
            typed = _read_file(file)
            _apply_typed(run, graph, typed, None, yes=yes, dry_run=dry_run, from_file=file)
            return
        chosen = _chosen(graph, ids, search, whole)
        _edit_in_editor(run, graph, {memory.id: memory for memory in chosen}, yes, dry_run)


def _edit_by_options(
    run: Run,
    ids: Sequence[str],
    text: str | None,
    subclass: str | None,
    place: str | None,
    since: str | None,
    expires: str | None,
) -> None:
    from agent.extraction.triples.read import triples_for
    from agent.language.dates import parse_when
    from store.journal import Amend

    if text is not None and len(ids) > 1:
        raise InvalidInput("--text corrects one memory: name one, or omit --text.")
    now, clean = run.config.now(), _clean(run)

    def amended(memory: Memory) -> Amend:
        said = text and clean(text, memory.text)
        return Amend(
            memory.id,
            text=said,
            subclass=subclass,
            place=place and clean(place, memory.place or ""),
            valid_from=parse_when(since, now) if since else None,
            valid_until=parse_when(expires, now, end=True) if expires else None,
            triples=triples_for([said], None)[0] if said and said.strip() else None,
        )

    with run.graph() as graph:
        edits = [amended(memory) for memory in graph.memories.of(ids)]
        entries = graph.apply(edits, at=now, actor="user")
    run.emit({"edits": json_output.edits(entries)}, lambda out: render.edits(out, entries))


def _clean(run: Run) -> Callable[[str, str], str]:
    """What takes the secrets out of what is typed, where the person does not keep them."""
    from agent.language.redaction import redact
    from agent.models.readers.local_secret_reader import LocalSecretReader

    if run.config.keep_secrets:
        return lambda text, kept: text
    reader = LocalSecretReader(run.config)
    return lambda text, kept: redact(text, kept, reader).text


def _chosen(
    graph: MemoryGraph, ids: Sequence[str], search: str | None, whole: str | None
) -> tuple[Memory, ...]:
    from store.types import Status

    if ids:
        memories = tuple(graph.memories.get(memory) for memory in ids)
        for memory in memories:
            if memory.status is not Status.CURRENT:
                by = f" by {memory.replaced_by}" if memory.replaced_by else ""
                raise EditConflict(
                    f"{memory.id} is {memory.status.value}{by}: only current memories can be "
                    f"edited. `memlane memories history {memory.id}` shows what happened to it."
                )
    elif search is not None:
        hits = graph.memories.search(search, 1000)
        memories = tuple(memory for memory in hits if memory.status is Status.CURRENT)
    else:
        wanted = (whole or "").casefold()
        memories = tuple(
            memory
            for memory in graph.memories.list(Status.CURRENT)
            if wanted in (memory.subclass.casefold(), memory.type.casefold())
        )
    if not memories:
        what = f"with {search!r}" if search is not None else f"in {whole}"
        raise UnknownId(f"There are no memories {what}. `memlane memories list` shows them.")
    if len(memories) > MOST:
        raise InvalidInput(
            f"{len(memories)} memories match; at most {MOST} can be edited at once. Narrow the "
            "selection with --search or --all SUBCLASS."
        )
    return memories


def _read_file(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8 text. Save it as UTF-8.") from error


# ---- the editor ------------------------------------------------------------------------------


def _edit_in_editor(
    run: Run, graph: MemoryGraph, before: Mapping[str, Memory], yes: bool, dry_run: bool
) -> None:
    from agent.io.markdown_edit import written

    command = editor_command()
    original = written(list(before.values()))
    path = scratch(run.config.home, original)
    while True:
        open_editor(command, path, original)
        try:
            typed = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise InvalidInput("The editor removed the file, so nothing was changed.") from None
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is no longer UTF-8 text; the file is kept.") from error
        if typed == original:
            path.unlink()
            _nothing_changed(run)
            return
        try:
            _apply_typed(run, graph, typed, before, yes=yes, dry_run=dry_run, from_file=path)
            return
        except EditConflict as error:
            raise EditConflict(f"{error} What you typed is kept in {path}.") from error
        except InvalidInput as error:
            if interactive(run):
                run.err.print(f"memlane: {error}")
                if _again(run, path):
                    continue
            raise InvalidInput(
                f"{error} Nothing was changed; what you typed is kept in {path}. "
                f"Fix it, then run: memlane memories edit --file {shlex.quote(str(path))}"
            ) from error
        except MemlaneError as error:
            raise type(error)(f"{error} What you typed is kept in {path}.") from error
        except (typer.Abort, KeyboardInterrupt):
            run.err.print(f"\nWhat you typed is kept in {path}.")
            raise


def _again(run: Run, path: Path) -> bool:
    try:
        return typer.confirm("Edit again?", default=True, err=True)
    except (typer.Abort, KeyboardInterrupt):
        run.err.print(f"\nWhat you typed is kept in {path}.")
        raise


# ---- applying --------------------------------------------------------------------------------


def _apply_typed(
    run: Run,
    graph: MemoryGraph,
    typed: str,
    before: Mapping[str, Memory] | None,
    *,
    yes: bool,
    dry_run: bool,
    from_file: Path,
) -> None:
    """Show the difference, apply it as one batch, and remove our own file when it is done."""
    from agent.io.markdown_edit import difference, read_blocks
    from store.erasure.secure_delete import EDITS_FOLDER

    now = run.config.now()
    blocks = read_blocks(typed)
    if before is None:
        before = {m.id: m for m in _chosen(graph, [b.id for b in blocks], None, None)}
    asked = difference(
        before,
        blocks,
        subclasses=[s.id for s in graph.subclasses()],
        now=now,
        clean=_clean(run),
    )
    ours = from_file.parent == run.config.home / EDITS_FOLDER
    if not asked.edits:
        if ours:
            from_file.unlink(missing_ok=True)
        _nothing_changed(run, asked)
        return
    if dry_run:
        kept = str(from_file) if ours else None
        run.emit({**_document(asked), "edits": [], "file": kept}, lambda out: _show(out, asked))
        if ours and not run.json:
            run.err.print(f"Nothing was changed; what you typed is kept in {from_file}.")
        return
    if not run.json:
        _show(run.out, asked)
    if not yes and interactive(run):
        count = len(asked.edits)
        if not typer.confirm(f"Change {render.counted(count, 'memory')}?", default=True, err=True):
            where = f" What you typed is kept in {from_file}." if ours else ""
            run.err.print(f"Nothing was changed.{where}")
            return
    with graph.writing():
        for edit in asked.edits:
            if graph.memories.get(edit.memory) != before[edit.memory]:
                raise EditConflict(
                    f"{edit.memory} was changed by somebody else while you edited it: "
                    f"see memlane memories history {edit.memory}."
                )
        entries = graph.apply(asked.edits, at=now, actor="user")
    if ours:
        from_file.unlink(missing_ok=True)

    def show(out: Console) -> None:
        ids = ", ".join(entry.id for entry in entries)
        back = f"{entries[0].id} --batch" if len(entries) > 1 else entries[0].id
        out.print(f"  done ({ids}); undo with: memlane memories undo {back}", style="dim")

    run.emit({**_document(asked), "edits": json_output.edits(entries)}, show)


def _document(edited: EditedFile) -> dict[str, object]:
    return {
        "changes": [
            {"memory": c.memory, "field": c.field, "before": c.before, "after": c.after}
            for c in edited.changes
        ],
        "left_out": list(edited.left_out),
    }


def _show(out: Console, edited: EditedFile) -> None:
    last = None
    for change in edited.changes:
        if change.memory != last:
            out.print(change.memory, style="bold")
            last = change.memory
        out.print(f"  {change.field}")
        out.print(f"    - {change.before}", style="red")
        out.print(f"    + {change.after}", style="green")
    for memory in edited.left_out:
        out.print(f"  {memory} is no longer in the file; it is unchanged.", style="dim")


def _nothing_changed(run: Run, edited: EditedFile | None = None) -> None:
    document = _document(edited) if edited else {"changes": [], "left_out": []}

    def show(out: Console) -> None:
        if edited:
            _show(out, edited)
        out.print("Nothing changed.")

    run.emit({**document, "edits": []}, show)
