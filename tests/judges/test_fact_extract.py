"""Which statement cites which URL, by rules and by a model: forms of citation, reference lists, grouping, chunks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fact import by_url
from aiq.judges.fact_extract import agreement, chunks, cited_statements, extract_by_model, is_restatement, urls
from aiq.judges.fact_questions import FactCitation, FactQuestions
from tests.judges.parts import scripted

A, B = "https://a.example/x", "https://b.example/y"
LISTED = f"\n\n## References\n\n[1] A - {A}\n[2] B - {B}"


def citation(statement: str, url: str, reference: int | None = None) -> FactCitation:
    return FactCitation(statement=statement, reference=reference, url=url)


def pairs(text: str) -> list[tuple[str, int | None, str]]:
    return [(c.statement, c.reference, c.url) for c in cited_statements(text)]


async def by_model(session: Any, text: str) -> tuple[list[FactCitation], int]:
    return await extract_by_model(FactQuestions(None, tries=1), text, "en", session, max_chars=12_000, at_once=2)


async def extracted(text: str, *said: tuple[str, int | None, str]) -> tuple[list[FactCitation], int, Any]:
    answer = json.dumps({"citations": [{"statement": s, "reference": n, "url": u} for s, n, u in said]})
    async with scripted([answer]) as (session, endpoint):
        return *(await by_model(session, text)), endpoint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Tessmark has 12 ships [1].{LISTED}", [("Tessmark has 12 ships.", 1, A)]),
        (f"Tessmark has 12 ships【2†L10-L12】.{LISTED}", [("Tessmark has 12 ships.", 2, B)]),
        (f"Tessmark has 12 ships [1]({A}).", [("Tessmark has 12 ships.", 1, A)]),
        (f"[Tessmark]({A}) has 12 ships.", [("Tessmark has 12 ships.", None, A)]),
        (f"Tessmark has 12 ships ({A}).", [("Tessmark has 12 ships.", None, A)]),
    ],
)
async def test_all_forms_of_citation_are_extracted_by_rules_and_by_the_offline_model(
    offline: Any, text: str, expected: list[tuple[str, int | None, str]]
) -> None:
    assert pairs(text) == expected
    async with offline() as session:
        citations, _ = await by_model(session, text)
    assert [c.url for c in citations] == [url for _, _, url in expected]
    assert is_restatement(citations[0].statement, expected[0][0])


async def test_a_citation_found_by_the_model_is_kept_if_the_report_contains_its_url() -> None:
    text = f"It has 12 ships [1]. It is old [1]. It is rich [2]. Population is 900 15.{LISTED}"
    triples = (
        ("The port of Tessmark has 12 ships.", 1, A),
        ("Tessmark is rich.", 2, B),
        ("The population of Tessmark is 900.", 1, A),
        ("Made up.", 9, "https://nowhere.example/"),
    )
    citations, invented, _ = await extracted(text, *triples)
    assert [c.statement for c in citations] == [statement for statement, _, _ in triples[:3]]
    assert invented == 1
    counts = agreement(citations, cited_statements(text))
    assert counts == {"model": 3, "rules": 3, "model_in_rules": 2, "rules_in_model": 2}


async def test_a_report_without_urls_is_not_shown_to_a_model() -> None:
    citations, invented, endpoint = await extracted("Just words.")
    assert (citations, invented, endpoint.got) == ([], 0, [])


def test_agreement_compares_urls_and_words() -> None:
    model = [citation("Tessmark has 12 ships.", A), citation("Tessmark is a port.", B)]
    rules = [citation("It has 12 ships", A), citation("Tessmark is a port.", A), citation("Nothing of the kind.", B)]
    assert agreement(model, rules) == {"model": 2, "rules": 3, "model_in_rules": 1, "rules_in_model": 1}
    assert agreement([], []) == {"model": 0, "rules": 0, "model_in_rules": 0, "rules_in_model": 0}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It grew by 5% in 2024.", "The port of Tessmark grew by 5% in 2024.", True),
        ("该港口有12艘船。", "泰斯马克港口有12艘船。", True),
        ("该港口有12艘船。", "人口为九百万人左右。", False),
        ("The port has ships.", "Its mayor was elected in May.", False),
        ("", "", False),
        ("?!", "?!", False),
    ],
)
def test_two_wordings_of_one_statement(one: str, other: str, same: bool) -> None:
    assert is_restatement(one, other) is same
    assert is_restatement(other, one) is same


TABLE = "| Name | Founded | Head |\n| --- | --- | --- |\n| Halden | 1912 [1] | Ilan Corvey [2] |\n| Orm | – | – |"
LIST = "\n\n## References\n\n[1] Atlas - https://a.example/x\n[2] News: https://b.example/y?z=1.\n[10] Last https://c.example/(p)"


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It grew [1].", [("It grew.", 1, "https://a.example/x")]),
        ("It grew.[1] It fell. [2]", [("It grew.", 1, "https://a.example/x"), ("It fell.", 2, "https://b.example/y?z=1")]),
        ("It grew [1, 2].", [("It grew.", 1, "https://a.example/x"), ("It grew.", 2, "https://b.example/y?z=1")]),
        ("It grew [1][10].", [("It grew.", 1, "https://a.example/x"), ("It grew.", 10, "https://c.example/(p)")]),
        ("It grew [9].", []),
        ("It grew [the atlas](https://d.example/q).", [("It grew the atlas.", None, "https://d.example/q")]),
        ("It grew [3](https://d.example/q).", [("It grew.", 3, "https://d.example/q")]),
        ("It grew (https://d.example/q).", [("It grew.", None, "https://d.example/q")]),
        ("增长了[1]。下降了【2†L3】。", [("增长了。", 1, "https://a.example/x"), ("下降了。", 2, "https://b.example/y?z=1")]),
        ("- **Bold** item [1]", [("Bold item", 1, "https://a.example/x")]),
        ("In 3.5 years, e.g. by 2025, it grew [1].", [("In 3.5 years, e.g. by 2025, it grew.", 1, "https://a.example/x")]),
        ("It grew [1]. And it grew [1]. It grew [1].", [
            ("It grew.", 1, "https://a.example/x"), ("And it grew.", 1, "https://a.example/x"),
        ]),
        ("Nothing cited.", []),  # lines of the list are not statements
        (f"Text.\n\n{TABLE}\n\nIt grew [1].", [  # a cell of a table is a statement of its own
            ("Halden, Founded: 1912", 1, "https://a.example/x"),
            ("Halden, Head: Ilan Corvey", 2, "https://b.example/y?z=1"),
            ("It grew.", 1, "https://a.example/x"),
        ]),
    ],
)  # fmt: skip
def test_the_citing_sentence_is_the_statement(sentence: str, found: list[tuple[str, int | None, str]]) -> None:
    assert pairs(f"# A report\n\n{sentence}{LIST}") == found


def test_an_entry_may_span_lines_and_counts_with_its_first_url() -> None:
    references = "1. A title\n   https://a.example/1 and https://a.example/2\n2. Another. https://b.example"
    assert pairs(f"It grew [1]. It fell [2].\n\n## Sources\n\n{references}") == [
        ("It grew.", 1, "https://a.example/1"),
        ("It fell.", 2, "https://b.example"),
    ]


def test_the_urls_of_a_report_are_those_of_its_text_and_lists() -> None:
    text = (
        "See [x](https://d.example) and [4](https://e.example/#:~:text=a), 见https://f.example/中，以及 www.g.example."
        + LIST
    )
    assert sorted(urls(text)) == [
        "https://a.example/x",
        "https://b.example/y?z=1",
        "https://c.example/(p)",
        "https://d.example",
        "https://e.example/",
        "https://f.example/中",
    ]


def test_equal_statements_of_a_url_are_kept_once() -> None:
    citations = [citation(*pair) for pair in (("A b.", "u"), ("a B", "u"), ("C", "v"), ("D", "u"))]
    assert by_url(citations) == {"u": ["A b.", "D"], "v": ["C"]}


@given(st.text(alphabet=st.sampled_from("ab. \n。"), max_size=400), st.integers(min_value=5, max_value=50))
def test_chunks_lose_nothing_and_keep_their_size(text: str, most: int) -> None:
    pieces = chunks(text, most)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= most for piece in pieces)


@given(st.text(alphabet=st.sampled_from("aB1 []()【】*-#.\n。https://x.example,，"), max_size=300))
def test_no_report_breaks_the_reader(text: str) -> None:
    for citation in cited_statements(text):
        assert citation.statement
        assert citation.url.startswith("http")
