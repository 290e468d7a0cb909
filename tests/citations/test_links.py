"""URLs in reports and in other texts: where they begin and end."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.links import addresses
from aiq.citations.parse import parse_report


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://e.com/a. Then", ["https://e.com/a"]),
        (
            "(https://e.com/a), <https://e.com/b>; [x](https://e.com/c)",
            ["https://e.com/a", "https://e.com/b", "https://e.com/c"],
        ),
        ("https://en.wikipedia.org/wiki/Mercury_(planet).", ["https://en.wikipedia.org/wiki/Mercury_(planet)"]),
        ("见https://v.com/1，以及更多", ["https://v.com/1"]),
        ('{"query": "see https://evil.com/x"}', ["https://evil.com/x"]),
        ("HTTP://E.com/A?b=1&c=2#d", ["HTTP://E.com/A?b=1&c=2#d"]),
        ("**https://e.com/a** and `https://e.com/b`", ["https://e.com/a", "https://e.com/b"]),
        ("https:// and http://) and ftp://e.com and e.com", []),
    ],
)
def test_addresses(text: str, found: list[str]) -> None:
    assert list(addresses(text)) == found


@pytest.mark.timing
@given(st.text(alphabet="https:/.()[]e, \n", max_size=60))
def test_what_is_found_stands_in_the_text(text: str) -> None:
    assert all(url in text for url in addresses(text))


def test_hostile_texts_are_read_in_linear_time() -> None:
    start = time.process_time()
    for text in (
        "https://e.com/" + ")" * 200_000,
        "https://" * 50_000,
        "https://e.com/" + "()" * 100_000 + ".!" * 50_000,
    ):
        list(addresses(text))
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            "see https://en.wikipedia.org/wiki/Mercury_(planet) now",
            "https://en.wikipedia.org/wiki/Mercury_(planet)",
        ),  # D4
        ("(https://en.wikipedia.org/wiki/Mercury_(planet)).", "https://en.wikipedia.org/wiki/Mercury_(planet)"),  # D4
        ("[a](https://en.wikipedia.org/wiki/Mercury_(planet))", "https://en.wikipedia.org/wiki/Mercury_(planet)"),
        ("[a](https://v.com/a(b(c(d))))", "https://v.com/a(b(c(d)))"),
        ("见https://v.com/1，以及更多", "https://v.com/1"),  # D5
        ("“https://v.com/1”", "https://v.com/1"),
        ("**https://v.com/1**", "https://v.com/1"),
        ("_https://v.com/1_", "https://v.com/1"),
        ("| https://v.com/1 | x |", "https://v.com/1"),
        ("https://v.com/1. Next", "https://v.com/1"),  # D14
        ("<https://v.com/1>", "https://v.com/1"),
        ("[a](https://v.com/1 'title')", "https://v.com/1"),
        ("[a](<https://v.com/a b>)", "https://v.com/a b"),
        ("[a](https://v.com/1 not a link", "https://v.com/1"),
        ("https://v.com/a](b", "https://v.com/a"),
        ("https://v.com/a\\_b", "https://v.com/a_b"),
        ("https://v.com/?a=1&section=2", "https://v.com/?a=1&section=2"),  # D1
        ("https://de.wikipedia.org/wiki/Müller’s", "https://de.wikipedia.org/wiki/Müller"),
        ("https://wiki.mbalib.com/wiki/中产阶级 - 中产阶级", "https://wiki.mbalib.com/wiki/中产阶级"),
        ("https://v.com/cut...", "https://v.com/cut..."),
        ("(https://v.com/cut…)", "https://v.com/cut…"),
        ("http://[::1/x", "http://[::1/x"),  # D2
    ],
)
def test_where_a_url_ends(text: str, url: str) -> None:
    assert [use.url for use in parse_report(text).body_urls] == [url]


def test_how_a_url_is_written() -> None:
    report = parse_report(
        "[a](https://v.com/1) <https://v.com/2> https://v.com/3 ![i](https://v.com/4) "
        "<a href='https://v.com/5'>x</a>\n\n[d]: https://v.com/6\n"
    )
    forms = ["link", "autolink", "bare_url", "image", "attribute", "bare_url"]
    assert [(use.form, use.url) for use in report.body_urls] == [
        (form, f"https://v.com/{n}") for n, form in enumerate(forms, 1)
    ]
    assert [report.text[slice(*use.label)] for use in report.body_urls] == ["a", "", "", "i", "", ""]
    assert [use.label == (0, 0) for use in report.body_urls] == [False, True, True, False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "[part](#part) and <a href='#part'>part</a>",
        "`https://v.com/3`",
        "$https://v.com/3$",
        "```\npostgres://user@10.0.0.1/db\n```",
        "[a]()",
        "So it is.[^note]\n\n[^note]: See the other page.",
        "[Note]: This (and that) is said.",
    ],
)
def test_no_urls(text: str) -> None:
    assert parse_report(text).body_urls == ()


def test_a_link_holds_no_other_link_but_images_do() -> None:
    report = parse_report("[a [b](https://v.com/1) c](https://v.com/2) [![i](https://v.com/3)](https://v.com/4)")
    assert [(use.form, use.url) for use in report.body_urls] == [
        ("link", "https://v.com/1"),
        ("bare_url", "https://v.com/2"),
        ("link", "https://v.com/4"),
        ("image", "https://v.com/3"),
    ]


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
def test_a_line_that_is_no_rest_of_a_url(line: str) -> None:
    report = parse_report(f"So [1].\n\n## References\n\n[1] https://v.com/1\n{line}\n[2] https://v.com/2\n")
    assert report.entries[0].urls[0].url == "https://v.com/1"
