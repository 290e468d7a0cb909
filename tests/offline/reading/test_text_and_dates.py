"""Sentences, names and dates of a text."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline.reading import dates
from aiq.offline.reading.text import contains_name, names, same_name, sentences


def test_sentences_end_where_they_should() -> None:
    text = "Mr. Corvey was born in the U.S. in 1961. He leads Halden Works Inc. today.\nPage updated 2026-03-14."
    assert sentences(text) == (
        "Mr. Corvey was born in the U.S. in 1961.",
        "He leads Halden Works Inc. today.",
        "Page updated 2026-03-14.",
    )
    assert sentences("总部位于特斯马克。该公司成立于1987年！") == ("总部位于特斯马克。", "该公司成立于1987年！")


@given(st.text(max_size=300))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why did Halden Works move to Orlune?", ("Halden Works", "Orlune")),
        ("The Glass Meridian was written by Mira Tessel.", ("The Glass Meridian", "Mira Tessel")),
        ("She studied at the University of Konstanz in Germany.", ("University of Konstanz", "Germany")),
        ("As of March 2026, the mayor is Ilan Corvey.", ("Ilan Corvey",)),
        ('She said "we will never go back there again", as Ana Breck recalls.', ("Ana Breck",)),
    ],
)
def test_names(text: str, expected: tuple[str, ...]) -> None:
    assert names(text) == expected


def test_names_are_compared_as_wholes() -> None:
    assert same_name("The Glass Meridian", "glass meridian")
    assert contains_name("the Velmora Institute's campus", "Velmora Institute")
    assert not contains_name("Velmorania is far", "Velmora")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("As of March 2026, the mayor of Tessmark is Ilan Corvey.", date(2026, 3, 15)),
        ("The mayor of Tessmark is Bo Dant (May 2021).", date(2021, 5, 15)),
        ("In 2019, the city had 380,100 inhabitants.", date(2019, 7, 1)),
        ("截至2026年9月，人口为5798人。", date(2026, 9, 15)),
        ("Ilan Corvey has been the mayor since 2021.", None),  # true until further notice: the page's date counts
        ("The city has a mayor.", None),
    ],
)
def test_of_when_a_sentence_speaks(sentence: str, expected: date | None) -> None:
    assert dates.stated(sentence) == expected


@pytest.mark.parametrize("line", ["Page updated 2026-03-14.", "Published 14 March 2026.", "页面更新于2026-03-14。"])
def test_of_when_a_page_is(line: str) -> None:
    assert dates.of_page(f"Some text.\n{line}") == date(2026, 3, 14)


def test_numbers_are_no_years() -> None:
    assert dates.find("It has 4,210 workers, 1987.5 tons and $2026") == []
    assert [found.year for found in dates.find("founded in 1987, closed on 3 May 1990")] == [1987, 1990]
