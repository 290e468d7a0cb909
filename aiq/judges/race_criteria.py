"""Criteria and dimension weights that a model writes for tasks that have none (the official dynamic ones).

Weights are the mean over several answers; criteria are asked for once a dimension, with weights within it. All are
made to add up to 1. Every question stands for itself and is asked once a run, so that all agents, epochs and
votes of a task are judged by the same criteria.

What RACE's judges share about a task: their settings, its language, its criteria as a model is shown them.
"""

import json
from collections.abc import Mapping
from statistics import fmean
from typing import Final, Literal

from pydantic import Field

from aiq.core.errors import DatasetError
from aiq.core.samples import Criterion, Rubric, Sample
from aiq.core.session import Session
from aiq.judges.official import OfficialWording
from aiq.judges.panel import PanelSettings
from aiq.judges.race_scores import DIMENSIONS, number
from aiq.judges.structured import Unusable, ask_once, read_object, read_objects
from aiq.judges.wording import LANGUAGES, OwnWording, Wording

_REMEDY: Final = "point the setting dataset.criteria at the file that holds them"


class TaskSettings(PanelSettings):
    """How a report and its task are made ready for judging.

    `cleaning`: who takes the citations out. `cleaning_share`: a report that a model has cleaned must be at least
    this share of what the rules would leave. `criteria`: `generate` lets a model write those of tasks that have none,
    with dimension weights that are the mean of `generation_samples` answers. `official_dir`: a checkout
    of the official repository, whose prompts are used; null: our own.
    """

    tries: int = Field(default=10, ge=1)
    cleaning: Literal["rules", "model"] = "rules"
    cleaning_share: float = Field(default=0.7, gt=0, le=1)
    criteria: Literal["dataset", "generate"] = "dataset"
    generation_samples: int = Field(default=3, ge=1, le=99)
    official_dir: str | None = None


def language(sample: Sample) -> str:
    """`zh` for a Chinese task, else `en`: the two languages that the benchmark has."""
    stated = sample.question.language or sample.tags.get("language") or "en"
    return "zh" if stated.lower().startswith("zh") else "en"


def wordings(
    name: str, template: str, official_dir: str | None, file: str, constant: str, places: dict[str, str]
) -> dict[str, Wording]:
    """A prompt of judge `name` by language: ours, or where there is a checkout the official one.

    `{language}` in `template`, `file` and `constant` stands for `en` and `zh`. Raises ConfigError.
    """
    if official_dir is None:
        return {lang: OwnWording(template.format(language=lang)) for lang in LANGUAGES}
    setting = f"judge.{name}.official_dir={official_dir}"
    return {
        lang: OfficialWording(setting, official_dir, file.format(language=lang), constant.format(language=lang), places)
        for lang in LANGUAGES
    }


def check_rubric(sample: Sample, judge: str, *, generate: bool) -> None:
    """Raises DatasetError when the criteria are absent (and not to be generated), or lack a dimension."""
    if sample.rubric is None:
        if not generate:
            raise DatasetError(
                f"task {sample.id} has no criteria, which judge {judge} needs: {_REMEDY}, "
                f"or let a model write them with judge.{judge}.criteria=generate"
            )
        return
    for name in DIMENSIONS:
        if not sample.rubric.criteria.get(name) or name not in sample.rubric.dimension_weight:
            raise DatasetError(f"task {sample.id} has no criteria or no weight for dimension {name}: {_REMEDY}")


def criteria_json(rubric: Rubric) -> str:
    """The criteria without their weights, as the judge model sees them."""
    shown = {
        name: [{"criterion": c.criterion, "explanation": c.explanation} for c in rubric.criteria[name]]
        for name in DIMENSIONS
    }
    return json.dumps(shown, ensure_ascii=False, indent=1)


ROLE: Final = "judge.race_criteria"

_OFFICIAL: Final = dict(zip(DIMENSIONS, ("comp", "insight", "Inst", "readability"), strict=True))
"""How the official constants abbreviate the dimensions."""

_ABOUT: Final = 0.1
"""Weights whose sum is this far from 1 are no weights; nearer ones are rounded and are made to add up."""

