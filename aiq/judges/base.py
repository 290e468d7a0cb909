"""The base class of judges: what a judge declares before a run, and the method that scores a report."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from pydantic import JsonValue

from aiq.core.errors import ConfigError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Plugin, Settings
from aiq.judges.wording import Wording


class NoSettings(Settings):
    """Settings of a judge that has none."""


class Judge(ABC):
    """Scores reports; config names the subclass (`judge.<name>.target`).

    Made once per run as `Class(Class.Settings(...))`, it scores all samples concurrently and keeps no state of any.
    It declares, as class attributes or in `__init__`:

    - `metrics`: those it may yield, with their bounds and the perturbations they notice; the first is its main one;
    - `version`: changes whenever the same model answers would give other scores;
    - `roles`: the model roles it asks; `panels`: by role, the models that answer instead, if it has a panel;
    - `wordings`: all prompts that it may send; their hash is in every row;
    - `reads_web`: whether it fetches pages, so that its scores depend on the run's web.
    """

    Settings: ClassVar[type[Settings]] = NoSettings
    version: str = "1"
    metrics: tuple[Metric, ...]
    roles: tuple[str, ...] = ()
    panels: Mapping[str, tuple[str, ...]] = {}
    wordings: Sequence[Wording] = ()
    reads_web: bool = False

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @cached_property
    def prompt_hash(self) -> str | None:
        """The first 16 hex digits of the SHA-256 of the prompts' sources in order; None for a judge without prompts."""
        sources = "".join(wording.source for wording in self.wordings)
        return hashlib.sha256(sources.encode()).hexdigest()[:16] if self.wordings else None

    def check(self, samples: Sequence[Sample]) -> None:  # noqa: B027  most judges take every sample
        """Raise DatasetError if a sample lacks something the judge needs; called before anything is spent."""

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """The metrics that apply to this sample; a failed attempt gets their worst values."""
        return self.metrics

    @abstractmethod
    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        """Score the report's verified text, with at most one Score per metric.

        Raises JudgeError, ModelError or LimitReached if it fails as a whole: then each of its
        metrics gets a row with that error, never a value.
        """


class RouteJudge(Judge):
    """A judge that asks no model and reads no text: it judges the route of an attempt, known even without a report."""

    @abstractmethod
    def judged(self, sample: Sample, report: Report) -> list[Score]:
        """Score the report's `route` and `extras`, with at most one Score per metric."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        """Like `judged`, which needs no session."""
        return self.judged(sample, report)


def make_judge(name: str, plugin: Plugin) -> tuple[Judge, Settings]:
    """The judge that config calls `name`, and its settings. Raises ConfigError if its target is not a judge."""
    judge, settings = plugin.make(f"judge.{name}")
    if not isinstance(judge, Judge):
        raise ConfigError(f"judge.{name}.target: {plugin.target} is not a subclass of aiq.judges.base.Judge")
    if not getattr(judge, "metrics", ()):
        raise ConfigError(f"judge.{name}.target: {plugin.target} declares no metrics")
    return judge, settings


Found = float | tuple[float, float] | str
"""A metric's value, a ratio's (numerator, denominator), or the reason why there is neither."""


def scores_of(
    metrics: Sequence[Metric], found: Sequence[Found], detail: Mapping[str, JsonValue] | None = None
) -> list[Score]:
    """One Score per metric, from what was found for it; the first one gets the detail."""
    scores: list[Score] = []
    for metric, value in zip(metrics, found, strict=True):
        fields: dict[str, Any] = {"value": value}
        if isinstance(value, str):
            fields = {"not_applicable": value}
        elif isinstance(value, tuple):
            fields = {"numerator": value[0], "denominator": value[1]}
        scores.append(Score(metric=metric.name, detail={} if scores or detail is None else detail, **fields))
    return scores
