"""Which retrieved page of a document a cited one means, under each rule."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.documents import DocumentIndex, DocumentKey, PageRule, parse_key


def find(keys: list[str], cited: str, pages: PageRule = "window", page_window: int = 1) -> str | None:
    index = DocumentIndex([(parse_key(key), number) for number, key in enumerate(keys)], pages, page_window)
    number = index.find(parse_key(cited))
    return None if number is None else keys[number]


SOURCES = ["r.pdf, p.15", "r.pdf, pp. 20-24", "r.pdf, p.40"]


@pytest.mark.parametrize(
    ("cited", "ignore", "window", "exact"),
    [
        ("r.pdf, p.15", 0, 0, 0),
        ("r.pdf#page=15", 0, 0, 0),
        ("r.pdf，第15页", 0, 0, 0),
        ("r.pdf, p.16", 0, 0, None),
        ("r.pdf, p.17", 0, None, None),
        ("r.pdf, p.22", 1, 1, 1),
        ("r.pdf, p.25", 1, 1, None),
        ("r.pdf, pp. 10-15", 0, 0, 0),
        ("r.pdf, pp. 10-14", 0, 0, None),
        ("r.pdf, pp. 3-5", 0, None, None),
        ("r.pdf, pp. 23-30", 1, 1, 1),
        ("r.pdf, pp. 100-200", 2, None, None),
        ("r.pdf", 0, 0, 0),
        ("s.pdf, p.15", None, None, None),
    ],
)
def test_rules(cited: str, ignore: int | None, window: int | None, exact: int | None) -> None:
    expected = [None if position is None else SOURCES[position] for position in (ignore, window, exact)]
    assert [find(SOURCES, cited, "ignore"), find(SOURCES, cited, "window"), find(SOURCES, cited, "exact")] == expected


def test_the_window_is_a_setting() -> None:
    assert find(SOURCES, "r.pdf, p.18", page_window=2) == "r.pdf, pp. 20-24"
    assert find(SOURCES, "r.pdf, p.18", page_window=1) is None
    assert find(SOURCES, "r.pdf, p.16", page_window=0) is None


def test_a_document_retrieved_as_a_whole_has_every_page() -> None:
    keys = ["r.pdf, p.2", "r.pdf"]
    assert [find(keys, cited, "exact") for cited in ("r.pdf, p.2", "r.pdf, p.3", "r.pdf")] == [
        "r.pdf, p.2",
        "r.pdf",
        "r.pdf",
    ]


def test_the_same_key_is_preferred_to_a_wider_one() -> None:
    assert find(["r.pdf, pp. 1-90", "r.pdf, p.15"], "r.pdf, p.15") == "r.pdf, p.15"
    assert find(["r.pdf, pp. 1-90", "r.pdf, p.15"], "r.pdf, p.80", "exact") == "r.pdf, pp. 1-90"


ranges = st.tuples(st.integers(1, 30), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.mark.timing
@given(st.lists(ranges, min_size=1, max_size=6), ranges, st.integers(0, 3))
def test_nothing_nearer_is_overlooked(sources: list[tuple[int, int]], cited: tuple[int, int], window: int) -> None:
    def apart(source: tuple[int, int]) -> int:
        return max(0, source[0] - cited[1], cited[0] - source[1])

    keys = [(DocumentKey("r", *source), number) for number, source in enumerate(sources)]
    number = DocumentIndex(keys, "window", window).find(DocumentKey("r", *cited))
    nearest = min(map(apart, sources))
    assert (number is not None) == (nearest <= window)
    assert number is None or apart(sources[number]) == nearest


def test_a_look_up_does_not_read_all_pages() -> None:
    keys = [(DocumentKey("r", page, page), page) for page in range(1, 50_001)]
    index = DocumentIndex(keys, "exact", 0)
    start = time.process_time()
    for page in range(60_000, 62_000):
        assert index.find(DocumentKey("r", page, page)) is None
    assert time.process_time() - start < 1
