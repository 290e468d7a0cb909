"""Every row of the tables of the two specification pages, section by section of "Citation verification: rules".

Where a row describes a defect of the implementation that the tables were read from, the rules win:
the case says so by the defect's name (V, D or S) and expects the right result.
"""

from collections.abc import Sequence

import pytest

from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.sanitise import broken_rule
from aiq.citations.urls import parse_url
from aiq.citations.verify import Verified, verify
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source

PAGE = "https://example.com/page"


def index(*urls: str) -> SourceIndex:
    return SourceIndex([Source(url=url) for url in urls])


def found(urls: Sequence[str], cited: str) -> tuple[str, str] | None:
    """Level and source of a cited URL."""
    match = index(*urls).match_url(cited)
    return (match.level, match.source.url or "") if match else None


def report(entry: str, body: str = "So it is [1].", heading: str = "## Sources") -> str:
    return f"{body}\n\n{heading}\n\n{entry}\n"


def reasons(verified: Verified) -> list[str]:
    return [removed.reason for removed in verified.audit.removed_citations]


# Section 2: URL normalisation. (a, b, whether they are one address)
NORMALISED = [
    pytest.param("HTTPS://Example.COM/path", "https://example.com/path", True, id="case-of-scheme-and-host"),
    pytest.param("https://example.com/Path", "https://example.com/path", False, id="case-of-path-kept"),
    pytest.param("https://example.com/path/", "https://example.com/path", True, id="trailing-slash"),
    pytest.param("https://example.com", "https://example.com/", True, id="empty-path"),
    pytest.param(f"{PAGE}#section", PAGE, True, id="fragment"),
    pytest.param(f"{PAGE}#/route", PAGE, False, id="route-is-no-fragment"),
    pytest.param(f"{PAGE}?utm_source=twitter&key=val", f"{PAGE}?key=val", True, id="utm"),
    *(
        pytest.param(f"{PAGE}?{name}=x", PAGE, True, id=name)
        for name in (
            "utm_source",
            "utm_medium",
            "utm_campaign",
            "utm_term",
            "utm_content",
            "UTM_Source",
            "ref",
            "source",
        )
    ),
    pytest.param(f"{PAGE}?a=1&amp;b=2", f"{PAGE}?b=2&a=1", True, id="amp-entity-and-order"),
    pytest.param(f"  {PAGE}\n", PAGE, True, id="white-space"),
    pytest.param(f"{PAGE}/a%20b", f"{PAGE}/a b", True, id="percent-encoding"),
    pytest.param(f"{PAGE}?a=", f"{PAGE}?a", True, id="blank-value-kept"),
    pytest.param(f"{PAGE}?a=", PAGE, False, id="blank-value-counts"),
    pytest.param("https://e.com:443/a", "https://e.com/a", True, id="default-port"),  # D15's kind
    pytest.param("http://e.com/a", "https://e.com/a", True, id="D15-http"),
    pytest.param("https://www.e.com/a", "https://e.com/a", True, id="D15-www"),
    pytest.param("https://e.com/a;v=1", "https://e.com/a", True, id="path-parameters"),
    pytest.param("https://e.com/a;v=1/", "https://e.com/a", True, id="path-parameters-and-slash"),
    pytest.param("https://e.com/?id=1&id=2", "https://e.com/?id=1", False, id="both-values-of-a-key-count"),
    pytest.param("https://e.com/?a=b%26c%3Dd", "https://e.com/?a=b&c=d", False, id="encoded-separators"),
    pytest.param("https://github.com/p?ref=main", "https://github.com/p", False, id="ref-selects-content"),
    pytest.param("https://api.e.com/p?source=a", "https://api.e.com/p", False, id="source-selects-content"),
    pytest.param("https://e.com/?fbclid=1&gclid=2", "https://e.com/", True, id="known-trackers"),
    pytest.param("https://e.com/?a=1&section=2", "https://e.com/?a=1§ion=2", False, id="D1-section"),
]


@pytest.mark.parametrize(("one", "other", "same"), NORMALISED)
def test_section_2_normalisation(one: str, other: str, same: bool) -> None:
    first, second = parse_url(one), parse_url(other)
    assert first is not None
    assert second is not None
    assert (first.key == second.key) is same


def test_section_2_d2_a_broken_address_is_no_url_and_no_crash() -> None:
    assert parse_url("http://[::1") is None
    assert reasons(verify(report("[1] T http://[::1"), [])) == ["unverifiable"]


