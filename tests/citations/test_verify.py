"""Verification of whole reports: every reason, and the defects V, D and S that show only there, by name."""

import time
from typing import Literal

import pytest

from aiq.citations.edits import apply_edits
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source

SOURCES = (
    Source(url="https://v.com/1", title="One"),
    Source(url="https://v.com/2/", title="Two"),
    Source(url="https://v.com/3", title="Three"),
    Source(citation_key="report.pdf, p.15"),
)


def _check(body: str, entries: str, expected: str, sources: tuple[Source, ...] = SOURCES) -> Verified:
    """Verify a report with a list, compare, and verify again, which must change nothing."""
    verified = verify(f"{body}\n\n## References\n\n{entries}\n", sources)
    assert verified.text == expected
    again = verify(verified.text, sources)
    assert again.text == verified.text
    assert (again.edits, again.audit.removed_citations, again.audit.dangling) == ((), (), ())
    return verified


def _reasons(verified: Verified) -> list[tuple[int | None, str]]:
    return [(removed.number, removed.reason) for removed in verified.audit.removed_citations]


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


def test_removing_and_renumbering() -> None:
    verified = _check(
        "One [1]. Two [2]. Three [3][2]. All [1-3], some [1, 3], none [2, 9] [9].",
        "[1] One - https://v.com/1\n[2] Made up - https://nope.com/x\n[3] Three - https://v.com/3",
        "One [1]. Two. Three [2]. All [1, 2], some [1, 2], none.\n\n## References\n\n"
        "[1] One - https://v.com/1\n[2] Three - https://v.com/3\n",
    )
    assert _reasons(verified) == [(2, "url_not_in_registry")]
    assert verified.audit.dangling == (9,)
    assert [(v.number, v.original_number) for v in verified.audit.valid_citations] == [(1, 1), (2, 3)]


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
    verified = _check(
        "One [1]. More [2].",
        f"[1] One - https://v.com/1\n[2] {entry}",
        f"One [1]. More{mark}.\n\n## References\n\n[1] One - https://v.com/1\n",
    )
    assert _reasons(verified) == [(2, reason)]


def test_duplicates_merge_into_the_first() -> None:
    verified = _check(
        "One [1][3]. Two [2, 3]. Again [3].",
        "[1] One - https://v.com/1\n[2] Two - https://v.com/2\n[3] One - https://v.com/1/?utm_source=x",
        "One [1]. Two [2, 1]. Again [1].\n\n## References\n\n[1] One - https://v.com/1\n[2] Two - https://v.com/2/\n",
    )
    assert _reasons(verified) == [(3, "duplicate_of_citation_1")]


def test_of_marks_side_by_side_one_goes_only_where_two_entries_became_one() -> None:
    entries = "[1] https://nope.com\n[2] https://v.com/1\n[3] http://v.com/1"
    kept = "\n\n## References\n\n[1] https://v.com/1\n"
    _check("Fact [2][2].", entries, "Fact [1][1]." + kept)
    assert [edit.rule for edit in _check("Fact [2][3].", entries, "Fact [1]." + kept).edits] == [
        "renumbered",
        "duplicate_of_citation_2",
        "url_not_in_registry",
        "renumbered",
        "duplicate_of_citation_2",
    ]
    assert "dangling" not in {edit.rule for edit in _check("Fact [3][2].", entries, "Fact [1]." + kept).edits}


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("A [1], [2], and [3].", "A [1], and [2]."),
        ("增长[1]、[2]、[3]。", "增长[1]、[2]。"),
        ("A [1] and [2].", "A [1]."),
        ("如[2]和[1]所示", "如[1]所示"),
        ("A ([2], [3]).", "A ([2])."),
        ("A ([2]; [9]) b [1].", "A b [1]."),
        ("It fell [1], and [2] says why.", "It fell [1], and says why."),
        ("It fell [2], and [1] says why.", "It fell, and [1] says why."),
        ("A [1] [2], [3].", "A [1], [2]."),
        ("A [1], see [2].", "A [1], see."),
    ],
)
def test_what_separates_a_removed_mark_from_its_neighbour_goes_with_it(body: str, left: str) -> None:
    entries = "[1] https://v.com/1\n[2] https://bad.org/x\n[3] https://v.com/3"
    verified = _check(body, entries, f"{left}\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/3\n")
    assert {edit.rule for edit in verified.edits} <= {"url_not_in_registry", "dangling", "renumbered"}


def test_pages_of_a_document_are_separate_citations() -> None:
    _check(
        "A [1]. B [2]. C [3].",
        "[1] report.pdf, p.15\n[2] report.pdf, p.16\n[3] report.pdf, page 15",
        "A [1]. B [2]. C [1].\n\n## References\n\n[1] report.pdf, p.15\n[2] report.pdf, p.16\n",
    )


