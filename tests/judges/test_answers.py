"""Recorded answers of judge models, usable and malformed (`answers.jsonl`): what each reader makes of them.

`expected` is null where the answer must be refused, because one would have to guess.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fact_questions import (
    read_citations,
    read_kept,
    read_official_citations,
    read_official_kept,
    read_official_verdicts,
    read_verdicts,
)
from aiq.judges.fresheval import read_verdict
from aiq.judges.race_criteria import read_criteria, read_weights
from aiq.judges.race_scores import RaceOutcome, compare
from aiq.judges.structured import Unusable, read_object
from tests.judges.parts import RUBRIC


def read_race(answer: str) -> RaceOutcome:
    return compare(answer, RUBRIC)


READERS: dict[str, Any] = {
    "fresheval": read_verdict,
    "object": read_object,
    "citations": read_citations,
    "kept": read_kept,
    "verdicts": read_verdicts,
    "official_citations": read_official_citations,
    "official_kept": read_official_kept,
    "official_verdicts": read_official_verdicts,
    "race": read_race,
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
        read_object(answer)


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
