"""What the page of a run shows, read from the run's folder row by row; the long texts of sources are left behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from aiq.core.samples import SampleKey
from aiq.experiment.folder import RunFolder
from aiq.experiment.journal import read_rows
from aiq.experiment.records import SampleRow, ScoreRow
from aiq.site.markdown import render


@dataclass(frozen=True)
class SourceView:
    """A retrieved source; `citations` are its numbers in the report with the level at which each matched."""

    title: str
    target: str
    tool: str
    citations: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class ScoreView:
    """One metric of an attempt. `shown`: the number, or what stands for it."""

    metric: str
    shown: str
    status: str
    note: str
    detail: Mapping[str, JsonValue]


@dataclass
class AttemptView:
    """One (sample, epoch) as the page lists it."""

    row: SampleRow
    report: str | None
    sources: tuple[SourceView, ...]
    scores: list[ScoreView] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return self.row.answered and not any(score.status == "error" for score in self.scores)


def read_attempts(folder: RunFolder) -> list[AttemptView]:
    """The last attempt of each key with its scores."""
    attempts: dict[SampleKey, AttemptView] = {}
    for path in sorted(folder.path.glob("samples*.jsonl")):
        for row in read_rows(path, SampleRow):
            attempts[row.key] = _attempt(row)
    scores: dict[SampleKey, dict[tuple[str, str], ScoreRow]] = {}
    for path in sorted(folder.path.glob("scores*.jsonl")):
        for score in read_rows(path, ScoreRow):
            scores.setdefault(score.key, {})[score.judge, score.metric] = score
    for key, view in attempts.items():
        found = scores.get(key, {}).values()
        view.scores = [_score(score) for score in found if score.attempt == view.row.attempt]
    return list(attempts.values())


def _attempt(row: SampleRow) -> AttemptView:
    cited: dict[str, list[tuple[int, str]]] = {}
    for citation in row.audit.valid_citations if row.audit else ():
        cited.setdefault(citation.source, []).append((citation.number, citation.level))
    sources = []
    for source in row.retrieved:
        target = source.url or source.citation_key or ""
        sources.append(SourceView(source.title or target, target, source.tool, tuple(cited.get(target, ()))))
    light = row.model_copy(update={"sources": (), "raw_report": None})
    return AttemptView(light, render(row.report) if row.report is not None else None, tuple(sources))


def _score(row: ScoreRow) -> ScoreView:
    note = row.error.message if row.error else row.reason or ""
    if row.value is not None:
        shown = f"{row.value:.3g}"
    elif row.numerator is not None and row.denominator is not None:
        shown = f"{row.numerator:g} of {row.denominator:g}"
    else:
        shown = "error" if row.status == "error" else "none"
    return ScoreView(row.metric, shown, row.status, note, row.detail)
