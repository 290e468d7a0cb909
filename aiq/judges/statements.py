"""What a report says and what it cites for it: (statement, reference number, URL), by rules.

The forms of citation are those of `aiq.citations.parse`: `[n]` with a reference list, `[n](url)`,
`[words](url)`, a URL in the sentence, and their variants.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aiq.citations import passages as statements
from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.parse import ParsedReport, parse_report
from aiq.citations.passages import CitedStatement
from aiq.core.base import Record


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
    parsed = parse_report(report)
    listed: dict[int, str] = {}
    for entry in parsed.entries:
        if entry.urls:
            listed.setdefault(entry.number, entry.urls[0].url)
    found = [
        Citation(statement=statement.text, reference=number, url=canonical(url))
        for statement in statements.cited_statements(parsed)
        for number, url in _cited(parsed, statement, listed)
        if _is_web(url)
    ]
    return list(dict.fromkeys(found))


def _cited(
    parsed: ParsedReport, statement: CitedStatement, listed: Mapping[int, str]
) -> Iterator[tuple[int | None, str]]:
    """What a statement cites, in order: (number, URL); `listed` is the first URL of each entry by number."""
    marks = [parsed.marks[number] for number in statement.marks]
    uses: list[Mark | UrlUse] = [*marks, *(parsed.body_urls[number] for number in statement.body_urls)]
    for use in sorted(uses, key=lambda use: use.start):
        if isinstance(use, UrlUse):
            yield None, use.url
        elif use.url is not None:
            yield use.numbers[0], parsed.text[slice(*use.url)]
        else:
            yield from ((number, listed[number]) for number in use.numbers if number in listed)


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
