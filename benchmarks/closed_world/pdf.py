"""Writes PDFs of plain text: PDF 1.4, A4, Helvetica, uncompressed, without dates, with the same bytes everywhere."""

import re
import textwrap
from collections.abc import Sequence

LINE = 88
"""Characters per line that fit the page's width at 10 points."""

LINES = 50
"""Lines per page."""


def pdf(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """A document of pages; each page is a list of paragraphs, which are wrapped here. Text must be Latin-1.

    Raises ValueError for a page with too many lines, UnicodeEncodeError for other scripts.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, paragraphs in enumerate(pages):
        resources = f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R"
        objects += [f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {resources} >>", _content(paragraphs)]
    return _file([*objects, f"<< /Title {_string(title)} >>"]).encode("latin-1")


def _content(paragraphs: Sequence[str]) -> str:
    """The page's text, line by line, with a blank line between paragraphs."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, LINE, break_on_hyphens=False), ""]
    if len(lines) > LINES + 1:
        raise ValueError(f"a page has {len(lines)} lines, but only {LINES} fit")
    text = "".join(f"{_string(line)} Tj T*\n" for line in lines[:-1])
    stream = f"BT\n/F1 10 Tf\n14 TL\n56 780 Td\n{text}ET"
    return f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"


def _string(text: str) -> str:
    return "(" + re.sub(r"[\\()]", r"\\\g<0>", text) + ")"


def _file(objects: Sequence[str]) -> str:
    """Header, numbered objects, table of their offsets, trailer; the last object is the document information."""
    body, offsets = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", ""
    for number, content in enumerate(objects, start=1):
        offsets += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{content}\nendobj\n"
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{offsets}{trailer}"