# Section 3, the registry, is in test_registry.py.

# Section 4: the five levels. (registry, cited, level, source)
LEVELS = [
    (["https://e.com/a"], "https://e.com/a", "exact", "https://e.com/a"),
    (["https://e.com/a"], "HTTP://www.E.com/a/#x", "exact", "https://e.com/a"),
    (["https://e.com/news/item"], "https://e.com/news", "truncation", "https://e.com/news/item"),
    (["https://e.com/news/item"], "https://e.com/news/it...", "truncation", "https://e.com/news/item"),
    (["https://e.com/news/item"], "http://www.e.com/news", "prefix", "https://e.com/news/item"),
    (["https://e.com/a/b"], "https://e.com/a/b/c", "child_path", "https://e.com/a/b"),
    (["https://e.com/d?a=1&b=2"], "https://e.com/d?b=2", "query_subset", "https://e.com/d?a=1&b=2"),
    # order
    (["https://e.com/a", "https://e.com/a/b"], "https://e.com/a", "exact", "https://e.com/a"),
    (
        ["https://e.com/us/benefits/", "https://e.com/us/benefits/time-off/"],
        "https://e.com/us/benefits/healthcare/",
        "child_path",
        "https://e.com/us/benefits/",
    ),
    # D15: both are parents, the nearest one counts
    (["https://e.com/a/b", "https://e.com/a/b/c"], "https://e.com/a/b/c/d", "child_path", "https://e.com/a/b/c"),
    (["https://e.com/doc?id=123&mode=view"], "https://e.com/doc", "prefix", "https://e.com/doc?id=123&mode=view"),
    (
        ["https://e.com/d?sourcedoc=X&file=..&action=edit"],
        "https://e.com/d?action=edit&sourcedoc=X",
        "query_subset",
        "https://e.com/d?sourcedoc=X&file=..&action=edit",
    ),
]
UNRESOLVED = [
    (["https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.08500"], "https://arxiv.org/abs/1706"),
    (["https://arxiv.org/abs/1706.03762"], "https://arxiv.org/abs/1706"),  # V2: not for one candidate either
    (["https://e.com/docs"], "https://e.com/docs/fake"),
    (["https://e.com/doc?id=123&mode=view"], "https://e.com/doc?id=999"),
    (["https://e.com/a/b"], "https://other.com/a/b/c"),
    (["https://e.com/d?a=1&b=2"], "https://other.com/d?b=2"),
    (["https://e.com/d?a=1&b=2"], "https://e.com/x?b=2"),
]


@pytest.mark.parametrize(("urls", "cited", "level", "source"), LEVELS)
def test_section_4_levels(urls: list[str], cited: str, level: str, source: str) -> None:
    assert found(urls, cited) == (level, source)


@pytest.mark.parametrize(("urls", "cited"), UNRESOLVED)
def test_section_4_unresolved(urls: list[str], cited: str) -> None:
    assert found(urls, cited) is None


def test_section_4_the_tools_url_is_returned_never_the_reports() -> None:
    source = Source(url="HTTPS://E.com/a/?utm_source=tool")
    verified = verify(report("[1] T http://www.e.com/a"), [source])
    assert verified.text == report("[1] T HTTPS://E.com/a/?utm_source=tool")


# Section 5: documents. (registered, the entry, whether it is valid with pages=ignore, window, exact)
DOCUMENTS = [
    ("report.pdf, p.15", "report.pdf, p.15", (True, True, True)),
    ("report.pdf, p.15", "report.pdf, page 15", (True, True, True)),
    ("report.pdf, p.15", "Report.PDF, p. 15", (True, True, True)),
    ("report.pdf, p.15", "report.pdf", (True, True, True)),
    ("report.pdf", "report.pdf, p.15", (True, True, True)),
    ("report.pdf, p.15", "report.pdf, p.16", (True, True, False)),  # "nearby pages" is what lenient means
    ("report.pdf, p.15", "report.pdf, p.17", (True, False, False)),
    ("report.pdf, p.15", "report.pdf, pp. 12-14", (True, True, False)),
    ("report.pdf, p.15", "report.pdf, pp. 14-16", (True, True, True)),
    ("report.pdf, p.15", "**report.pdf**, p.15 (uploaded)", (True, True, True)),
    ("report.pdf, p.15", "Annual Report - report.pdf, p.15", (True, True, True)),
    ("report.pdf, p.15", "Annual Report: report.pdf, p.15", (True, True, True)),
    ("report.pdf, p.15", "other.pdf, p.15", (False, False, False)),
    ("step1.pdf", "step9.pdf", (False, False, False)),  # V4
    ("a.md", "data.md", (False, False, False)),  # V5
    ("knowledge_search", "A wholly invented study, via knowledge_search", (False, False, False)),  # V5
]


