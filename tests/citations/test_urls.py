"""URLs: what two spellings of one address have in common, hosts, and the addresses of DOIs and arXiv papers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.urls import canonical_host, parse_url, read_site, under, unicode_labels, without_ellipsis


@pytest.mark.parametrize(
    ("host", "canonical"),
    [
        ("E.COM", "e.com"),
        ("www.e.com", "e.com"),
        ("www.com", "www.com"),  # a name of its own
        ("e.com.", "e.com"),
        ("müller.de", "xn--mller-kva.de"),
        ("MÜLLER.de", "xn--mller-kva.de"),
        ("mu\u0308ller.de", "xn--mller-kva.de"),
        ("xn--mller-kva.de", "xn--mller-kva.de"),
        ("straße.de", "xn--strae-oqa.de"),  # as browsers do, not ss
        ("ΟΔΟΣ.gr", "xn--pxavbq.gr"),
        ("bücher。example。com", "xn--bcher-kva.example.com"),
        ("ｅ．ｃｏｍ", "e.com"),
        ("e\u00ad.c\u200bom", "e.com"),
        ("%65.com", "e.com"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("１２７.０.０.１", "127.0.0.1"),
        ("[2001:DB8:0::1]", "2001:db8::1"),
        ("[::ffff:1.2.3.4]", "::ffff:102:304"),
        ("[fe80::1%25eth0]", "fe80::1"),
        ("_dmarc.e.com", "_dmarc.e.com"),
    ],
)
def test_canonical_hosts(host: str, canonical: str) -> None:
    assert canonical_host(host) == canonical
    assert canonical_host(f"[{canonical}]" if ":" in canonical else canonical) == canonical


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "e.com..",
        "-",
        "a..b",
        "-a.com",
        "a b.com",
        "a/b",
        "a%2Fb.com",
        "\u2100.com",
        "[::1",
        "[x]",
        "::1",
        "é" * 64 + ".com",
        "\ud800.com",
    ],
)
def test_malformed_hosts_are_none(host: str) -> None:
    assert canonical_host(host) is None


@pytest.mark.parametrize(
    ("scheme", "authority", "site"),
    [
        ("https", "e.com", ("e.com", None)),
        ("https", "e.com:443", ("e.com", None)),
        ("http", "e.com:80", ("e.com", None)),
        ("http", "e.com:443", ("e.com", 443)),
        ("https", "e.com:", ("e.com", None)),
        ("https", "user:pw@e.com:8080", ("e.com", 8080)),
        ("https", "a@b@e.com", ("e.com", None)),
        ("https", "[::1]:443", ("::1", None)),
        ("https", "e.com:x", None),
        ("https", "e.com:65536", None),
        ("https", "e.com:٣", None),
        ("https", "e.com:1:2", None),
    ],
)
def test_sites(scheme: str, authority: str, site: tuple[str, int | None] | None) -> None:
    assert read_site(scheme, authority) == site


def test_a_name_and_what_is_under_it() -> None:
    names = frozenset({"e.com"})
    assert [under(host, names) for host in ("e.com", "a.b.e.com", "be.com", "e.com.net", "com", "")] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_labels_as_people_see_them() -> None:
    assert unicode_labels("xn--mller-kva.xn--\u00e9.de") == ["müller", "xn--\u00e9", "de"]


@given(st.text(max_size=30))
def test_no_text_crashes_and_canonical_is_canonical(host: str) -> None:
    canonical = canonical_host(host)
    if canonical is not None and ":" not in canonical and not canonical.startswith("www."):
        assert canonical_host(canonical) == canonical
    read_site("https", host)


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


def key(url: str) -> object:
    parsed = parse_url(url)
    assert parsed is not None
    return parsed.key


@pytest.mark.parametrize(
    "url",
    [
        "https://doi.org/10.1126/science.abc1234",
        "http://dx.doi.org/10.1126/SCIENCE.abc1234",
        "https://www.doi.org/10.1126/science.abc1234",
        "https://doi.org/10.1126%2Fscience.abc1234",
        "https://doi.org/doi:10.1126/science.abc1234",
        "https://www.science.org/doi/10.1126/science.abc1234",
        "https://www.science.org/doi/abs/10.1126/science.abc1234",
        "https://science.org/doi/full/10.1126/science.abc1234",
        "https://www.science.org/doi/pdf/10.1126/science.abc1234",
        "https://www.science.org/doi/epdf/10.1126/science.abc1234/",
        "https://www.science.org/doi/10.1126/science.abc1234/full",
    ],
)
def test_one_doi(url: str) -> None:
    assert key(url) == key("https://doi.org/10.1126/science.abc1234")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/doi/10.1126/science.abc1234",  # anybody can write this path
        "https://science.org.evil.com/doi/10.1126/science.abc1234",
        "https://www.science.org/doi/suppl/10.1126/science.abc1234",  # something else about it
        "https://www.science.org/doi/10.1126/science.abc12345",
        "https://www.science.org/content/10.1126/science.abc1234",
        "https://doi.org/10.1126/science.abc1234/x",
        "https://doi.org/10.1126",
    ],
)
def test_other_addresses(url: str) -> None:
    assert key(url) != key("https://doi.org/10.1126/science.abc1234")


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/abs/1706.03762",
        "http://www.arxiv.org/pdf/1706.03762",
        "https://arxiv.org/pdf/1706.03762.pdf",
        "https://export.arxiv.org/abs/1706.03762",
        "https://arxiv.org/html/1706.03762",
        "https://ar5iv.labs.arxiv.org/html/1706.03762",
        "https://doi.org/10.48550/arXiv.1706.03762",
    ],
)
def test_one_paper(url: str) -> None:
    assert key(url) == key("https://arxiv.org/abs/1706.03762")


def test_old_identifiers_and_versions() -> None:
    assert key("https://arxiv.org/pdf/math.GT/0309136v1.pdf") == key("https://arxiv.org/abs/math.GT/0309136v1")
    assert key("https://arxiv.org/abs/hep-th/9901001") != key("https://arxiv.org/abs/hep-th/9901001v2")
    assert key("https://arxiv.org/list/cs.CL/recent") != key("https://arxiv.org/abs/cs.CL/recent")


def test_nothing_lies_below_a_paper() -> None:
    """It is one segment, as a DOI is, so that no made-up page below it passes for a part of it."""
    parsed = parse_url("https://arxiv.org/abs/1706.03762/appendix")
    assert parsed is not None
    assert parsed.segments == ("abs", "1706.03762/appendix")
