"""Filters: what they keep, in which order, and what they say when nothing is left."""

from typing import Any

import pytest

from aiq.core.errors import DatasetError
from aiq.core.samples import Question, Sample
from aiq.core.settings import DatasetSettings
from aiq.datasets.load import select

SAMPLES = tuple(
    Sample(
        id=str(number),
        question=Question(text=f"Question {number}", language="zh" if number % 5 == 0 else "en"),
        tags={
            "split": "DEV" if number % 2 else "TEST",
            "fact_type": ("fast-changing", "never-changing")[number % 3 > 0],
        },
    )
    for number in range(1, 31)
)


def chosen(*, seed: int = 0, limit: int | None = None, **filters: Any) -> list[int]:
    settings = DatasetSettings(target="a:B", name="numbers", **filters)
    return [int(sample.id) for sample in select(SAMPLES, settings, seed=seed, limit=limit)]


def test_without_filters_all_in_order() -> None:
    assert chosen() == list(range(1, 31))


def test_each_filter() -> None:
    assert chosen(ids=[17, "3"]) == [3, 17]
    assert chosen(ids=8) == [8]
    assert chosen(split="dev") == list(range(1, 31, 2))
    assert chosen(language="zh") == [5, 10, 15, 20, 25, 30]
    assert chosen(type="Fast-Changing") == list(range(3, 31, 3))
    assert chosen(limit=4) == [1, 2, 3, 4]


def test_filters_combine_and_the_limit_comes_last() -> None:
    assert chosen(split="DEV", type="fast-changing") == [3, 9, 15, 21, 27]
    assert chosen(split="DEV", type="fast-changing", limit=2) == [3, 9]
    assert chosen(sample=10, limit=3) == chosen(sample=10)[:3]


def test_a_sample_is_drawn_by_the_seed_and_keeps_the_order() -> None:
    first = chosen(sample=8)
    assert len(first) == 8
    assert first == sorted(first) == chosen(sample=8)
    assert first != chosen(sample=8, seed=1)
    assert set(chosen(sample=5)) < set(first)
    assert chosen(sample=99) == list(range(1, 31))


def test_an_unknown_id_is_named() -> None:
    with pytest.raises(DatasetError, match=r"dataset\.ids: numbers has no sample 99, x \(it has 30, from 1 to 30\)"):
        chosen(ids=[1, 99, "x"])


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"split": "TRAIN"}, r"dataset\.split=TRAIN leaves no sample; there are dev, test"),
        ({"language": "fr"}, r"dataset\.language=fr leaves no sample; there are en, zh"),
        ({"type": "slow-changing"}, r"dataset\.type=slow-changing leaves no sample; there are fast-changing, never"),
        ({"ids": [5], "split": "TEST"}, r"dataset\.split=TEST leaves no sample; there are dev"),
        ({"ids": []}, r"dataset\.ids is empty"),
    ],
)
def test_a_filter_that_leaves_nothing_is_named(filters: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        chosen(**filters)
