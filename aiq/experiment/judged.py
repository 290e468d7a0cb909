"""Judges' scores from other points of the same sweep: points that give the same report share them."""

from collections.abc import Iterator, Sequence

from aiq.core.reports import CAVEAT
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import digest_of
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import JudgeSpec
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow

SAME_REPORT = "same_report_at"
"""In a score's detail: the run in which the judge scored the same report."""


class EarlierScores:
    """Scores of reports at finished points of the run's sweep with the same seed; none outside of sweeps.

    Not used with a recording either: which exchanges it holds would depend on which points there are.
    """

    def __init__(self, folder: RunFolder, plan: RunPlan) -> None:
        self._scores: dict[tuple[str, str], list[ScoreRow]] = {}
        if folder.sweep_path is None or plan.settings.cassette.mode != "off":
            return
        for other in _finished_points(folder, plan.settings.seed):
            samples = read_samples(other)
            for key, scores in read_scores(other, samples).items():
                for judge in plan.spec.judges:
                    rows = [score for score in scores if score.judge_hash == judge.hash]
                    if samples[key].answered and _is_complete(judge, rows):
                        origin = {SAME_REPORT: other.run_id}
                        copies = [r.model_copy(update={"usage": {}, "detail": {**origin, **r.detail}}) for r in rows]
                        self._scores.setdefault((judge.name, _report_digest(samples[key])), copies)

    def scores(self, judge: JudgeSpec, row: SampleRow) -> list[ScoreRow]:
        """The judge's rows for this attempt, at no cost; empty if it has not judged the same report."""
        if not self._scores:
            return []
        matches = self._scores.get((judge.name, _report_digest(row)), [])
        return [score.model_copy(update={"attempt": row.attempt}) for score in matches]


def _finished_points(folder: RunFolder, seed: int) -> Iterator[RunFolder]:
    for path in sorted(folder.path.parent.glob("*/summary.json")):
        other = RunFolder(path.parent)
        manifest = other.read_manifest()
        if other.path != folder.path and manifest.status == "finished" and manifest.config.get("seed") == seed:
            yield other


def _is_complete(judge: JudgeSpec, scores: Sequence[ScoreRow]) -> bool:
    """Whether nothing failed that a retry could bring."""
    usable = all(score.status in ("scored", "not_applicable") and CAVEAT not in score.detail for score in scores)
    return usable and len(scores) == len(judge.metrics)


def _report_digest(row: SampleRow) -> str:
    """The digest of everything that judges see of an attempt."""
    sources = [source.model_dump(mode="json") for source in row.sources]
    return digest_of([row.sample_id, row.epoch, row.sample_hash, row.as_report().model_dump(mode="json"), sources])
