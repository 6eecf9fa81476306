"""Pictures as SVG: shapes of a graph, and the file made of them.

Written here without a library: matplotlib or cairo would be 30 MB for lines, dots and words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from cli.output.graph_layout import (
    FONT,
    EntityNode,
    GraphPicture,
    RelationEdge,
    edge_label,
    text_width,
)

COLOURS = {
    "Relationship": "#c8500a",
    "Preference": "#0a8f63",
    "Event": "#1769aa",
    "Attribute": "#8a4fa0",
}
"""Of the four types; they stay apart for colour-blind eyes and in grey."""
INK, PALE, PAPER = "#222222", "#777777", "#ffffff"
HEADER = 58.0

Point = tuple[float, float]
Place = Callable[[float, float], Point]
"""Where a point of the drawing lies on the canvas."""


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line through points; ``title`` is told where the pointer rests."""

    points: tuple[Point, ...]
    colour: str
    width: float
    strength: float = 0.55
    """1 for the full colour, 0 for none."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    colour: str


@dataclass(frozen=True, slots=True)
class Dot:
    at: Point
    radius: float
    colour: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text with a pale border, turned by ``angle`` degrees around its beginning."""

    at: Point
    text: str
    angle: float = 0.0
    anchor: str = "start"
    size: float = FONT
    colour: str = INK
    bold: bool = False
    title: str = ""


Shape = Polyline | Polygon | Dot | Text


@dataclass(frozen=True, slots=True)
class Canvas:
    width: float
    height: float
    shapes: tuple[Shape, ...]


def canvas(drawing: GraphPicture, title: str, texts: dict[str, str]) -> Canvas:
    """The shapes of a drawing; ``texts`` are memories by id, told where the pointer rests."""
    left, top, right, bottom = drawing.box
    legend = [kind for kind in COLOURS if any(e.type == kind for e in drawing.edges)]
    width = max(right - left, text_width(title, 15) + 40, 40 + 150.0 * len(legend))
    centre = ((width - (right - left)) / 2 - left, HEADER - top)

    def at(x: float, y: float) -> Point:
        return centre[0] + x, centre[1] + y

    shapes: list[Shape] = []
    words: list[Shape] = []
    # Curves first, so that the tree lies over them and the words over all.
    for edge in sorted(drawing.edges, key=lambda edge: edge.in_tree):
        lines, labels = _edge(drawing, edge, at, texts)
        shapes += lines
        words += labels
    for key, node in drawing.nodes.items():
        root = key == drawing.root
        colour = INK if root else COLOURS[node.type]
        name = "you" if node.label == "you" else node.name
        shapes.append(Dot(at(node.x, node.y), 9.0 if root else 4.5, colour, name))
        words.append(_node_label(node, at, root))
    head: list[Shape] = [Text((20, 24), title, size=15, bold=True)]
    for position, kind in enumerate(legend):
        x = 26 + 150.0 * position
        head += [Dot((x, 44), 5, COLOURS[kind]), Text((x + 11, 48), kind)]
    return Canvas(width, HEADER + bottom - top, (*shapes, *words, *head))


def _node_label(node: EntityNode, at: Place, root: bool) -> Text:
    if root:
        return Text(at(0, -16), node.label, anchor="middle", size=15, bold=True)
    degrees = math.degrees(node.angle) % 360
    x, y = node.x + 9 * math.cos(node.angle), node.y + 9 * math.sin(node.angle)
    drop = FONT * 0.35  # from the middle of a line of text to its base
    flipped = 90 < degrees < 270
    turn = degrees - 180 if flipped else degrees
    side = math.radians(turn)
    return Text(
        at(x - drop * math.sin(side), y + drop * math.cos(side)),
        node.label,
        turn,
        "end" if flipped else "start",
        title=node.name,
    )


def _edge(
    drawing: GraphPicture, edge: RelationEdge, at: Place, texts: dict[str, str]
) -> tuple[list[Shape], list[Shape]]:
    head, tail = drawing.nodes[edge.head], drawing.nodes[edge.tail]
    colour = COLOURS[edge.type]
    told = "\n".join(f"{memory} {texts.get(memory, '')}" for memory in edge.memories)
    title = f"{head.name} — {', '.join(edge.relations)} → {tail.name}\n{told}"
    a, b = at(head.x, head.y), at(tail.x, tail.y)
    middle = at((head.x + tail.x) * 0.2, (head.y + tail.y) * 0.2)
    points = (a, b) if edge.in_tree else tuple(_curve(a, middle, b))
    lines: list[Shape] = [
        Polyline(points, colour, 1.2, title=title)
        if edge.in_tree
        else Polyline(points, colour, 0.9, 0.4, title)
    ]
    labels: list[Shape] = []
    if drawing.written:
        lines.append(
            Polygon(
                _arrow(points[-2], points[-1], 7.0 if edge.tail != drawing.root else 11.0), colour
            )
        )
        labels.append(_edge_label(drawing, edge, at, points, colour))
    return lines, labels


