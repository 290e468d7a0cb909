"""The verdict table of the benchmark's specification (benchmarks-details 4.2), and what else counts as none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fresheval import read_verdict
from aiq.judges.structured import Unusable

INCORRECT = "evaluation: incorrect"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("comment: no\nevaluation: incorrect", False),
        ("comment: no\nevaluation: incorrect\n\nNote: strict.", False),
        ("evaluation: incorrect\ncomment: wrong", False),
        ("comment: x. Thus, the response is not credited.", False),
        ("comment: x. Thus, the response is credited.", True),
        ("comment: fine\nevaluation: correct", True),
        ("comment: fine\nevaluation: correct\n\n", True),
        ("evaluation: correct\r\ncomment: fine", True),
        ("comment: fine\n**evaluation:** correct", True),
        ("comment: fine\nEvaluation: Correct", True),
        ("comment: x. Thus, the response is credited.\nevaluation: correct", True),
        ("<think>so far\nevaluation: correct\nbut wait</think>evaluation: incorrect", False),
    ],
)
def test_a_verdict_is_read_after_all_lines(answer: str, verdict: bool) -> None:
    assert read_verdict(answer) is verdict


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n\n",
        "I cannot evaluate this.",
        "<think>so far\nevaluation: correct\nbut wait",
        "evaluation: incorrect.",
        "evaluation:",
        "evaluation: correct or incorrect",
        "evaluation: correct, mostly",
        "evaluation: not correct",
        "evaluation: true",
        "evaluation: 正确",
        "evaluation: correct\nevaluation: incorrect",
        "evaluation: correct\nevaluation: correct",
        "Thus, the response is credited.\nevaluation: incorrect",
        "Thus, the response is credited. Thus, the response is not credited.",
        "My evaluation: correct",
        '{"evaluation": "correct"}',
        "The response is correct.",
    ],
)
def test_anything_but_exactly_one_verdict_is_unusable(answer: str) -> None:
    with pytest.raises(Unusable):
        read_verdict(answer)


@given(st.text(), st.text())
def test_words_around_never_turn_incorrect_into_correct(before: str, after: str) -> None:
    answer = f"{before}\n{INCORRECT}\n{after}"
    try:
        assert read_verdict(answer) is False
    except Unusable:
        assert "evaluation" in (before + after).lower() or "credited" in (before + after).lower()
