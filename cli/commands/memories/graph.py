"""``memlane memories graph``: graph of entities as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.standard_streams import STREAM, emit_beside, writable, write_whole
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from cli.output.graph_layout import GraphPicture


def graph(
    context: typer.Context,
    entity: Annotated[
        str | None,
        typer.Argument(help="A person or thing, such as Anna. Default: everything."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The picture, an .svg file; - is stdout."),
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

    The entity you name is in the middle, or you. The colours are the four types.
    Memories appear under the pointer. A browser shows the picture and prints it.

    \b
    Examples:
      memlane memories graph -o memories.svg
      memlane memories graph Anna -o anna.svg
      memlane memories graph --hops 1 --limit 80 -o near.svg
    """
    from cli.output.graph_layout import draw
    from store.tables.taxonomy import TYPES

    run: Run = context.obj
    check_name(out)
    now = run.config.now()
    with run.graph() as opened:
        memories = [m for m in opened.memories.list() if everything or m.holds_at(now)]
    drawing = draw(memories, TYPES, entity=entity, hops=hops, limit=limit)

    from cli.output.svg import canvas, svg

    picture = canvas(drawing, _title(drawing, entity), {m.id: m.text for m in memories})
    with writable(run, out, "memories.svg") as file:
        write_whole(svg(picture), file, "--out")

    def show(console: Console) -> None:
        console.print(f"{_title(drawing, entity)}: {out}")

    emit_beside(
        run,
        out,
        {
            "path": str(out),
            "format": "svg",
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
        },
        show,
    )


def check_name(out: Path) -> None:
    """:raises InvalidInput: if the file's name does not end in .svg."""
    if out != STREAM and out.suffix.lower() != ".svg":
        raise InvalidInput(
            f"The picture must be an .svg file, not {out.name!r}. A browser shows and prints it."
        )


def _title(drawing: GraphPicture, entity: str | None) -> str:
    who = f"Around {drawing.nodes[drawing.root].label}" if entity else "What memlane knows"
    count = f"{len(drawing.nodes)} entities, {len(drawing.edges)} relations"
    more = f" ({drawing.left_out} more omitted; --limit)" if drawing.left_out else ""
    return f"{who}: {count}{more}"
