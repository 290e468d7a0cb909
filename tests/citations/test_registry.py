"""The registry: what is one source, in which order, of which kind, and what is kept of each."""

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.registry import SourceRegistry, digest, worth_keeping
from aiq.core.sources import Registry, Source, SourceKind


def note(registry: SourceRegistry, text: str, kind: SourceKind, turn: int = 0, call_id: str = "c1") -> None:
    registry.note(text, kind, (turn, 0), call_id=call_id, tool="search")


def kinds(registry: SourceRegistry) -> dict[str, str]:
    return {source.url or "": source.kind for source in registry.known()}


def test_order_is_by_call_not_by_arrival() -> None:
    registry: Registry = SourceRegistry()
    registry.add(Source(url="https://e.com/late"), (1, 0, 0))
    registry.add(Source(url="https://e.com/nested"), (0, 1, 0, 0, 3))
    registry.add(Source(url="https://e.com/first"), (0, 0, 1))
    assert [source.url for source in registry.all()] == [
        "https://e.com/first",
        "https://e.com/nested",
        "https://e.com/late",
    ]


def test_the_first_by_order_keeps_url_title_and_call() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="http://www.e.com/a/", title="Later", text="the whole page", call_id="c2"), (2, 0, 0))
    registry.add(Source(url="https://e.com/a", title="", text="a snippet", call_id="c1", published="2026"), (1, 0, 0))
    (source,) = registry.all()
    assert (source.url, source.title, source.call_id) == ("https://e.com/a", "Later", "c1")
    assert (source.text, source.published) == ("the whole page", "2026")
    assert source.digest == hashlib.sha256(b"the whole page").hexdigest()[:16]


def test_one_url_in_two_spellings_and_two_pages_of_a_document() -> None:
    registry = SourceRegistry()
    for position, url in enumerate(("https://e.com/a?utm_source=x", "http://e.com/a#top", "https://e.com/b")):
        registry.add(Source(url=url), (position,))
    for position, key in enumerate(("Report.pdf, p. 3", "report.pdf, page 3", "report.pdf, p.4"), 3):
        registry.add(Source(citation_key=key), (position,))
    assert [source.url or source.citation_key for source in registry.all()] == [
        "https://e.com/a?utm_source=x",
        "https://e.com/b",
        "Report.pdf, p. 3",
        "report.pdf, p.4",
    ]


def test_what_cannot_be_cited_is_not_registered() -> None:
    registry = SourceRegistry()
    registry.add(Source(title="nothing"), (0,))
    registry.add(Source(citation_key="  "), (1,))
    assert registry.all() == ()


def test_malformed_urls_are_kept_as_they_are() -> None:
    registry = SourceRegistry()
    for _ in range(2):
        registry.add(Source(url="http://[::1"), (0,))
    assert [source.url for source in registry.all()] == ["http://[::1"]


def test_kinds_are_kept_apart_and_the_strongest_counts() -> None:
    registry = SourceRegistry()
    note(registry, "https://e.com/a https://e.com/b https://e.com/c", "echoed", 0, "c0")
    note(registry, "see http://www.e.com/a/ and https://e.com/b", "mentioned", 1, "c1")
    registry.add(Source(url="https://e.com/a", text="page", title="A", call_id="c2"), (2, 0, 0))
    assert kinds(registry) == {
        "https://e.com/a": "retrieved",
        "https://e.com/b": "mentioned",
        "https://e.com/c": "echoed",
    }
    (source,) = registry.all()
    assert (source.title, source.call_id, source.text) == ("A", "c2", "page")


def test_what_a_call_was_asked_with_and_gives_back_is_an_echo() -> None:
    """V7: an agent cannot make a URL a mention by searching for it."""
    registry = SourceRegistry()
    note(registry, '{"query": "https://evil.com/x"}', "echoed")
    note(registry, "no results for https://evil.com/x; try https://e.com/", "mentioned")
    assert kinds(registry) == {"https://e.com/": "mentioned", "https://evil.com/x": "echoed"}
    note(registry, "a page of another call says https://evil.com/x", "mentioned", 1, "c2")
    assert kinds(registry)["https://evil.com/x"] == "mentioned"


def test_what_is_only_seen_has_no_text() -> None:
    registry = SourceRegistry()
    note(registry, "https://e.com/a", "mentioned", call_id="c7")
    (source,) = registry.known()
    assert (source.text, source.digest, source.title, source.call_id, source.tool) == ("", "", "", "c7", "search")


def test_of_what_was_only_seen_a_row_keeps_what_the_report_names() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="https://e.com/page"), (0,))
    note(registry, " ".join(f"https://e.com/{n}" for n in range(1000)), "mentioned")
    kept = worth_keeping(
        registry.known(), "It is [1].\n\n## Sources\n[1] [T](http://www.e.com/7/), https://e.com/page."
    )
    assert [(source.url, source.kind) for source in kept] == [
        ("https://e.com/page", "retrieved"),
        ("https://e.com/7", "mentioned"),
    ]


@pytest.mark.parametrize(("text", "length"), [("", 0), ("a", 16), ("\ud800", 16)])
def test_digests(text: str, length: int) -> None:
    assert len(digest(text)) == length


seen = st.lists(
    st.tuples(
        st.sampled_from(["https://e.com/a", "http://e.com/a/", "https://e.com/b"]),
        st.sampled_from(["retrieved", "mentioned", "echoed"]),
        st.integers(0, 3),
        st.sampled_from(["", "short", "a longer text"]),
    ),
    max_size=8,
)


@pytest.mark.timing
@given(seen, st.randoms())
def test_arrival_decides_nothing(sources: list[tuple[str, SourceKind, int, str]], random: st.DataObject) -> None:
    def known(rows: list[tuple[str, SourceKind, int, str]]) -> list[tuple[str | None, str, str]]:
        registry = SourceRegistry()
        for url, kind, turn, text in rows:
            registry.add(Source(url=url, kind=kind, text=text, title=text), (turn, 0))
        return [(source.url, source.kind, source.text) for source in registry.known()]

    shuffled = list(sources)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert known(shuffled) == known(sources)


def test_a_page_full_of_addresses_costs_little() -> None:
    registry = SourceRegistry()
    start = time.process_time()
    note(registry, " ".join(f"https://e.com/{n}" for n in range(20_000)), "mentioned")
    assert time.process_time() - start < 3
    assert len(registry.known()) == 20_000
