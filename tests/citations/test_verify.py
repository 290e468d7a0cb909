"""Verification of whole reports: every reason, and the defects V, D and S that show only there, by name."""

from typing import Literal

import pytest

from aiq.citations.verify import verify, verify_against
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source
from tests.citations.verifying import SOURCES, check, reasons


def test_a_right_report_stays_byte_for_byte() -> None:
    text = "# T\r\n\r\nOne [1],  two [2][3].\t\r\n\r\n## References\r\n\r\n[1] One - https://v.com/1\r\n"
    text += "[2] Two - https://v.com/2/\r\n[3] report.pdf, p.15"
    verified = verify(text, SOURCES)
    assert verified.text == text
    assert [(v.number, v.source, v.level) for v in verified.audit.valid_citations] == [
        (1, "https://v.com/1", "exact"),
        (2, "https://v.com/2/", "exact"),
        (3, "report.pdf, p.15", "document"),
    ]
    assert (verified.audit.removed_citations, verified.audit.dangling, verified.audit.unused) == ((), (), ())


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("Made up - https://nope.com/x", "url_not_in_registry"),
        ("Made up - made-up.pdf, p.3", "citation_key_not_in_registry"),
        ("Made up, in a book", "unverifiable"),
        ("Made up - http://[::1", "unverifiable"),
        ("One again - http://www.v.com/1#x", "duplicate_of_citation_1"),
        ("Short - https://bit.ly/x", "shortened_url"),
        ("Cut - https://v.com/cut...", "truncated_url"),
        ("Address - http://10.0.0.1/", "ip_address_url"),
        ("Local - http://localhost/", "private_host"),
        ("Script - javascript:alert(1)", "unsafe_scheme"),
    ],
)
def test_reasons(entry: str, reason: str) -> None:
    mark = " [1]" if reason.startswith("duplicate") else ""
    verified = check(
        "One [1]. More [2].",
        f"[1] One - https://v.com/1\n[2] {entry}",
        f"One [1]. More{mark}.\n\n## References\n\n[1] One - https://v.com/1\n",
    )
    assert reasons(verified) == [(2, reason)]


def test_pages_of_a_document_are_separate_citations() -> None:
    check(
        "A [1]. B [2]. C [3].",
        "[1] report.pdf, p.15\n[2] report.pdf, p.16\n[3] report.pdf, page 15",
        "A [1]. B [2]. C [1].\n\n## References\n\n[1] report.pdf, p.15\n[2] report.pdf, p.16\n",
    )


def test_no_sources_verify_nothing() -> None:
    assert verify("So [1].\n\n## References\n\n[1] One - https://v.com/1\n", []).text == "So.\n"


def test_one_valid_entry_does_not_verify_the_others() -> None:
    """V10: every citation is judged by itself."""
    verified = verify(
        "A [1] B [2] C [3].\n\n## References\n[1] https://v.com/1\n[2] https://a.com\n[3] https://b.com", SOURCES
    )
    assert [v.number for v in verified.audit.valid_citations] == [1]
    assert len(verified.audit.removed_citations) == 2


def test_v1_v2_other_documents_are_not_verified() -> None:
    sources = (Source(url="https://nvidia.com/pull/112"),)
    for cited in ("https://nvidia.co", "https://nvidia.com/pull/1", "https://", "https://nvidia.com/pull/1..."):
        assert verify(f"A [1].\n\n## References\n[1] X {cited}", sources).audit.valid_citations == ()


def test_v3_an_invented_sub_page_shows_as_child_path() -> None:
    sources = (Source(url="https://github.com/o/r"),)
    verified = verify("A [1].\n\n## References\n[1] X https://github.com/o/r/blob/main/FAKE.md", sources)
    assert [v.level for v in verified.audit.valid_citations] == ["child_path"]
    assert verified.text.endswith("[1] X https://github.com/o/r")


def test_d1_entities_without_semicolon_survive() -> None:
    url = "https://v.com/?a=1&section=2&copy=3&para=4"
    check("A [1].", f"[1] X - {url}", f"A [1].\n\n## References\n\n[1] X - {url}\n", (Source(url=url),))


