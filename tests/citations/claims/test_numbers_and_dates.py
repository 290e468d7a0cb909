"""Numbers and dates as they are written, and which of them agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.claims.dates import dates
from aiq.citations.claims.numbers import Number, agree
from aiq.citations.claims.tokens import tokenize


def number(text: str) -> Number:
    """The only number of a text."""
    (only,) = tokenize(text).numbers
    return only


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ("1,234 people", "1234 people"),
        ("1.2 thousand", "1,234"),
        ("about 6,000 atoms", "6,100 atoms"),
        ("37 %", "37 percent"),
        ("37%", "37.4 per cent"),
        ("百分之37", "37%"),
        ("12.3万", "123,456"),
        ("1.2亿", "120 million"),
        ("$5.2 billion", "US$5,200 million"),
        ("5 km", "5,000 m"),
        ("60 minutes", "1 hour"),
        ("twelve editions", "12 editions"),
        ("3,000 MW", "3 GW"),
        ("12.6 s", "12.6 seconds"),
    ],
)
def test_the_same_in_other_words_agrees(stated: str, found: str) -> None:
    assert agree(number(stated), number(found)) > 0.8


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ("1,234 people", "1,534 people"),
        ("37 %", "38 %"),
        ("37 %", "37 km"),
        ("in 1912", "in 1913"),
        ("in 1912", "1,913 people"),
        ("5 km", "5 m"),
        ("1.2 million", "1.2 billion"),
        ("1,000", "1,400"),
        ("€5 billion", "$5 billion"),
        ("3 mW", "3 MW"),
    ],
)
def test_another_value_does_not_agree(stated: str, found: str) -> None:
    assert agree(number(stated), number(found)) == 0


def test_a_range_gives_its_unit_to_both_ends() -> None:
    assert [n.value for n in tokenize("5-10 million people").numbers] == [5e6, 1e7]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("人口十四亿人", [1.4e9]),
        ("三亿五千万元", [3.5e8]),
        ("3亿5000万元", [3.5e8]),
        ("1万2千人", [12_000]),
        ("一万亿元，一万五千亿元", [1e12, 1.5e12]),
        ("占八成，一成半", [80, 15]),
        ("三成为主，七成都有，两成分", []),
        ("四分之三，百分之三，三分之一", [75, 3, 100 / 3]),
        ("二〇二四年", [2024]),
    ],
)
def test_chinese_figures_count_by_value(text: str, values: list[float]) -> None:
    assert [found.value for found in tokenize(text).numbers] == pytest.approx(values)


@pytest.mark.parametrize(
    ("stated", "found"), [("4亿", "十四亿"), ("2亿", "十二亿"), ("5000万", "3亿5000万"), ("30%", "八成")]
)
def test_part_of_a_chinese_number_is_another_number(stated: str, found: str) -> None:
    assert agree(number(stated), number(found)) == 0


def test_chinese_figures_in_an_endless_row_are_no_number_too_large_to_compare() -> None:
    assert all(found.value < 1e200 for found in tokenize("一" + "亿" * 400 + "人").numbers)


def test_footnote_figures_are_parted_from_their_word() -> None:
    tokens = tokenize("computing3–8 and CO2 and GPT-4")
    assert {"=compute", "co2", "gpt4"} <= tokens.words.keys()


def test_words_that_a_line_cut_in_two_count_whole() -> None:
    whole = tokenize("presence entangling gates").words.keys()
    assert whole <= tokenize("the pres-\nence of entan-gling gates").words.keys()


@pytest.mark.parametrize(
    "text",
    ["3 March 2026", "March 3, 2026", "2026-03-03", "2026年3月3日", "3rd of March 2026", "Mar. 3, 2026", "3 mars 2026"],
)
def test_a_day_in_any_form(text: str) -> None:
    (date,) = dates(f"It was {text}, they said.")
    assert (date.year, date.month, date.day) == (2026, 3, 3)


def test_a_month_alone_and_the_word_may_are_no_dates() -> None:
    assert dates("It may be. March on!") == ()
    (date,) = dates("in May 2024")
    assert (date.year, date.month, date.day) == (2024, 5, None)


def test_a_more_exact_date_says_a_rougher_one() -> None:
    (day,), (month,), (other,) = dates("3 March 2026"), dates("March 2026"), dates("4 March 2026")
    assert day.says(month)
    assert not month.says(day)
    assert month.allows(day)
    assert not other.allows(day)


@given(st.text(alphabet=st.sampled_from("0123456789.,-–%$€ kmM万亿年月日May 三个百分之"), max_size=60))
def test_no_text_breaks_reading(text: str) -> None:
    for found in tokenize(text).numbers:
        assert 0 <= found.start < found.end <= len(text)
        assert agree(found, found) == 1
    dates(text)
