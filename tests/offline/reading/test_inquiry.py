"""Deep research on short questions: next steps and answers from what was found."""

from datetime import UTC, datetime

import pytest

from aiq.offline.reading import inquiry
from aiq.offline.reading.documents import Document
from aiq.offline.writing import short

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CHAIN = "In which city was the founder of Arden Kites born?"
LISTED = "Who was born first: Mira Tolle, Oda Prill or Ilan Corvey?"
GROUP = "Which of the companies headquartered in Oster was founded first?"


def pages(*texts: tuple[str, str]) -> list[Document]:
    return [
        Document(key=f"https://pages.test/{rank}", title=title, text=text, rank=rank)
        for rank, (title, text) in enumerate(texts)
    ]


ARDEN = (
    "Arden Kites",
    "Arden Kites was founded by Mira Tolle. Arden Kites is headquartered in Oster. Arden Kites was founded in 1950.",
)
MIRA = ("Mira Tolle", "Mira Tolle was born in Lunde. Mira Tolle was born in 1931.")
BELLOW = ("Bellow Works", "Bellow Works is headquartered in Oster. Bellow Works was founded in 1920.")
CORIN = ("Corin Sails", "Corin Sails is headquartered in Lunde. Corin Sails was founded in 1901.")


@pytest.mark.parametrize(
    ("task", "short_answer"),
    [
        (CHAIN, True),
        (LISTED, True),
        (GROUP, True),
        ("Write a report on kite making in Oster.", False),
        ("How do birds navigate? What disturbs them?", False),
        ("What cues matter?", False),
        ("谁是市长？", False),
    ],
)
def test_which_tasks_are_questions(task: str, short_answer: bool) -> None:
    assert inquiry.is_question(task) is short_answer


def test_a_chain_is_followed_step_by_step() -> None:
    assert "Arden Kites: founder" in inquiry.queries(CHAIN, [], now=NOW, seed=1)
    assert "Mira Tolle: birthplace" in inquiry.queries(CHAIN, pages(ARDEN), now=NOW, seed=1)
    assert inquiry.queries(CHAIN, pages(ARDEN, MIRA), now=NOW, seed=1) == []
    found = inquiry.answer(CHAIN, pages(ARDEN, MIRA), now=NOW, seed=1)
    assert found.text == "Lunde"
    assert [e.answer for e in found.path] == ["Mira Tolle", "Lunde"]
    lacking = inquiry.answer(CHAIN, pages(ARDEN), now=NOW, seed=1)
    assert (lacking.text, lacking.missing) == ("", "the birthplace of Mira Tolle")


def test_listed_things_are_compared_when_all_are_known() -> None:
    oda = ("Oda Prill", "Oda Prill was born in 1925.")
    ilan = ("Ilan Corvey", "Ilan Corvey was born in 1960.")
    assert inquiry.answer(LISTED, pages(MIRA, oda), now=NOW, seed=1).text == ""
    assert any("Ilan Corvey" in query for query in inquiry.queries(LISTED, pages(MIRA, oda), now=NOW, seed=1))
    assert inquiry.answer(LISTED, pages(MIRA, oda, ilan), now=NOW, seed=1).text == "Oda Prill (1925)"


def test_a_group_is_made_of_what_states_its_membership() -> None:
    assert "companies headquartered in Oster" in inquiry.queries(GROUP, [], now=NOW, seed=1)
    found = inquiry.answer(GROUP, pages(ARDEN, BELLOW, CORIN), now=NOW, seed=1)
    assert found.text == "Bellow Works (1920)"  # Corin Sails is older, and elsewhere
    open_ = pages(ARDEN, ("Bellow Works", "Bellow Works is headquartered in Oster."))
    assert "Bellow Works: founding year" in inquiry.queries(GROUP, open_, now=NOW, seed=1)
    assert inquiry.answer(GROUP, open_, now=NOW, seed=1).text == ""


def test_a_count_is_a_number() -> None:
    question = "How many of the companies headquartered in Oster were founded before 1930?"
    assert inquiry.answer(question, pages(ARDEN, BELLOW, CORIN), now=NOW, seed=1).text == "1"


def test_the_report_answers_first_and_cites_what_carries_the_answer() -> None:
    found = inquiry.answer(CHAIN, pages(ARDEN, MIRA), now=NOW, seed=1)
    text = short.write(CHAIN, found, 1, references=True)
    title, lead, *rest = text.split("\n\n")
    assert title.startswith("# In which city")
    assert "Lunde [1]" in lead
    assert rest[-1].startswith("[1] Mira Tolle - https://pages.test/1\n[2] Arden Kites - ")
    assert "## References" not in short.write(CHAIN, found, 1, references=False)


def test_without_an_answer_the_report_says_what_is_missing() -> None:
    found = inquiry.answer(CHAIN, pages(ARDEN), now=NOW, seed=1)
    assert "do not give the birthplace of Mira Tolle" in short.write(CHAIN, found, 1, references=True)