def test_d2_malformed_urls_crash_nothing() -> None:
    text = "See http://[::1 and http://[host]/v1 [1].\n\n## References\n[1] X http://[host]/v1\n[2] Y https://v.com/1\n"
    sources = (*SOURCES, Source(url="http://[::1"))
    assert (
        verify(text, sources).text == "See http://[::1 and http://[host]/v1.\n\n## References\n[1] Y https://v.com/1\n"
    )


def test_d4_wikipedia_parentheses_survive() -> None:
    url = "https://en.wikipedia.org/wiki/Mercury_(planet)"
    for entry in (f"[1] {url}", f"[1] Mercury ({url}).", f"[1] [Mercury]({url})"):
        check("A [1].", entry, f"A [1].\n\n## References\n\n{entry}\n", (Source(url=url),))


def test_d5_chinese_punctuation_ends_a_url() -> None:
    check(
        "甲[1]，乙[2]。",
        "[1] 见https://v.com/1，以及更多\n[2] `https://nope.com`|**https://v.com/2**",
        "甲[1]，乙[2]。\n\n## References\n\n[1] 见https://v.com/1，以及更多\n[2] |**https://v.com/2/**\n",
    )


def test_d6_years_indices_and_intervals_are_no_citations() -> None:
    body = "In [2024] we ran arr[0] and arr[2], `x[3]`, on the interval [0, 1] and the range [2, 8] [sic]."
    assert verify(body, SOURCES).text == body


def test_d9_layout_survives() -> None:
    body = "- a  b [1]\n    - nested   item\n\n```py\ndef main():\n    return x[1]  # https://bit.ly/x\n```\n"
    body += "\nmain() ( )  end"
    text = f"{body}\n\n## References\n[1] https://v.com/1\n"
    assert verify(text, SOURCES).text == text


def test_d10_d11_appendices_survive() -> None:
    appendix = "\n## Appendix\n\n1. Method one\n2. Method two\n\nThe last line.\n"
    text = f"A [1].\n\n## Sources\n[1] https://v.com/1\n{appendix}"
    assert verify(text, SOURCES).text == text


def test_d12_tags_in_the_text_wipe_nothing() -> None:
    text = "Call <function name='x'> with <parameter x> [1].\n\n## Sources\n[1] https://v.com/1\n"
    assert verify(text, SOURCES).text == text


def test_d13_numbers_that_stand_twice() -> None:
    check(
        "A [1], B [2].",
        "[1] https://v.com/1\n[1] https://v.com/2\n[2] https://v.com/3",
        "A [1], B [3].\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/2/\n[3] https://v.com/3\n",
    )
    check(
        "A [1].",
        "[1] https://nope.com\n[1] https://v.com/2",
        "A [1].\n\n## References\n\n[1] https://v.com/2/\n",
    )


def test_d14_sentences_end_as_they_did() -> None:
    text = "See https://v.com/1. Next."
    assert verify(text, SOURCES).text == text
    assert verify("See https://bit.ly/1. Next.", SOURCES).text == "See. Next."


def test_d15_schemes_www_and_nested_parents() -> None:
    sources = (Source(url="http://www.v.com/a/b"), Source(url="http://www.v.com/a/b/c"))
    verified = check(
        "A [1] [2].",
        "[1] https://v.com/a/b\n[2] https://v.com/a/b/c/d",
        "A [1] [2].\n\n## References\n\n[1] http://www.v.com/a/b\n[2] http://www.v.com/a/b/c\n",
        sources,
    )
    assert [v.level for v in verified.audit.valid_citations] == ["exact", "child_path"]


def test_an_unsafe_source_verifies_nothing() -> None:
    sources = (Source(url="https://bit.ly/x"), Source(url="http://10.0.0.1/a"))
    verified = verify("A [1][2].\n\n## References\n[1] https://bit.ly/x\n[2] http://10.0.0.1/a", sources)
    assert reasons(verified) == [(1, "shortened_url"), (2, "ip_address_url")]


