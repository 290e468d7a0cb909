"""Citations: which statements of a text cite which URLs, and the text without them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from aiq.citations.body import cut, trimmed
from aiq.citations.parsing import ParsedReport, parse_report
from aiq.citations.statements import PRIVATE, VOID, CitedStatement, cited_statements, hidden, without_pins
from aiq.offline.engine.text import name_spans

_POINTER = re.compile(r"^(?:It|He|She|They)\b")


class Cited(NamedTuple):
    statement: str
    reference: int | None
    url: str


def cited(text: str, listed: str) -> list[Cited]:
    """Every (statement, reference, URL) of a report or of a part whose list of references is `listed`, in order.

    A pronoun at a statement's start becomes the thing last named.
    """
    report = parse_report(f"{text}\n\n## References\n\n{listed}" if listed else text)
    found: list[Cited] = []
    subject, end = "", 0
    for statement in cited_statements(report):
        subject = next((span.text for span in reversed(name_spans(text[end : statement.start]))), subject)
        told = _POINTER.sub(subject or r"\g<0>", statement.text)
        subject, end = next((span.text for span in name_spans(told)), subject), statement.end
        found += [Cited(told, number, url) for number, url in _uses(report, statement)]
    return list(dict.fromkeys(found))


def _uses(report: ParsedReport, statement: CitedStatement) -> Iterator[tuple[int | None, str]]:
    """The number (None: a link) and the URL of each source of a statement; an entry's URL is its last."""
    listed = {entry.number: entry.urls[-1].url for entry in report.entries if entry.urls}
    for mark in (report.marks[at] for at in statement.marks):
        urls = [report.text[slice(*mark.url)]] if mark.url else []
        yield from (
            (number, *urls) if urls else (number, listed[number]) for number in mark.numbers if urls or number in listed
        )
    yield from ((None, report.body_urls[at].url) for at in statement.body_urls)


def without_citations(text: str) -> str:
    """The text without citation marks, link targets, addresses and its list of references; otherwise unchanged."""
    report = parse_report(text.translate(PRIVATE))
    cuts = [(found.start, found.end, "") for found in report.lists]
    cuts += [(start, end, sign) for start, end, sign in hidden(report) if start < end or sign == VOID]
    return trimmed(without_pins(cut(report.text, cuts)))
