"""Official figures of Deep Research Bench on the terminal, as the official tools write them, and ours."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from aiq.analysis.official import OfficialScores
from aiq.judges.official import fact_result, race_result
from aiq.site.tables import interval, number


def official_table(scores: OfficialScores) -> Group:
    table = Table(box=None, pad_edge=False)
    table.add_column("metric")
    for heading in ("mean", "95 % interval", "n", "estimator"):
        table.add_column(heading, justify="right")
    for name, found in scores.metrics.items():
        table.add_row(name, number(found.mean), interval(found), str(found.n), found.estimator)
    written = race_result(scores.official) if scores.kind == "race" else fact_result(scores.official)
    return Group(Text("official figures"), Text(written), table, Text(f"\n{_counts(scores)}"))


def _counts(scores: OfficialScores) -> str:
    if scores.kind == "race":
        return f"{scores.reports} tasks, {scores.errors} of them left out because their judging failed"
    return (
        f"{scores.reports} reports, {scores.without_citations} without citations (left out of the official figures); "
        f"{scores.errors} pages could not be validated"
    )