def test_identifiers_without_url() -> None:
    sources = (Source(url="https://doi.org/10.1000/xyz123"), Source(url="https://arxiv.org/pdf/1706.03762"))
    text = "A [1][2].\n\n## References\n[1] A paper. doi:10.1000/XYZ123.\n[2] Attention, arXiv:1706.03762\n"
    verified = verify(text, sources)
    assert verified.text == text
    assert len(verified.audit.valid_citations) == 2


def test_lists_of_chapters_are_read_by_place() -> None:
    text = (
        "# One\n\nA [1] B [2].\n\n## Sources\n\n[1] https://nope.com\n[2] https://v.com/1\n\n"
        "# Two\n\nC [1].\n\n## Sources\n\n[1] https://v.com/2\n"
    )
    assert verify(text, SOURCES).text == (
        "# One\n\nA B [1].\n\n## Sources\n\n[1] https://v.com/1\n\n# Two\n\nC [2].\n\n## Sources\n\n[2] https://v.com/2/\n"
    )


def test_unused_entries_are_named_and_kept() -> None:
    verified = verify("A [2].\n\n## References\n[1] https://v.com/1\n[2] https://v.com/2/\n", SOURCES)
    assert verified.audit.unused == (1,)
    assert len(verified.audit.valid_citations) == 2


def test_kinds_that_are_not_accepted_verify_nothing_and_are_named() -> None:
    sources = (
        Source(url="https://v.com/1", kind="mentioned"),
        Source(url="https://v.com/1", kind="echoed"),
        Source(url="https://v.com/2", kind="echoed"),
        Source(citation_key="report.pdf, p.15", kind="mentioned"),
    )
    text = "A [1][2][3][4].\n\n## References\n[1] https://v.com/1\n[2] https://v.com/2\n[3] https://v.com/3\n"
    text += "[4] report.pdf, p.15\n"
    removed = verify(text, sources).audit.removed_citations
    assert [(r.reason, r.seen_as) for r in removed] == [
        ("url_not_in_registry", "mentioned"),
        ("url_not_in_registry", "echoed"),
        ("url_not_in_registry", None),
        ("citation_key_not_in_registry", "mentioned"),
    ]
    settings = CitationSettings(accept=("retrieved", "mentioned"))
    assert [v.target for v in verify(text, sources, settings).audit.valid_citations] == [
        "https://v.com/1",
        "report.pdf, p.15",
    ]


@pytest.mark.parametrize(("pages", "valid"), [("ignore", 3), ("window", 2), ("exact", 1)])
def test_pages_agree_as_the_settings_say(pages: Literal["ignore", "window", "exact"], valid: int) -> None:
    text = "A [1][2][3].\n\n## References\n[1] report.pdf, p.15\n[2] report.pdf, p.16\n[3] report.pdf, p.90\n"
    audit = verify(text, SOURCES, CitationSettings(pages=pages)).audit
    assert len(audit.valid_citations) == valid
    assert {removed.reason for removed in audit.removed_citations} <= {"citation_key_not_in_registry"}


def test_without_sources_safety_and_structure_alone_are_checked() -> None:
    text = (
        "A [1][2], B [3][4][9], C [5](https://nope.com/5).\n\n## References\n\n[1] https://v.com/1\n"
        "[2] https://bit.ly/x\n[3] a.pdf, p.3\n[4] http://www.v.com/1#x\n[5] A book\n"
    )
    verified = verify_against(text, None)
    assert verified.text == (
        "A [1], B [2][1], C [3](https://nope.com/5).\n\n## References\n\n[1] https://v.com/1\n[2] a.pdf, p.3\n"
    )
    assert reasons(verified) == [(2, "shortened_url"), (4, "duplicate_of_citation_1"), (5, "unverifiable")]
    assert verified.audit.valid_citations == ()
    assert verified.audit.dangling == (9,)
    assert verify_against(verified.text, None).edits == ()


def test_a_look_alike_host_is_flagged() -> None:
    sources = (Source(url="https://apple.com/x"),)
    removed = verify("A [1].\n\n## References\n[1] https://\u0430pple.com/x\n", sources).audit.removed_citations
    assert [(r.reason, r.flags) for r in removed] == [("url_not_in_registry", ("homograph_host",))]
