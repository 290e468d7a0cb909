"""Whole reports: paragraphs, fences that are never closed, reports in a fence, and nothing lost between the parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.parsing import ParsedReport, parse_report


def _urls(report: ParsedReport) -> list[tuple[int, list[str]]]:
    return [(entry.number, [use.url for use in entry.urls]) for entry in report.entries]


def _paragraphs(text: str) -> list[str]:
    return [text[start:end] for start, end in parse_report(text).paragraphs]


LIST = "## References\n\n[1] https://v.com/1\n[2] https://v.com/2\n"


def test_a_fence_that_is_never_closed_swallows_neither_references_nor_marks() -> None:
    report = parse_report(
        "So [1].\n\n```python\nx = arr[1]\ny [1]\n\nMore [2], and [7].\n\n参考文献：\n"
        "[1] https://v.com/1 - A\n[2] https://v.com/2 - B\n"
    )
    assert _urls(report) == [(1, ["https://v.com/1"]), (2, ["https://v.com/2"])]
    assert [report.text[mark.start - 3 : mark.end] for mark in report.marks] == ["So [1]", "re [2]"]
    assert report.paragraphs[-1][1] == report.text.index("[7].") + 4


def test_code_before_the_list_in_such_a_fence_stays_code() -> None:
    report = parse_report(f"So [1].\n\n```\ncode [1]\nmore `x` [2]\n{LIST}")
    assert [mark.start for mark in report.marks] == [3]
    assert len(report.entries) == 2


def test_a_fence_that_is_never_closed_and_swallows_no_list_is_code() -> None:
    assert [mark.start for mark in parse_report(f"{LIST}\n## More\n\nSo [1].\n\n```\nx [1]\n\ny [2]\n").marks] == [68]


def test_a_report_wrapped_in_a_markdown_fence_is_read() -> None:
    report = parse_report(
        "```markdown\n# T\n\nSo [1].\n\n```\ncode [1]\n```\n\n## References\n[1] https://v.com/1\n```\n"
    )
    assert [mark.start for mark in report.marks] == [report.text.index("[1]")]
    assert _urls(report) == [(1, ["https://v.com/1"])]


def test_paragraphs_are_where_a_citation_could_stand() -> None:
    body = [
        "# Title\n\n**A bold title**\n\n__Another:__\n\n",
        "A paragraph\nof two lines [1].",
        "\n\n- ",
        "an item",
        "\n- ",
        "an item\n  of two lines",
        "\n\n> ",
        "a quotation",
        "\n\n| a | b |\n|---|---|\n",
        "| c | d |\n| e | f [2] |",
        "\n\n```\ncode\n```\n\n    more code\n\n---\n\n`code only`\n\n",
        "<p>in a tag</p>",
        "\n\n<h2>A title</h2>\n\n1. ",
        "one",
        f"\n\n{LIST}\n",
        "The end.",
        "\n",
    ]
    assert _paragraphs("".join(body)) == body[1::2]


def test_a_paragraph_that_a_list_begins_in_ends_there() -> None:
    assert _paragraphs("So it is.\nReferences:\n[1] https://v.com/1\n[2] https://v.com/2\n") == ["So it is."]


@given(
    st.lists(
        st.sampled_from([*"ab[]()`$|>-#*1:\n\r \t", "[1]", "## References\n", "[1] ", "https://v.com/", "```\n"])
    ).map("".join)
)
def test_the_parts_of_a_report_lie_apart_and_in_order(text: str) -> None:
    report = parse_report(text)
    for parts in (
        [(found.start, found.end) for found in report.lists],
        [(entry.place.start, entry.place.end) for entry in report.entries],
        [(mark.start, mark.end) for mark in report.marks],
    ):
        edges = [edge for part in parts for edge in part]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)
    for start, end in report.paragraphs:
        assert text[start:end].strip() == text[start:end] != ""
        assert not any(found.start < end and start < found.end for found in report.lists)


@pytest.mark.parametrize("text", ["", "\n", "\x00", "\ufeff", "[1]", "## References", "\ud800[1]"])
def test_any_text_is_a_report(text: str) -> None:
    assert parse_report(text).text == text
