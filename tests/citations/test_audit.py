"""The audit alone: unused entries, uncited paragraphs, and URLs that it reports but leaves in the text."""

from aiq.citations.audit import ReportAudit, audit_report
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.settings import configured

SOURCES = (
    Source(url="https://v.com/1"),
    Source(url="https://v.com/docs/2"),
    Source(citation_key="report.pdf, p.15"),
    Source(url="https://doi.org/10.1000/xyz"),
)
LIST = "\n\n## References\n\n"


def audit(text: str, sources: tuple[Source, ...] | None = SOURCES) -> ReportAudit:
    return audit_report(parse_report(text), None if sources is None else SourceIndex(sources))


def test_entries_without_marks_are_unused() -> None:
    entries = "[1] https://v.com/1\n[2] https://v.com/docs/2\n[3] report.pdf, p.15\n"
    assert audit(f"A [2].{LIST}{entries}").unused == (0, 2)
    assert audit(f"A [7](https://v.com/1).{LIST}{entries}").unused == (1, 2)


def test_paragraphs_without_citations_are_reported() -> None:
    text = (
        "# Title\n\nFirst is cited [1].\n\nSecond is not.\n\n- an item https://v.com/9\n- another item\n\n"
        f"```\ncode\n```\n{LIST}[1] https://v.com/1\n"
    )
    result = audit(text)
    assert [text[start:end] for start, end in result.uncited_paragraphs] == ["Second is not.", "another item"]


def test_a_safe_url_in_the_text_that_no_tool_returned_is_reported_and_stays() -> None:
    text = f"The page is https://nope.com/x [1].{LIST}[1] https://v.com/1\n"
    verified = verify(text, SOURCES, configured(CitationSettings))
    assert [(url.outcome, url.reason) for url in verified.found.body_urls] == [("invalid", "url_not_in_registry")]
    assert (verified.text, verified.edits, verified.audit.removed_citations) == (text, (), ())
