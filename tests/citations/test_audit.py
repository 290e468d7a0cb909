"""The audit by itself: what it finds, that it changes nothing, and what it makes of a report without sources."""

import pytest

from aiq.citations.audit import ReportAudit, audit_report
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.verify import verify
from aiq.core.sources import Source

SOURCES = (
    Source(url="https://v.com/1"),
    Source(url="https://v.com/docs/2"),
    Source(citation_key="report.pdf, p.15"),
    Source(url="https://doi.org/10.1000/xyz"),
)
LIST = "\n\n## References\n\n"


def audit(text: str, sources: tuple[Source, ...] | None = SOURCES) -> ReportAudit:
    return audit_report(parse_report(text), None if sources is None else SourceIndex(sources))


@pytest.mark.parametrize(
    ("entry", "outcome", "reason", "level"),
    [
        ("One - http://www.v.com/1/", "valid", None, "exact"),
        ("Two - https://v.com/docs/2/sub", "valid", None, "child_path"),
        ("Report - report.pdf, p.15", "valid", None, "document"),
        ("A paper. doi:10.1000/XYZ", "valid", None, "exact"),
        ("A paper. doi:10.1000/other", "invalid", "url_not_in_registry", None),
        ("Made up - https://nope.com", "invalid", "url_not_in_registry", None),
        ("Other - other.pdf, p.2", "invalid", "citation_key_not_in_registry", None),
        ("A book, 1999", "unverifiable", "unverifiable", None),
        ("Broken - http://[::1", "unverifiable", "unverifiable", None),
        ("Short - https://bit.ly/1", "unsafe", "shortened_url", None),
        ("Files - ftp://v.com/1", "unsafe", "unsafe_scheme", None),
        ("Report (report.pdf, p. 99)", "invalid", "citation_key_not_in_registry", None),
        ("[Report](files/report.pdf), report\\.pdf, p. 15", "valid", None, "document"),
        ("[Report](report.pdf#page=15)", "valid", None, "document"),
        ("[Other](other.pdf)", "invalid", "citation_key_not_in_registry", None),
        ("[Other](java%73cript:x)", "unsafe", "unsafe_scheme", None),
        ("论文，见DOI：10.1000/xyz，2020年", "valid", None, "exact"),
        ("A paper. doi.org/10.1000/xyz", "valid", None, "exact"),
        ("A paper. <doi:10.1000/xyz>", "valid", None, "exact"),
        ("Made up - https://nope.com/10.1000/xyz", "invalid", "url_not_in_registry", None),  # V1: a path is no DOI
        ("Made up - https://nope.com/?doi=10.1000/xyz", "invalid", "url_not_in_registry", None),
    ],
)
def test_outcomes_of_entries(entry: str, outcome: str, reason: str | None, level: str | None) -> None:
    found = audit(f"A [1].{LIST}[1] {entry}\n[2] Other - https://v.com/docs/2\n").entries[0]
    assert (found.outcome, found.reason, found.match and found.match.level) == (outcome, reason, level)


@pytest.mark.parametrize(
    ("entry", "outcome", "reason"),
    [
        ("One - https://v.com/1", None, "no_sources"),
        ("Report - report.pdf, p.15", None, "no_sources"),
        ("A paper. arXiv:1706.03762", None, "no_sources"),
        ("A book, 1999", "unverifiable", "unverifiable"),
        ("Broken - http://[::1", "unverifiable", "unverifiable"),
        ("Short - https://bit.ly/1", "unsafe", "shortened_url"),
        ("Cut - https://v.com/a...", "unsafe", "truncated_url"),
        ("Again - http://www.v.com/docs/2#x", "duplicate", "duplicate_of_citation_1"),
    ],
)
def test_without_sources_what_is_fine_has_no_outcome(entry: str, outcome: str | None, reason: str) -> None:
    found = audit(f"A [2].{LIST}[1] Other - https://v.com/docs/2\n[2] {entry}\n", None)
    assert not found.with_sources
    assert (found.entries[1].outcome, found.entries[1].reason) == (outcome, reason)


def test_places_entries_and_reasons_of_marks() -> None:
    text = f"A [1, 9], B [^2], C [2](https://v.com/1) and https://bit.ly/x.{LIST}[1] https://v.com/1\n[2] A book\n"
    found = audit(text)
    assert found.report.text == text
    assert [(text[m.mark.start : m.mark.end], m.entries) for m in found.marks] == [
        ("[1, 9]", (0, None)),
        ("[^2]", (1,)),
        ("[2](https://v.com/1)", (1,)),
    ]
    assert [(url.use.url, url.outcome, url.reason) for url in found.body_urls] == [
        ("https://bit.ly/x", "unsafe", "shortened_url")
    ]
    assert found.dangling == (9,)


def test_entries_that_nothing_cites() -> None:
    entries = "[1] https://v.com/1\n[2] https://v.com/docs/2\n[3] report.pdf, p.15\n"
    assert audit(f"A [2].{LIST}{entries}").unused == (0, 2)
    assert audit(f"A [7](https://v.com/1).{LIST}{entries}").unused == (1, 2)


def test_paragraphs_that_cite_nothing() -> None:
    text = (
        "# Title\n\nFirst is cited [1].\n\nSecond is not.\n\n- an item https://v.com/9\n- another item\n\n"
        f"```\ncode\n```\n{LIST}[1] https://v.com/1\n"
    )
    found = audit(text)
    assert [text[start:end] for start, end in found.uncited_paragraphs] == ["Second is not.", "another item"]


def test_a_safe_url_of_the_text_that_no_tool_returned_is_told_and_stays() -> None:
    text = f"The page is https://nope.com/x [1].{LIST}[1] https://v.com/1\n"
    verified = verify(text, SOURCES)
    assert [(url.outcome, url.reason) for url in verified.found.body_urls] == [("invalid", "url_not_in_registry")]
    assert (verified.text, verified.edits, verified.audit.removed_citations) == (text, (), ())
