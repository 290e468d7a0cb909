"""What RACE's judges share about a task: their settings, its language, its criteria as a model is shown them."""

import json
from typing import Final, Literal

from pydantic import Field

from aiq.core.errors import DatasetError
from aiq.core.samples import Rubric, Sample
from aiq.judges.official import OfficialWording
from aiq.judges.panel import PanelSettings
from aiq.judges.race_arithmetic import DIMENSIONS
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