@pytest.mark.parametrize(("key", "entry", "valid"), DOCUMENTS)
def test_section_5_documents(key: str, entry: str, valid: tuple[bool, bool, bool]) -> None:
    kept = []
    for pages in ("ignore", "window", "exact"):
        settings = CitationSettings.model_validate({"pages": pages})
        audit = verify(report(f"[1] {entry}"), [Source(citation_key=key)], settings).audit
        kept.append([citation.level for citation in audit.valid_citations] == ["document"])
    assert tuple(kept) == valid


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("other.pdf, p.3", "citation_key_not_in_registry"),
        ("A Study - other.md", "citation_key_not_in_registry"),
        ("A study that names nothing", "unverifiable"),
    ],
)
def test_section_5_reasons(entry: str, reason: str) -> None:
    assert reasons(verify(report(f"[1] {entry}"), [Source(citation_key="report.pdf")])) == [reason]


# Section 6, reading tool output, is in test_defects.py (V6 to V8) and tests/core/test_session.py: only what a tool
# declares is retrieved.

HEADINGS = [
    "## Sources",
    "### Sources",
    "# REFERENCES",
    "**References**",
    "**Sources:**",
    "Sources:",
    "References:",
    "Reference List",
    # not recognised there, and by the rules they are
    "#### Sources",
    "## Bibliography",
    "## Works Cited",
    "## Citations",
    "## Source List",
    "## References (3)",
    "## References and notes",
    "## Sources cited",
    "## 参考文献",
    "参考文献：",
]
ENTRIES = [
    "[1] T: https://v.com/1",
    "- [1] T - https://v.com/1",
    "* [1] T https://v.com/1",
    "1. T https://v.com/1",
    "1) T https://v.com/1",
    "[^1]: T https://v.com/1",
    # not recognised there
    "[1]: https://v.com/1",
    "[1]T https://v.com/1",
    "**[1]** T https://v.com/1",
    "(1) T https://v.com/1",
    "1: T https://v.com/1",
    "• [1] T https://v.com/1",
    "- https://v.com/1",
    "| 1 | T | https://v.com/1 |",
    "[1] T\n    https://v.com/1",
    "[1] T\nhttps://v.com/1",
    "[1] T **https://v.com/1**",
    "[1] T https://v.com/1。",
    "[1] T `https://v.com/1`",
]


@pytest.mark.parametrize("heading", HEADINGS)
def test_section_7_headings(heading: str) -> None:
    parsed = parse_report(report("[1] T https://v.com/1", heading=heading))
    assert [entry.number for entry in parsed.entries] == [1]


@pytest.mark.parametrize("entry", ENTRIES)
def test_section_7_entries(entry: str) -> None:
    audit = verify(report(entry), [Source(url="https://v.com/1")]).audit
    assert [(valid.number, valid.level) for valid in audit.valid_citations] == [(1, "exact")]
    assert audit.removed_citations == ()


@pytest.mark.parametrize("mark", ["[1]", "【1】", "[1†L2-L4]", "【1†L2-L4】", "[^1]"])
def test_section_7_brackets(mark: str) -> None:
    parsed = parse_report(report("[1] T https://v.com/1", body=f"So it is {mark}."))
    assert [found.numbers for found in parsed.marks] == [(1,)]


# Section 8: verification step by step.
V = [Source(url=f"https://v.com/{n}", title=f"Title {n}") for n in (1, 2, 3)]


def test_section_8_without_sources_no_entry_is_kept() -> None:
    """There the report stays as it is, "unverified"; with rules that hold for each citation it has none."""
    assert verify(report("[1] T https://v.com/1"), []).text == "So it is.\n"


def test_section_8_a_mark_without_a_list_goes() -> None:
    verified = verify("So it is [1].", V)
    assert (verified.text, verified.audit.dangling) == ("So it is.", (1,))


def test_section_8_urls_then_documents_then_unverifiable() -> None:
    entries = "[1] T https://v.com/1\n[2] report.pdf, p.3\n[3] nothing to look up"
    audit = verify(report(entries, "So it is [1][2][3]."), [*V, Source(citation_key="report.pdf, p.3")]).audit
    assert [valid.level for valid in audit.valid_citations] == ["exact", "document"]
    assert [(removed.number, removed.reason) for removed in audit.removed_citations] == [(3, "unverifiable")]


