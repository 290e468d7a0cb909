"""The verified report: what goes, what closes up, what is rewritten, and that every edit is logged."""

import time

import pytest

from aiq.citations.repair import apply_edits
from aiq.citations.verify import verify, verify_against
from aiq.core.sources import Source
from tests.citations.verifying import SOURCES, check, reasons

HOSTILE = "\n\n## References\n\n[1] https://nope.com\n[3] Two - http://v.com/2\n"


def test_removing_and_renumbering() -> None:
    verified = check(
        "One [1]. Two [2]. Three [3][2]. All [1-3], some [1, 3], none [2, 9] [9].",
        "[1] One - https://v.com/1\n[2] Made up - https://nope.com/x\n[3] Three - https://v.com/3",
        "One [1]. Two. Three [2]. All [1, 2], some [1, 2], none.\n\n## References\n\n"
        "[1] One - https://v.com/1\n[2] Three - https://v.com/3\n",
    )
    assert reasons(verified) == [(2, "url_not_in_registry")]
    assert verified.audit.dangling == (9,)
    assert [(v.number, v.original_number) for v in verified.audit.valid_citations] == [(1, 1), (2, 3)]


def test_duplicates_merge_into_the_first() -> None:
    verified = check(
        "One [1][3]. Two [2, 3]. Again [3].",
        "[1] One - https://v.com/1\n[2] Two - https://v.com/2\n[3] One - https://v.com/1/?utm_source=x",
        "One [1]. Two [2, 1]. Again [1].\n\n## References\n\n[1] One - https://v.com/1\n[2] Two - https://v.com/2/\n",
    )
    assert reasons(verified) == [(3, "duplicate_of_citation_1")]


def test_of_marks_side_by_side_one_goes_only_where_two_entries_became_one() -> None:
    entries = "[1] https://nope.com\n[2] https://v.com/1\n[3] http://v.com/1"
    kept = "\n\n## References\n\n[1] https://v.com/1\n"
    check("Fact [2][2].", entries, "Fact [1][1]." + kept)
    assert [edit.rule for edit in check("Fact [2][3].", entries, "Fact [1]." + kept).edits] == [
        "renumbered",
        "duplicate_of_citation_2",
        "url_not_in_registry",
        "renumbered",
        "duplicate_of_citation_2",
    ]
    assert "dangling" not in {edit.rule for edit in check("Fact [3][2].", entries, "Fact [1]." + kept).edits}


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
        ("下降[2]，[1]指出原因。", "下降，[1]指出原因。"),
        ("下降[1]；[2]指出原因。", "下降[1]；指出原因。"),
        ("下降[1]，[2]。", "下降[1]。"),
    ],
)
def test_what_separates_a_removed_mark_from_its_neighbour_goes_with_it(body: str, left: str) -> None:
    entries = "[1] https://v.com/1\n[2] https://bad.org/x\n[3] https://v.com/3"
    verified = check(body, entries, f"{left}\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/3\n")
    assert {edit.rule for edit in verified.edits} <= {"url_not_in_registry", "dangling", "renumbered"}


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
    assert reasons(verified) == [(None, "url_not_in_registry")]


def test_d3_urls_are_rewritten_in_their_place_only() -> None:
    sources = (Source(url="https://x.com/a"), Source(url="https://x.com/a/b"))
    check(
        "A [1] [2].",
        "[1] https://x.com/a/\n[2] https://x.com/a/b",
        "A [1] [2].\n\n## References\n\n[1] https://x.com/a\n[2] https://x.com/a/b\n",
        sources,
    )


def test_d7_groups_are_checked_and_renumbered() -> None:
    entries = "[1] https://v.com/1\n[2] https://nope.com\n[3] https://v.com/2\n[4] https://v.com/3"
    kept = "\n\n## References\n\n[1] https://v.com/1\n[2] https://v.com/2/\n[3] https://v.com/3\n"
    check("A [1, 3].", entries, "A [1, 2]." + kept)
    check("A [1; 2].", entries, "A [1]." + kept)
    check("A [1-4].", entries, "A [1-3]." + kept)
    check("A [^2, ^3].", entries, "A [^2]." + kept)
    check("A【2†L1】【4†L2-L4】.", entries, "A【3†L2-L4】." + kept)
    check("Aha<sup>2</sup><sup>3, 4</sup>.", entries, "Aha<sup>2, 3</sup>." + kept)


