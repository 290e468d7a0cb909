"""Recorded answers of judge models, usable and malformed (`answers.jsonl`), as each reader parses them.

`expected` is null if the answer must be refused, because one would have to guess.
"""

import contextlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fact_questions import read_citations, read_kept, read_verdicts
from aiq.judges.fresheval import read_verdict
from aiq.judges.race_criteria import read_criteria, read_weights
from aiq.judges.race_scores import compare
from aiq.judges.structured import ModelAnswer, Unusable, read_as
from tests.judges.parts import RUBRIC


class AnyObject(ModelAnswer, extra="allow"):
    """A form that fits any object."""


READERS: dict[str, Any] = {
    "fresheval": read_verdict,
    "object": lambda answer: read_as(AnyObject, answer).model_extra,
    "citations": read_citations,
    "kept": read_kept,
    "verdicts": read_verdicts,
    "official_citations": partial(read_citations, official=True),
    "official_kept": partial(read_kept, official=True),
    "official_verdicts": partial(read_verdicts, official=True),
    "race": partial(compare, rubric=RUBRIC),
    "weights": read_weights,
    "criteria": read_criteria,
}
ROWS = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['reader']}-{row['answer'][:30]!a}")
def test_an_answer_is_read_as_recorded(row: dict[str, Any]) -> None:
    about = [row["statements"]] if "statements" in row else []
    if row["expected"] is None:
        with pytest.raises(Unusable, match=r"^[^\n]+$"):
            READERS[row["reader"]](row["answer"], *about)
    else:
        assert READERS[row["reader"]](row["answer"], *about) == row["expected"]


@pytest.mark.parametrize(
    "answer", ["{" * 100_000, '{"a":' * 5000, "{" * 300 + '{"a": 1}', '{"a": ' + "9" * 5000 + "}"], ids=range(4)
)
def test_hostile_answers_are_refused_at_once(answer: str) -> None:
    with pytest.raises(Unusable):
        READERS["object"](answer)


@given(st.sampled_from(list(READERS)), st.text())
def test_no_text_breaks_a_reader(reader: str, text: str) -> None:
    about = [2] if reader.endswith(("kept", "verdicts")) else []
    with contextlib.suppress(Unusable):
        READERS[reader](text, *about)


@given(st.text(), st.text())
def test_words_around_never_turn_incorrect_into_correct(before: str, after: str) -> None:
    try:
        assert read_verdict(f"{before}\nevaluation: incorrect\n{after}") is False
    except Unusable:
        assert "evaluation" in (before + after).lower() or "credited" in (before + after).lower()
