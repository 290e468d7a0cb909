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

    Made once per run as `Class(Class.Settings(...))`, it serves all samples at once and keeps nothing of any of them.
    What it declares, as class attributes or in `__init__`:

    - `metrics`: what it may yield, with their bounds and what they notice; the first one speaks for the judge;
    - `version`: changes whenever the same answers of a model would give other scores;
    - `roles`: the model roles it asks; `panels`: the models that answer instead, by role, where it has a panel;
    - `wordings`: all prompts that it may send; their hash is in every row;
    - `reads_web`: whether it fetches pages, so that its scores depend on the web of the run.
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
        """First 16 hex digits of the SHA-256 over the prompts' sources in turn; None for a judge without any."""
        sources = "".join(wording.source for wording in self.wordings)
        return hashlib.sha256(sources.encode()).hexdigest()[:16] if self.wordings else None

    def check(self, samples: Sequence[Sample]) -> None:  # noqa: B027  most judges take every sample
        """Before anything is spent: raises DatasetError where a sample lacks what the judge cannot do without."""

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """The metrics that this sample can have; a failed attempt scores their worst values."""
        return self.metrics

    @abstractmethod
    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        """At most one Score a metric, of the report's verified text.

        Raises JudgeError, ModelError or LimitReached when it fails as a whole: then each of its
        metrics gets a row with that error, never a value.
        """


class RouteJudge(Judge):
    """A judge that asks nobody and reads no text: it goes by the way an attempt took, known without a report."""

    @abstractmethod
    def judged(self, sample: Sample, report: Report) -> list[Score]:
        """At most one Score a metric, of the report's `route` and `extras`."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        """As `judged`, which needs no session."""
        return self.judged(sample, report)


def make_judge(name: str, plugin: Plugin) -> tuple[Judge, Settings]:
    """The judge that config calls `name`, and its settings. Raises ConfigError where it is none."""
    judge, settings = plugin.make(f"judge.{name}")
    if not isinstance(judge, Judge):
        raise ConfigError(f"judge.{name}.target: {plugin.target} is no subclass of aiq.judges.base.Judge")
    if not getattr(judge, "metrics", ()):
        raise ConfigError(f"judge.{name}.target: {plugin.target} declares no metrics")
    return judge, settings


Found = float | tuple[float, float] | str
"""A metric's value, a ratio's (numerator, denominator), or the reason for having neither."""


def scores_of(
    metrics: Sequence[Metric], found: Sequence[Found], detail: Mapping[str, JsonValue] | None = None
) -> list[Score]:
    """The Score of each metric, of what was found for it; the first one has the detail."""
    scores: list[Score] = []
    for metric, one in zip(metrics, found, strict=True):
        given: dict[str, Any] = {"value": one}
        if isinstance(one, str):
            given = {"not_applicable": one}
        elif isinstance(one, tuple):
            given = {"numerator": one[0], "denominator": one[1]}
        scores.append(Score(metric=metric.name, detail={} if scores or detail is None else detail, **given))
    return scores