def test_nothing_valid_leaves_no_heading() -> None:
    assert verify("So [1].\n\n**References:**\n\n[1] X - https://nope.com\n", SOURCES).text == "So.\n"
    assert verify("So [1].\n\n参考文献：\n[1] X - https://nope.com", SOURCES).text == "So."
    text = "So [1].\n\n## Sources\n\n[1] X - https://nope.com\n\n## Appendix\n\nMore.\n"
    assert verify(text, SOURCES).text == "So.\n\n## Appendix\n\nMore.\n"
    assert verify("## References\n[1] X - https://nope.com", SOURCES).text == ""


def test_marks_without_a_list_dangle() -> None:
    verified = verify("One [1], two [2][3], and [1](https://v.com/1), [2](https://nope.com).", SOURCES)
    assert verified.text == "One, two [1](https://v.com/1)."
    assert verified.audit.dangling == (2, 3)
    assert _reasons(verified) == [(None, "url_not_in_registry")]


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
    _check("A [1].", f"[1] X - {url}", f"A [1].\n\n## References\n\n[1] X - {url}\n", (Source(url=url),))


def test_d2_malformed_urls_crash_nothing() -> None:
    text = "See http://[::1 and http://[host]/v1 [1].\n\n## References\n[1] X http://[host]/v1\n[2] Y https://v.com/1\n"
    sources = (*SOURCES, Source(url="http://[::1"))
    assert (
        verify(text, sources).text == "See http://[::1 and http://[host]/v1.\n\n## References\n[1] Y https://v.com/1\n"
    )


def test_d3_urls_are_rewritten_in_their_place_only() -> None:
    sources = (Source(url="https://x.com/a"), Source(url="https://x.com/a/b"))
    _check(
        "A [1] [2].",
        "[1] https://x.com/a/\n[2] https://x.com/a/b",
        "A [1] [2].\n\n## References\n\n[1] https://x.com/a\n[2] https://x.com/a/b\n",
        sources,
    )


def test_d4_wikipedia_parentheses_survive() -> None:
    url = "https://en.wikipedia.org/wiki/Mercury_(planet)"
    for entry in (f"[1] {url}", f"[1] Mercury ({url}).", f"[1] [Mercury]({url})"):
        _check("A [1].", entry, f"A [1].\n\n## References\n\n{entry}\n", (Source(url=url),))


def test_d5_chinese_punctuation_ends_a_url() -> None:
    _check(
        "甲[1]，乙[2]。",
        "[1] 见https://v.com/1，以及更多\n[2] `https://nope.com`|**https://v.com/2**",
        "甲[1]，乙[2]。\n\n## References\n\n[1] 见https://v.com/1，以及更多\n[2] |**https://v.com/2/**\n",
    )


def test_d6_years_indices_and_intervals_are_no_citations() -> None:
    body = "In [2024] we ran arr[0] and arr[2], `x[3]`, on the interval [0, 1] and the range [2, 8] [sic]."
    assert verify(body, SOURCES).text == body


def test_d7_groups_are_checked_and_renumbered() -> None:
    entries = "[1] https://v.com/1\n[2] https://nope.com\n[3] https://v.com/2\n[4] https://v.com/3"
    kept = "\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/2/\n[3] https://v.com/3\n"
    _check("A [1, 3].", entries, "A [1, 2]." + kept)
    _check("A [1; 2].", entries, "A [1]." + kept)
    _check("A [1-4].", entries, "A [1-3]." + kept)
    _check("A [^2, ^3].", entries, "A [^2]." + kept)
    _check("A【2†L1】【4†L2-L4】.", entries, "A【3†L2-L4】." + kept)
    _check("Aha<sup>2</sup><sup>3, 4</sup>.", entries, "Aha<sup>2, 3</sup>." + kept)


def test_d8_link_citations_stay_links() -> None:
    assert verify("grew [1](https://v.com/1) fast", SOURCES).text == "grew [1](https://v.com/1) fast"
    assert verify("grew [1](https://nope.com/1) fast", SOURCES).text == "grew fast"
    _check(
        "grew [1](https://nope.com) and [2](https://v.com/2/) fast [[3]](https://v.com/3)",
        "[1] https://nope.com\n[2] https://v.com/2\n[3] https://v.com/3",
        "grew and [1](https://v.com/2/) fast [[2]](https://v.com/3)\n\n## References\n\n"
        "[1] https://v.com/2/\n[2] https://v.com/3\n",
    )


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
    _check(
        "A [1], B [2].",
        "[1] https://v.com/1\n[1] https://v.com/2\n[2] https://v.com/3",
        "A [1], B [3].\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/2/\n[3] https://v.com/3\n",
    )
    _check(
        "A [1].",
        "[1] https://nope.com\n[1] https://v.com/2",
        "A [1].\n\n## References\n\n[1] https://v.com/2/\n",
    )


