"""Numerals: read, and written again in their style."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.marks import like, value


@pytest.mark.parametrize(
    ("written", "number"),
    [
        *(("7", 7), ("07", 7), ("７", 7), ("１２", 12), ("⁷", 7), ("¹²", 12)),
        *(("①", 1), ("⑳", 20), ("㉑", 21), ("㊿", 50), ("❷", 2)),
    ],
)
def test_value(written: str, number: int) -> None:
    assert value(written) == number


@pytest.mark.parametrize(
    ("written", "number", "expected"),
    [
        *(("7", 12, "12"), ("07", 8, "08"), ("07", 12, "12")),
        *(("７", 12, "１２"), ("③", 21, "㉑"), ("③", 51, "(51)"), ("¹", 12, "¹²")),
    ],
)
def test_like(written: str, number: int, expected: str) -> None:
    assert like(written, number) == expected


@given(st.sampled_from(["1", "１", "①", "¹"]), st.integers(1, 50))
def test_what_is_written_is_read(written: str, number: int) -> None:
    assert value(like(written, number)) == number
