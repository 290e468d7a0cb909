"""The contract of a judge: what it declares before a run, and one method that scores a report."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings


class Judge(Protocol):
    """Scores reports.

    Config names the class (`judge.<name>.target`); it is made once per run as
    `Class(Class.Settings(...))`, serves all samples at once and keeps nothing of any of them.
    `metrics` is what it may yield; `roles` the model roles it speaks in (empty: it asks no model);
    `version` changes whenever the same answers of a model would give other scores; `prompt_hash`
    covers all its templates, None without any. A judge that lets a panel of models answer names them
    by role in `panels`; one that reads pages has `reads_web = True`.
    """

    Settings: ClassVar[type[Settings]]
    name: str
    version: str
    metrics: tuple[Metric, ...]
    roles: tuple[str, ...]
    prompt_hash: str | None

    def __init__(self, settings: Any) -> None: ...

    def check(self, samples: Sequence[Sample]) -> None:
        """Before anything is spent: raises DatasetError when a sample lacks what this judge cannot do without."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        """At most one Score a metric, of the report's verified text.

        Raises JudgeError, ModelError or LimitReached when it fails as a whole: then each of its
        metrics gets a row with that error, never a value.
        """


def not_applicable(metrics: Iterable[Metric], reason: str) -> list[Score]:
    """One Score a metric that says why there is no number."""
    return [Score(metric=metric.name, not_applicable=reason) for metric in metrics]
