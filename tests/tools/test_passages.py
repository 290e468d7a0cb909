from hypothesis import given
from hypothesis import strategies as st

from aiq.tools.ranking import WINDOW, passages


def test_short_paragraphs_share_a_passage() -> None:
    assert passages("History\nFounded in 1874.\n\nBurnt in 1901.") == ["History\nFounded in 1874.\nBurnt in 1901."]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentence = "The river Orl rises in the hills above Tessmark and runs south. "
    found = passages(sentence * 40)
    assert len(found) > 2
    assert all(len(passage) <= WINDOW and passage.endswith("south.") for passage in found)


def test_chinese_is_cut_after_its_full_stop() -> None:
    found = passages("维尔莫拉研究所成立于一八七四年。" * 200)
    assert len(found) > 2
    assert all(passage.endswith("。") for passage in found)


@given(st.text(alphabet=st.sampled_from("ab .。!\n字é"), max_size=4000))
def test_nothing_but_white_space_is_lost_and_no_passage_is_too_long(text: str) -> None:
    found = passages(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(passage) <= WINDOW for passage in found)
