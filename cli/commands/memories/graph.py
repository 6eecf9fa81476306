"""``memlane memories graph``: graph of entities as SVG or PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console

    from cli.output.graph_layout import GraphPicture
    from cli.output.svg_png import Canvas


def graph(
    context: typer.Context,
    entity: Annotated[
        str | None,
        typer.Argument(help="A person or thing, such as Anna. Default: everything."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The picture, .svg or .png.")
    ] = Path("memories.svg"),
    hops: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum distance from the entity (default 2) or from you (default: no limit).",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=2000, help="Draw at most this many entities.")
    ] = 200,
    everything: Annotated[
        bool, typer.Option("--all", help="Include replaced, expired and forgotten memories.")
    ] = False,
) -> None:
    """Draw the people and things in your memory.

    The entity you name is in the middle, or you. The colours are the four types. In the SVG,
    memories appear under the pointer.

    \b
    Examples:
      memlane memories graph -o memories.svg
      memlane memories graph Anna -o anna.png
      memlane memories graph --hops 1 --limit 80 -o near.png
    """
    from cli.output.graph_layout import draw
    from store.tables.taxonomy import TYPES

    run: Run = context.obj
    form = form_of(out)
    now = run.config.now()
    with run.graph() as opened:
        memories = [m for m in opened.memories.list() if everything or m.holds_at(now)]
    drawing = draw(memories, TYPES, entity=entity, hops=hops, limit=limit)

    from cli.output.svg_png import canvas

    picture = canvas(drawing, _title(drawing, entity), {m.id: m.text for m in memories})
    complete = write_picture(picture, form, out, "--out")

    def show(console: Console) -> None:
        console.print(f"{_title(drawing, entity)}: {out}", markup=False)
        if not complete:
            console.print(
                "Some letters are missing in the fonts of this machine; the .svg shows them all."
            )

    run.emit(
        {
            "path": str(out),
            "format": form,
            "width": round(picture.width),
            "height": round(picture.height),
            "root": drawing.nodes[drawing.root].name,
            "nodes": [
                {"entity": node.name, "type": node.type, "hops": node.hops}
                for node in drawing.nodes.values()
            ],
            "edges": [
                {
                    "head": drawing.nodes[edge.head].name,
                    "relations": list(edge.relations),
                    "tail": drawing.nodes[edge.tail].name,
                    "memories": list(edge.memories),
                }
                for edge in drawing.edges
            ],
            "left_out": drawing.left_out,
            "complete": complete,
        },
        show,
    )


def form_of(out: Path) -> str:
    """svg or png. :raises InvalidInput: if the file's name ends otherwise."""
    from store.errors import InvalidInput

    form = out.suffix.lower().lstrip(".")
    if form not in ("svg", "png"):
        raise InvalidInput(f"The picture must be .svg or .png, not {out.name!r}.")
    return form


def write_picture(picture: Canvas, form: str, out: Path, option: str) -> bool:
    """Write it whole or not at all; returns whether every letter in it could be drawn.

    ``option`` is what the person named the file by.

    :raises HomeUnavailable: if the file cannot be written.
    """
    from cli.output.svg_png import png, svg
    from store.errors import HomeUnavailable

    data, complete = (svg(picture), True) if form == "svg" else png(picture)
    try:
        scratch = out.with_name(out.name + ".part")
        scratch.write_bytes(data)
        scratch.replace(out)
    except OSError as error:
        raise HomeUnavailable(
            f"Cannot write {out}: {error.strerror or error}. Choose another {option}."
        ) from error
    return complete


def _title(drawing: GraphPicture, entity: str | None) -> str:
    who = f"Around {drawing.nodes[drawing.root].label}" if entity else "What memlane knows"
    count = f"{len(drawing.nodes)} entities, {len(drawing.edges)} relations"
    more = f" ({drawing.left_out} more omitted; --limit)" if drawing.left_out else ""
    return f"{who}: {count}{more}"