def test_d14_sentences_end_as_they_did() -> None:
    text = "See https://v.com/1. Next."
    assert verify(text, SOURCES).text == text
    assert verify("See https://bit.ly/1. Next.", SOURCES).text == "See. Next."


def test_no_blank_stays_where_chinese_goes_on() -> None:
    assert verify("如此。 [9]又如此 [9]。", SOURCES).text == "如此。又如此。"
    assert verify("So. [9] And so [9]. **So [9]** so [9]**so**", SOURCES).text == "So. And so. **So** so **so**"


def test_d15_schemes_www_and_nested_parents() -> None:
    sources = (Source(url="http://www.v.com/a/b"), Source(url="http://www.v.com/a/b/c"))
    verified = _check(
        "A [1] [2].",
        "[1] https://v.com/a/b\n[2] https://v.com/a/b/c/d",
        "A [1] [2].\n\n## References\n\n[1] http://www.v.com/a/b\n[2] http://www.v.com/a/b/c\n",
        sources,
    )
    assert [v.level for v in verified.audit.valid_citations] == ["exact", "child_path"]


def test_a_truncated_url_that_means_one_source_is_completed() -> None:
    sources = (Source(url="https://v.com/news/a-long-article"),)
    verified = _check(
        "A [1], see https://v.com/news/a-long-art... too.",
        "[1] Long - https://v.com/news/a-lo…",
        "A [1], see https://v.com/news/a-long-article too.\n\n## References\n\n"
        "[1] Long - https://v.com/news/a-long-article\n",
        sources,
    )
    assert [v.level for v in verified.audit.valid_citations] == ["truncation"]


def test_an_unsafe_source_verifies_nothing() -> None:
    sources = (Source(url="https://bit.ly/x"), Source(url="http://10.0.0.1/a"))
    verified = verify("A [1][2].\n\n## References\n[1] https://bit.ly/x\n[2] http://10.0.0.1/a", sources)
    assert _reasons(verified) == [(1, "shortened_url"), (2, "ip_address_url")]


def test_further_urls_of_an_entry() -> None:
    verified = _check(
        "A [1].",
        "[1] One, https://nope.com/a, https://v.com/1 ([x](javascript:y), www.v.com)",
        "A [1].\n\n## References\n\n[1] One,, https://v.com/1 (x, www.v.com)\n",
    )
    assert _reasons(verified) == [(None, "url_not_in_registry"), (None, "unsafe_scheme")]


def test_urls_that_markdown_would_break_are_encoded() -> None:
    sources = (Source(url="https://v.com/a b|c。d(e"), Source(url="https://v.com/x."), Source(url="https://v.com/y，z"))
    _check(
        "A [1] [2] [3].",
        "[1] [T](https://v.com/a%20b%7Cc%E3%80%82d%28e?utm_source=x)\n[2] See https://v.com/x.\n[3] https://v.com/y，z",
        "A [1] [2] [3].\n\n## References\n\n[1] [T](https://v.com/a%20b%7Cc%E3%80%82d%28e)\n[2] See https://v.com/x.\n"
        "[3] https://v.com/y%EF%BC%8Cz\n",
        sources,
    )


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


def test_edits_say_all_that_changed() -> None:
    text = "A [2] and [9].\n\n## References\n[1] https://nope.com\n[2] http://v.com/1\n"
    verified = verify(text, SOURCES)
    assert apply_edits(text, verified.edits) == verified.text
    assert [edit.rule for edit in verified.edits] == [
        "renumbered",
        "dangling",
        "url_not_in_registry",
        "renumbered",
        "rewritten_url",
    ]


HOSTILE = "\n\n## References\n\n[1] https://nope.com\n[3] Two - http://v.com/2\n"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("A [3] B [9].", "A [1] B."),
        ("A [3] (https://bit.ly/x[9]) B [1](https://bit.ly/[3]).", "A [1] B."),
    ],
)
def test_an_account_of_several_passes_is_in_the_words_of_the_report_as_given(body: str, left: str) -> None:
    """What a removal brings forth goes too; edits, numbers and targets stay those of the text as given."""
    verified = verify(body + HOSTILE, SOURCES)
    assert verified.text == f"{left}\n\n## References\n\n[1] Two - https://v.com/2/\n"
    assert apply_edits(body + HOSTILE, verified.edits) == verified.text
    assert [(v.number, v.original_number, v.target, v.level) for v in verified.audit.valid_citations] == [
        (1, 3, "http://v.com/2", "exact")
    ]
    assert verify(verified.text, SOURCES).edits == ()


