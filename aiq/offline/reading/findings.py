"""Cited findings as researchers hand them to the report's writer: sentences with `[n]` and a list of sources."""

import re
from collections.abc import Iterable, Sequence

from aiq.core.base import Record
from aiq.offline.reading.documents import Document

_HEADING = re.compile(
    r"^\s*(?:#+\s*)?\*{0,2}(?:sources|references|来源|参考文献)\*{0,2}\s*:?\s*\*{0,2}\s*$", re.IGNORECASE | re.MULTILINE
)
_LINE = re.compile(r"^\s*\[(?P<number>\d+)\]\s*(?P<title>.*?)\s+-\s+(?P<key>\S.*?)\s*$", re.MULTILINE)
_CITED = re.compile(r"(?:\s*\[\d+\])+")
_STATEMENT = re.compile(r"(?P<text>[^\[\]\n]+?)(?P<marks>(?:\s*\[\d+\])+)(?P<end>[.。]?)")


_MARKS = re.compile(
    r"\s*\[\s*\d[\d\s,–-]*\]|\s+\d{1,3}[•*]*(?:,\s+\d{1,3}[•*]*)+(?=[.,;]|$)|\s+\d{1,3}[•*]+(?=[.,;\s]|$)"
)
"""A page's own citation marks: `[12]`, and bare numbers before punctuation (`23, 25, 31••.`)."""


class Reference(Record):
    """Where a finding comes from: `key` is a URL or a document key."""

    key: str
    title: str


Numbers = dict[str, tuple[int, Reference]]
"""Sources by key with their numbers."""


class Finding(Record):
    """One sentence, with at least one source."""

    text: str
    sources: tuple[Reference, ...]


def of(text: str, document: Document) -> Finding:
    """The sentence of a page as a finding; square brackets in it would read as citations."""
    plain = _MARKS.sub("", text).replace("[", "(").replace("]", ")")
    return Finding(text=plain, sources=(Reference(key=document.key, title=document.title or document.key),))


def numbered(findings: Iterable[Finding]) -> Numbers:
    """Sources by key with their numbers, in order of first citation."""
    found: Numbers = {}
    for finding in findings:
        for source in finding.sources:
            found.setdefault(source.key, (len(found) + 1, source))
    return found


def cite(finding: Finding, numbers: Numbers) -> str:
    """The sentence with its marks before the full stop: `It lies in Orlune [2].`"""
    marks = "".join(f"[{numbers[source.key][0]}]" for source in finding.sources)
    text = finding.text.rstrip()
    end = text[-1] if text[-1:] in (".", "。") else ""
    space = "" if end == "。" else " "
    return f"{text[: len(text) - len(end)]}{space}{marks}{end or '.'}"


def source_lines(numbers: Numbers) -> list[str]:
    return [f"[{number}] {source.title} - {source.key}" for number, source in numbers.values()]


def parse(text: str) -> list[Finding]:
    """The findings of a researcher's reply, in order; statements whose numbers are in no list are dropped."""
    heading = _HEADING.search(text)
    if heading is None:
        return []
    body, tail = text[: heading.start()], text[heading.end() :]
    listed = {
        int(line.group("number")): Reference(key=line.group("key"), title=line.group("title"))
        for line in _LINE.finditer(tail)
    }
    found = []
    for match in _STATEMENT.finditer(body):
        numbers = [int(n) for n in re.findall(r"\[(\d+)\]", match.group("marks"))]
        sources = tuple(listed[number] for number in numbers if number in listed)
        statement = match.group("text").strip(" -*•#").strip()
        if sources and statement:
            found.append(Finding(text=statement + (match.group("end") or "."), sources=sources))
    return found


def as_documents(findings: Sequence[Finding]) -> list[Document]:
    """The findings as documents, one for each source, so that they can be read like pages."""
    by_key: dict[str, tuple[Reference, list[str]]] = {}
    for finding in findings:
        for source in finding.sources:
            by_key.setdefault(source.key, (source, []))[1].append(finding.text)
    return [
        Document(key=key, title=source.title, text="\n".join(sentences), rank=rank)
        for rank, (key, (source, sentences)) in enumerate(by_key.items())
    ]
