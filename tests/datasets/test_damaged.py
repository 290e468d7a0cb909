"""Tasks multiplied by damages and degrees."""

from typing import Any

import pytest

from aiq.core.errors import ConfigError
from aiq.core.settings import DatasetSettings
from aiq.datasets import Dataset, load

TARGET = "aiq.datasets.perturbed:DamagedBench"


def loaded(**more: Any) -> Dataset:
    settings = {"target": TARGET, "name": "d", "path": "benchmarks/drb_mini", "damages": {"facts": [50, 10]}, **more}
    return load(DatasetSettings.model_validate(settings), seed=0, limit=None)


def test_every_task_has_its_undamaged_report_and_each_degree() -> None:
    found = loaded(tasks=2)
    assert [sample.id for sample in found.samples] == [
        *("1.none.0", "1.facts.10", "1.facts.50"), *("2.none.0", "2.facts.10", "2.facts.50"),
    ]  # fmt: skip
    assert len(loaded(tasks=2, damages={"facts": [10], "numbers": None}).samples) == 4
    sample = found.samples[2]
    assert (sample.tags["base"], sample.tags["damage"], sample.tags["degree"]) == ("1", "facts", "50")
    assert sample.truth is not None
    assert sample.truth == found.samples[0].truth
    assert sample.reference
    assert loaded(ids=["3.none.0"]).samples[0].question == loaded().samples[6].question


@pytest.mark.parametrize("damages", [{}, {"facts": []}, {"facts": [0]}, {"facts": ["many"]}])
def test_degrees_that_are_none_are_refused(damages: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="damages"):
        loaded(damages=damages)
