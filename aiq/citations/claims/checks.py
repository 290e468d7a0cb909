"""Checks every cited statement of an audited report against the texts of the sources that it validly cites."""

from collections.abc import Iterator

from aiq.citations.claims.records import CitedStatement, ClaimCheck
from aiq.citations.claims.source import SourceText
from aiq.citations.claims.statements import cited_statements
from aiq.citations.claims.support import check_against
from aiq.citations.claims.terms import Statement
from aiq.citations.findings import ReportAudit
from aiq.core.sources import Source


def check_claims(audit: ReportAudit) -> tuple[ClaimCheck, ...]:
    """One check for each (statement, source) pair in order of the report; a pair once, each source read once."""
    texts: dict[int, SourceText] = {}
    found: list[ClaimCheck] = []
    for statement in cited_statements(audit.report):
        read = Statement.read(statement.text)
        seen: list[Source] = []
        for source, entry, mark, body_url in _cited(audit, statement):
            if not any(source is other for other in seen):
                seen.append(source)
                text = texts.setdefault(id(source), SourceText(source.text))
                found.append(ClaimCheck(statement, source, check_against(read, text), entry, mark, body_url))
    return tuple(found)


def _cited(
    audit: ReportAudit, statement: CitedStatement
) -> Iterator[tuple[Source, int | None, int | None, int | None]]:
    """The sources that a statement validly cites: (source, entry, mark, body URL)."""
    for number in statement.marks:
        mark = audit.marks[number]
        if mark.url is not None and mark.url.match is not None:
            yield mark.url.match.source, None, number, None
            continue
        for entry in mark.entries:
            match = None if entry is None else audit.entries[entry].match
            if match is not None:
                yield match.source, entry, number, None
    for number in statement.body_urls:
        match = audit.body_urls[number].match
        if match is not None:
            yield match.source, None, None, number
