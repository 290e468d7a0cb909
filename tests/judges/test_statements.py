"""Which sentence cites which URL: the four citation forms, reference lists, grouping and chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.statements import Citation, by_url, chunks, cited_statements, urls

LIST = "\n\n## References\n\n[1] Atlas - https://a.example/x\n[2] News: https://b.example/y?z=1.\n[10] Last https://c.example/(p)"


def pairs(text: str) -> list[tuple[str, int | None, str]]:
    return [(c.statement, c.reference, c.url) for c in cited_statements(text)]


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
    ],
)  # fmt: skip
def test_the_citing_sentence_is_the_statement(sentence: str, found: list[tuple[str, int | None, str]]) -> None:
    assert pairs(f"# A report\n\n{sentence}{LIST}") == found


def test_reference_lines_are_no_statements() -> None:
    assert pairs(f"# A report\n\nNothing cited.{LIST}") == []


TABLE = "| Name | Founded | Head |\n| --- | --- | --- |\n| Halden | 1912 [1] | Ilan Corvey [2] |\n| Orm | – | – |"
CELLS = [
    ("Halden, Founded: 1912", 1, "https://a.example/x"),
    ("Halden, Head: Ilan Corvey", 2, "https://b.example/y?z=1"),
]


def test_a_cell_of_a_table_is_a_statement_of_its_own() -> None:
    assert pairs(f"Text.\n\n{TABLE}\n\nIt grew [1].{LIST}") == [*CELLS, ("It grew.", 1, "https://a.example/x")]


def test_an_entry_may_run_over_lines_and_counts_with_its_first_url() -> None:
    listed = "1. A title\n   https://a.example/1 and https://a.example/2\n2. Another. https://b.example"
    assert pairs(f"It grew [1]. It fell [2].\n\n## Sources\n\n{listed}") == [
        ("It grew.", 1, "https://a.example/1"),
        ("It fell.", 2, "https://b.example"),
    ]


def test_all_urls_of_a_report_in_text_and_lists() -> None:
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


def test_statements_of_a_url_are_kept_once() -> None:
    cited = [
        Citation(statement=s, reference=None, url=u) for s, u in (("A b.", "u"), ("a B", "u"), ("C", "v"), ("D", "u"))
    ]
    assert by_url(cited) == {"u": ["A b.", "D"], "v": ["C"]}


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