def test_d8_link_citations_stay_links() -> None:
    assert verify("grew [1](https://v.com/1) fast", SOURCES).text == "grew [1](https://v.com/1) fast"
    assert verify("grew [1](https://nope.com/1) fast", SOURCES).text == "grew fast"
    check(
        "grew [1](https://nope.com) and [2](https://v.com/2/) fast [[3]](https://v.com/3)",
        "[1] https://nope.com\n[2] https://v.com/2\n[3] https://v.com/3",
        "grew and [1](https://v.com/2/) fast [[2]](https://v.com/3)\n\n## References\n\n"
        "[1] https://v.com/2/\n[2] https://v.com/3\n",
    )


def test_no_blank_stays_where_chinese_goes_on() -> None:
    assert verify("如此。 [9]又如此 [9]。", SOURCES).text == "如此。又如此。"
    assert verify("So. [9] And so [9]. **So [9]** so [9]**so**", SOURCES).text == "So. And so. **So** so **so**"


def test_a_truncated_url_that_means_one_source_is_completed() -> None:
    sources = (Source(url="https://v.com/news/a-long-article"),)
    verified = check(
        "A [1], see https://v.com/news/a-long-art... too.",
        "[1] Long - https://v.com/news/a-lo…",
        "A [1], see https://v.com/news/a-long-article too.\n\n## References\n\n"
        "[1] Long - https://v.com/news/a-long-article\n",
        sources,
    )
    assert [v.level for v in verified.audit.valid_citations] == ["truncation"]


def test_further_urls_of_an_entry() -> None:
    verified = check(
        "A [1].",
        "[1] One, https://nope.com/a, https://v.com/1 ([x](javascript:y), www.v.com)",
        "A [1].\n\n## References\n\n[1] One,, https://v.com/1 (x, www.v.com)\n",
    )
    assert reasons(verified) == [(None, "url_not_in_registry"), (None, "unsafe_scheme")]


def test_urls_that_markdown_would_break_are_encoded() -> None:
    sources = (Source(url="https://v.com/a b|c。d(e"), Source(url="https://v.com/x."), Source(url="https://v.com/y，z"))
    check(
        "A [1] [2] [3].",
        "[1] [T](https://v.com/a%20b%7Cc%E3%80%82d%28e?utm_source=x)\n[2] See https://v.com/x.\n[3] https://v.com/y，z",
        "A [1] [2] [3].\n\n## References\n\n[1] [T](https://v.com/a%20b%7Cc%E3%80%82d%28e)\n[2] See https://v.com/x.\n"
        "[3] https://v.com/y%EF%BC%8Cz\n",
        sources,
    )


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


def test_where_what_is_left_is_no_mark_no_sign_stays() -> None:
    left = "So [note 1 in full] [1].\n\n## References\n\n[1] https://v.com/1\n"
    check("So [note 1 [9] in full] [1].", "[1] https://v.com/1", left)


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


def test_a_link_with_a_number_that_no_list_has_stays_behind_the_lists_numbers() -> None:
    check(
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
        assert reasons(verified) == [(None, rule)] * 2
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
    check(
        "A [1].",
        "[1] One - https://v.com/odd/...",
        f"A [1].\n\n## References\n\n[1] One - https://v.com/odd/{written}\n",
        (Source(url=f"https://v.com/odd/{end}"),),
    )


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("https://v.com/1[x](javascript:y)", "https://v.com/1 x"),
        ("https://v.com/1[x](java%73cript:y) more", "https://v.com/1 x more"),
        ("One https://v.com/1 [x](javascript:y)", "One https://v.com/1 x"),
        ("见[这里](javascript:y) https://v.com/1", "见这里 https://v.com/1"),
    ],
)
def test_the_words_of_an_unsafe_link_do_not_lengthen_the_address_before_them(entry: str, left: str) -> None:
    verified = check("A [1].", f"[1] {entry}", f"A [1].\n\n## References\n\n[1] {left}\n")
    assert [citation.source for citation in verified.audit.valid_citations] == ["https://v.com/1"]


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("https://v.com/1?utm_source=x，访问日期2025年1月", "https://v.com/1，访问日期2025年1月"),
        ("https://v.com/1?utm_source=x；又见", "https://v.com/1；又见"),
        ("https://v.com/1#part，见下文", "https://v.com/1，见下文"),
        ("https://v.com/1/，见下文", "https://v.com/1，见下文"),
    ],
)
def test_words_behind_what_equality_leaves_out_of_a_url_stay(entry: str, left: str) -> None:
    check("A [1].", f"[1] One {entry}", f"A [1].\n\n## References\n\n[1] One {left}\n")
