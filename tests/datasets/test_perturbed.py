"""One sample for every combination of task, perturbation and severity."""

from typing import Any

import pytest

from aiq.core.errors import ConfigError
from aiq.datasets import Dataset
from aiq.datasets.perturbed import Perturbed
from tests.datasets.conftest import loaded


def perturbed(**more: Any) -> Dataset:
    settings = {"perturbations": {"facts": [50, 10]}, **more}
    return loaded("aiq.datasets.perturbed:PerturbedBench", "benchmarks/drb_mini", **settings)


def test_every_task_has_its_undamaged_report_and_each_severity() -> None:
    dataset = perturbed(tasks=2)
    assert [sample.id for sample in dataset.samples] == [
        *("1.none.0", "1.facts.10", "1.facts.50"), *("2.none.0", "2.facts.10", "2.facts.50"),
    ]  # fmt: skip
    assert len(perturbed(tasks=2, perturbations={"facts": [10], "numbers": None}).samples) == 4
    sample = dataset.samples[2]
    assert (sample.tags["base"], sample.tags["perturbation"], sample.tags["severity"]) == ("1", "facts", "50")
    assert sample.truth is not None
    assert sample.truth == dataset.samples[0].truth
    assert sample.reference
    assert perturbed(ids=["3.none.0"]).samples[0].question == perturbed().samples[6].question


@pytest.mark.parametrize("perturbations", [{}, {"facts": []}, {"facts": [0]}, {"facts": ["many"]}])
def test_invalid_severities_are_refused(perturbations: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="perturbations"):
        perturbed(perturbations=perturbations)


def test_ids_are_parsed_into_their_parts() -> None:
    assert Perturbed.parse(Perturbed("7.x", "facts", 25).id) == ("7.x", "facts", 25)
    assert Perturbed("7", "facts", 25).tags == {"base": "7", "perturbation": "facts", "severity": "25"}
    assert [Perturbed.parse(text) for text in ("7", "7.25", "", ".facts.25", "7.facts.-1", "7..2")] == [None] * 6
