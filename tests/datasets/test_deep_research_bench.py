"""Deep Research Bench: flat, nested, single file, gzipped; criteria and references that are missing or broken."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, DatasetError
from aiq.core.samples import Sample
from tests.cases import table
from tests.datasets.conftest import DRB, loaded

each = table(__file__)

QUERIES = [
    {"id": 1, "topic": "Health", "language": "en", "prompt": "Survey the clinics."},
    {"id": 2, "topic": "History", "language": "zh", "prompt": "请调研历史。"},
]
BREADTH = {"criterion": "Breadth", "explanation": "All clinics.", "weight": 1.0, "comment": "x"}
DEPTH = {"criterion": "Depth", "explanation": "Why.", "weight": 1.0}
CRITERIA: list[dict[str, Any]] = [
    {
        "id": query["id"],
        "prompt": query["prompt"],
        "dimension_weight": {"comprehensiveness": 0.6, "insight": 0.4},
        "criterions": {"comprehensiveness": [BREADTH], "insight": [DEPTH]},
    }
    for query in QUERIES
]
REFERENCES = [{"id": query["id"], "prompt": query["prompt"], "article": f"Article {query['id']}"} for query in QUERIES]
FILES = {
    "query.jsonl": ("data/prompt_data", QUERIES),
    "criteria.jsonl": ("data/criteria_data", CRITERIA),
    "reference.jsonl": ("data/test_data/cleaned_data", REFERENCES),
}


def write(path: Path, rows: list[dict[str, Any]], packed: bool = False) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.with_name(path.name + ".gz") if packed else path
    path.write_bytes(gzip.compress(text) if packed else text)
    return path


def flat(folder: Path, packed: bool = False) -> Path:
    for name, (_, rows) in FILES.items():
        write(folder / name, rows, packed)
    return folder


def read(path: Path, **more: Any) -> tuple[Sample, ...]:
    return tuple(loaded(DRB, path, **more).samples)


def test_a_task_becomes_a_sample(tmp_path: Path) -> None:
    first, second = read(flat(tmp_path))
    assert (first.id, first.question.text, first.question.language) == ("1", "Survey the clinics.", "en")
    assert (first.reference, first.tags) == ("Article 1", {"topic": "Health", "language": "en"})
    assert first.rubric is not None
    assert first.rubric.dimension_weight == {"comprehensiveness": 0.6, "insight": 0.4}
    assert first.rubric.criteria["comprehensiveness"][0].criterion == "Breadth"
    assert second.question.language == "zh"
    assert read(tmp_path, language="zh") == (second,)


def test_every_layout_gives_the_same_samples(tmp_path: Path) -> None:
    expected = read(flat(tmp_path / "flat"))
    assert read(flat(tmp_path / "packed", packed=True)) == expected
    assert read(tmp_path / "flat" / "query.jsonl") == expected
    for name, (folder, rows) in FILES.items():
        write(tmp_path / "official" / folder / name, rows)
    assert read(tmp_path / "official") == expected
    assert read(tmp_path / "official" / "data") == expected
    queries = write(tmp_path / "a" / "tasks.jsonl", QUERIES)
    criteria = write(tmp_path / "b" / "mine.jsonl", CRITERIA)
    articles = write(tmp_path / "c" / "theirs.jsonl", REFERENCES, packed=True)
    assert read(queries, criteria=str(criteria), references=str(articles)) == expected


def test_tasks_without_criteria_or_reference_have_none(tmp_path: Path) -> None:
    folder = flat(tmp_path)
    write(folder / "criteria.jsonl", CRITERIA[:1])
    write(folder / "reference.jsonl", REFERENCES[1:])
    first, second = read(folder)
    assert (first.rubric is None, first.reference) == (False, None)
    assert (second.rubric, second.reference) == (None, "Article 2")
    (folder / "criteria.jsonl").unlink()
    (folder / "reference.jsonl").unlink()
    assert [(sample.rubric, sample.reference) for sample in read(folder)] == [(None, None)] * 2


def test_the_form_with_question_and_expected_output(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 9, "question": "Survey?", "expected_output": "An article."}]))
    (sample,) = read(path)
    assert (sample.id, sample.question.text, sample.reference) == ("9", "Survey?", "An article.")


@each("change")
def test_broken_criteria_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = flat(tmp_path)
    write(folder / "criteria.jsonl", [CRITERIA[0], {**CRITERIA[1], **change}])
    with pytest.raises(DatasetError) as caught:
        read(folder)
    assert message in str(caught.value)
    assert str(folder / "criteria.jsonl") in str(caught.value)


def test_missing_files_and_cells_are_named(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.jsonl")
    with pytest.raises(DatasetError, match=r"has no query\.jsonl or data/prompt_data/query\.jsonl"):
        read(tmp_path)
    with pytest.raises(DatasetError, match="there is no file or folder"):
        read(tmp_path / "absent")
    for setting in ("criteria", "references"):
        with pytest.raises(DatasetError, match=rf"check dataset\.{setting}"):
            read(flat(tmp_path), **{setting: absent})
    with pytest.raises(ConfigError, match=r"dataset\.critera: there is no such setting"):
        read(tmp_path, critera="x")
    for name, row, message in (
        ("reference.jsonl", {"id": 1, "article": " "}, "line 1: no article"),
        ("query.jsonl", {"id": 1, "prompt": ""}, "line 1: no prompt"),
    ):
        write(flat(tmp_path) / name, [row])
        with pytest.raises(DatasetError, match=message):
            read(tmp_path)
