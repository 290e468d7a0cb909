"""Official result files of Deep Research Bench as numbers: the published figures, and ours with intervals."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.judges.fact_scores import count, official
from aiq.judges.official import RACE_FIGURES, ValidatedReport, read_race, read_validated
from aiq.judges.race_scores import published
from aiq.stats.estimates import Estimate, mean_estimate, ratio_estimate

_METRICS: Final = {name: f"race.{name.removesuffix('_score')}" for name in RACE_FIGURES}


class OfficialScores(Record):
    """`official`: the published figures under their names. `metrics`: ours, over all `reports` of the file.

    `errors`: tasks whose judging failed (RACE), or pages that could not be validated (FACT).
    `without_citations`: reports that the official FACT figures leave out; ours count them as 0 citations.
    """

    kind: Literal["race", "fact"]
    reports: int
    errors: int
    without_citations: int = 0
    official: Mapping[str, float]
    metrics: Mapping[str, Estimate]


def race_scores(path: Path) -> OfficialScores:
    """The figures of a `raw_results.jsonl`. Raises DatasetError that names the row."""
    tasks = read_race(path)
    scored = [figures for figures in tasks if figures is not None]
    if not scored:
        raise DatasetError(f"{path}: the judging of all {len(tasks)} tasks failed; there is nothing to aggregate")
    estimates = {ours: mean_estimate([[row[name]] for row in scored]) for name, ours in _METRICS.items()}
    return OfficialScores(
        kind="race",
        reports=len(tasks),
        errors=len(tasks) - len(scored),
        official=published(scored),
        metrics={name: found.within(0.0, 1.0) for name, found in estimates.items() if found is not None},
    )


def fact_scores(path: Path) -> OfficialScores:
    """The figures of a `validated.jsonl`. Raises DatasetError that names row and URL."""
    reports = read_validated(path)
    return OfficialScores(
        kind="fact",
        reports=len(reports),
        errors=sum(page.error is not None for report in reports for page in report.pages),
        without_citations=sum(not report.cites for report in reports),
        official=official([report.pages for report in reports if report.cites]),
        metrics=_fact_metrics(reports),
    )


def _fact_metrics(reports: list[ValidatedReport]) -> dict[str, Estimate]:
    """As the judge FACT declares them: a report without a verdict that counts has no accuracy, and 0 citations."""
    counts = [count(report.pages) for report in reports]
    judged = [one for one in counts if one.citations]
    estimates = {
        "fact.citation_accuracy": ratio_estimate([[(one.supported, one.citations)] for one in judged]),
        "fact.citation_accuracy_per_task": mean_estimate([[one.supported / one.citations] for one in judged]),
        "fact.citations": mean_estimate([[float(one.citations)] for one in counts]),
        "fact.effective_citations": mean_estimate([[float(one.supported)] for one in counts]),
    }
    highest = {"fact.citation_accuracy": 1.0, "fact.citation_accuracy_per_task": 1.0}
    return {name: found.within(0.0, highest.get(name)) for name, found in estimates.items() if found is not None}
