"""A user's file as pages of text: PDF page by page, Markdown and plain text as one piece without pages."""

import io
import logging
import re
from pathlib import Path

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.text import plural, utf8_safe
from aiq.tools.pages import decoded

TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".text")
SUFFIXES = (".pdf", *TEXT_SUFFIXES)

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<title>.+?)\s*#*\s*$", re.MULTILINE)
_NO_TITLE = re.compile(r"^(?:untitled|microsoft word\b.*|.*\.(?:docx?|pdf|indd|tex))?$", re.IGNORECASE)
"""What programs write as a PDF's title when its author gave none."""

_FULL_SHARE = 0.7
"""Share of the page's longest line from which a line counts as full: the next line may continue its sentence."""

_SENTENCE_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*$")
_SPLIT_WORD = re.compile(r"(?<=[^\W\d_])-$")


class DocumentPage(Record):
    """One page's text; `number` counts from 1 as viewers show it, None if the format has no pages."""

    number: int | None
    text: str


class ReadDocument(Record):
    """A document as read: pages in order, those without text left out; `page_count` counts them all."""

    title: str
    pages: tuple[DocumentPage, ...]
    page_count: int | None

    @property
    def whole(self) -> str:
        return "\n".join(page.text for page in self.pages)


def read_document(path: Path, body: bytes) -> ReadDocument:
    """The text of a file with these bytes. Raises UserError, one line naming the file, if there is none."""
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: only {', '.join(SUFFIXES)} files can be read; save it as one of these")
    document = _read_pdf(path, body) if path.suffix.lower() == ".pdf" else _read_text(path, body)
    if not document.pages:
        pages = plural(document.page_count or 0, "page")
        no_text = f"none of its {pages} holds text; is it a scan? Run text recognition over it first"
        raise UserError(f"{path}: {no_text if document.page_count else 'it holds no text'}")
    return document


def _read_text(path: Path, body: bytes) -> ReadDocument:
    text = decoded(body, "").strip()
    if "\0" in text:
        raise UserError(f"{path}: it is not text (it holds binary data); save it as UTF-8 text")
    heading = _HEADING.search(text) if path.suffix.lower() in (".md", ".markdown") else None
    pages = (DocumentPage(number=None, text=text),) if text else ()
    return ReadDocument(title=heading["title"] if heading else path.stem, pages=pages, page_count=None)


def _read_pdf(path: Path, body: bytes) -> ReadDocument:
    from pypdf import PdfReader

    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # users need not see its complaints about odd files
    try:
        reader = PdfReader(io.BytesIO(body))
        locked = reader.is_encrypted and not reader.decrypt("")
        texts = [] if locked else [utf8_safe(page.extract_text()).strip() for page in reader.pages]
        title = "" if locked else " ".join(str((reader.metadata and reader.metadata.title) or "").split())
    except Exception as error:  # pypdf raises many types of error for broken files; this file gives nothing
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UserError(f"{path}: it cannot be read as a PDF ({reason}); save or download it again") from None
    if locked:
        raise UserError(f"{path}: it is encrypted with a password; save it without one")
    pages = tuple(
        DocumentPage(number=number, text=unwrapped(text)) for number, text in enumerate(texts, start=1) if text
    )
    return ReadDocument(title=path.stem if _NO_TITLE.match(title) else title, pages=pages, page_count=len(texts))


def unwrapped(text: str) -> str:
    """A PDF page's text with the lines of a sentence joined: PDFs keep the line breaks of the layout.

    A line is joined to the next if it is full and does not end a sentence; headings and table rows are short and stay.
    A word split by a hyphen before a lower-case letter is made whole.
    """
    lines = [line.strip() for line in text.splitlines()]
    full_length = _FULL_SHARE * max(map(len, lines), default=0)
    joined: list[str] = []
    continues = False
    for line in lines:
        if continues and line:
            previous = joined.pop()
            is_split = _SPLIT_WORD.search(previous) and line[0].islower()
            joined.append(previous[:-1] + line if is_split else f"{previous} {line}")
        else:
            joined.append(line)
        continues = len(line) >= full_length and bool(line) and not _SENTENCE_END.search(line)
    return "\n".join(joined).strip()
