"""The registry: what is one source, in which order, and what is kept of each."""

from aiq.citations.registry import SourceRegistry
from aiq.core.sources import Registry, Source


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
    registry.add(Source(url="https://e.com/a?utm_source=x", title="First", text="snippet", call_id="c1"), (1, 0, 0))
    (source,) = registry.all()
    assert (source.url, source.title, source.call_id) == ("https://e.com/a?utm_source=x", "First", "c1")
    assert source.text == "the whole page"


def test_a_title_that_the_first_lacks_comes_from_the_next() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="https://e.com/a"), (1, 0))
    registry.add(Source(url="https://e.com/a", title="T", published="2026-01-01"), (2, 0))
    assert [(s.title, s.published) for s in registry.all()] == [("T", "2026-01-01")]


def test_documents_differ_by_name_and_page() -> None:
    registry = SourceRegistry()
    for rank, key in enumerate(["step1.pdf", "step2.pdf", "r.pdf, p.3", "R.pdf, page 3", "r.pdf, p.4"]):
        registry.add(Source(citation_key=key), (0, rank))
    assert [s.citation_key for s in registry.all()] == ["step1.pdf", "step2.pdf", "r.pdf, p.3", "r.pdf, p.4"]


def test_malformed_urls_are_kept_apart_and_nothing_is_no_source() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="http://[::1"), (0, 0))
    registry.add(Source(url="http://[host]/v1"), (0, 1))
    registry.add(Source(), (0, 2))
    registry.add(Source(citation_key="  "), (0, 3))
    assert [s.url for s in registry.all()] == ["http://[::1", "http://[host]/v1"]
