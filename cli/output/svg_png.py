"""SVG and PNG rendering of the same shapes.

SVG is written here, PNG painted by Pillow, which reading screenshots needs anyway: matplotlib or
cairo would be 30 MB more for lines, dots and words.
"""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from cli.output.graph_layout import (
    FONT,
    EntityNode,
    GraphPicture,
    RelationEdge,
    edge_label,
    text_width,
)

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

COLOURS = {
    "Relationship": "#c8500a",
    "Preference": "#0a8f63",
    "Event": "#1769aa",
    "Attribute": "#8a4fa0",
}
"""Of the four types; they stay apart for colour-blind eyes and in grey."""
INK, PALE, PAPER = "#222222", "#777777", "#ffffff"
HEADER = 58.0
LARGEST = 8000
"""Pixels of a PNG's longer side."""
FONTS = (
    "DejaVuSans.ttf",
    "NotoSansCJK-Regular.ttc",
    "Arial Unicode.ttf",
    "PingFang.ttc",
    "msyh.ttc",
    "NotoSans-Regular.ttf",
)
"""Fonts tried for letters that Pillow's own font lacks, where the machine has them."""

Point = tuple[float, float]
Place = Callable[[float, float], Point]
"""Where a point of the drawing lies on the canvas."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; ``title`` is told where the pointer rests."""

    points: tuple[Point, ...]
    colour: str
    width: float
    strength: float = 0.55
    """1 for the full colour, 0 for none."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Area:
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


Shape = Line | Area | Dot | Text


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
        Line(points, colour, 1.2, title=title)
        if edge.in_tree
        else Line(points, colour, 0.9, 0.4, title)
    ]
    labels: list[Shape] = []
    if drawing.written:
        lines.append(
            Area(_arrow(points[-2], points[-1], 7.0 if edge.tail != drawing.root else 11.0), colour)
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


# ---- SVG -------------------------------------------------------------------------------------


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
        case Line():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            return (
                f'<polyline points="{points}" fill="none" stroke="{shape.colour}" '
                f'stroke-opacity="{shape.strength}" stroke-width="{shape.width}">'
                f"{_title(shape.title)}"
                "</polyline>"
            )
        case Area():
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


# ---- PNG -------------------------------------------------------------------------------------


def png(picture: Canvas) -> tuple[bytes, bool]:
    """The picture as a PNG file, and whether every letter in it could be drawn."""
    from PIL import Image, ImageDraw

    scale = min(2.0, LARGEST / max(picture.width, picture.height))
    image = Image.new(
        "RGB", (math.ceil(picture.width * scale), math.ceil(picture.height * scale)), PAPER
    )
    brush = ImageDraw.Draw(image)
    fonts = _Fonts([shape.text for shape in picture.shapes if isinstance(shape, Text)])
    for shape in picture.shapes:
        match shape:
            case Line():
                points = [(x * scale, y * scale) for x, y in shape.points]
                colour = _mixed(shape.colour, shape.strength)
                brush.line(points, colour, max(1, round(shape.width * scale)), joint="curve")
            case Area():
                brush.polygon([(x * scale, y * scale) for x, y in shape.points], shape.colour)
            case Dot():
                x, y, r = (value * scale for value in (*shape.at, shape.radius))
                brush.ellipse((x - r, y - r, x + r, y + r), shape.colour)
            case Text():
                _png_text(image, shape, scale, fonts)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue(), fonts.complete


def _png_text(image: Image, shape: Text, scale: float, fonts: _Fonts) -> None:
    from PIL import Image, ImageDraw

    font = fonts.of(shape.text, shape.size * scale)
    border = round(1.5 * scale)
    rise, fall = font.getmetrics()
    width = math.ceil(font.getlength(shape.text)) + 2 * border
    sheet = Image.new("RGBA", (width, rise + fall + 2 * border), (255, 255, 255, 0))
    base = (border, rise + border)
    brush = ImageDraw.Draw(sheet)
    for stroke, fill in ((border, PAPER), (1 if shape.bold else 0, shape.colour)):
        brush.text(
            base, shape.text, shape.colour, font, "ls", stroke_width=stroke, stroke_fill=fill
        )
    # Turning keeps the middle of the sheet; the anchor goes around it.
    along = {"start": 0.0, "middle": width / 2, "end": float(width)}[shape.anchor]
    right, down = along - width / 2, base[1] - sheet.height / 2
    if shape.angle:
        sheet = sheet.rotate(-shape.angle, Image.Resampling.BICUBIC, expand=True)
    turn = math.radians(shape.angle)
    x = shape.at[0] * scale - (right * math.cos(turn) - down * math.sin(turn)) - sheet.width / 2
    y = shape.at[1] * scale - (right * math.sin(turn) + down * math.cos(turn)) - sheet.height / 2
    image.paste(sheet, (round(x), round(y)), sheet)


class _Fonts:
    """One font for the whole picture: Pillow's own, which is everywhere, or one of the machine's.

    Only what that font lacks is drawn with another.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.complete = True
        """Whether every text so far could be drawn whole."""
        self._loaded: dict[tuple[str, float], FreeTypeFont | None] = {}
        self._gaps: dict[str, int] = {}
        for name in ("", *FONTS):
            if (font := self._load(name, FONT)) is not None:
                self._gaps[name] = sum(_missing(font, text) for text in texts)
                if not self._gaps[name]:
                    break
        self._order = sorted(self._gaps, key=lambda name: self._gaps[name])

    def of(self, text: str, size: float) -> FreeTypeFont:
        fonts = [font for name in self._order if (font := self._load(name, size)) is not None]
        for font in fonts:
            if not _missing(font, text):
                return font
        self.complete = False
        return fonts[0]

    def _load(self, name: str, size: float) -> FreeTypeFont | None:
        from PIL import ImageFont

        key = (name, size)
        if key not in self._loaded:
            try:
                made = ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
            except OSError:
                made = None
            # Without FreeType, Pillow's own font has one fixed size and cannot be measured.
            self._loaded[key] = made if isinstance(made, ImageFont.FreeTypeFont) else None
        return self._loaded[key]


def _missing(font: FreeTypeFont, text: str) -> bool:
    """Whether the font draws its empty box for one of the letters."""
    box = bytes(font.getmask("\U0010fffe"))
    return any(
        bytes(font.getmask(c)) == box
        for c in set(text)
        if not c.isspace() and unicodedata.category(c)[0] not in "MC"
    )


def _mixed(colour: str, share: float) -> tuple[int, int, int]:
    """A colour on white paper, as strong as ``share``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))

    def paler(part: int) -> int:
        return round(255 - (255 - part) * share)

    return paler(red), paler(green), paler(blue)
