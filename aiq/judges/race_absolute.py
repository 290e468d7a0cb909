"""RACE without a reference: a report judged by itself, criterion by criterion, 0 to 10.

For tasks that have no reference report. Where `race` compares, this judge has only its own idea of a good report,
so its figures say less; they are another metric, and never mixed with those of `race`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal

from pydantic import JsonValue

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Rubric, Sample
from aiq.core.session import Session
from aiq.judges.base import Judge, not_applicable
from aiq.judges.cleaning import Cleaner
from aiq.judges.panel import Panel, Vote, mean_score
from aiq.judges.race_criteria import Rubrics, TaskSettings, criteria_json, language
from aiq.judges.race_scores import DIMENSIONS, NOTICES, PointMark, absolute, read_points, unmatched
from aiq.judges.wording import LANGUAGES, OwnWording, hash_of

ROLE: Final = "judge.race_absolute"

_HIGHEST: Final = 10.0


class RaceAbsoluteSettings(TaskSettings):
    """`tasks`: all of them, or only those `without_reference`, so that `race` takes the others.

    The official repository has no prompt for this; `official_dir` gives those of cleaning and criteria.
    """

    tasks: Literal["all", "without_reference"] = "all"


class RaceAbsolute(Judge):
    """Metrics `race_absolute.overall` and one a dimension: weighted means, 0 to 10."""

    Settings = RaceAbsoluteSettings
    name = "race_absolute"
    version = "1"
    metrics = tuple(
        Metric(name=f"race_absolute.{name}", low=0.0, high=_HIGHEST, notices=NOTICES)
        for name in ("overall", *DIMENSIONS)
    )

    def __init__(self, settings: RaceAbsoluteSettings) -> None:
        self._only_without = settings.tasks == "without_reference"
        self._panel = Panel(ROLE, settings)
        self._cleaner = Cleaner(self.name, settings)
        self._rubrics = Rubrics(self.name, settings)
        self._wordings = {lang: OwnWording(f"race_absolute_{lang}.j2") for lang in LANGUAGES}
        self.panels = self._panel.panels
        self.roles = (ROLE, *self._cleaner.roles, *self._rubrics.roles)
        self.prompt_hash = hash_of((*self._wordings.values(), *self._cleaner.wordings, *self._rubrics.wordings))

    def check(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            if self.metrics_for(sample):
                self._rubrics.check(sample)

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """None for tasks that are left to `race`."""
        return () if self._only_without and sample.reference else self.metrics

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if not self.metrics_for(sample):
            return not_applicable(self.metrics, f"task {sample.id} has a reference report (tasks=without_reference)")
        rubric, generated = await self._rubrics.rubric(sample, session)
        spoken = language(sample)
        prompt = self._wordings[spoken].render(
            {
                "task": sample.question.text,
                "criteria": criteria_json(rubric),
                "article": await self._cleaner.clean(report.text, spoken, session),
            }
        )
        votes = await self._panel.ask(session, lambda order: prompt, lambda text, order: read_points(text, rubric))
        written: dict[str, JsonValue] = {"rubric": rubric.model_dump(mode="json")} if generated else {}
        return _scores(votes, rubric, written)


def _scores(
    votes: Sequence[Vote[dict[str, tuple[PointMark, ...]]]], rubric: Rubric, more: Mapping[str, JsonValue]
) -> list[Score]:
    """The mean of the judgements, with every one of them in the detail."""
    results = [absolute(vote.answer, rubric) for vote in votes]
    strangers = dict.fromkeys(name for vote in votes for name in unmatched(vote.answer, rubric))
    summary: dict[str, JsonValue] = {
        "tries": sum(vote.tries for vote in votes),
        "unmatched": list(strangers),
        **more,
    }
    return [
        mean_score(
            f"race_absolute.{name}",
            votes,
            [result[name] for result in results],
            summary if name == "overall" else {},
            partial(_marks, name),
        )
        for name in ("overall", *DIMENSIONS)
    ]


def _marks(dimension: str, marks: Mapping[str, Sequence[PointMark]]) -> dict[str, JsonValue]:
    """What one judgement shows of a dimension."""
    return {"marks": [mark.model_dump(mode="json") for mark in marks[dimension]]} if dimension in marks else {}
