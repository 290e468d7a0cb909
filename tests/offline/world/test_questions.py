"""The mini FreshQA: official columns, the promised mixture, answers that the pages bear out."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from aiq.core.samples import TruthRow
from aiq.offline.world.command import generate

OFFICIAL = (
    "id,split,question,effective_year,next_review,false_premise,num_hops,fact_type,source,answer_0,answer_1,answer_2,"
    "answer_3,answer_4,answer_5,answer_6,answer_7,answer_8,answer_9,note"
)


@pytest.fixture(scope="module")
def rows(generated: Path) -> list[dict[str, str]]:
    return read(generated)


@pytest.fixture(scope="module")
def truths(generated: Path) -> dict[str, TruthRow]:
    lines = (generated / "freshqa_mini" / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return {row.sample_id: row for row in (TruthRow.model_validate(json.loads(line)) for line in lines)}


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / "freshqa_mini" / "freshqa_mini.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.shared_data
def test_official_columns(rows: list[dict[str, str]], shared_data: Path) -> None:
    assert ",".join(rows[0]) == OFFICIAL
    with (shared_data / "freshqa" / "freshqa_dev.csv").open(encoding="utf-8", newline="") as file:
        real = list(csv.DictReader(file))
    assert list(real[0]) == list(rows[0])
    for column in ("split", "false_premise", "num_hops", "fact_type"):
        assert {row[column] for row in real} <= {row[column] for row in rows}


def test_the_mixture(rows: list[dict[str, str]], truths: dict[str, TruthRow]) -> None:
    assert len({row["question"] for row in rows}) == len(rows) == 120
    assert sum(row["num_hops"] == "multi-hop" for row in rows) == 70
    assert sum(row["false_premise"] == "TRUE" for row in rows) == 24
    assert {row["num_hops"] for row in rows if row["false_premise"] == "TRUE"} == {"one-hop", "multi-hop"}
    paces = Counter(row["fact_type"] for row in rows if row["false_premise"] == "FALSE")
    assert all(25 <= count <= 40 for count in paces.values())
    assert Counter(truth.hops for truth in truths.values())[3] == 18
    assert sum(truth.needs_depth for truth in truths.values()) == 15


def test_truth_agrees_with_the_rows(rows: list[dict[str, str]], truths: dict[str, TruthRow]) -> None:
    assert list(truths) == [row["id"] for row in rows]
    for row in rows:
        truth = truths[row["id"]]
        assert (truth.hops > 1) == (row["num_hops"] == "multi-hop")
        if row["false_premise"] == "FALSE" and not truth.needs_depth:
            assert len(truth.facts) == truth.hops
            assert list(truth.facts[-1].forms) == [row[f"answer_{i}"] for i in range(10) if row[f"answer_{i}"]]


def test_the_last_source_bears_out_the_answer(rows: list[dict[str, str]], generated: Path) -> None:
    lines = (generated / "world" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    pages = {page["url"]: page["text"] for page in map(json.loads, lines)}
    for row in rows:
        sources = row["source"].split("\n")
        assert all(url in pages for url in sources)
        if row["false_premise"] == "FALSE" and row["question"].split()[0] not in ("Which", "How"):
            assert any(row["answer_0"] in pages[url] for url in sources[-1:]) or "born first" in row["question"]


def test_effective_year_is_when_the_answer_came_about(rows: list[dict[str, str]]) -> None:
    for row in rows:
        if row["fact_type"] == "never-changing":
            assert row["effective_year"] == "before 2022"
        if row["fact_type"] == "fast-changing":
            assert row["effective_year"] in {"before 2022", "2022", "2023", "2024", "2025", "2026"}
    assert {"2026", "before 2022"} <= {row["effective_year"] for row in rows}


def test_it_scales_with_unique_names_and_questions(tmp_path: Path) -> None:
    pages, questions, tasks = generate(tmp_path, seed=3, questions=900, tasks=40)
    assert (questions, tasks) == (900, 40)
    rows = read(tmp_path)
    assert len({row["question"] for row in rows}) == len({row["id"] for row in rows}) == 900
    lines = (tmp_path / "world" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [page for page in map(json.loads, lines) if "//atlas." in page["url"]]
    assert len({page["title"] for page in entries}) == len(entries)
    assert len({page["url"] for page in map(json.loads, lines)}) == pages
    languages = [
        json.loads(line)["language"] for line in (tmp_path / "drb_mini" / "query.jsonl").open(encoding="utf-8")
    ]
    assert Counter(languages) == {"en": 27, "zh": 13}


@pytest.mark.parametrize(("questions", "tasks"), [(1, 0), (0, 1), (7, 3)])
def test_any_size_works(questions: int, tasks: int, tmp_path: Path) -> None:
    assert generate(tmp_path, seed=5, questions=questions, tasks=tasks)[1:] == (questions, tasks)
