"""The shallow researcher's program over whole datasets: better with more searches, and sane on real questions."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from aiq.core.paths import shipped
from aiq.tools.corpus import Corpus

REFERENCE = re.compile(r"^\[\d+\] .* - (\S+)$", re.MULTILINE)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace(",", "")))


def right(answer: str, row: dict[str, str]) -> bool:
    """Whether one of the accepted answers stands in it as a whole."""
    accepted = [plain(value) for name, value in row.items() if name.startswith("answer_") and value]
    return any(f" {value} " in f" {plain(answer)} " for value in accepted)


def test_more_searches_help_on_questions_of_several_hops_and_then_no_more(ask_of: Any) -> None:
    corpus = Corpus.load(shipped("benchmarks/world"))
    asked = [
        row
        for row in rows(shipped("benchmarks/freshqa_mini") / "freshqa_mini.csv")
        if row["num_hops"] == "multi-hop" and row["false_premise"] == "FALSE"
    ][:40]
    share = {
        budget: sum(right(ask_of(corpus, row["question"], budget=budget).lead, row) for row in asked) / len(asked)
        for budget in (1, 2, 3, 5, 8)
    }
    assert share[1] < share[2] < share[3] <= share[5] <= share[8]
    assert share[3] - share[1] > 0.3
    assert share[8] - share[5] < 0.1
    assert 0.4 < share[5] < 0.95


@pytest.mark.shared_data
def test_real_questions_get_sane_answers(ask_of: Any, shared_data: Path, shallow_prompt: Any) -> None:
    corpus = Corpus.load(shared_data / "freshqa" / "pages.jsonl.gz")
    system = shallow_prompt(current_datetime="2023-11-20T00:00:00+00:00")
    correct = 0
    for row in rows(shared_data / "freshqa" / "freshqa_dev.csv")[::2]:
        talk = ask_of(corpus, row["question"], system=system, chars=4000)
        cited = REFERENCE.findall(talk.answer)
        assert 20 < len(talk.answer) < 2500
        assert set(cited) <= set(talk.seen)
        assert bool(cited) == ("[1]" in talk.answer)
        correct += row["false_premise"] == "FALSE" and right(talk.answer, row)
    assert correct >= 4
