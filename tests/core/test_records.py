import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from aiq.core.reports import Metric, Score
from aiq.core.samples import Question, Sample
from aiq.core.seeds import derive
from aiq.core.usage import Usage, UsageLedger


@pytest.mark.parametrize(
    "fields",
    [
        {"value": math.nan},
        {"numerator": math.inf, "denominator": 1.0},
        {},
        {"value": 1.0, "error": "both"},
        {"numerator": 1.0},
        {"value": 1.0, "numerator": 1.0, "denominator": 2.0},
    ],
)
def test_a_score_is_a_finite_value_or_ratio_or_an_error(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Score(metric="m", **fields)


def test_the_sample_hash_covers_the_question_but_not_answers_or_reference() -> None:
    sample = Sample(id="1", question=Question(text="Who?"), answers=("A",))
    assert sample.hash == sample.model_copy(update={"answers": ("B",), "reference": "text"}).hash
    assert sample.hash != sample.model_copy(update={"question": Question(text="What?")}).hash
    assert sample.hash == "e96661ec21dfac99"  # as in the rows of earlier versions


@given(st.lists(st.text(), min_size=1))
def test_seeds_repeat_fit_31_bits_and_depend_on_where_the_parts_split(parts: list[str]) -> None:
    assert derive(*parts) == derive(*parts)
    assert 0 <= derive(*parts) < 2**31
    assert derive("ab", "c") != derive("a", "bc")


def test_a_sum_with_an_unpriced_call_has_no_cost() -> None:
    ledger = UsageLedger()
    ledger.record("aiq.planner", Usage(calls=1, input_tokens=10, cost_usd=0.5))
    ledger.record("aiq.planner", Usage(calls=1, output_tokens=5, cost_usd=0.25))
    assert ledger.total() == Usage(calls=2, input_tokens=10, output_tokens=5, cost_usd=0.75)
    ledger.record("aiq.researcher", Usage(calls=1, cost_usd=None))
    assert ledger.total().cost_usd is None
    assert list(ledger.by_role()) == ["aiq.planner", "aiq.researcher"]


@pytest.mark.parametrize(
    ("metric", "value", "allowed"),
    [
        (Metric.share("m"), 1.0, True),
        (Metric.share("m"), 1.5, False),
        (Metric.count("m"), 40.0, True),
        (Metric.count("m"), -1.0, False),
        (Metric(name="m"), -1.0, True),
    ],
)
def test_a_metric_knows_its_bounds(metric: Metric, value: float, allowed: bool) -> None:
    assert metric.allows(value) is allowed
