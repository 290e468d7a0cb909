"""FreshEval: whether a short answer is right, judged by a model that knows the accepted answers (FreshQA's judge).

Metrics `fresheval.relaxed` and `fresheval.strict`, 0 or 1: relaxed looks at the primary answer only,
strict requires every further statement to be right as well.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from aiq.citations.parse import without_references
from aiq.core.errors import DatasetError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.judges.base import Judge
from aiq.judges.panel import Panel, PanelSettings, mean_score
from aiq.judges.structured import Unusable, without_thoughts
from aiq.judges.wording import OwnWording

_ROLE: Final = "judge.fresheval"
_NAME: Final = r"evaluation\**\s*[:：][\s*]*"
_LINE: Final = re.compile(
    rf"(?:\s*(?:[-*#>]\s*)?\**{_NAME}(?P<verdict>.*?)|.*?\b{_NAME}(?P<last>(?:in)?correct\b.*?))[\s*]*", re.IGNORECASE
)
_SENTENCE: Final = re.compile(r"thus, the response is (?P<negated>not )?credited\.", re.IGNORECASE)


class FreshEvalSettings(PanelSettings):
    """The majority of the judgements decides, so votes times models must be odd."""

    mode: Literal["relaxed", "strict", "both"] = Field(
        description="what must be right: relaxed (the primary answer), strict (every further statement too), or both"
    )

    @model_validator(mode="after")
    def _has_a_majority(self) -> Self:
        if self.votes * max(1, len(self.panel)) % 2 == 0:
            raise ValueError("the verdicts could end in a tie: votes times models must be an odd number")
        return self


class FreshEval(Judge):
    """One judgement per mode, vote and model, which sees the answer without its reference list, and the run's date."""

    Settings = FreshEvalSettings
    version = "3"
    roles = (_ROLE,)
    wordings = (OwnWording("fresheval.j2"),)

    def __init__(self, settings: FreshEvalSettings) -> None:
        super().__init__(settings)
        self._panel = Panel(_ROLE, settings)
        self.panels = self._panel.panels
        modes = ("relaxed", "strict") if settings.mode == "both" else (settings.mode,)
        self.metrics = tuple(Metric.share(f"fresheval.{mode}", notices=("facts", "roles", "numbers")) for mode in modes)

    def check(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            if not sample.answers:
                raise DatasetError(
                    f"sample {sample.id} has no accepted answers, which judge fresheval needs: fill its answers "
                    "(FreshQA: answer_0), leave the sample out with dataset.ids, or choose another judge"
                )

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        return [await self._judge(metric.name, sample, report, session) for metric in self.metrics]

    async def _judge(self, metric: str, sample: Sample, report: Report, session: Session) -> Score:
        prompt = self.wordings[0].render(
            {
                "strict": "yes" if metric == "fresheval.strict" else "",
                "current_date": session.now.date().isoformat(),
                "question": sample.question.text,
                "response": without_references(report.text),
                "accepted_answers": " | ".join(sample.answers),
            }
        )
        votes = await self._panel.ask(
            session, {"first": prompt}, lambda answer, order: (read_verdict(answer), answer.strip())
        )
        verdicts, answers = [float(vote.answer[0]) for vote in votes], [{"answer": vote.answer[1]} for vote in votes]
        score = mean_score(metric, votes, verdicts, {"tries": sum(vote.tries for vote in votes)}, answers)
        return score.model_copy(update={"value": float(sum(verdicts) > len(verdicts) / 2)})


def read_verdict(answer: str) -> bool:
    """True for `evaluation: correct`, False for `evaluation: incorrect`, as a line or at the end of one.

    As officially, an answer without such a line may state its verdict in the closing sentence of the
    comment ("Thus, the response is (not) credited."), and a line with any other word is not a verdict.
    Unlike the official code, which takes the last verdict, this refuses an answer with differing
    verdicts, and it ignores thoughts. Raises Unusable.
    """
    answer = without_thoughts(answer)
    lines = [match for line in answer.splitlines() if (match := _LINE.fullmatch(line))]
    evaluations = [(match["last"] or match["verdict"]).strip().lower() for match in lines]
    credited = [match["negated"] is None for match in _SENTENCE.finditer(answer)]
    verdicts = {words == "correct" for words in evaluations} | set(credited)
    if not verdicts:
        raise Unusable("no line says `evaluation: correct` or `evaluation: incorrect`")
    if len(verdicts) > 1 or len(evaluations) > 1 or not {*evaluations} <= {"correct", "incorrect"}:
        raise Unusable("it gives several verdicts, or another one than `correct` or `incorrect`")
    return verdicts.pop()
