"""Statements against a text: what is supported, what is not, and the reasons given."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.claims.source import SourceText
from aiq.citations.claims.support import check_against, check_support
from aiq.citations.claims.terms import Statement

PAGE = """Halden Works

Halden Works is a company on the Coast. As of March 2024, Halden Works employs 1,234 people. It was founded in 1912 by
Ilan Corvey. The com-
pany does not export turbines. Revenue was €5.2 billion, an increase of 37 % over 2022. The plant uses quantum error
correction (QEC) in its controllers. Share prices rose in the third quarter.

"""
AROUND = "The harbour festival and the book fair draw visitors every year. Tickets are sold at the tram stops. " * 40


@pytest.mark.parametrize(
    "statement",
    [
        "Halden Works employs 1,234 people.",
        "Halden Works had roughly 1,200 employees in March 2024.",
        "Ilan Corvey established Halden Works in 1912.",
        "Revenue grew by 37 percent to 5,200 million euros.",
        "The company does not export turbines.",
        "QEC is used in the controllers of the plant.",
        "该公司的收入增长了37%，达到52亿欧元。",
        "It was in 1912 that **Halden Works**, now with 1234 workers, was founded by Ilan Corvey.",
    ],
)
@pytest.mark.parametrize("page", [PAGE, AROUND + PAGE + AROUND], ids=["bare", "surrounded"])
def test_what_the_page_says_is_supported(statement: str, page: str) -> None:
    support = check_support(statement, page)
    assert support.verdict == "supported", support
    assert support.passage is not None
    assert page[support.passage.start : support.passage.end] == support.passage.text


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("Halden Works employs 1,534 people.", "the passage has 1,234 where the statement has 1,534"),
        ("Halden Works was founded in 1913 by Ilan Corvey.", "the passage has 1912 where the statement has 1913"),
        ("The company exports turbines.", "the passage denies it"),
        ("Share prices fell in the third quarter.", "the passage says “rose” where the statement says “fell”"),
        ("Orm Institute was founded in 1888 by Vera Tal.", "0 of 2 names found; not Orm Institute, Vera Tal"),
        ("Revenue rose by 38%.", "the passage has 37 % where the statement has 38%"),
        ("The moon is made of cheese.", "0 of 3 words in the best passage"),
        ("该公司的收入增长了58%。", "the passage has 37 % where the statement has 58%"),
    ],
)
def test_what_the_page_does_not_say_is_unsupported_and_why(statement: str, reason: str) -> None:
    support = check_support(statement, PAGE)
    assert support.verdict == "unsupported", support
    assert reason in support.reasons


@pytest.mark.parametrize(
    "page",
    [
        "",
        " \n\n ",
        "404\n\nSorry, that page does not exist.",
        "Just a moment...\n\nVerifying you are human.",
        "scrape failed: timeout",
        "[Home](https://x.example) [News](https://x.example/n)\n\nPage not found\n\n© 2026 Example",
        "访问被拒绝\n\n您没有权限访问该页面。",
        "Warning: Target URL returned error 403: Forbidden",
        "%PDF-1.7 stream abc endstream words and more words in the file that nobody can read at all",
    ],
)
def test_a_page_that_holds_nothing_is_unknown(page: str) -> None:
    support = check_support("Halden Works was founded in 1912.", page)
    assert (support.verdict, support.score, support.passage) == ("unknown", 0.0, None)
    assert support.reasons


def test_a_page_about_errors_or_with_a_cookie_line_can_be_read() -> None:
    for extra in ("\n\nWe use cookies. Accept all cookies.", "\n\nPage not found is what a 404 error says."):
        assert check_support("Halden Works was founded in 1912.", PAGE + extra).verdict == "supported"


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("The city has 120,000 people.", "supported"),
        ("The city has 98,000 people.", "unsupported"),
        ("Vera Tal paints.", "unknown"),
    ],
)
def test_a_line_is_a_source_too(statement: str, verdict: str) -> None:
    assert check_support(statement, "The city has about 120,000 people.").verdict == verdict


def test_nothing_to_compare_across_languages_is_unknown() -> None:
    support = check_support("她喜欢散步。", PAGE)
    assert support.verdict == "unknown"
    assert "different languages" in support.reasons[0]


def test_more_evidence_scores_higher() -> None:
    scores = [
        check_support(statement, PAGE).score
        for statement in (
            "Vera Tal set up Orm Institute in 1888.",
            "Ilan Corvey founded Halden Works in 1888.",
            "Ilan Corvey founded Halden Works in 1912.",
        )
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[1] < scores[2]


TEXT = st.text(
    alphabet=st.one_of(st.sampled_from("Ab1 ,.%-\n年万的不[]()*|"), st.characters(codec="utf-8")), max_size=200
)


@given(TEXT, TEXT)
def test_any_two_texts_have_a_verdict(statement: str, page: str) -> None:
    support = check_support(statement, page)
    assert 0 <= support.score <= 1
    if support.passage is not None:
        assert page[support.passage.start : support.passage.end] == support.passage.text
    assert check_support(statement, page) == support


@pytest.mark.timing
@pytest.mark.parametrize(
    "page", ["a1 " * 60_000, "not " * 60_000, "A" * 200_000, "1,234 people " * 30_000, "的" * 100_000]
)
def test_hostile_pages_take_no_time(page: str) -> None:
    source, statement = SourceText(page), Statement.read("A1 has 1,234 people, and not 的 99. " * 5)
    start = time.process_time()
    for _ in range(3):
        check_against(statement, source)
    assert time.process_time() - start < 6