_MOST: Final = 15
"""Criteria of one dimension; the benchmark's own have 3 to 9."""


class Rubrics:
    """The criteria of tasks for the judge `name`: the dataset's; a model's where there are none and settings say so."""

    def __init__(self, name: str, settings: TaskSettings) -> None:
        self._name = name
        self._tries = settings.tries
        self._samples = settings.generation_samples
        self._weights: Mapping[str, Wording] = {}
        self._criteria: Mapping[str, Mapping[str, Wording]] = {}
        if settings.criteria == "generate":
            self._weights = self._wordings("race_weights", settings, "generate_eval_dimension_weight_prompt")
            self._criteria = {
                dimension: self._wordings("race_criteria", settings, f"generate_eval_criteria_prompt_{short}")
                for dimension, short in _OFFICIAL.items()
            }

    def _wordings(self, template: str, settings: TaskSettings, constant: str) -> dict[str, Wording]:
        file, places = "prompt/criteria_prompt_{language}.py", {"task_prompt": "task"}
        return wordings(self._name, template + "_{language}.j2", settings.official_dir, file, constant, places)

    @property
    def roles(self) -> tuple[str, ...]:
        return (ROLE,) if self._weights else ()

    @property
    def wordings(self) -> tuple[Wording, ...]:
        return tuple(wording for group in (self._weights, *self._criteria.values()) for wording in group.values())

    def check(self, sample: Sample) -> None:
        """Raises DatasetError for incomplete criteria, and for none where the dataset is to have them."""
        check_rubric(sample, self._name, generate=bool(self._weights))

    async def rubric(self, sample: Sample, session: Session) -> tuple[Rubric, bool]:
        """The task's criteria, and whether they were generated. Raises JudgeError where a model gives none."""
        self.check(sample)
        if sample.rubric is not None:
            return sample.rubric, False
        spoken = language(sample)
        prompt = self._weights[spoken].render({"task": sample.question.text})
        answers = [
            await ask_once(session, ROLE, prompt, read_weights, tries=self._tries, vote=vote)
            for vote in range(self._samples)
        ]
        means = {name: fmean(answer[name] for answer in answers) for name in DIMENSIONS}
        total = sum(means.values())
        return Rubric(
            dimension_weight={name: mean / total for name, mean in means.items()},
            criteria={name: await self._dimension(sample, name, spoken, session) for name in DIMENSIONS},
        ), True

    async def _dimension(self, sample: Sample, dimension: str, spoken: str, session: Session) -> tuple[Criterion, ...]:
        prompt = self._criteria[dimension][spoken].render({"task": sample.question.text, "dimension": dimension})
        return await ask_once(session, ROLE, prompt, read_criteria, tries=self._tries)


def read_weights(answer: str) -> dict[str, float]:
    """The four dimension weights, made to add up to 1; raises Unusable."""
    value = read_object(answer)
    weights = {name: number(value, name, "the weights", 1) for name in DIMENSIONS}
    total = _about_one(sum(weights.values()))
    return {name: weight / total for name, weight in weights.items()}


def read_criteria(answer: str) -> tuple[Criterion, ...]:
    """The criteria of one dimension, different ones, their weights made to add up to 1; raises Unusable."""
    entries = read_objects(answer)
    if len(entries) > _MOST:
        raise Unusable(f"{len(entries)} criteria are too many")
    texts = [(_text(entry.get("criterion")), _text(entry.get("explanation"))) for entry in entries]
    if len({criterion.lower() for criterion, _ in texts}) < len(texts):
        raise Unusable("it has a criterion twice")
    weights = [number(entry, "weight", "a criterion", 1) for entry in entries]
    total = _about_one(sum(weights))
    return tuple(
        Criterion(criterion=criterion, explanation=explanation, weight=weight / total)
        for (criterion, explanation), weight in zip(texts, weights, strict=True)
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unusable("a criterion lacks its text or explanation")
    return " ".join(value.split())


def _about_one(total: float) -> float:
    if abs(total - 1) > _ABOUT:
        raise Unusable(f"the weights add up to {total:g}")
    return total