def _edge_label(
    drawing: GraphPicture, edge: RelationEdge, at: Place, points: Sequence[Point], colour: str
) -> Text:
    text = edge_label(edge)
    size = FONT * 0.85
    if not edge.in_tree:
        x, y = points[len(points) // 2]
        return Text((x, y + 4), text, anchor="middle", size=size, colour=colour)
    head, tail = drawing.nodes[edge.head], drawing.nodes[edge.tail]
    inner, outer = sorted((head, tail), key=lambda node: math.hypot(node.x, node.y))
    ray = math.atan2(outer.y - inner.y, outer.x - inner.x)
    length = math.hypot(outer.x - inner.x, outer.y - inner.y)
    # Near the outer end, where spokes are apart, and clear of the inner entity's own label.
    middle = length - text_width(text, size) / 2 - 16
    x, y = inner.x + middle * math.cos(ray), inner.y + middle * math.sin(ray)
    degrees = math.degrees(ray) % 360
    turn = degrees - 180 if 90 < degrees < 270 else degrees
    side, drop = math.radians(turn), size * 0.35
    return Text(
        at(x - drop * math.sin(side), y + drop * math.cos(side)),
        text,
        turn,
        "middle",
        size,
        colour,
    )


def _curve(a: Point, control: Point, b: Point, steps: int = 24) -> list[Point]:
    return [
        (
            (1 - t) ** 2 * a[0] + 2 * (1 - t) * t * control[0] + t * t * b[0],
            (1 - t) ** 2 * a[1] + 2 * (1 - t) * t * control[1] + t * t * b[1],
        )
        for t in (step / steps for step in range(steps + 1))
    ]


def _arrow(before: Point, end: Point, gap: float) -> tuple[Point, ...]:
    ray = math.atan2(end[1] - before[1], end[0] - before[0])
    tip = (end[0] - gap * math.cos(ray), end[1] - gap * math.sin(ray))
    return (
        tip,
        *(
            (tip[0] - 8 * math.cos(ray + turn), tip[1] - 8 * math.sin(ray + turn))
            for turn in (0.4, -0.4)
        ),
    )


def svg(picture: Canvas) -> bytes:
    """The picture as an SVG file; names and memories show where the pointer rests."""
    width, height = math.ceil(picture.width), math.ceil(picture.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, \'DejaVu Sans\', '
        "'Noto Sans', 'Noto Sans CJK SC', sans-serif\">",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *(_svg_shape(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _svg_shape(shape: Shape) -> str:
    match shape:
        case Polyline():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            return (
                f'<polyline points="{points}" fill="none" stroke="{shape.colour}" '
                f'stroke-opacity="{shape.strength}" stroke-width="{shape.width}">'
                f"{_title(shape.title)}"
                "</polyline>"
            )
        case Polygon():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            return f'<polygon points="{points}" fill="{shape.colour}"/>'
        case Dot():
            x, y = shape.at
            return (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{shape.radius}" fill="{shape.colour}">'
                f"{_title(shape.title)}</circle>"
            )
        case Text():
            x, y = shape.at
            turn = f' transform="rotate({shape.angle:.2f} {x:.1f} {y:.1f})"' if shape.angle else ""
            bold = ' font-weight="bold"' if shape.bold else ""
            return (
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{shape.size:g}" fill="{shape.colour}" '
                f'text-anchor={quoteattr(shape.anchor)} paint-order="stroke" stroke="{PAPER}" '
                f'stroke-width="3" stroke-linejoin="round"{bold}{turn}>{_title(shape.title)}'
                f"{_clean(shape.text)}</text>"
            )


def _title(text: str) -> str:
    return f"<title>{_clean(text)}</title>" if text else ""


def _clean(text: str) -> str:
    # XML forbids control characters even when escaped.
    return escape("".join(c if c.isprintable() or c == "\n" else " " for c in text))
