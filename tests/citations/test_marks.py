"""Numerals: parsed, and written back in their style."""

from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.marks import in_style_of, numeral_value
from tests.cases import table

each = table(__file__)


@each("value")
def test_value(written: str, number: int) -> None:
    assert numeral_value(written) == number


@each("like")
def test_like(written: str, number: int, expected: str) -> None:
    assert in_style_of(written, number) == expected


@given(st.sampled_from(["1", "１", "①", "¹"]), st.integers(1, 50))
def test_a_written_numeral_is_read_back(written: str, number: int) -> None:
    assert numeral_value(in_style_of(written, number)) == number
