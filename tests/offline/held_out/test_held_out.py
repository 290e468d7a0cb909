"""The shipped researcher on questions in wording its authors have not seen. Failures show only aggregates."""

import pytest

from tests.offline.held_out.measure import measure, states, table

pytestmark = pytest.mark.slow

_LEAST = 0.6


@pytest.mark.whole
def test_it_answers_questions_in_unseen_wording() -> None:
    accuracies = measure("ordinary")
    assert (accuracies["all"].judged or 0.0) >= _LEAST, table(accuracies)


@pytest.mark.parametrize(
    ("report", "form", "stated"),
    [
        ("The mill has 1,200 looms [1].", "1200", True),
        ("The mill has 12,001 looms.", "1200", False),
        ("It is **Oda Prill**[2].", "oda prill", True),
        ("Nothing is known.", "No", False),
        ("# Oda Prill\n\nNobody knows.", "Oda Prill", False),
        ("Nobody knows.\n\n## References\n[1] Oda Prill - https://a.example", "Oda Prill", False),
        ("所长是林岚[1]。", "林岚", True),
        ("", "Oda Prill", False),
    ],
)
def test_an_answer_counts_as_whole_words_in_the_first_paragraph(report: str, form: str, stated: bool) -> None:
    assert states(report, [form]) is stated
