"""What a report says and what it cites for it: (statement, reference number, URL), by rules.

The four forms: `[n]` with a reference list, `[words](url)`, `[n](url)`, and a bare URL in the sentence.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from aiq.core.base import Record
from aiq.judges.clean import split_references, unmarked

_URL: Final = re.compile(r"https?://[^\s<>\"'`|\\，。；：、！？）】》」』”’]+", re.IGNORECASE)
_ENTRY_NUMBER: Final = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?(\d{1,4})\]|【(\d{1,4})】|(\d{1,4})\\?[.)、])")
_MARK: Final = re.compile(r"[\[【]\^?(\d{1,4}(?:\s*[,，;、–-]\s*\^?\d{1,4})*)(?:†[^\]】]{0,80})?[\]】](\()?")
_RANGE: Final = re.compile(r"(\d+)\s*[–-]\s*\^?(\d+)")
_LONGEST_RANGE: Final = 50
_SENTENCE_END: Final = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"”)]))(?P<trail>(?:\s?\[[\d,\s^–-]+\])*)\s+(?=[\"“‘(*]*[A-Z\d\u00c0-\u024f])"
    r"|(?<=[。！？；])(?P<trail2>(?:\s?[\[【][\d,\s^–-]+[\]】])*)\s*"
)
_LEAD: Final = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)+")
_DECORATION: Final = re.compile(r"[*_`]{1,3}")


class Citation(Record):
    """A statement and a URL that the report cites for it; `reference` is its number, where it has one."""

    statement: str
    reference: int | None
    url: str


def urls(text: str) -> list[str]:
    """The URLs of a text in order, each once, without the punctuation that follows them."""
    return list(dict.fromkeys(trimmed(match.group()) for match in _URL.finditer(text)))


def trimmed(url: str) -> str:
    """A URL without trailing punctuation, unopened brackets and a text fragment (`#:~:text=`)."""
    url = url.split("#:~:", 1)[0]
    while url and (
        url[-1] in ".,;:!?*"
        or (url[-1] == ")" and url.count(")") > url.count("("))
        or (url[-1] == "]" and url.count("]") > url.count("["))
    ):
        url = url[:-1]
    return url


def reference_urls(references: str) -> dict[int, str]:
    """The first URL of each numbered entry of a reference list; entries may run over several lines."""
    found: dict[int, str] = {}
    number: int | None = None
    for line in references.splitlines():
        if match := _ENTRY_NUMBER.match(line):
            number = int(next(group for group in match.groups() if group))
        if number is not None and number not in found and (there := urls(line)):
            found[number] = there[0]
    return found


def cited_statements(report: str) -> list[Citation]:
    """Every (sentence, URL) pair of the report in order, a pair once; sentences come without their marks."""
    parts = split_references(report)
    listed = reference_urls(parts.references)
    found: list[Citation] = []
    for sentence in sentences(parts.body):
        statement = plain(sentence)
        if statement:
            found += [Citation(statement=statement, reference=n, url=url) for n, url in _cited(sentence, listed)]
    return list(dict.fromkeys(found))


def _cited(sentence: str, listed: Mapping[int, str]) -> Iterator[tuple[int | None, str]]:
    """The (number, URL) pairs that a sentence cites: its marks in order, then its own URLs."""
    numbered: dict[str, int] = {}
    for mark in _MARK.finditer(sentence):
        for number in numbers(mark[1]):
            linked = _URL.match(sentence, mark.end()) if mark[2] else None
            if linked:
                numbered.setdefault(trimmed(linked.group()), number)
            elif number in listed:
                yield number, listed[number]
    for url in urls(sentence):
        yield numbered.get(url), url


def numbers(mark: str) -> list[int]:
    """The reference numbers of a mark's inside: `1, 3-5` is 1, 3, 4, 5."""
    found: list[int] = []
    for part in re.split(r"\s*[,，;、]\s*", mark):
        if (span := _RANGE.fullmatch(part.strip(" ^"))) and 0 <= int(span[2]) - int(span[1]) <= _LONGEST_RANGE:
            found += range(int(span[1]), int(span[2]) + 1)
        else:
            found += [int(digits) for digits in re.findall(r"\d+", part)]
    return found


def sentences(text: str) -> Iterator[str]:
    """Sentences of Markdown prose in order; lines end sentences, marks behind a full stop belong to its sentence."""
    for line in text.splitlines():
        start = 0
        for end in _SENTENCE_END.finditer(line):
            cut = end.end("trail") if end["trail"] is not None else end.end("trail2")
            if line[start:cut].strip():
                yield line[start:cut].strip()
            start = end.end()
        if line[start:].strip():
            yield line[start:].strip()


def plain(sentence: str) -> str:
    """A sentence without citation marks, link targets, list and heading marks and emphasis."""
    return " ".join(_DECORATION.sub("", _LEAD.sub("", unmarked(sentence))).split())


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
