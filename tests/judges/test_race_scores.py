"""RACE's arithmetic compared with a plain version of the official one (published figures: `test_official`)."""

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.samples import Criterion, Rubric
from aiq.judges.race_scores import DIMENSIONS, FIGURES, compare, match
from tests.judges.parts import Card

NAMES = st.text(alphabet="abcAB ", min_size=1, max_size=6).filter(lambda name: name.strip() == name)


def criteria(*named: tuple[str, float]) -> tuple[Criterion, ...]:
    return tuple(Criterion(criterion=name, explanation="", weight=weight) for name, weight in named)


def test_matching_goes_from_equal_to_contained() -> None:
    task_criteria = criteria(("A", 1), ("A and B", 1), ("Costs", 1))
    assert match(["A and B.", "a", "Running COSTS"], task_criteria) == [1, 0, 2]
    assert match(["nothing like it at ll", "A"], criteria(("A", 1))) == [None, 0]
    assert match(["A", "A"], criteria(("A", 1), ("B", 1))) == [0, 0]


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(NAMES, max_size=6))
def test_no_criterion_is_matched_twice_by_containment(keys: list[str], names: list[str]) -> None:
    positions = match(names, criteria(*((key, 1.0) for key in keys)))
    equal = [key.lower() for key in keys]
    for position in range(len(keys)):
        takers = [name for name, at in zip(names, positions, strict=True) if at == position]
        assert len([name for name in takers if name.lower() not in equal]) <= 1


@pytest.mark.parametrize(
    ("first", "second", "share", "mean"),
    [((8, 6), (4, 10), 0.5, 7.0), ((0, 0), (0, 0), 0.0, 0.0)],  # 0 against 0 is a share of 0, as officially
)
def test_a_worked_example(first: tuple[int, int], second: tuple[int, int], share: float, mean: float) -> None:
    """The same in every dimension: criteria of weights 0.75 and 0.25, with (ours, reference) for each."""
    task = Rubric(
        dimension_weight=dict.fromkeys(DIMENSIONS, 0.25),
        criteria=dict.fromkeys(DIMENSIONS, criteria(("Depth", 0.75), ("Breadth", 0.25))),
    )
    marks = (("depth ", *first), ("Breadth of it", *second))
    entries = [{"criterion": n, "article_1_score": ours, "article_2_score": theirs} for n, ours, theirs in marks]
    outcome = compare(json.dumps(dict.fromkeys(DIMENSIONS, entries)), task)
    assert outcome.figures == dict.fromkeys(FIGURES, share)
    assert outcome.means == dict.fromkeys(("ours", "reference"), dict.fromkeys(FIGURES, mean))


_WORDS = (
    "harbour", "tariff", "census", "dialect", "glacier", "subsidy", "voltage", "migration", "orchard", "treaty",
    "铁路", "人口", "关税", "冰川", "方言",
)  # fmt: skip


def rubric(drawn: random.Random) -> Rubric:
    """One to eight criteria per dimension, none contained in another, with weights as uneven as real ones."""

    def of(dimension: str) -> tuple[Criterion, ...]:
        chosen = drawn.sample(_WORDS, drawn.randint(1, 8))
        return criteria(*((f"{word} in {dimension}", round(drawn.uniform(0.02, 1), 3)) for word in chosen))

    weights = {name: round(drawn.uniform(0.05, 0.5), 2) for name in DIMENSIONS}
    return Rubric(dimension_weight=weights, criteria={name: of(name) for name in DIMENSIONS})


def drawn_card(drawn: random.Random, task: Rubric) -> Card:
    """A complete answer with scores as models write them: integers, halves and hundredths, including 0 and 10."""

    def score() -> float:
        return drawn.choice([drawn.randint(0, 10), drawn.randint(0, 20) / 2, round(drawn.uniform(0, 10), 2), 0, 10.0])

    return {
        name: [
            {"criterion": c.criterion, "analysis": "…", "article_1_score": score(), "article_2_score": score()}
            for c in task.criteria[name]
        ]
        for name in DIMENSIONS
    }


def official(answer: Card, task: Rubric) -> dict[str, float]:
    """The official score calculation, written plainly from its definition, without any of our code."""
    totals = [0.0, 0.0]
    shares = {}
    for dimension, entries in ((name, answer[name]) for name in DIMENSIONS):
        pairs = [(c.criterion, c.weight) for c in task.criteria[dimension]]
        sums, weights = [0.0, 0.0], 0.0
        for entry in entries:
            name = entry["criterion"].strip()
            weight = dict(pairs).get(name)
            if weight is None:
                weight = {key.lower(): value for key, value in pairs}.get(name.lower())
            if weight is None:
                containing = [v for key, v in pairs if name.lower() in key.lower() or key.lower() in name.lower()]
                weight = containing[0] if containing else sum(value for _, value in pairs) / len(pairs)
            sums[0] += entry["article_1_score"] * weight
            sums[1] += entry["article_2_score"] * weight
            weights += weight
        means = [weighted / weights for weighted in sums]
        shares[dimension] = means[0] / (means[0] + means[1]) if sum(means) > 0 else 0.0
        totals = [total + mean * task.dimension_weight[dimension] for total, mean in zip(totals, means, strict=True)]
    shares["overall"] = totals[0] / sum(totals) if sum(totals) > 0 else 0.0
    return shares


def _respell(drawn: random.Random, answer: Card) -> None:
    spellings: list[Callable[[str], str]] = [
        str.upper, str.title, lambda n: f" {n}\n", lambda n: n[:-4], lambda n: f"{n} (weighted)",
        lambda n: "zz" + "y" * len(n),
    ]  # fmt: skip
    for entries in answer.values():
        for entry in entries:
            if drawn.random() < 0.6:
                entry["criterion"] = drawn.choice(spellings)(entry["criterion"])


@pytest.mark.parametrize("number", range(20))
def test_usable_answers_give_the_official_figures(number: int) -> None:
    drawn = random.Random(number)
    task = rubric(drawn)
    answer = drawn_card(drawn, task)
    if number % 2:
        _respell(drawn, answer)
    outcome = compare(json.dumps(answer), task)
    assert outcome.figures == pytest.approx(official(answer, task), abs=1e-12, rel=0)
    strangers = [e["criterion"].strip() for n in DIMENSIONS for e in answer[n] if e["criterion"].startswith("zz")]
    assert sorted(outcome.unmatched) == sorted(strangers)
