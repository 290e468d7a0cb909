"""The criteria and dimension weights of RACE's tasks: the dataset's, or those that a model writes if there are none.

Every question is asked once per run, so that all agents, epochs and votes of a task are judged by the same criteria.
"""

import json
from statistics import fmean
from typing import Annotated, Final, Literal

from pydantic import Field

from aiq.core.errors import DatasetError
from aiq.core.samples import Criterion, Rubric, Sample
from aiq.core.session import Session
from aiq.judges.panel import PanelSettings
from aiq.judges.race_scores import DIMENSIONS, ByDimension
from aiq.judges.structured import ModelAnswer, OneLine, SharedQuestion, Unusable, read_as, read_list
from aiq.judges.wording import language, wordings


class TaskSettings(PanelSettings):
    """How a report and its task are prepared for judging."""

    cleaning: Literal["rules", "model"] = Field(
        description="who removes citations from the reports: rules, or model (as officially)"
    )
    cleaning_share: float = Field(
        gt=0, le=1, description="least length of a report cleaned by a model, as a share of its length cleaned by rules"
    )
    criteria: Literal["dataset", "generate"] = Field(
        description="generate: a model writes the criteria of tasks that have none"
    )
    generation_samples: int = Field(
        ge=1, le=99, description="answers whose dimension weights are averaged if criteria are generated"
    )
    official_dir: str | None = Field(
        description="a checkout of the official repository, whose prompts are used; null: those of aiq"
    )


def criteria_json(rubric: Rubric) -> str:
    """The criteria without their weights, as the judge model sees them."""
    criteria = {name: [item.model_dump(exclude={"weight"}) for item in rubric.criteria[name]] for name in DIMENSIONS}
    return json.dumps(criteria, ensure_ascii=False, indent=1)


_REMEDY: Final = "point the setting dataset.criteria at the file that holds them"
_OFFICIAL: Final = ("comp", "insight", "Inst", "readability")
"""How the official constants abbreviate the dimensions."""

_TOLERANCE: Final = 0.1
"""Weights whose sum is further than this from 1 are refused; others are taken as rounded, and made to add up."""

_MAX_CRITERIA: Final = 15
"""The most criteria of one dimension; the benchmark's own have 3 to 9."""


class Rubrics:
    """The criteria of tasks for the judge `name`; generated dimension weights are means over several answers."""

    def __init__(self, name: str, settings: TaskSettings) -> None:
        def question(template: str, constant: str) -> SharedQuestion:
            file, places = "prompt/criteria_prompt_{language}.py", {"task_prompt": "task"}
            prompts = wordings(name, f"{template}_{{language}}.j2", settings.official_dir, file, constant, places)
            return SharedQuestion("judge.race_criteria", prompts, settings.tries)

        self._name = name
        self._answers = settings.generation_samples
        self.questions: tuple[SharedQuestion, ...] = ()
        """One for the weights, then one for the criteria of each dimension."""
        if settings.criteria == "generate":
            self.questions = (
                question("race_weights", "generate_eval_dimension_weight_prompt"),
                *(question("race_criteria", f"generate_eval_criteria_prompt_{short}") for short in _OFFICIAL),
            )

    def check(self, sample: Sample) -> None:
        """Raise DatasetError for criteria that are incomplete or weigh nothing, or that the dataset lacks."""
        rubric = sample.rubric
        if rubric is None and not self.questions:
            raise DatasetError(
                f"task {sample.id} has no criteria, which judge {self._name} needs: {_REMEDY}, "
                f"or let a model write them with judge.{self._name}.criteria=generate"
            )
        for name in DIMENSIONS:
            weighted = rubric and any(criterion.weight for criterion in rubric.criteria.get(name, ()))
            if rubric and not (weighted and name in rubric.dimension_weight and any(rubric.dimension_weight.values())):
                raise DatasetError(
                    f"task {sample.id} has no criteria or no weight for dimension {name} (or all are 0): {_REMEDY}"
                )

    async def rubric(self, sample: Sample, session: Session) -> tuple[Rubric, bool]:
        """The task's criteria, and whether they were generated. Raises JudgeError if a model gives none."""
        self.check(sample)
        if sample.rubric is not None:
            return sample.rubric, False
        weight_question, *criteria_questions = self.questions
        lang, task = language(sample), sample.question.text
        answers = [
            await weight_question.ask(session, lang, read_weights, {"task": task}, vote)
            for vote in range(self._answers)
        ]
        criteria = {
            name: await question.ask(session, lang, read_criteria, {"task": task, "dimension": name})
            for name, question in zip(DIMENSIONS, criteria_questions, strict=True)
        }
        means = {name: fmean(answer[name] for answer in answers) for name in DIMENSIONS}
        weights = {name: mean / sum(means.values()) for name, mean in means.items()}
        return Rubric(dimension_weight=weights, criteria=criteria), True


Weight = Annotated[float, Field(ge=0, le=1)]


class _WrittenCriterion(ModelAnswer):
    criterion: OneLine
    explanation: OneLine
    weight: Weight


def read_weights(answer: str) -> dict[str, float]:
    """The four dimension weights, made to add up to 1; raises Unusable."""
    weights = read_as(ByDimension[Weight], answer).model_dump()
    total = _about_one(sum(weights.values()))
    return {name: weight / total for name, weight in weights.items()}


def read_criteria(answer: str) -> tuple[Criterion, ...]:
    """The criteria of one dimension, all different, with weights made to add up to 1; raises Unusable."""
    criteria = read_list(_WrittenCriterion, answer)
    if len(criteria) > _MAX_CRITERIA:
        raise Unusable(f"{len(criteria)} criteria are too many")
    if len({criterion.criterion.lower() for criterion in criteria}) < len(criteria):
        raise Unusable("it has a criterion twice")
    total = _about_one(sum(criterion.weight for criterion in criteria))
    return tuple(Criterion(**{**criterion.model_dump(), "weight": criterion.weight / total}) for criterion in criteria)


def _about_one(total: float) -> float:
    if abs(total - 1) > _TOLERANCE:
        raise Unusable(f"the weights add up to {total:g}")
    return total
