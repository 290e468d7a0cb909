"""The real files, if they are beside the checkout."""

from pathlib import Path

import pytest

from tests.datasets.conftest import DRB, FRESHQA, loaded

pytestmark = pytest.mark.shared_data


def test_freshqa_plain_and_as_sheet_export(shared_data: Path) -> None:
    folder = shared_data / "freshqa"
    plain = loaded(FRESHQA, folder / "freshqa_dev.csv")
    assert [*plain.samples] == [*loaded(FRESHQA, folder / "freshqa_dev_sheet_export.csv").samples]
    assert [sample.id for sample in plain.samples] == [str(number) for number in range(500, 600)]
    assert all(sample.answers for sample in plain.samples)
    assert sum(sample.tags["false_premise"] == "TRUE" for sample in plain.samples) == 26
    assert sum(sample.tags["num_hops"] == "multi-hop" for sample in plain.samples) == 22


def test_deep_research_bench_with_references_elsewhere(shared_data: Path) -> None:
    folder = shared_data / "deep_research_bench"
    dataset = loaded(DRB, folder)
    assert dataset.size == 100
    assert sum(sample.question.language == "zh" for sample in dataset.samples) == 50
    assert all(sample.rubric is not None and sample.reference is None for sample in dataset.samples)
    references = str(folder / "reference_science.jsonl.gz")
    science = loaded(DRB, folder, ids=list(range(58, 66)), references=references, language="en")
    assert [sample.id for sample in science.samples] == [str(number) for number in range(58, 66)]
    for sample in science.samples:
        assert len(sample.reference or "") > 60_000
        assert sample.rubric is not None
        assert sum(sample.rubric.dimension_weight.values()) == pytest.approx(1)
