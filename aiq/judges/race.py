"""RACE: how good a report is against a reference report, by criteria weighted per task (Deep Research Bench).

One model call scores both reports on every criterion; the model sees no weights and no citations. Calls are
repeated as the panel's settings say. The arithmetic is in `race_arithmetic`, the reading of answers in `race_answer`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Final, Literal

from pydantic import JsonValue

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Rubric, Sample
from aiq.core.session import Session
from aiq.judges.base import Judge, not_applicable
from aiq.judges.cleaning import Cleaner
from aiq.judges.panel import Order, Panel, Vote, mean_score
from aiq.judges.race_criteria import Rubrics, TaskSettings, criteria_json, language, wordings
from aiq.judges.race_scores import DIMENSIONS, NOTICES, Mark, outcome, read_marks
from aiq.judges.wording import hash_of

ROLE: Final = "judge.race"

_ORDERS: Final[dict[str, tuple[Order, ...]]] = {
    "first": ("first",),
    "swapped": ("swapped",),
    "both": ("first", "swapped"),
}
_PLACES: Final = {
    "task_prompt": "task",
    "article_1": "article_1",
    "article_2": "article_2",
    "criteria_list": "criteria",
}


class RaceSettings(TaskSettings):
    """`tries`: officially 10. `order`: our report is article 1 (`first`, officially), 2 (`swapped`), or both."""

    order: Literal["first", "swapped", "both"] = "first"


class Race(Judge):
    """Metrics `race.overall` and one a dimension, each ours / (ours + reference), 0 to 1; 0.5 is parity."""

    Settings = RaceSettings
    name = "race"
    version = "1"
    metrics = tuple(Metric.share(f"race.{name}", notices=NOTICES, parity=0.5) for name in ("overall", *DIMENSIONS))

    def __init__(self, settings: RaceSettings) -> None:
        if settings.order == "swapped":  # what lies above parity would be what the second place adds
            self.metrics = tuple(metric.model_copy(update={"parity": None}) for metric in self.metrics)
        self._panel = Panel(ROLE, settings, _ORDERS[settings.order])
        self._cleaner = Cleaner(self.name, settings)
        self._rubrics = Rubrics(self.name, settings)
        self._wordings = wordings(
            self.name,
            "race_{language}.j2",
            settings.official_dir,
            "prompt/score_prompt_{language}.py",
            "generate_merged_score_prompt",
            _PLACES,
        )
        self.panels = self._panel.panels
        self.roles = (ROLE, *self._cleaner.roles, *self._rubrics.roles)
        self.prompt_hash = hash_of((*self._wordings.values(), *self._cleaner.wordings, *self._rubrics.wordings))

    def check(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self._rubrics.check(sample)

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """None without a reference: then there is nothing to be better or worse than."""
        return self.metrics if sample.reference else ()

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if not sample.reference:
            return not_applicable(
                self.metrics, f"task {sample.id} has no reference report; judge race_absolute needs none"
            )
        rubric, generated = await self._rubrics.rubric(sample, session)
        spoken = language(sample)
        ours = await self._cleaner.clean(report.text, spoken, session)
        reference = await self._cleaner.clean(sample.reference, spoken, session)

        def prompt(order: Order) -> str:
            articles = (ours, reference) if order == "first" else (reference, ours)
            values = {"task": sample.question.text, "criteria": criteria_json(rubric)}
            return self._wordings[spoken].render({**values, "article_1": articles[0], "article_2": articles[1]})

        votes = await self._panel.ask(
            session, prompt, lambda text, order: read_marks(text, rubric, swapped=order == "swapped")
        )
        written: dict[str, JsonValue] = {"rubric": rubric.model_dump(mode="json")} if generated else {}
        return _scores(votes, rubric, written)


def _scores(
    votes: Sequence[Vote[dict[str, tuple[Mark, ...]]]], rubric: Rubric, more: Mapping[str, JsonValue]
) -> list[Score]:
    """The mean of the judgements' shares, with every judgement in the detail."""
    outcomes = [outcome(vote.answer, rubric) for vote in votes]
    strangers = dict.fromkeys(name for result in outcomes for name in result.unmatched)
    scores = []
    for name in ("overall", *DIMENSIONS):
        means = [result.means(name) for result in outcomes]
        detail: dict[str, JsonValue] = {
            "ours": fmean(mean.ours for mean in means),
            "reference": fmean(mean.reference for mean in means),
        }
        if name == "overall":
            detail |= {"tries": sum(vote.tries for vote in votes), "unmatched": list(strangers), **more}
        shares = [mean.share for mean in means]
        scores.append(mean_score(f"race.{name}", votes, shares, detail, partial(_marks, name)))
    return scores


def _marks(dimension: str, marks: Mapping[str, Sequence[Mark]]) -> dict[str, JsonValue]:
    """What one judgement shows of a dimension."""
    return {"marks": [mark.model_dump(mode="json") for mark in marks[dimension]]} if dimension in marks else {}
