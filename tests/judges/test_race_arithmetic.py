"""RACE's arithmetic against a plain recomputation, and its aggregation against officially published figures."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.samples import Criterion, Rubric
from aiq.judges.race_scores import DIMENSIONS, Mark, match, outcome, published, weighted_means

NAMES = st.text(alphabet="abcAB ", min_size=1, max_size=6).filter(lambda name: name.strip() == name)
SCORES = st.floats(min_value=0, max_value=10)


def criteria(*named: tuple[str, float]) -> tuple[Criterion, ...]:
    return tuple(Criterion(criterion=name, explanation="", weight=weight) for name, weight in named)


def official_weight(name: str, named: Sequence[Criterion]) -> float:
    """The official look-up, entry by entry: equal, equal but for case, contained, mean."""
    for test in (
        lambda key: key == name,
        lambda key: key.lower() == name.lower(),
        lambda key: name.lower() in key.lower() or key.lower() in name.lower(),
    ):
        for criterion in named:
            if test(criterion.criterion):
                return criterion.weight
    return sum(criterion.weight for criterion in named) / len(named)


SPELLINGS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: text.upper(),
    lambda text: text[:-8],
    lambda text: text + " (sic)",
    lambda text: "zzz",
]
"""How a model may write a criterion: as it is, in capitals, shortened, with an addition, or as something else."""


@st.composite
def scorecards(draw: st.DrawFn) -> tuple[Rubric, dict[str, list[Mark]]]:
    weight = st.floats(min_value=0.01, max_value=1)
    rubric = Rubric(
        dimension_weight={name: draw(weight) for name in DIMENSIONS},
        criteria={
            name: tuple(
                Criterion(criterion=f"{name} criterion number {n} of many", explanation="", weight=draw(weight))
                for n in range(draw(st.integers(1, 5)))
            )
            for name in DIMENSIONS
        },
    )
    spellings = st.sampled_from(SPELLINGS)
    marks = {
        name: [
            Mark(criterion=draw(spellings)(c.criterion), ours=draw(SCORES), reference=draw(SCORES))
            for c in rubric.criteria[name]
        ]
        for name in DIMENSIONS
    }
    return rubric, marks


@given(scorecards())
def test_the_outcome_is_the_official_one(case: tuple[Rubric, dict[str, list[Mark]]]) -> None:
    rubric, marks = case
    ours_total = reference_total = 0.0
    result = outcome(marks, rubric)
    for name in DIMENSIONS:
        weights = [official_weight(mark.criterion, rubric.criteria[name]) for mark in marks[name]]
        ours = sum(m.ours * w for m, w in zip(marks[name], weights, strict=True)) / sum(weights)
        reference = sum(m.reference * w for m, w in zip(marks[name], weights, strict=True)) / sum(weights)
        share = ours / (ours + reference) if ours + reference else 0.0
        assert result.dimensions[name].share == pytest.approx(share, abs=1e-12)
        ours_total += ours * rubric.dimension_weight[name]
        reference_total += reference * rubric.dimension_weight[name]
    total = ours_total + reference_total
    assert result.overall.share == pytest.approx(ours_total / total if total else 0.0, abs=1e-12)
    assert list(result.unmatched) == [
        mark.criterion for name in DIMENSIONS for mark in marks[name] if mark.criterion == "zzz"
    ]


def test_a_worked_example() -> None:
    named = criteria(("Depth", 0.75), ("Breadth", 0.25))
    means = weighted_means(
        [Mark(criterion="depth ", ours=8, reference=6), Mark(criterion="Breadth of it", ours=4, reference=10)], named
    )
    assert (means.ours, means.reference) == (7.0, 7.0)
    assert means.share == 0.5


def test_matching_goes_from_equal_to_contained() -> None:
    named = criteria(("A", 1), ("A and B", 1), ("Costs", 1))
    assert match(["A and B.", "a", "Running COSTS"], named) == [1, 0, 2]
    assert match(["nothing like it at ll", "A"], criteria(("A", 1))) == [None, 0]
    assert match(["A", "A"], criteria(("A", 1), ("B", 1))) == [0, 0]


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(NAMES, max_size=6))
def test_no_criterion_is_given_away_twice_by_containment(keys: list[str], names: list[str]) -> None:
    found = match(names, criteria(*((key, 1.0) for key in keys)))
    equal = [key.lower() for key in keys]
    for position in range(len(keys)):
        takers = [name for name, at in zip(names, found, strict=True) if at == position]
        assert len([name for name in takers if name.lower() not in equal]) <= 1


def test_nothing_against_nothing_is_zero_as_officially() -> None:
    means = weighted_means([Mark(criterion="A", ours=0, reference=0)], criteria(("A", 1.0)))
    assert means.share == 0.0


@pytest.mark.shared_data
def test_published_results_to_all_printed_digits(shared_data: Path, read_rows: Any) -> None:
    folder = shared_data / "deep_research_bench/results/race"
    rows = read_rows(folder / "claude-3-7-sonnet-latest.raw_results.jsonl")
    names = (*DIMENSIONS, "overall_score")
    means = published([{name: row[name] for name in names} for row in rows])
    printed = (folder / "claude-3-7-sonnet-latest.race_result.txt").read_text(encoding="utf-8")
    figures = re.findall(r"^(.+): ([\d.]+)$", printed, re.MULTILINE)
    assert len(rows) == 100
    assert len(figures) == 5
    for label, figure in figures:
        name = label.lower().replace(" ", "_")
        assert f"{means[name]:.4f}" == figure, name
