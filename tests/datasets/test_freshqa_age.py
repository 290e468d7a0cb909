"""FreshQA's tag `age`: what is old and new goes by the release, wherever that is stated."""

import csv
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError
from aiq.core.samples import Sample
from aiq.core.settings import DatasetSettings
from aiq.datasets import load

ROW = {"id": "7", "question": "Who is the mayor of Tessmark?", "effective_year": "2026", "answer_0": "Ilan Corvey"}


def written(tmp_path: Path, rows: list[dict[str, str]], name: str = "freshqa.csv") -> Path:
    path = tmp_path / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path, **more: Any) -> tuple[Sample, ...]:
    settings = DatasetSettings(target="aiq.datasets.freshqa:FreshQA", name="freshqa", path=str(path), **more)
    return load(settings, seed=0, limit=None).samples


@pytest.mark.parametrize(
    ("release", "effective", "age"),
    [
        ("v112425", "2025", "new"),
        ("FreshQA_v042126", "2025", "new"),
        ("FreshQA_v042126", "2024", "old"),
        ("2025-11-24", "2024", "new"),
        (2025, "2023", "old"),
        (2025, "before 2022", "old"),
        (2022, "before 2022", "new"),  # what came about in 2021 may be new to a release of 2022
        (2022, "before 2021", "old"),
        (2025, "N/A", None),
        (None, "2025", None),
    ],
)
def test_old_and_new_go_by_the_release(tmp_path: Path, release: Any, effective: str, age: str | None) -> None:
    path = written(tmp_path, [{**ROW, "effective_year": effective}])
    assert read(path, release=release)[0].tags.get("age") == age


@pytest.mark.parametrize("name", ["FreshQA_v112425.csv", "FreshQA_v112425 - freshqa.csv", "freshqa_V112425_dev.csv"])
def test_the_release_is_read_from_the_files_name(tmp_path: Path, name: str) -> None:
    rows = [{**ROW, "id": str(year), "effective_year": str(year)} for year in (2022, 2023, 2024, 2025)]
    samples = read(written(tmp_path, rows, name))
    assert [sample.tags["age"] for sample in samples] == ["old", "old", "new", "new"]
    assert read(tmp_path / name, release="2023")[0].tags["age"] == "new"  # the setting says it louder


@pytest.mark.parametrize("name", ["freshqa_v2.csv", "v133325.csv", "v1124256.csv", "112425.csv"])
def test_other_numbers_in_a_name_are_no_release(tmp_path: Path, name: str) -> None:
    assert "age" not in read(written(tmp_path, [ROW], name))[0].tags


@pytest.mark.parametrize("release", ["soon", "v1", "24.11.2025", "20251124"])
def test_a_release_that_is_none_is_refused(tmp_path: Path, release: object) -> None:
    with pytest.raises(ConfigError, match=r"release.*write a release such as v112425"):
        read(written(tmp_path, [ROW]), release=release)
