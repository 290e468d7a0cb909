"""The page of one audited report: the report with every citation in the colour of its outcome, in one file.

Nothing of it needs a network or a script; a card with source and passage opens on hover and on focus.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from aiq import __version__
from aiq.citations.cases import AuditedReport
from aiq.citations.findings import ReportAudit
from aiq.site.annotated import Piece, annotated
from aiq.site.audit_view import EXPLAINED, Citation, Listed, citations, counts, listed
from aiq.site.environment import environment, style


def audit_page(audit: AuditedReport) -> str:
    """The page as HTML."""
    templates = environment()
    templates.filters["explained"] = lambda word: EXPLAINED.get(word, word)
    shown = citations(audit)
    entries = listed(audit, shown)
    macros = templates.get_template("audit_parts.html.j2").module
    page: str = templates.get_template("audit.html.j2").render(
        title=audit.case.title or "a report",
        version=__version__,
        case=audit.case,
        record=audit.record,
        checked=audit.verified.found.with_sources,
        report=annotated(audit.case.text, _pieces(audit.verified.found, shown, entries, macros)),
        entries=entries,
        citation_counts=counts(citation.outcome for citation in shown),
        entry_counts=counts(entry.target.outcome for entry in entries),
        style=style("style.css", "audit.css"),
    )
    return page


def _pieces(found: ReportAudit, shown: Sequence[Citation], entries: Sequence[Listed], macros: Any) -> Iterator[Piece]:
    """What stands in place of citations and reference lists, and at the end of paragraphs that cite nothing."""
    for citation in shown:
        if citation.label == (0, 0):
            yield Piece(citation.start, citation.end, str(macros.chip(citation)))
        else:
            yield Piece(citation.start, citation.label[0], str(macros.chip_start(citation)))
            yield Piece(citation.label[1], citation.end, str(macros.chip_end(citation)))
    for number, place in enumerate(found.report.lists):
        own = [entry for entry in entries if entry.finding.entry.section == number]
        yield Piece(place.start, place.end, str(macros.entry_list(own)), block=True)
    for _, end in found.uncited_paragraphs:
        yield Piece(end, end, str(macros.uncited()))
