"""Which spellings are one address; every row of the table of URL normalisation, with its defects mended."""

import pytest

from aiq.citations.urls import canonical_host, parse_url, spelled, without_ellipsis

SAME = [
    ("HTTPS://Example.COM/path", "https://example.com/path"),
    ("https://example.com/path/", "https://example.com/path"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com/page#section", "https://example.com/page"),
    ("https://example.com/page?utm_source=twitter&key=val", "https://example.com/page?key=val"),
    ("https://example.com/page?a=1&amp;b=2", "https://example.com/page?b=2&a=1"),
    ("https://e.com:443/a", "https://e.com/a"),
    ("http://e.com:80/a", "http://e.com/a"),
    ("http://e.com/a", "https://e.com/a"),  # D15
    ("https://www.e.com/a", "https://e.com/a"),  # D15
    ("https://e.com./a", "https://e.com/a"),
    ("https://user@e.com/a", "https://e.com/a"),
    ("https://e.com/a;v=1", "https://e.com/a"),
    ("https://e.com/?fbclid=1&gclid=2", "https://e.com/"),
    ("https://e.com/p?ref=home&Source=x", "https://e.com/p"),
    ("https://e.com/p?q=", "https://e.com/p?q"),
    ("https://e.com/a%20b/%C3%BC", "https://e.com/a b/ü"),
    ("https://e.com/%7Euser", "https://e.com/~user"),
    ("https://e.com/a/./x/../b", "https://e.com/a/b"),
    ("https://müller.de/", "https://xn--mller-kva.de/"),
    ("https://MÜLLER.de/", "https://müller.de/"),
    ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"),
    ("https://dx.doi.org/10.1000/ABC", "https://doi.org/10.1000/abc"),
    ("https://arxiv.org/pdf/1706.03762.pdf", "http://export.arxiv.org/abs/1706.03762"),
    ("https://arxiv.org/html/1706.03762v5", "https://arxiv.org/abs/1706.03762v5"),
    ("  https://e.com/a  ", "https://e.com/a"),
    ("https://e.com/%2e%2E/a/%2e", "https://e.com/a"),
    ("https://e.com\\a\\b", "https://e.com/a/b"),
    ("https://e.com/a\tb\nc", "https://e.com/abc"),
    ("https://e.com/a;v=1/", "https://e.com/a"),
    ("https://e.com/?a=1&#038;b=2&amp;amp;c=3", "https://e.com/?a=1&b=2&c=3"),
    ("https://e.com/?id=2&id=1", "https://e.com/?id=1&id=2"),
    ("https://e.com/?&&a=1&", "https://e.com/?a=1"),
    ("https://e.com/?q=a+b", "https://e.com/?q=a%20b"),
    ("https://e.com/a#:~:text=x", "https://e.com/a"),
    ("https://e.com/#/a b", "https://e.com/#/a%20b"),
    ("https://user:pw@e.com:443/a?#", "https://e.com/a"),
    ("https://e.com/cafe\u0301", "https://e.com/caf\u00e9"),
    ("https://e.com/a\u200b/b\ufeff", "https://e.com/a/b"),  # left by copying
    ("https://www.bilibili.com/video/BV1?spm_id_from=333&vd_source=x", "https://www.bilibili.com/video/BV1"),
]

DIFFERENT = [
    ("https://e.com/Path", "https://e.com/path"),
    ("https://e.com:8080/a", "https://e.com/a"),
    ("https://e.com/?id=1&id=2", "https://e.com/?id=1"),  # both values of a repeated key count
    ("https://e.com/?a=b%26c%3Dd", "https://e.com/?a=b&c=d"),
    ("https://e.com/a%2Fb", "https://e.com/a/b"),
    ("https://e.com/%FF", "https://e.com/%FE"),
    ("https://e.com/a\u200cb", "https://e.com/ab"),  # a non-joiner, with which Persian words are spelled
    ("https://e.com/?a=1&section=2", "https://e.com/?a=1§ion=2"),  # D1
    ("https://e.com/?a=1&copy=2", "https://e.com/?a=1©=2"),  # D1
    ("https://e.com/#/one", "https://e.com/#/two"),  # routes of a single-page application
    ("https://e.com/#/a%2Fb", "https://e.com/#/a/b"),
    ("https://github.com/o/r?ref=main", "https://github.com/o/r"),
    ("https://gitlab.example.org/o/r?ref=v1", "https://gitlab.example.org/o/r?ref=v2"),
    ("https://api.e.com/x?source=a", "https://api.e.com/x?source=b"),
    ("https://e.com/api/x?source=a", "https://e.com/api/x"),
    ("https://arxiv.org/abs/1706.03762v1", "https://arxiv.org/abs/1706.03762v2"),
    ("https://sub.e.com/a", "https://e.com/a"),
    ("https://e.com/a+b", "https://e.com/a b"),
    ("https://e.com/a%252Fb", "https://e.com/a%2Fb"),
    ("https://e.com/a;v=1/b", "https://e.com/a/b"),
    ("https://e.com//a", "https://e.com/a"),
    ("https://e.com\\@v.com/a", "https://v.com/a"),  # a browser goes to e.com
    ("https://huggingface.co/d?source=x", "https://huggingface.co/d"),
    ("https://www.com/", "https://com/"),
]

MALFORMED = [
    "http://[::1",  # D2
    "http://[host]/v1",  # D2
    "https://",
    "http",
    "",
    "https:///a",
    "https://e.com:99999/",
    "https://e.com:port/",
    "https://exa mple.com/",
    "ftp://e.com/a",
    "javascript:alert(1)",
    "//e.com/a",
    "https://-/",
    "https://" + "a" * 300 + ".com/",
    "https://e.com/" + "a" * 9000,
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_address(one: str, other: str) -> None:
    first, second = parse_url(one), parse_url(other)
    assert first is not None
    assert second is not None
    assert first.key == second.key


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_addresses_that_differ(one: str, other: str) -> None:
    first, second = parse_url(one), parse_url(other)
    assert first is not None
    assert second is not None
    assert first.key != second.key


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_urls_are_none_and_crash_nothing(text: str) -> None:
    assert parse_url(text) is None


def test_the_raw_url_stays_as_the_tool_gave_it() -> None:
    url = parse_url("https://E.com/a?x=1&section=2")
    assert url is not None
    assert url.raw == "https://E.com/a?x=1&section=2"
    assert url.query == (("section", "2"), ("x", "1"))


def test_full_width_and_encoded_hosts_are_what_a_browser_makes_of_them() -> None:
    assert canonical_host("１２７.０.０.１") == "127.0.0.1"
    assert canonical_host("%62it.ly") == "bit.ly"


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ("https://e.com/lo...", "https://e.com/lo"),
        ("https://e.com/lo…", "https://e.com/lo"),
        ("https://e.com/lo...)", "https://e.com/lo"),  # S4
        ("https://e.com/lo[...]", "https://e.com/lo"),
        ("https://e.com/lo(…).", "https://e.com/lo"),
        ("https://e.com/lo⋯", "https://e.com/lo"),
        ("https://e.com/lo%e2%80%a6", "https://e.com/lo"),
        ("https://e.com/compare/v1...v2", None),
        ("https://e.com/a.", None),
    ],
)
def test_marks_of_truncation(text: str, stub: str | None) -> None:
    assert without_ellipsis(text) == stub


@pytest.mark.parametrize(
    ("stub", "beginning"),
    [
        ("HTTPS://WWW.E.com:443/A%20b?z=1&a=2#f", "e.com/A b?z=1&a=2"),
        ("http://e.com:8080/a", "e.com:8080/a"),
        ("https://e.com/caf%C3", "e.com/caf"),
        ("https://e.com/caf%C", "e.com/caf"),
        ("https://e.com/caf%", "e.com/caf"),
        ("https://e.com/caf%C3%A9", "e.com/café"),
        ("no url", None),
    ],
)
def test_what_a_cut_off_url_begins(stub: str, beginning: str | None) -> None:
    """The order of the query stays, for it was cut as it was written; an encoding cut in two is left out."""
    assert spelled(stub) == beginning
