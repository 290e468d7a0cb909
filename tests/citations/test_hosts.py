"""Host names: one spelling for all that lead to the same place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.urls import canonical_host, read_site, under, unicode_labels


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
