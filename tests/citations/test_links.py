"""URLs in reports and in other texts: where they begin and end."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.links import find_urls
from aiq.citations.parse import parse_report
from tests.cases import table
from tests.citations.rows import rows

each = table(__file__)


@each("text")
def test_addresses(text: str, found: list[str]) -> None:
    assert list(find_urls(text)) == found


@pytest.mark.timing
@given(st.text(alphabet="https:/.()[]e, \n", max_size=60))
def test_addresses_are_found_as_written(text: str) -> None:
    assert all(url in text for url in find_urls(text))


def test_hostile_texts_are_read_in_linear_time() -> None:
    start = time.process_time()
    for text in (
        "https://e.com/" + ")" * 200_000,
        "https://" * 50_000,
        "https://e.com/" + "()" * 100_000 + ".!" * 50_000,
    ):
        list(find_urls(text))
    assert time.process_time() - start < 3


def test_urls_of_the_body() -> None:
    """Where each of them ends, and its form."""
    for text, expected in rows("links.jsonl"):
        assert [[use.form, use.url] for use in parse_report(text).body_urls] == expected


@pytest.mark.parametrize(
    ("entry", "url", "first"),
    [
        ("A https://v.com/very-long-\npath/x.html", "https://v.com/very-long-path/x.html", "https://v.com/very-long-"),
        ("A <https://v.com/long-\npath/x.html>", "https://v.com/long-path/x.html", "https://v.com/long-"),
        ("[A](https://v.com/very/\n  long/path)", "https://v.com/very/long/path", "https://v.com/very/"),
        ("https://v.com/a\n/b\n/c.html.", "https://v.com/a/b/c.html", "https://v.com/a"),
    ],
)
def test_a_url_that_is_wrapped_over_lines(entry: str, url: str, first: str) -> None:
    report = parse_report(f"So [1].\n\n## References\n\n[1] {entry}\n[2] https://v.com/2\n")
    use = report.entries[0].urls[0]
    assert use.url == url
    assert "".join(report.text[use.url_start : use.url_end].split()) == url
    assert [report.text[use.url_start : end] for end in use.endings] == [first]
    assert [use.url for use in report.entries[1].urls] == ["https://v.com/2"]


@pytest.mark.parametrize("line", ["(2024-05-01)", "2024-05-01", "A title", "Title", "https://v.com/b", "www.v.com/b"])
def test_a_line_that_does_not_continue_a_url(line: str) -> None:
    report = parse_report(f"So [1].\n\n## References\n\n[1] https://v.com/1\n{line}\n[2] https://v.com/2\n")
    assert report.entries[0].urls[0].url == "https://v.com/1"