def test_section_8_duplicates_are_merged_into_the_first() -> None:
    entries = "[1] T https://v.com/1\n[2] T https://v.com/2\n[3] T http://www.v.com/1/"
    verified = verify(report(entries, "A [1], B [2], C [3]."), V)
    assert verified.text == report("[1] T https://v.com/1\n[2] T https://v.com/2", "A [1], B [2], C [1].")
    assert reasons(verified) == ["duplicate_of_citation_1"]


def test_section_8_urls_are_replaced_in_their_place() -> None:
    """D3: not by a replacement throughout the section."""
    sources = [Source(url="https://x.com/a"), Source(url="https://x.com/a/b")]
    verified = verify(report("[1] https://x.com/a/\n[2] https://x.com/a/b", "A [1], B [2]."), sources)
    assert verified.text == report("[1] https://x.com/a\n[2] https://x.com/a/b", "A [1], B [2].")


def test_section_8_removal_and_renumbering_leave_no_gap_and_no_blank() -> None:
    """The specification: after removals, citations are renumbered. (There, only sanitising does.)"""
    entries = "[1] T https://v.com/1\n[2] T https://no.com/\n[3] T https://v.com/3"
    verified = verify(report(entries, "A [1], B [2] , C [3]."), V)
    assert [valid.number for valid in verified.audit.valid_citations] == [1, 2]
    assert "C [2]." in verified.text
    assert "[3]" not in verified.text


# Section 9: sanitising.
SHORTENERS = (
    "bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly short.io rb.gy cutt.ly lnkd.in soo.gd s.coop cli.gs"
    " budurl.com yourls.org"
)


@pytest.mark.parametrize("host", SHORTENERS.split())
@pytest.mark.parametrize("url", ["https://{}/x", "HTTP://www.{}:8080/x", "https://user@sub.{}./x"])
def test_section_9_shorteners(host: str, url: str) -> None:
    assert broken_rule(url.format(host)) == "shortened_url"


@pytest.mark.parametrize("scheme", ["javascript", "data", "vbscript", "file"])
def test_section_9_schemes(scheme: str) -> None:
    assert reasons(verify(report(f"[1] click: {scheme}://x/y"), V)) == ["unsafe_scheme"]
    assert verify(f"See [this]({scheme}:x).", V).text == "See this."


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("https://e.com/a...", "truncated_url"),
        ("https://e.com/a…b", "truncated_url"),
        ("https://10.1.2.3/a", "ip_address_url"),
        ("ftp://e.com/a", "unsafe_scheme"),
    ],
)
def test_section_9_rules_for_entries(url: str, rule: str) -> None:
    assert reasons(verify(report(f"[1] T {url}"), V)) == [rule]


def test_section_9_a_domain_alone_is_legitimate() -> None:
    verified = verify(report("[1] T https://v.com"), [Source(url="https://v.com/")])
    assert [valid.level for valid in verified.audit.valid_citations] == ["exact"]


@pytest.mark.parametrize(
    "body",
    [
        "A [link](https://e.com/a) and https://e.com/b stay, and artifact://42 too.",  # there they are deleted
        "main( ) and  two  blanks.",  # D9
        "Call <function name='x'> or <parameter y>.",  # D12
    ],
)
def test_section_9_the_body_stays(body: str) -> None:
    text = report("[1] T https://v.com/1", f"{body} So it is [1].")
    assert verify(text, V).text == text


def test_section_9_what_follows_the_list_stays() -> None:
    """D10, D11."""
    text = report("[1] T https://v.com/1") + "\n## Appendix\n\n1. One\n2. Two\n\nThe end.\n"
    assert verify(text, V).text == text


# The specification's audit trail.
def test_audit_trail_has_what_was_kept_and_removed_and_why() -> None:
    verified = verify(report("[1] T https://v.com/1\n[2] T https://no.com/", "A [1], B [2]."), V)
    assert verified.text == report("[1] T https://v.com/1", "A [1], B.")
    (kept,) = verified.audit.valid_citations
    (gone,) = verified.audit.removed_citations
    assert (kept.number, kept.source, kept.level) == (1, "https://v.com/1", "exact")
    assert (gone.number, gone.target, gone.reason) == (2, "https://no.com/", "url_not_in_registry")
