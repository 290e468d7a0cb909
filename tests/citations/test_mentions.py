"""Addresses in texts of every kind."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.links import addresses


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
