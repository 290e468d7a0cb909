"""RACE: how good a report is against a reference report, by criteria weighted per task (Deep Research Bench).

One model call scores both reports on every criterion; the model sees no weights and no citations.
The arithmetic is in `race_arithmetic`, the reading of answers in `race_answer`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import Field, JsonValue

from aiq.core.errors import DatasetError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Rubric, Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.asking import ask
from aiq.judges.base import not_applicable
from aiq.judges.clean import without_citations
from aiq.judges.fencing import PROMPTS, harmless
from aiq.judges.race_answer import read_marks
from aiq.judges.race_arithmetic import DIMENSIONS, Mark, Means, outcome

_TEMPLATES: Final = {"en": "race_en.j2", "zh": "race_zh.j2"}
_ROLE: Final = "judge.race"

Marks = Mapping[str, Sequence[Mark]]


class RaceSettings(Settings):
    """`tries`: questions to the model until its answer is complete (the official number is 10)."""

    tries: int = Field(default=10, ge=1)


class Race:
    """Metrics `race.overall` and one a dimension, each ours / (ours + reference), 0 to 1; 0.5 is parity."""

    Settings = RaceSettings
    name = "race"
    version = "1"
    metrics = tuple(Metric.share(f"race.{name}") for name in ("overall", *DIMENSIONS))
    roles = (_ROLE,)

    def __init__(self, settings: RaceSettings) -> None:
        self._tries = settings.tries
        self.prompt_hash = PROMPTS.hash(*_TEMPLATES.values())

    def check(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            _rubric(sample)

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """None without a reference: then there is nothing to be better or worse than."""
        return self.metrics if sample.reference else ()

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        rubric = _rubric(sample)
        if not sample.reference:
            return not_applicable(self.metrics, f"task {sample.id} has no reference report")
        marks, tries = await self._marks(sample, rubric, report.text, sample.reference, session)
        return _scores(marks, rubric, tries)

    async def _marks(
        self, sample: Sample, rubric: Rubric, ours: str, reference: str, session: Session, vote: int = 0
    ) -> tuple[Marks, int]:
        """One judgement of two reports, and the tries it took."""
        prompt = PROMPTS.render(
            _TEMPLATES[language(sample)],
            task=harmless(sample.question.text),
            criteria=harmless(_criteria_json(rubric)),
            article_1=harmless(without_citations(ours)),
            article_2=harmless(without_citations(reference)),
        )
        return await ask(
            session, _ROLE, prompt, lambda answer: read_marks(answer, rubric), tries=self._tries, vote=vote
        )


def language(sample: Sample) -> str:
    """`zh` for a Chinese task, else `en`: the two languages that the benchmark has."""
    stated = sample.question.language or sample.tags.get("language") or "en"
    return "zh" if stated.lower().startswith("zh") else "en"


def _rubric(sample: Sample) -> Rubric:
    """The task's criteria; raises DatasetError when they are absent or lack a dimension."""
    remedy = "point the setting dataset.criteria at the file that holds them"
    if sample.rubric is None:
        raise DatasetError(f"task {sample.id} has no criteria, which judge race needs: {remedy}")
    for name in DIMENSIONS:
        if not sample.rubric.criteria.get(name) or name not in sample.rubric.dimension_weight:
            raise DatasetError(f"task {sample.id} has no criteria or no weight for dimension {name}: {remedy}")
    return sample.rubric


def _criteria_json(rubric: Rubric) -> str:
    """The criteria without their weights, as the judge model sees them."""
    shown = {
        name: [{"criterion": c.criterion, "explanation": c.explanation} for c in rubric.criteria[name]]
        for name in DIMENSIONS
    }
    return json.dumps(shown, ensure_ascii=False, indent=1)


def _scores(marks: Marks, rubric: Rubric, tries: int) -> list[Score]:
    result = outcome(marks, rubric)
    summary: dict[str, JsonValue] = {
        **_means(result.overall),
        "tries": tries,
        "unmatched": list(result.unmatched),
    }
    return [
        Score(metric="race.overall", value=result.overall.share, detail=summary),
        *(
            Score(
                metric=f"race.{name}",
                value=means.share,
                detail={**_means(means), "marks": [mark.model_dump(mode="json") for mark in marks[name]]},
            )
            for name, means in result.dimensions.items()
        ),
    ]


def _means(means: Means) -> dict[str, JsonValue]:
    return {"ours": means.ours, "reference": means.reference}
