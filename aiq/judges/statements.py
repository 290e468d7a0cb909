"""What a report says and what it cites for it: (statement, reference number, URL), by rules.

The forms of citation are those of `aiq.citations.parsing`: `[n]` with a reference list, `[n](url)`,
`[words](url)`, a URL in the sentence, and their variants.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aiq.citations.parsing import parse_report
from aiq.core.base import Record
from aiq.judges.clean import pins, read_prose, unpinned

_SENTENCE_END: Final = re.compile(
    '(?:(?<=[.!?])|(?<=[.!?]["”)]))(?P<pins>(?:\ue000\\d+\ue001)*)\\s+(?=["“‘(*]*[A-Z\\d\u00c0-\u024f])'
    "|(?<=[。！？；])(?P<cjk_pins>(?:\ue000\\d+\ue001)*)\\s*"
)
_LEAD: Final = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)+")
_DECORATION: Final = re.compile(r"[*_`]{1,3}")


class Citation(Record):
    """A statement and a URL that the report cites for it; `reference` is its number, where it has one."""

    statement: str
    reference: int | None
    url: str


def canonical(url: str) -> str:
    """A URL as pages are asked for and compared here: without the text fragment (`#:~:text=`) and spaces around it."""
    return url.strip().split("#:~:", 1)[0]


def urls(report: str) -> list[str]:
    """The http(s) URLs that a report cites, in its text or its lists, each once."""
    parsed = parse_report(report)
    listed = (use.url for entry in parsed.entries for use in entry.urls)
    marked = (parsed.text[slice(*mark.url)] for mark in parsed.marks if mark.url is not None)
    found = [*listed, *marked, *(use.url for use in parsed.body_urls)]
    return list(dict.fromkeys(canonical(url) for url in found if _is_web(url)))


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def cited_statements(report: str) -> list[Citation]:
    """Every (sentence, URL) pair of the report in order, a pair once; sentences come without their marks."""
    prose = read_prose(report)
    found: list[Citation] = []
    for sentence in sentences(prose.pinned):
        statement = _plain(sentence)
        for cite in (cite for pin in pins(sentence) for cite in prose.cites[pin]):
            if statement and cite.url is not None and _is_web(cite.url):
                found.append(Citation(statement=statement, reference=cite.number, url=canonical(cite.url)))
    return list(dict.fromkeys(found))


def sentences(pinned: str) -> Iterator[str]:
    """Sentences of prose in order; lines end sentences, pins behind a full stop belong to its sentence.

    A table's cell with a pin is a statement of its own: "row's name, column's heading: cell".
    """
    heads: list[str] = []
    for line in pinned.splitlines():
        if not line.lstrip().startswith("|"):
            heads = []
            yield from _in_line(line)
        elif not heads:
            heads = _row(line)
        else:
            yield from _in_row(heads, _row(line))


def _in_line(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        cut = end.end("pins") if end["pins"] is not None else end.end("cjk_pins")
        if line[start:cut].strip():
            yield line[start:cut].strip()
        start = end.end()
    if line[start:].strip():
        yield line[start:].strip()


def _row(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _in_row(heads: Sequence[str], cells: Sequence[str]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        if pins(cell):
            head = unpinned(heads[number]) if number < len(heads) else ""
            yield f"{unpinned(cells[0])}, {head}: {cell}" if number and head else cell


def _plain(sentence: str) -> str:
    """A sentence without pins, list and heading marks and emphasis."""
    return " ".join(_DECORATION.sub("", _LEAD.sub("", unpinned(sentence))).split())


def by_url(citations: Iterable[Citation]) -> dict[str, list[str]]:
    """The statements of each URL in order of appearance; those alike but for case and punctuation once."""
    grouped: dict[str, dict[str, str]] = {}
    for citation in citations:
        same = "".join(char for char in citation.statement.casefold() if char.isalnum())
        grouped.setdefault(citation.url, {}).setdefault(same, citation.statement)
    return {url: list(statements.values()) for url, statements in grouped.items()}


def chunks(text: str, most: int) -> list[str]:
    """The text in pieces of at most `most` characters, cut between paragraphs, else lines, else anywhere."""
    found: list[str] = []
    for paragraph in re.split(r"(?<=\n)\n+", text):
        for piece in _cut(paragraph, most):
            if found and len(found[-1]) + len(piece) + 1 <= most:
                found[-1] += "\n" + piece
            elif piece.strip():
                found.append(piece)
    return found


def _cut(text: str, most: int) -> Sequence[str]:
    pieces: list[str] = []
    while len(text) > most:
        at = max(text.rfind("\n", 0, most), text.rfind(". ", 0, most) + 1, text.rfind("。", 0, most) + 1)
        at = at if at > most // 2 else most
        pieces.append(text[:at])
        text = text[at:]
    return [*pieces, text]
