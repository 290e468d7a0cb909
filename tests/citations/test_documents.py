"""Document citations: names, pages, and which retrieved document they mean."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.documents import DocumentIndex, DocumentKey, looks_like_document, named_documents, parse_key
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.cases import table
from tests.citations.rows import rows
from tests.settings import configured

each = table(__file__)


def find(keys: list[str], cited: str, **settings: Any) -> str | None:
    sources = [Source(citation_key=key) for key in keys]
    source = DocumentIndex(sources, configured(CitationSettings, **settings).window).find(parse_key(cited))
    return source.citation_key if source else None


SOURCES = ["r.pdf, p.15", "r.pdf, pp. 20-24", "r.pdf, p.40"]


@each("cited")
def test_page_rules(cited: str, ignore: int | None, window: int | None, exact: int | None) -> None:
    expected = [None if position is None else SOURCES[position] for position in (ignore, window, exact)]
    assert [find(SOURCES, cited, pages=rule) for rule in ("ignore", "window", "exact")] == expected


@pytest.mark.parametrize(
    ("keys", "cited", "settings", "found"),
    [
        (SOURCES, "r.pdf, p.18", {"page_window": 2}, "r.pdf, pp. 20-24"),
        (SOURCES, "r.pdf, p.18", {"page_window": 1}, None),
        (SOURCES, "r.pdf, p.16", {"page_window": 0}, None),
        # a document retrieved as a whole contains every page
        (["r.pdf, p.2", "r.pdf"], "r.pdf, p.2", {"pages": "exact"}, "r.pdf, p.2"),
        (["r.pdf, p.2", "r.pdf"], "r.pdf, p.3", {"pages": "exact"}, "r.pdf"),
        (["r.pdf, p.2", "r.pdf"], "r.pdf", {"pages": "exact"}, "r.pdf"),
        # the same key is preferred to a wider one
        (["r.pdf, pp. 1-90", "r.pdf, p.15"], "r.pdf, p.15", {}, "r.pdf, p.15"),
        (["r.pdf, pp. 1-90", "r.pdf, p.15"], "r.pdf, p.80", {"pages": "exact"}, "r.pdf, pp. 1-90"),
    ],
)
def test_which_pages_count(keys: list[str], cited: str, settings: dict[str, Any], found: str | None) -> None:
    assert find(keys, cited, **settings) == found


ranges = st.tuples(st.integers(1, 30), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.mark.timing
@given(st.lists(ranges, min_size=1, max_size=6), ranges, st.integers(0, 3))
def test_the_nearest_page_decides(sources: list[tuple[int, int]], cited: tuple[int, int], window: int) -> None:
    def distance(source: tuple[int, int]) -> int:
        return max(0, source[0] - cited[1], cited[0] - source[1])

    pages = {f"r.pdf, pp. {first}-{last}": (first, last) for first, last in sources}
    key = find(list(pages), "r.pdf, pp. {}-{}".format(*cited), page_window=window)
    nearest = min(map(distance, sources))
    assert (key is not None) == (nearest <= window)
    assert key is None or distance(pages[key]) == nearest


def test_keys() -> None:
    """A page needs a separator, and names are not cut; NFKC is needed because file names may come decomposed."""
    assert [text for text, key in rows("documents.jsonl", "key") if parse_key(text) != DocumentKey(*key)] == []


def test_an_entry_names_a_document() -> None:
    for entry, name in rows("documents.jsonl", "named"):
        assert name in [key.name for key in named_documents(entry)]
        assert looks_like_document(entry), entry


def test_a_part_of_an_entry_must_name_a_file_or_a_page() -> None:
    """V5: otherwise any words after a colon could be a registered name; a name within other words does not count."""
    invented = "A wholly invented study: knowledge_search"
    assert [key.name for key in named_documents(invented)] == [invented.lower()]
    names = [key.name for key in named_documents("A wholly invented study, via knowledge_search in data.md")]
    assert not {"knowledge_search", "a.md"} & {*names}
    assert not looks_like_document("A wholly invented study, via knowledge_search")
    assert DocumentKey("annual report", 5, 5) in named_documents("Company - Annual Report, p. 5")
    assert DocumentKey("annual report") in named_documents("Annual Report (uploaded)")


@pytest.mark.parametrize(("entry", "pages"), rows("documents.jsonl", "pages"))
def test_no_part_of_an_entry_means_a_document_without_its_pages(entry: str, pages: list[list[int]]) -> None:
    """Each of several pages gives a key."""
    key_pages = [[key.first, key.last] for key in named_documents(entry) if key.name == "report.pdf"]
    assert [page for number, page in enumerate(key_pages) if page not in key_pages[:number]] == pages


@pytest.mark.timing
@pytest.mark.parametrize("piece", ["p. 3, 5, 7 a.md - ", "1,", "a.md, ", "(", "第一", "- ", "x.md|p. 1|"])
def test_entries_are_read_quickly(piece: str) -> None:
    """Only 2,000 characters of an entry count, and the number of keys made of them is limited too."""
    start = time.perf_counter()
    assert len(named_documents(piece * 2000)) < 1000
    assert time.perf_counter() - start < 0.5