@pytest.mark.parametrize("mark", ["[1 [9]]", "[3[8]]", "[[9]3]", "[3 [1][9]]", "【3 [9]†L2】", "[1 [9 [1 [9]]]]"])
def test_what_is_left_never_joins_to_a_mark_that_nobody_wrote(mark: str) -> None:
    text = f"A [3] {mark} B.{HOSTILE}"
    verified = verify(text, SOURCES)
    assert [found.mark.numbers for found in verify(verified.text, SOURCES).found.marks] == [(1,)]
    assert apply_edits(text, verified.edits) == verified.text
    assert verify(verified.text, SOURCES).edits == ()


def test_an_entry_that_a_removal_brings_forth_has_a_number_in_the_end() -> None:
    text = "A [1].\n\n## References\n\n[1] https://nope.com\n\nSources: [1] Two - https://v.com/2/\n"
    verified = verify(text, SOURCES)
    assert apply_edits(text, verified.edits) == verified.text
    again = verify(verified.text, SOURCES)
    assert (again.edits, again.audit.removed_citations) == ((), ())
    assert [v.number for v in verified.audit.valid_citations] == [v.number for v in again.audit.valid_citations]


@pytest.mark.parametrize("depth", [3, 30, 3000])
def test_however_deep_marks_are_nested_the_passes_end(depth: int) -> None:
    text = f"So {'[9 ' * depth}{']' * depth} it is [3].{HOSTILE}"
    started = time.perf_counter()
    verified = verify(text, SOURCES)
    assert time.perf_counter() - started < 10
    assert apply_edits(text, verified.edits) == verified.text
    assert verify(verified.text, SOURCES).edits == ()
    assert verified.audit.dangling == (9,)


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
    assert _reasons(verified) == [(2, "shortened_url"), (4, "duplicate_of_citation_1"), (5, "unverifiable")]
    assert verified.audit.valid_citations == ()
    assert verified.audit.dangling == (9,)
    assert verify_against(verified.text, None).edits == ()


def test_a_link_with_a_number_that_no_list_has_stays_behind_the_lists_numbers() -> None:
    _check(
        "A [7](https://v.com/3) B [2] C [7](https://v.com/3) D [1](https://v.com/1).",
        "[1] https://nope.com\n[2] https://v.com/2/",
        "A [2](https://v.com/3) B [1] C [2](https://v.com/3) D [3](https://v.com/1).\n\n## References\n\n"
        "[1] https://v.com/2/\n",
    )


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ("[1](javascript:alert(1))", "unsafe_scheme"),
        ("[1](<javascript:alert(1)> 'a (b)')", "unsafe_scheme"),
        ("[1](https://bit.ly/x)", "shortened_url"),
        ("[1](page.html)", "unverifiable"),
    ],
)
def test_a_numbered_link_that_leads_nowhere_good_loses_its_link(link: str, rule: str) -> None:
    """Also where its entry has no URL to put there: a document, or an entry nobody could check."""
    text = f"A {link}, <sup>{link}</sup>.\n\n## References\n\n[1] report.pdf, p.15\n"
    for verified in (verify(text, SOURCES), verify_against(text, None)):
        assert verified.text == "A [1], <sup>[1]</sup>.\n\n## References\n\n[1] report.pdf, p.15\n"
        assert _reasons(verified) == [(None, rule)] * 2
        assert {edit.rule for edit in verified.edits} == {rule}
        assert verify(verified.text, SOURCES).audit.removed_citations == ()


@pytest.mark.parametrize(
    ("end", "written"),
    [
        ("a\\b?x=\\1", "a/b?x=%5C1"),
        ("a\tb\nc", "abc"),
        ("a#/b c)", "a#/b%20c%29"),
        ("a(b [c]|d", "a%28b%20[c]%7Cd"),
    ],
)
def test_an_odd_address_of_a_tool_is_written_so_that_it_stays_valid(end: str, written: str) -> None:
    _check(
        "A [1].",
        "[1] One - https://v.com/odd/...",
        f"A [1].\n\n## References\n\n[1] One - https://v.com/odd/{written}\n",
        (Source(url=f"https://v.com/odd/{end}"),),
    )


def test_a_look_alike_host_is_flagged() -> None:
    sources = (Source(url="https://apple.com/x"),)
    removed = verify("A [1].\n\n## References\n[1] https://\u0430pple.com/x\n", sources).audit.removed_citations
    assert [(r.reason, r.flags) for r in removed] == [("url_not_in_registry", ("homograph_host",))]
