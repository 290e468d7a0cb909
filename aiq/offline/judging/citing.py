"""Citations: which statements of a text cite which URLs."""

import re

from aiq.citations.parse import parse_report
from aiq.citations.passages import cited_statements
from aiq.offline.engine.text import name_spans

_POINTER = re.compile(r"^(?:It|He|She|They)\b")


def cited(text: str, listed: str) -> list[tuple[str, int | None, str]]:
    """Every (statement, reference, URL) of a report or of a part whose list of references is `listed`, in order.

    A pronoun at a statement's start becomes the thing last named; the reference is None where a link cites.
    """
    report = parse_report(f"{text}\n\n## References\n\n{listed}" if listed else text)
    urls = {entry.number: entry.urls[-1].url for entry in report.entries if entry.urls}
    found: list[tuple[str, int | None, str]] = []
    subject = ""
    for statement in cited_statements(report):
        told = _POINTER.sub(subject or r"\g<0>", statement.text)
        subject = next((span.text for span in name_spans(told)), subject)
        for mark in (report.marks[at] for at in statement.marks):
            linked = report.text[slice(*mark.url)] if mark.url else ""
            found += [(told, n, linked or urls[n]) for n in mark.numbers if linked or n in urls]
        found += [(told, None, report.body_urls[at].url) for at in statement.body_urls]
    return list(dict.fromkeys(found))
