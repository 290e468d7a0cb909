"""Statements against a text: what is supported, what is not, and the reasons given."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.claims.evidence import weighed
from aiq.citations.claims.rules import rules
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


def test_each_thing_found_or_amiss_moves_the_score_one_way() -> None:
    none = dict.fromkeys(("found", "no_figure", "no_name", "other_figure", "other_name", "denied"), 0.0)
    weights = rules().score
    middle = weighed({**none, "found": 0.5}, weights)
    assert weighed(none, weights) < middle < weighed({**none, "found": 0.51}, weights)
    for part in none.keys() - {"found"}:
        assert weighed({**none, "found": 0.5, part: -1.0}, weights) < weighed(
            {**none, "found": 0.5, part: -0.5}, weights
        )


@pytest.mark.parametrize(
    ("statement", "page", "verdict"),
    [
        ("该公司2021年营收增长12%。", "2021年，该公司收入同比增长百分之十二，超出预期。", "supported"),
        ("该公司2021年营收增长12%。", "2021年，该公司收入同比下降百分之十二，低于预期。", "unsupported"),
        ("上海人口超过2000万。", "上海是最大的城市，人口超过两千万，经济发达。", "supported"),
        ("该药物能够降低死亡率。", "该药物未能降低死亡率，与安慰剂没有差别。", "unsupported"),
        ("该药物不能降低死亡率。", "该药物未能降低死亡率，与安慰剂没有差别。", "supported"),
        ("Revenue rose 12% in 2021.", "In 2021, revenue fell by 12 percent, the company said.", "unsupported"),
        (
            "Le chiffre d'affaires a augmenté.",
            "Le chiffre d’affaires a reculé de 5,2 %, selon le groupe.",
            "unsupported",
        ),
        ("The half-life is about five hours.", "Its half-life is roughly 5 hours in adults, they say.", "supported"),
        (
            "About two thirds of respondents agreed.",
            "Of the respondents, 66% agreed with it, 20% did not.",
            "supported",
        ),
        ("GPT-3 was released in March 2023.", "In March 2023 the firm OpenAI released GPT-4, a model.", "unsupported"),
        ("The market was USD 5 billion.", "The market was worth $5bn in that year, analysts say.", "supported"),
        ("The law was passed in Texas.", "The law was passed in Florida. Critics in Texas opposed it.", "unsupported"),
        ("The committee has no members.", "Members: the committee is made up of 12 persons for life.", "unsupported"),
        (
            "Temperatures rose by 2.5 °C.",
            "Temperatures have increased by about 1.1° Celsius since then.",
            "unsupported",
        ),
    ],
)
def test_figures_in_words_opposites_and_denials_in_several_languages(statement: str, page: str, verdict: str) -> None:
    assert check_support(statement, page).verdict == verdict


def test_a_word_counts_in_part_where_the_page_has_one_of_its_family() -> None:
    page = "The moisture of bread depends on slow fermentation. Loaves were weighed and cut in the laboratory."
    scores = [
        check_support(f"Bread needs {word} doughs.", page).score for word in ("fermentation", "fermentum", "leavened")
    ]
    assert scores[0] >= scores[1] > scores[2]


def test_authors_of_a_source_need_not_stand_in_it() -> None:
    assert Statement.read("Tal, Orm et al. (2021) show that bread keeps.").names == ()
    assert Statement.read("陈等人（2021）认为面包耐放。").numbers == ()
    assert Statement.read("Halden (2021) grew.").numbers[0].written == "2021"


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
    "page",
    [
        "a1 " * 60_000,
        "not " * 60_000,
        "A" * 200_000,
        "1,234 people " * 30_000,
        "的" * 100_000,
        "二" * 100_000,
        "一二" * 50_000,
        " ".join(f"abcde{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(17_000)),
    ],
)
def test_hostile_pages_take_no_time(page: str) -> None:
    source, statement = SourceText(page), Statement.read("A1 has 1,234 people, and not 的 99. " * 5)
    start = time.process_time()
    for _ in range(3):
        check_against(statement, source)
    assert time.process_time() - start < 6
