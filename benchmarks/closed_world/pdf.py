"""Writes PDFs of plain text: PDF 1.4, A4, Helvetica, nothing compressed, no dates, the same bytes everywhere."""

import textwrap
from collections.abc import Sequence

LINE = 88
"""Characters of a line: what fits the page's width at 10 points."""

LINES = 50
"""Lines of a page."""


def pdf(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """A document of pages; each page is paragraphs, wrapped here. Text must be Latin-1, a page must fit.

    Raises ValueError for a page with too many lines, UnicodeEncodeError for other scripts.
    """
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, paragraphs in enumerate(pages):
        objects += [_page(5 + 2 * number), _content(paragraphs)]
    objects.append(b"<< /Title " + _string(title) + b" >>")
    return _file(objects)


def _page(content: int) -> bytes:
    return (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
        f"/Resources << /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
    ).encode()


def _content(paragraphs: Sequence[str]) -> bytes:
    """The page's text, one line below the other, a blank line between paragraphs."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, LINE, break_on_hyphens=False), ""]
    if len(lines) > LINES + 1:
        raise ValueError(f"a page of {len(lines)} lines; {LINES} fit")
    shown = b"".join(_string(line) + b" Tj T*\n" for line in lines[:-1])
    stream = b"BT\n/F1 10 Tf\n14 TL\n56 780 Td\n" + shown + b"ET"
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)


def _string(text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return b"(" + escaped.encode("latin-1") + b")"


def _file(objects: Sequence[bytes]) -> bytes:
    """Header, numbered objects, the table of their offsets, trailer; the last object is the document's information."""
    body = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(objects), len(body))
    )
