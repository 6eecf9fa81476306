"""Small real documents for tests and benchmarks: PDF written by hand, EPUB as the zip that it is.

What a library makes as easily (Word files, scanned pages) is made where it is needed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

WIDTH, HEIGHT = 595, 842
"""A4, in points."""


@dataclass(frozen=True, slots=True)
class Put:
    """A piece of text on a page, from its left and from the top, in points."""

    left: float
    top: float
    text: str
    size: float = 11


def pdf(pages: Sequence[Sequence[Put]], locked: bool = False, **about: str) -> bytes:
    """A PDF with text at its places; ``locked`` has a password that nobody knows."""
    objects: list[bytes] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>"
        % (b" ".join(b"%d 0 R" % (5 + 2 * n) for n in range(len(pages))), len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<<%b>>" % b"".join(b"/%b %b" % (k.encode(), _text(v)) for k, v in about.items()),
    ]
    for number, page in enumerate(pages):
        drawn = b"BT\n%b\nET" % b"\n".join(map(_drawn, page))
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % (WIDTH, HEIGHT, 6 + 2 * number),
            b"<</Length %d>>stream\n%b\nendstream" % (len(drawn), drawn),
        ]
    trailer = b"/Root 1 0 R/Info 4 0 R"
    if locked:
        key = b"<%b>" % (b"5a" * 32)
        objects.append(b"<</Filter/Standard/V 1/R 2/P -4/O %b/U %b>>" % (key, key))
        trailer += b"/Encrypt %d 0 R/ID[<00><00>]" % len(objects)
    return _file(objects, trailer)


def _drawn(put: Put) -> bytes:
    at = b"1 0 0 1 %.1f %.1f Tm" % (put.left, HEIGHT - put.top)
    return b"/F1 %.1f Tf %b %b Tj" % (put.size, at, _text(put.text))


def _text(text: str) -> bytes:
    raw = text.encode("cp1252")
    return b"(%b)" % raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    out = BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, one))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer<</Size %d%b>>\n" % (len(objects) + 1, trailer))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def epub(title: str, chapters: Sequence[str], more: dict[str, str] | None = None) -> bytes:
    """A book whose chapters are the bodies of XHTML files; ``more`` are further files of it."""
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    files = {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
        'container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{
            f"OEBPS/text/c {n}.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x'
            f"</title></head><body>{body}</body></html>"
            for n, body in enumerate(chapters)
        },
        **(more or {}),
    }
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, text in files.items():
            packed.writestr(name, text)
    return out.getvalue()
