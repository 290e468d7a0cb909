"""RACE: how good a report is compared with a reference report, by weighted criteria per task (Deep Research Bench).

One model call scores both reports on every criterion; the model sees neither weights nor citations. The panel's
settings say how often this is repeated. `race_absolute` is the mode that needs no reference.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import ClassVar, Final, Literal

from pydantic import Field, JsonValue

from aiq.core.reports import CAVEAT, Metric, Report, Score
from aiq.core.samples import Rubric, Sample
from aiq.core.session import Session
from aiq.judges.base import Judge, scores_of
from aiq.judges.cleaning import Cleaner
from aiq.judges.panel import Order, Panel, mean_score
from aiq.judges.race_criteria import Rubrics, TaskSettings, criteria_json
from aiq.judges.race_scores import FIGURES, NOTICES, RaceOutcome, compare, unmatched
from aiq.judges.wording import language, wordings

_OFFICIAL_PROMPT: Final = (
    "prompt/score_prompt_{language}.py",
    "generate_merged_score_prompt",
    {"task_prompt": "task", "article_1": "article_1", "article_2": "article_2", "criteria_list": "criteria"},
)


class RaceSettings(TaskSettings):
    order: Literal["first", "swapped", "both"] = Field(
        description="our report as article 1 (first, as officially), as article 2 (swapped), or both"
    )


class Race(Judge):
    """Metrics `race.overall` and one per dimension, each ours / (ours + reference), 0 to 1; 0.5 is parity."""

    Settings: ClassVar[type[TaskSettings]] = RaceSettings
    name = "race"
    metrics = tuple(Metric.share(f"race.{name}", notices=NOTICES, parity=0.5) for name in FIGURES)
    why_not = "task {id} has no reference report; judge race_absolute needs none"
    """The reason given if a task has no metrics."""
    has_official_prompt = True

    def __init__(self, settings: TaskSettings) -> None:
        super().__init__(settings)
        role, orders = f"judge.{self.name}", self.orders()
        official_dir = settings.official_dir if self.has_official_prompt else None
        self._prompts = wordings(self.name, f"{self.name}_{{language}}.j2", official_dir, *_OFFICIAL_PROMPT)
        self._panel = Panel(role, settings, orders)
        self._rubrics = Rubrics(self.name, settings)
        self.cleaner = Cleaner(self.name, settings)
        questions = (*self.cleaner.questions, *self._rubrics.questions)
        self.panels = self._panel.panels
        self.roles = tuple(dict.fromkeys((role, *(question.role for question in questions))))
        self.wordings = [*self._prompts.values(), *(wording for question in questions for wording in question.wordings)]
        if orders == ("swapped",):  # a share above parity could be due to the second place alone
            self.metrics = tuple(metric.model_copy(update={"parity": None}) for metric in self.metrics)

    def orders(self) -> tuple[Order, ...]:
        """The orders in which the reports are shown."""
        return ("first", "swapped") if self.settings.order == "both" else (self.settings.order,)

    def check(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self._rubrics.check(sample)

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """No metrics without a reference: then there is nothing to compare with."""
        return self.metrics if sample.reference else ()

    async def articles(self, sample: Sample, report: Report, session: Session) -> Mapping[Order, Mapping[str, str]]:
        """The reports as variables of the prompt, by order."""
        ours = await self.cleaner.clean(report.text, language(sample), session)
        reference = await self.cleaner.clean(sample.reference or "", language(sample), session)
        return {
            "first": {"article_1": ours, "article_2": reference},
            "swapped": {"article_1": reference, "article_2": ours},
        }

    def read(self, answer: str, rubric: Rubric, order: Order) -> RaceOutcome:
        """The outcome of an answer. Raises Unusable."""
        return compare(answer, rubric, swapped=order == "swapped")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if not self.metrics_for(sample):
            return scores_of(self.metrics, [self.why_not.format(id=sample.id)] * len(self.metrics))
        rubric, generated = await self._rubrics.rubric(sample, session)
        articles = await self.articles(sample, report, session)
        task = {"task": sample.question.text, "criteria": criteria_json(rubric)}
        prompt = self._prompts[language(sample)]
        prompts = {order: prompt.render({**task, **texts}) for order, texts in articles.items()}
        votes = await self._panel.ask(session, prompts, lambda answer, order: self.read(answer, rubric, order))
        outcomes = [vote.answer for vote in votes]
        overall_detail: dict[str, JsonValue] = {
            "tries": sum(vote.tries for vote in votes),
            "unmatched": list(dict.fromkeys(name for outcome in outcomes for name in outcome.unmatched)),
            CAVEAT: unmatched(outcomes).model_dump(mode="json"),
            **({"rubric": rubric.model_dump(mode="json")} if generated else {}),
        }
        scores = []
        for name in FIGURES:
            values = [outcome.figures[name] for outcome in outcomes]
            detail = {side: fmean(outcome.means[side][name] for outcome in outcomes) for side in outcomes[0].means}
            extra = overall_detail if name == "overall" else {}
            vote_details = [outcome.detail(name) for outcome in outcomes]
            scores.append(mean_score(f"{self.name}.{name}", votes, values, {**detail, **extra}, vote_details))
        return scores
