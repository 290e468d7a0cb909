"""Search terms of each script, and passages."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from aiq.tools.ranking import WINDOW, passages, tokens
from tests.cases import table

each = table(__file__)


@each("text")
def test_terms_of_each_script(text: str, expected: list[str]) -> None:
    assert tokens(text) == [unicodedata.normalize("NFKC", term) for term in expected]


@given(st.text(), st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_gives_the_terms_of_its_parts_without_space_or_case(left: str, right: str) -> None:
    terms = tokens(left)
    assert all(term == term.lower() and not any(c.isspace() for c in term) and term for term in terms)
    assert tokens(f"{right}\n|\n{left}") == tokens(right) + terms


@given(st.text(alphabet="日本語中文维摩拉", min_size=2), st.from_regex(r"[a-zA-Z']{1,20}", fullmatch=True))
def test_every_pair_of_a_chinese_run_is_found_and_case_does_not_count(run: str, word: str) -> None:
    assert tokens(run) == [run[i : i + 2] for i in range(len(run) - 1)]
    assert tokens(word.upper()) == tokens(word.lower())


def test_short_paragraphs_share_a_passage_and_a_long_one_is_cut_between_sentences() -> None:
    assert passages("History\nFounded in 1874.\n\nBurnt in 1901.") == ["History\nFounded in 1874.\nBurnt in 1901."]
    for sentence in ("The river Orl rises in the hills above Tessmark and runs south. ", "研究所成立于一八七四年。"):
        parts = passages(sentence * 150)
        assert len(parts) > 1
        assert all(len(passage) <= WINDOW and passage.endswith(sentence.strip()[-3:]) for passage in parts)


@given(st.text(alphabet=st.sampled_from("ab .。!\n字é"), max_size=4000))
def test_nothing_but_white_space_is_lost_and_no_passage_is_too_long(text: str) -> None:
    parts = passages(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(passage) <= WINDOW for passage in parts)
