"""Which parts of a report are prose, and that hostile Markdown is read in linear time."""

import time

import pytest

from aiq.citations.markdown import read_markdown
from aiq.citations.parse import parse_report
from tests.cases import table

each = table(__file__)

_ATTEMPTS = 3
"""A busy machine spoils one measurement, a quadratic rule all of them."""


def _seconds(text: str) -> float:
    start = time.process_time()
    parse_report(text)
    return time.process_time() - start


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        "|" + "a|" * 5_000 + "\n|" + "-|" * 5_000 + "\n|" + "b\\|`x`|" * 5_000,
        "word [1] " * 30_000,
        "a" * 300_000,
        "> " * 100_000 + "x",
        f'<img srcset="{"a" * 100_000}">',
    ],
    ids=["table", "line", "word", "nested", "pictures"],
)
def test_a_large_text_of_one_construct_takes_at_most_a_small_multiple_of_prose(text: str) -> None:
    prose = "Ordinary prose, as reports have it, with a citation at its end [1].\n\n" * (len(text) // 70)
    assert any(_seconds(text) < 25 * _seconds(prose) for _ in range(_ATTEMPTS))


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        ("`a` ``b`c``", [("code", "`a`"), ("code", "``b`c``")]),
        ("`a ``b`", [("code", "`a ``b`")]),
        ("`a", []),
        (
            "$x$ $$y$$ \\(z\\) \\[w\\]",
            [("maths", "$x$"), ("maths", "$$y$$"), ("maths", "\\(z\\)"), ("maths", "\\[w\\]")],
        ),
        ("$5 and $6", []),
        ("\\$x$ \\`a` \\[1\\]", []),
        ("<b>a</b>", [("tag", "<b>"), ("tag", "</b>")]),
        ("<code>a<b></code>", [("code", "<code>a<b></code>")]),
        ("<code>İ</code> `x`", [("code", "<code>İ</code>"), ("code", "`x`")]),
        ("<code>a", [("tag", "<code>")]),
        ("<https://v.com> <a b", [("autolink", "<https://v.com>")]),
        ("[a](b) ![c](d 'e')", [("link", "[a](b)"), ("image", "![c](d 'e')")]),
        ("[[a](b)](c)", [("link", "[a](b)")]),
        ("[![a](b)](c)", [("link", "[![a](b)](c)"), ("image", "![a](b)")]),
        ("![a [b](c)](d)", [("image", "![a [b](c)](d)"), ("link", "[b](c)")]),
        ("[a`](b)`", [("code", "`](b)`")]),
        ("[a](b c) [a](b", []),
        ("[a\\](b)", []),
        ("[a] (b)", []),
    ],
)
def test_inline_spans(content: str, spans: list[tuple[str, str]]) -> None:
    assert [(span.kind, content[span.start : span.end]) for span in read_markdown(content).spans] == spans


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_offsets_are_right_with_every_kind_of_line_end(newline: str) -> None:
    lines = ["# T", "", "`x` so [1]", "", "> 引 [2]", "", "## References", "[1] https://v.com/1", "[2] https://v.com/2"]
    text = newline.join(lines)
    report = parse_report(text)
    assert [text[mark.start : mark.end] for mark in report.marks] == ["[1]", "[2]"]
    assert [text[use.url_start : use.url_end] for e in report.entries for use in e.urls] == [
        "https://v.com/1",
        "https://v.com/2",
    ]


@each("text")
def test_spans_are_at_their_places_in_the_text(text: str) -> None:
    spans = read_markdown(text).spans
    assert spans
    for span in spans:
        assert text[span.start] == text[span.end - 1] == "`"
    assert text[spans[-1].start : spans[-1].end] == "`code`"


def test_marks_after_an_escaped_pipe() -> None:
    report = parse_report("| a | b | c |\n|---|---|---|\n| x\\|y [1] | `[2]` | [3] |\n")
    assert [report.text[mark.start : mark.end] for mark in report.marks] == ["[1]", "[3]"]
