"""RACE without a reference: a report judged on its own, criterion by criterion, 0 to 10.

For tasks without a reference. It relies on the model's own idea of a good report, so its figures say less than
those of `race`; they are separate metrics, never mixed with them.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from aiq.core.reports import Metric, Report
from aiq.core.samples import Rubric, Sample
from aiq.core.session import Session
from aiq.judges.panel import Order
from aiq.judges.race import Race
from aiq.judges.race_criteria import TaskSettings
from aiq.judges.race_scores import FIGURES, HIGHEST, NOTICES, RaceOutcome, grade
from aiq.judges.wording import language


class RaceAbsoluteSettings(TaskSettings):
    """`official_dir` provides the prompts of cleaning and criteria only; the official repository lacks this mode."""

    tasks: Literal["all", "without_reference"] = Field(
        description="which tasks are judged: all, or without_reference (only those that judge race cannot score)"
    )


class RaceAbsolute(Race):
    """Metrics `race_absolute.overall` and one per dimension: weighted means, 0 to 10."""

    Settings = RaceAbsoluteSettings
    name = "race_absolute"
    metrics = tuple(Metric(name=f"race_absolute.{n}", low=0.0, high=HIGHEST, notices=NOTICES) for n in FIGURES)
    why_not = "task {id} has a reference report (tasks=without_reference)"
    has_official_prompt = False

    def orders(self) -> tuple[Order, ...]:
        return ("first",)

    def check(self, samples: Sequence[Sample]) -> None:
        super().check([sample for sample in samples if self.metrics_for(sample)])

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """No metrics for tasks that are left to `race`."""
        return () if self.settings.tasks == "without_reference" and sample.reference else self.metrics

    async def articles(self, sample: Sample, report: Report, session: Session) -> Mapping[Order, Mapping[str, str]]:
        return {"first": {"article": await self.cleaner.clean(report.text, language(sample), session)}}

    def read(self, answer: str, rubric: Rubric, order: Order) -> RaceOutcome:
        return grade(answer, rubric)
