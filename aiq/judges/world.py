"""`world.coverage`: the share of a sample's needed facts that a report states (closed world; asks no model)."""

from collections.abc import Sequence

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Fact, Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import not_applicable
from aiq.judges.stated import Statements


class WorldSettings(Settings):
    """This judge has no settings."""


class World:
    """Looks each fact's forms up in the report; `aiq.judges.stated` says how.

    The detail lists the facts not stated and counts both by depth (`d1/...`: how many pages lie before).
    """

    Settings = WorldSettings
    name = "world"
    version = "1"
    metrics = (Metric.share("world.coverage"),)
    roles: tuple[str, ...] = ()
    prompt_hash: str | None = None

    def __init__(self, settings: WorldSettings) -> None:
        self._settings = settings

    def check(self, samples: Sequence[Sample]) -> None:
        """Nothing to refuse: a sample without truth has no coverage, which its row says."""

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """None where nothing is needed: a failed attempt has stated nothing of nothing."""
        return self.metrics if sample.truth and sample.truth.facts else ()

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if sample.truth is None:
            return not_applicable(self.metrics, "the dataset has no truth for this sample")
        facts = sample.truth.facts
        if not facts:
            return not_applicable(self.metrics, "the sample needs no facts")
        statements = Statements(report.text)
        missing = [fact for fact in facts if not any(statements.state(form) for form in fact.forms)]
        return [
            Score(
                metric="world.coverage",
                value=(len(facts) - len(missing)) / len(facts),
                detail={"missing": [fact.id for fact in missing], "needed": _depths(facts), "lacked": _depths(missing)},
            )
        ]


def _depths(facts: Sequence[Fact]) -> dict[str, int]:
    """How many facts of each depth, by the first part of their ids."""
    depths = sorted(fact.id.split("/")[0] for fact in facts)
    return {depth: depths.count(depth) for depth in depths}
