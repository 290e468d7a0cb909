"""Whole reports: paragraphs, and the order of all parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.parse import parse_report


def _paragraphs(text: str) -> list[str]:
    return [text[start:end] for start, end in parse_report(text).paragraphs]


LIST = "## References\n\n[1] https://v.com/1\n[2] https://v.com/2\n"


def test_paragraphs_are_where_a_citation_could_be() -> None:
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


def test_a_paragraph_ends_where_a_list_begins_in_it() -> None:
    assert _paragraphs("So it is.\nReferences:\n[1] https://v.com/1\n[2] https://v.com/2\n") == ["So it is."]


@given(
    st.lists(
        st.sampled_from([*"ab[]()`$|>-#*1:\n\r \t", "[1]", "## References\n", "[1] ", "https://v.com/", "```\n"])
    ).map("".join)
)
def test_the_parts_of_a_report_are_in_order_and_do_not_overlap(text: str) -> None:
    report = parse_report(text)
    for parts in (
        [(listing.start, listing.end) for listing in report.lists],
        [(entry.start, entry.end) for entry in report.entries],
        [(mark.start, mark.end) for mark in report.marks],
    ):
        edges = [edge for part in parts for edge in part]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)
    for start, end in report.paragraphs:
        assert text[start:end].strip() == text[start:end] != ""
        assert not any(listing.start < end and start < listing.end for listing in report.lists)


@pytest.mark.parametrize("text", ["", "\n", "\x00", "\ufeff", "[1]", "## References", "\ud800[1]"])
def test_any_text_is_a_report(text: str) -> None:
    assert parse_report(text).text == text
