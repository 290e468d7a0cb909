"""URLs: equal keys for all spellings of an address, hosts, and the addresses of DOIs and arXiv papers."""

from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.urls import UrlKey, canonical_host, parse_url, read_site, under, unicode_labels, without_ellipsis
from tests.citations.rows import rows


def test_hosts() -> None:
    for host, canonical in rows("urls.jsonl", "host"):
        assert canonical_host(host) == canonical
        if canonical is not None:
            assert canonical_host(f"[{canonical}]" if ":" in canonical else canonical) == canonical


def test_sites() -> None:
    for address, site in rows("urls.jsonl", "site"):
        scheme, _, authority = address.partition("://")
        assert read_site(scheme, authority) == (None if site is None else tuple(site)), address


def test_a_host_is_under_its_parent_domains() -> None:
    hosts = ("e.com", "a.b.e.com", "be.com", "e.com.net", "com", "")
    assert [host for host in hosts if under(host, frozenset({"e.com"}))] == ["e.com", "a.b.e.com"]


def test_labels_as_displayed() -> None:
    assert unicode_labels("xn--mller-kva.xn--\u00e9.de") == ["müller", "xn--\u00e9", "de"]


@given(st.text(max_size=30))
def test_no_text_crashes_and_canonical_is_canonical(host: str) -> None:
    canonical = canonical_host(host)
    if canonical is not None and ":" not in canonical and not canonical.startswith("www."):
        assert canonical_host(canonical) == canonical
    read_site("https", host)


def key(text: str) -> UrlKey:
    url = parse_url(text)
    assert url is not None
    return url.key


def test_spellings_of_one_address_and_addresses_that_differ() -> None:
    assert [pair for pair in rows("urls.jsonl", "same") if len({*map(key, pair)}) != 1] == []
    assert [pair for pair in rows("urls.jsonl", "different") if len({*map(key, pair)}) != 2] == []


def test_malformed_urls_are_none() -> None:
    texts = [*(text for text, _ in rows("urls.jsonl", "malformed")), "https://e.com/" + "a" * 9000]
    assert [text for text in texts if parse_url(text)] == []


def test_the_raw_url_stays_as_the_tool_gave_it() -> None:
    url = parse_url("https://E.com/a?x=1&section=2")
    assert url is not None
    assert url.raw == "https://E.com/a?x=1&section=2"
    assert url.query == (("section", "2"), ("x", "1"))


def test_marks_of_truncation() -> None:
    assert [text for text, stub in rows("urls.jsonl", "stub") if without_ellipsis(text) != stub] == []


def test_nothing_is_below_a_paper() -> None:
    """A paper is one segment, as a DOI is, so that a made-up page below it is not taken for a part of it."""
    parsed = parse_url("https://arxiv.org/abs/1706.03762/appendix")
    assert parsed is not None
    assert parsed.segments == ("abs", "1706.03762/appendix")
