"""Citations out of a report by rules: reference lists, marks, link targets; everything else stays."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.parse import split_references, without_references
from aiq.citations.passages import without_citations

LIST = "[1] Atlas - https://atlas.example/a\n[2] News - https://news.example/b"


@pytest.mark.parametrize(
    "heading",
    [
        "## References",
        "# Sources:",
        "**References**",
        "References:",
        "### 5. Works Cited",
        "## 参考文献",
        "参考来源：",
        "**引用的著作**",
        "## 资料来源",
        "## Reference list",
    ],
)
def test_a_reference_list_is_split_off(heading: str) -> None:
    body, references = split_references(f"# Title\n\nText [1].\n\n---\n\n{heading}\n\n{LIST}\n")
    assert body == "# Title\n\nText [1]."
    assert references == LIST


def test_a_list_without_heading_at_the_end_is_one_too() -> None:
    assert without_references(f"Text [1].\n\n{LIST}") == "Text [1]."


def test_what_only_looks_like_a_list_stays() -> None:
    for text in (
        "## Sources\n\nThe river has two sources in the hills.",
        "Sources differ.\n\nMore text.",
        "1. One\n2. Two",
    ):
        assert without_references(text) == text


def test_what_follows_a_list_stays() -> None:
    assert without_references(f"A\n\n## References\n{LIST}\n\n## Appendix\n\nB").split() == ["A", "##", "Appendix", "B"]
    assert without_references(f"A [1].\n\nReferences:\n{LIST}\n\nAnd so it ends.").endswith("And so it ends.")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("It grew [1].", "It grew."),
        ("It grew [1][2], then fell [3, 4-6].", "It grew, then fell."),
        ("It grew [[1]](https://a.example/x_(y)).", "It grew."),
        ("It grew [1](https://a.example).", "It grew."),
        ("It grew[^3] a lot.", "It grew a lot."),
        ("It grew【4†L1-L9】。", "It grew。"),
        ("增长了[1]。", "增长了。"),
        ("【专家观点】增长", "【专家观点】增长"),
        ("See [the atlas](https://a.example) now", "See the atlas now"),
        ("See [the atlas](https://a.example 'x') now", "See the atlas now"),
        ("Rain (source: https://a.example/b) fell", "Rain fell"),
        ("Rain fell, see https://a.example/b.", "Rain fell, see."),
        ("See Fig.1 and v1.2 here", "See Fig.1 and v1.2 here"),
        ("x<sup>1, 2</sup> y", "x y"),
        ("`a[1]` and\n```\nb[2] https://c.example\n```\nc [3]", "`a[1]` and\n```\nb[2] https://c.example\n```\nc"),
        ("In [2024] prices", "In [2024] prices"),
    ],
)
def test_marks_go_and_words_stay(text: str, clean: str) -> None:
    assert without_citations(f"{text}\n\n## References\n\n{LIST}") == clean


def test_raised_numbers_that_lost_their_raising_go_where_they_are_a_habit() -> None:
    text = (
        " ".join(f"It came by inheritance.{n} This shows it." for n in (1, 2, 1, 2, 1, 2)) + " See Fig.1 and v1.2 here."
    )
    clean = without_citations(f"{text}\n\n## References\n\n{LIST}")
    assert clean == "It came by inheritance. This shows it. " * 6 + "See Fig.1 and v1.2 here."


@given(st.text(alphabet=st.sampled_from("ab1 []()#*^`~\n.-【】†参考文献:/https References"), max_size=200))
def test_cleaning_twice_is_cleaning_once_for_plain_reports(text: str) -> None:
    once = without_references(text)
    assert without_references(once) == once
    without_citations(text)


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "\n" * 20_000 + "a", "[1" * 10_000 + " " * 10_000, "`" * 20_000, "[1](" * 10_000, " " * 20_000],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    without_citations(text)
    assert time.perf_counter() - start < 3


@pytest.mark.shared_data
def test_real_reports_lose_their_citations_and_nothing_else(shared_data: Path, read_rows: Any) -> None:
    folder = shared_data / "deep_research_bench"
    rows = read_rows(folder / "raw_data/claude-3-7-sonnet-latest.jsonl.gz")
    for row in rows[::3] + read_rows(folder / "reference_science.jsonl.gz")[::2]:
        body, references = split_references(row["article"])
        clean = without_citations(row["article"])
        assert references, row["id"]
        assert "https://" not in clean, row["id"]
        most = 12 * body.count("[") + 120 * body.count("http") + 0.1 * len(body)
        assert len(clean) > len(body) - most, row["id"]
