"""What an agent answers, and what a judge says of it."""

import math
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from aiq.core.base import Record


class Report(Record):
    """An agent's answer: Markdown with inline `[n]` citations and a numbered reference list.

    `text` is verified, `raw_text` is what the model wrote. `route` is `meta`, `shallow`, `deep`,
    `escalated`, `rejected` or the agent's own word. `outcome` is `rejected` where a user's
    rejection ended the work; a rejected attempt scores as a failed one does.
    """

    text: str
    raw_text: str
    route: str
    outcome: Literal["ok", "partial", "rejected"] = "ok"
    extras: Mapping[str, JsonValue] = Field(default_factory=dict)


class Metric(Record):
    """What a judge declares of a metric before it scores anything.

    `worst` is what a failed agent attempt gets; None means that a failed attempt has no such
    number (a count per report). `estimator` says how values become one number: the mean over
    samples, or sum of numerators over sum of denominators. Values lie in `low` .. `high`; None
    means that nothing bounds them on that side.
    """

    name: str
    estimator: Literal["mean", "ratio"] = "mean"
    worst: float | None = 0.0
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True

    def allows(self, value: float) -> bool:
        """Whether the value lies within the declared bounds."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @classmethod
    def share(cls, name: str, *, estimator: Literal["mean", "ratio"] = "mean", worst: float | None = 0.0) -> "Metric":
        """A metric between 0 and 1."""
        return cls(name=name, estimator=estimator, worst=worst, low=0.0, high=1.0)

    @classmethod
    def count(cls, name: str, *, worst: float | None = 0.0, higher_is_better: bool = True) -> "Metric":
        """A number of things per report, 0 or more."""
        return cls(name=name, worst=worst, low=0.0, higher_is_better=higher_is_better)


class Score(Record):
    """One named number about one report: a value, a ratio's two parts, or the reason it has none.

    Exactly one of `value`, (`numerator`, `denominator`), `error`, `not_applicable` is given.
    NaN and infinities are refused.
    """

    metric: str
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    error: str | None = None
    not_applicable: str | None = None
    detail: Mapping[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.numerator is None) != (self.denominator is None):
            raise ValueError("a ratio needs numerator and denominator")
        given = [self.value, self.numerator, self.error, self.not_applicable]
        if sum(x is not None for x in given) != 1:
            raise ValueError("give exactly one of value, numerator and denominator, error, not_applicable")
        for number in (self.value, self.numerator, self.denominator):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{self.metric} is not finite")
        return self
