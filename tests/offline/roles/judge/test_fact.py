"""The offline FACT programs: what cites what, and what a page supports."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fact_answers import read_citations, read_kept, read_verdicts
from aiq.judges.fencing import PROMPTS
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.judging.numbers import numbers
from aiq.offline.roles.judge import fact_dedup, fact_extract, fact_validate

LIST = "[1] Atlas - https://atlas.example/a\n[2] News - https://news.example/b"
PAGE = (
    "Tessmark\n\nTessmark is a city on the river Sorn. As of March 2026, the mayor of Tessmark is Ilan Corvey. "
    "In May 2026, Tessmark had 418,878 inhabitants. The port was opened in 1912 and moved twelve ships a day."
)


def request(text: str) -> ChatRequest:
    return ChatRequest(model="m", messages=(ChatMessage(role="user", content=text),), seed=1)


def extract(part: str) -> list[tuple[str, int | None, str]]:
    text = PROMPTS.render("fact_extract.j2", reference_list=LIST, report_part=part)
    return [(c.statement, c.reference, c.url) for c in read_citations(fact_extract.reply(request(text)).text)]


def validation(page: str, statements: str, support: str = "whole") -> str:
    return PROMPTS.render("fact_validate.j2", page=page, statements=statements, support=support)


def numbered(*statements: str) -> str:
    return "\n".join(f"{n}. {statement}" for n, statement in enumerate(statements, 1))


def verdicts(page: str, *statements: str, support: str = "whole") -> list[str]:
    text = validation(page, numbered(*statements), support)
    return list(read_verdicts(fact_validate.reply(request(text)).text, len(statements)))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("It grew [1].", [("It grew.", 1, "https://atlas.example/a")]),
        (
            "It grew.[1] It fell.[2]",
            [("It grew.", 1, "https://atlas.example/a"), ("It fell.", 2, "https://news.example/b")],
        ),
        ("It grew [1, 2].", [("It grew.", 1, "https://atlas.example/a"), ("It grew.", 2, "https://news.example/b")]),
        ("It grew [7]. Uncited.", []),
        ("See [this](https://c.example/d).", [("See this.", None, "https://c.example/d")]),
        ("Tessmark grew. It has a port [1].", [("Tessmark has a port.", 1, "https://atlas.example/a")]),
        ("增长了[1]。", [("增长了。", 1, "https://atlas.example/a")]),
        ("| Name | Size |\n| --- | --- |\n| Orm | 12 [1] |", [("Orm, size: 12", 1, "https://atlas.example/a")]),
    ],
)
def test_marked_sentences_and_their_sources(part: str, found: list[tuple[str, int | None, str]]) -> None:
    assert extract(part) == found


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("As of March 2026, the mayor of Tessmark is Ilan Corvey.", "supported"),
        ("Ilan Corvey is the mayor of Tessmark.", "supported"),
        ("Tessmark had 418,878 inhabitants in May 2026.", "supported"),
        ("Tessmark had about 419 thousand inhabitants in 2026.", "supported"),
        ("Tessmark had 388,000 inhabitants in May 2026.", "unsupported"),
        ("The mayor of Tessmark is Oda Prill.", "unsupported"),
        ("The port was opened in 1913.", "unsupported"),
        ("The port moved 12 ships a day.", "supported"),
        ("The library holds rare manuscripts from distant monasteries.", "unsupported"),
        ("泰斯马克有418878名居民。", "supported"),
    ],
)
def test_a_page_supports_what_it_says(statement: str, verdict: str) -> None:
    assert verdicts(PAGE, statement) == [verdict]


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("Tessmark had 388,000 inhabitants in May 2026.", "supported"),
        ("The port was opened in 1912 by the king, who came by ship.", "supported"),
        ("The library holds rare manuscripts from distant monasteries.", "unsupported"),
        ("The library holds 4 rare manuscripts.", "unsupported"),
    ],
)
def test_a_part_of_a_statement_is_enough_where_the_prompt_says_so(statement: str, verdict: str) -> None:
    assert verdicts(PAGE, statement, support="part") == [verdict]


@pytest.mark.parametrize(
    ("statements", "kept"),
    [
        (("Tessmark has 12 ships.", "12 ships Tessmark has!", "It is old."), [1, 3]),
        (("Tessmark has 12 ships.", "Tessmark has 13 ships."), [1, 2]),
        (("Tessmark has ships in port.", "Tessmark has no ships in port."), [1]),  # it goes by words alone
        (("Tessmark is rich.", "The wealth of Tessmark is great."), [1, 2]),
        (("?", "!"), [1, 2]),
    ],
)
def test_statements_of_the_same_words_and_figures_are_one(statements: tuple[str, ...], kept: list[int]) -> None:
    text = PROMPTS.render("fact_dedup.j2", statements=numbered(*statements))
    assert read_kept(fact_dedup.reply(request(text)).text, len(statements)) == kept


@pytest.mark.parametrize("page", ["", "Not found\n\nError 404", "Checking your browser before accessing the site ..."])
def test_a_page_that_is_none_leaves_it_unknown(page: str) -> None:
    assert verdicts(page, "Ilan Corvey is the mayor of Tessmark.", "It has a port.") == ["unknown", "unknown"]


def test_without_the_format_instruction_there_is_no_json() -> None:
    extraction = PROMPTS.render("fact_extract.j2", reference_list=LIST, report_part="It grew [1].")
    grouping = PROMPTS.render("fact_dedup.j2", statements="1. It has a port.")
    for program, text, shape in (
        (fact_extract.reply, extraction, '{"citations"'),
        (fact_dedup.reply, grouping, '{"groups"'),
        (fact_validate.reply, validation(PAGE, "1. It has a port."), '{"verdicts"'),
    ):
        json.loads(program(request(text)).text)
        with pytest.raises(ValueError, match="Expecting value"):
            json.loads(program(request(text.replace(shape, "{"))).text)


def test_a_verdict_that_the_prompt_does_not_name_is_not_given() -> None:
    text = validation("", "1. It has a port.")
    entry: Any = json.loads(fact_validate.reply(request(text.replace('"unknown"', '"other"'))).text)
    assert entry == {"verdicts": [{"statement": 1, "verdict": "unsupported"}]}


@given(st.text(alphabet=st.sampled_from("aB1 [](),.-\n。https://x.example"), max_size=200))
def test_any_part_gives_a_readable_answer(part: str) -> None:
    assert all(statement and url.startswith("http") for statement, _, url in extract(part))
    assert len(verdicts(PAGE, "x" + " ".join(part.split()))) == 1


def test_numbers_are_values() -> None:
    text = "twelve ships, 4.5 billion, $15/hour, 1,234.5, 418 thousand, 3万人, 两座 [12] in 1999"
    assert [n.value for n in numbers(text)] == [12, 4.5e9, 15, 1234.5, 418e3, 3e4, 2, 1999]
